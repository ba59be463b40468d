"""Sanitized HTML in Chromium: nothing of it runs or is fetched from where it may not be, however often it is parsed and
written again; and a person reads the same words, in the same looks, behind the same links."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Route

from controlplane.sending.writing.sanitize import Sanitizer
from tests.support.clients.browser import Chromium, Visit
from tests.support.running import Running

pytestmark = pytest.mark.interop
DATA = Path(__file__).parents[1] / "data"
# Inert as they stand, and another tree once they are written and parsed again.
MUTATING = (DATA / "mutating_html.txt").read_text("utf-8").splitlines()
PAYLOADS = [*(DATA / "xss_payloads.txt").read_text("utf-8").splitlines(), *MUTATING]
AROUND = (
    "{}",
    "<table><tr><td>{}</td></tr></table>",
    "<p title='{}'>",
    "<svg><foreignObject>{}",
    "<noscript>{}",
)

# Of each text the faults of what it becomes: set, written and set again twice, and parsed where no scripts run.
_JUDGE = """(texts) => {
  const schemes = ['http:', 'https:', 'mailto:', 'tel:', 'cid:'];
  const acting = `script style iframe frame frameset object embed applet form input button meta link base
    template video audio source select textarea noscript title xmp plaintext`.split(/\\s+/);
  const placing = ['position', 'z-index', 'inset', 'transform', 'opacity'];
  const faults_of = (root) => [...root.querySelectorAll('*')].flatMap((one) => {
    const found = [];
    if (!one.namespaceURI.endsWith('/xhtml') || acting.includes(one.localName)) found.push(one.localName);
    for (const {name, value} of one.attributes) {
      if (/^on|:|^(srcdoc|srcset|action|formaction|ping|poster|id)$/.test(name)) found.push(`${one.localName} ${name}`);
      if (/^(href|src|background)$/.test(name)) {
        const url = URL.canParse(value) ? new URL(value).protocol : 'relative';
        if (!schemes.includes(url)) found.push(`${name}=${value}`);
      }
    }
    for (const property of one.style) {
      const value = one.style.getPropertyValue(property).replace(/"(?:[^"\\\\]|\\\\.)*"(?!\\))/g, '');
      if (placing.includes(property) || /url\\((?!"(https?:|cid:))|image-set|expression/i.test(value))
        found.push(`${property}:${value}`);
    }
    return found;
  });
  return texts.map((text) => {
    const place = document.body.appendChild(document.createElement('div'));
    const written = [];
    let faults = [];
    for (let html = text; written.length < 3; html = place.innerHTML) {
      place.innerHTML = html;
      faults = faults.concat(faults_of(place));
      written.push(place.innerHTML);
    }
    const quiet = new DOMParser().parseFromString(text, 'text/html').body;
    place.innerHTML = quiet.innerHTML;
    faults = faults.concat(faults_of(quiet), faults_of(place));
    if (written[1] !== written[2]) faults.push(`changes: ${written[1]} → ${written[2]}`);
    place.remove();
    return faults;
  });
}"""

_SEEN = """() => ({
  words: document.body.innerText.replace(/\\s+/g, ''),
  links: [...document.querySelectorAll('a[href], area[href]')].map((one) => one.getAttribute('href')),
  looks: [...document.querySelectorAll('.look')].map((one) => {
    const {color, direction, backgroundImage, backgroundSize, textAlign, cssFloat, listStyleType} =
      getComputedStyle(one);
    return {words: one.innerText.trim(), value: one.value || null, color, direction, backgroundImage, backgroundSize,
            textAlign, cssFloat, listStyleType, width: Math.round(one.getBoundingClientRect().width)};
  }),
})"""


@pytest_asyncio.fixture
async def chromium() -> AsyncIterator[Chromium]:
    async with Chromium() as one:
        yield one


async def _nothing(route: Route) -> None:
    await route.fulfill(status=200, body=b"")


async def judged(visit: Visit, texts: list[str]) -> list[list[str]]:
    await visit.context.route("**/*", _nothing)
    await visit.page.goto("about:blank")
    found: list[list[str]] = await visit.page.evaluate(_JUDGE, texts)
    return found


async def test_nothing_of_it_acts(maild: Running, chromium: Chromium) -> None:
    clean = Sanitizer().clean_any
    made = {around.replace("{}", one): one for one in PAYLOADS for around in AROUND}
    async with chromium.visit(maild, may=("request: http",)) as visit:
        found = await judged(visit, [clean(one) for one in made])
    assert len(made) > 500
    faults = {html: told for html, told in zip(made, found, strict=True) if told}
    assert not faults, json.dumps(faults, indent=1)


async def test_the_judge_sees_what_acts(maild: Running, chromium: Chromium) -> None:
    """Else the test above could not fail."""
    async with chromium.visit(maild, may=("request:", "dialog:", "error:", "about:")) as visit:
        found = await judged(visit, MUTATING)
    assert sum(map(bool, found)) >= len(MUTATING) - 3, [
        one for one, told in zip(MUTATING, found, strict=True) if not told
    ]


async def test_a_person_sees_what_was_written(maild: Running, chromium: Chromium) -> None:
    inbox = await maild.inbox("reader")
    html = (DATA / "mail_with_everything.html").read_text("utf-8")
    raw = f"From: a@b.test\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}"
    message = await maild.received(inbox, raw)
    shown = (await maild.api.get(f"/v1/messages/{message['id']}", html="sanitized")).data["htmlBody"]
    may = ("request: http", "request: cid:", "about:")
    async with chromium.visit(maild, may=may, java_script_enabled=False) as visit:
        await visit.context.route("**/*", _nothing)
        seen: list[dict[str, Any]] = []
        for one in (html, f"<!DOCTYPE html>{shown}"):
            await visit.page.set_content(one)
            seen.append(await visit.page.evaluate(_SEEN))
    before, after = seen
    assert len(before["looks"]) == 10 and len(before["links"]) == 4
    assert after["words"] == before["words"]
    assert after["links"] == before["links"]
    for ours, theirs in zip(after["looks"], before["looks"], strict=True):
        assert ours == theirs | {"width": ours["width"]} and abs(ours["width"] - theirs["width"]) <= 20
