"""Pictures of the console, light and dark, for desks and phones: a daemon with made-up mail, and Chromium.

scripts/pictures --to docs/console             as the documents show them
scripts/pictures --to folder --every           every page, to look at
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import uvloop
from playwright.async_api import Browser, async_playwright

from scripts.pictured_world import World, world

DESK, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


class Picture(NamedTuple):
    """`page`: the path, with `{name}` of a thing of the world. `is_told`: it is in the documents."""

    name: str
    page: str
    is_told: bool = True


PICTURES = (
    Picture("overview", "/console"),
    Picture("reviews", "/console/reviews", is_told=False),
    Picture("review", "/console/reviews/{review}"),
    Picture("inboxes", "/console/inboxes", is_told=False),
    Picture("inbox", "/console/inboxes/{inbox}", is_told=False),
    Picture("thread", "/console/threads/{thread}", is_told=False),
    Picture("message", "/console/messages/{hostile}"),
    Picture("delivery", "/console/messages/{bounced}", is_told=False),
    Picture("keys", "/console/keys", is_told=False),
    Picture("suppressions", "/console/suppressions", is_told=False),
)
LOOKS: tuple[tuple[str, dict[str, int], Any], ...] = (
    ("desk-light", DESK, "light"),
    ("desk-dark", DESK, "dark"),
    ("phone-light", PHONE, "light"),
    ("phone-dark", PHONE, "dark"),
)
TOLD = {
    ("overview", "desk-light"),
    ("review", "desk-dark"),
    ("message", "phone-light"),
    ("overview", "phone-dark"),
}


async def take(browser: Browser, made: World, to: Path, *, every: bool) -> None:
    """The pictures, as PNG."""
    for look, size, scheme in LOOKS:
        context = await browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=1)  # type: ignore[arg-type]
        page = await context.new_page()
        await page.goto(await made.link())
        await page.click("button")
        for picture in PICTURES:
            if every or (picture.name, look) in TOLD:
                await page.goto(made.url + picture.page.format(**made.ids), wait_until="load")
                if every:
                    for shut in await page.query_selector_all(
                        "main details:has(iframe) > summary, .context summary"
                    ):
                        await shut.click()
                        await page.wait_for_timeout(400)
                await page.screenshot(path=to / f"{picture.name}-{look}.png", full_page=every)
        if every:
            await page.goto(f"{made.url}/console/sign-out-there", wait_until="load")
            await page.screenshot(path=to / f"fault-{look}.png")
            await page.context.clear_cookies()
            await page.goto(await made.link(), wait_until="load")
            await page.screenshot(path=to / f"sign-in-{look}.png")
        await context.close()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium")
    assert chromium is not None, "chromium is not installed"
    with tempfile.TemporaryDirectory() as folder:
        async with world(Path(folder)) as made, async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
            )
            await take(browser, made, options.to, every=options.every)
            await browser.close()


if __name__ == "__main__":
    uvloop.run(main())
