"""Debian's Chromium, driven by Playwright: one for a module, a context of its own for each visitor.

async with Chromium() as chromium:
    async with chromium.visit(maild) as visit:
        await visit.open("/console")
        ...
    # leaving it fails for a dialog, a request beyond the origin, and what a policy kept from happening
"""

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    async_playwright,
)

from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
TABS_MAX = 80
# What an answer that is meant to be an error brings about in the console of every browser.
EXPECTED = ("Failed to load resource: the server responded with a status of 4",)


class Visit:
    """A tab. `faults`: what must not be."""

    def __init__(self, context: BrowserContext, page: Page, url: str) -> None:
        self.context = context
        self.page = page
        self.url = url
        self.requests: list[str] = []
        self.faults: list[str] = []
        page.on("dialog", self._dialog)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        context.on("request", self._request)
        context.on("page", lambda opened: self.faults.append(f"opened: {opened.url}"))

    async def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(EXPECTED):
            self.faults.append(f"{self.page.url}: {message.text}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((f"{self.url}/console", "data:", "about:")):
            self.faults.append(f"request: {request.url}")

    async def open(self, path: str) -> int:
        """The status of the page, once all that it loads is there."""
        answer = await self.page.goto(self.url + path, wait_until="load")
        assert answer is not None
        return answer.status

    async def press(self, name: str, *, exact: bool = True) -> None:
        """A button, as a person names it; and then what it leads to is there."""
        async with self.page.expect_navigation(wait_until="load"):
            await self.page.get_by_role("button", name=name, exact=exact).first.click()

    async def follow(self, name: str) -> None:
        """A link."""
        async with self.page.expect_navigation(wait_until="load"):
            await self.page.get_by_role("link", name=name).first.click()

    async def tab_to(self, words: str) -> None:
        """Press Tab until what has the focus says these words. It must be seen to have it."""
        passed = []
        for _ in range(TABS_MAX):
            await self.page.keyboard.press("Tab")
            named, outline = await self.page.evaluate(_FOCUSED)
            passed.append(named)
            if words in named:
                assert outline != "none", f"{named!r} has the focus, and nobody sees it"
                return
        raise AssertionError(f"{words!r} is not reached by Tab: {passed}")

    async def enter(self) -> None:
        """Press Enter on what has the focus, or gets it by itself; it leads elsewhere."""
        await self.page.locator(":focus").wait_for()
        async with self.page.expect_navigation(wait_until="load"):
            await self.page.keyboard.press("Enter")

    async def said(self) -> str:
        """The words that are shown on the page's main part."""
        return " ".join((await self.page.inner_text("main")).split())


# The words by which a person knows what has the focus, and how it shows.
_FOCUSED = """() => {
  const one = document.activeElement;
  const label = one.labels && one.labels[0] ? one.labels[0].innerText : '';
  return [(one.innerText || label || one.getAttribute('aria-label') || '').trim().replace(/\\s+/g, ' '),
          getComputedStyle(one).outlineStyle];
}"""


class Chromium:
    """One process. Tests are skipped where it is not installed."""

    def __init__(self) -> None:
        if CHROMIUM is None:
            pytest.skip("chromium is not installed")

    async def __aenter__(self) -> "Chromium":
        self._driver = await async_playwright().start()
        self._browser: Browser = await self._driver.chromium.launch(
            executable_path=CHROMIUM, args=list(ARGUMENTS)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._browser.close()
        await self._driver.stop()

    @asynccontextmanager
    async def visit(
        self,
        maild: Running,
        *,
        scheme: Literal["light", "dark"] = "light",
        width: int = 1280,
        may: Sequence[str] = (),
        **options: Any,
    ) -> AsyncIterator[Visit]:
        """A fresh context. `may`: beginnings of faults that are expected."""
        context = await self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        context.set_default_timeout(GIVES_UP_S * 1000)
        try:
            visit = Visit(context, await context.new_page(), maild.daemon.http.url)
            yield visit
            faults = [one for one in visit.faults if not one.startswith(tuple(may))]
            assert faults == [], "\n".join(faults)
        finally:
            await context.close()
