"""Does a person see this text? A browser lays fragments of HTML out, and is asked for each; and so are we.

The browser says what its layout comes to: is the word painted (its boxes, what hits them, clipping), how large, how
transparent, and in which colours on which ground. Every difference is listed here with its reason.
"""

import html
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from maild.message.evidence.page import read_page
from tests.support.waiting import GIVES_UP_S

DATA = Path(__file__).parents[1] / "data" / "evidence" / "fragments.toml"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# fragment → why we say otherwise.
DIFFERENCES = {
    "<select><option>NEEDLE</select>": "a list shows one of its entries; all of them count as unseen",
    '<option style="display:none">x<option>NEEDLE': "an entry without its list",
    '<p style="font-size:.1em">NEEDLE</p>': "this browser shows no relative size below 6px, others do",
    '<p style="font-size:1%">NEEDLE</p>': "this browser shows no relative size below 6px, others do",
    '<div style="mso-hide:all">NEEDLE</div>': "Outlook hides it",
}

_PAGE = """<!DOCTYPE html><meta charset="utf-8"><body>%s<pre id="result"></pre><script>
const look = (frame) => {
  const page = frame.contentDocument, view = frame.contentWindow;
  const walker = page.createTreeWalker(page.documentElement, NodeFilter.SHOW_TEXT);
  let node;
  while ((node = walker.nextNode())) if (node.data.includes('NEEDLE') && seen(node, page, view)) return true;
  for (const field of page.querySelectorAll('textarea, select'))
    if ((field.value || '').includes('NEEDLE') && field.checkVisibility()) return true;
  return false;
};
const alpha = (colour) => {
  const [r, g, b, a] = colour.match(/[\\d.]+/g).map(Number), scale = colour.startsWith('color(') ? 255 : 1;
  return [r * scale, g * scale, b * scale, a ?? 1];
};
const over = ([r, g, b, a], [x, y, z]) => [r*a + x*(1-a), g*a + y*(1-a), b*a + z*(1-a)];
const light = (rgb) => {
  const linear = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = rgb.map((one) => linear(one / 255));
  return 0.2126*r + 0.7152*g + 0.0722*b;
};
const seen = (node, page, view) => {
  const at = node.parentElement;
  const ancestors = [];
  for (let one = at; one; one = one.parentElement) ancestors.push(one);
  const styled = (name, value) => (one) => view.getComputedStyle(one)[name] === value;
  const boxed = ancestors.find((one) => !styled('display', 'contents')(one));
  if (!boxed.checkVisibility({visibilityProperty: true, contentVisibilityAuto: true})) return false;
  const range = page.createRange();
  range.setStart(node, node.data.indexOf('NEEDLE')); range.setEnd(node, node.data.indexOf('NEEDLE') + 6);
  const box = range.getBoundingClientRect();
  if (box.width < 12 || box.height < 3) return false;
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  const clips = (one) => { const style = view.getComputedStyle(one);
    return style.overflow !== 'visible' || style.clip !== 'auto' || style.clipPath !== 'none'; };
  if (x < 0 || y < 0 || x > view.innerWidth || y > view.innerHeight) return false;
  if (ancestors.some(styled('contentVisibility', 'hidden'))) return false;
  // What hits the point is painted there; text that flows over a box of no height is, and hits nothing.
  const overflows = boxed.getBoundingClientRect().height < 1 && !ancestors.some(clips);
  if (!overflows && !page.elementsFromPoint(x, y).some((one) => one === at || one === boxed)) return false;
  let opacity = 1, image = false, ground = [255, 255, 255];
  for (const one of ancestors.reverse()) {
    const style = view.getComputedStyle(one);
    opacity *= Number(style.opacity);
    const filter = style.filter.match(/opacity\\(([\\d.]+)\\)/);
    if (filter) opacity *= Number(filter[1]);
    const own = alpha(style.backgroundColor);
    if (style.backgroundImage !== 'none') image = true; else if (own[3] >= 1) image = false;
    ground = over(own, ground);
  }
  if (opacity <= 0.05) return false;
  if (image) return true;
  const text = over(alpha(view.getComputedStyle(at).webkitTextFillColor), ground);
  const [high, low] = [light(text), light(ground)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05) >= 1.2;
};
addEventListener('load', () => {
  document.getElementById('result').textContent = JSON.stringify([...document.querySelectorAll('iframe')].map(look));
});
</script>"""


def fragments() -> list[str]:
    table = tomllib.loads(DATA.read_text("utf-8"))
    made = [
        *table["fragments"],
        *(one["template"].replace("%s", value) for one in table["series"] for value in one["values"]),
    ]
    assert len(set(made)) == len(made) >= 200
    return made


def seen_by_the_browser(made: list[str], folder: Path) -> list[bool]:
    assert CHROMIUM is not None
    frames = "".join(
        f'<iframe sandbox="allow-same-origin" width="500" height="300" srcdoc="{html.escape(one)}"></iframe>'
        for one in made
    )
    page = folder / "fragments.html"
    page.write_text(_PAGE.replace("%s", frames, 1), "utf-8")
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(
                "--virtual-time-budget=20000",
                f"--user-data-dir={folder}/profile",
                "--dump-dom",
                page.as_uri(),
            ),
        ],
        capture_output=True,
        timeout=GIVES_UP_S,
        check=True,
    )
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout.decode())
    assert found is not None, done.stderr.decode()[-2000:]
    answers: list[bool] = json.loads(found[1])
    assert len(answers) == len(made)
    return answers


def seen_by_us(fragment: str) -> bool:
    runs = read_page(fragment).runs
    return any("NEEDLE" in fragment[run.start : run.end] and run.why is None for run in runs)


@pytest.mark.interop
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium (apt install chromium)")
def test_a_person_sees_what_we_say(tmp_path: Path) -> None:
    made = fragments()
    differing = {
        one: theirs
        for one, theirs in zip(made, seen_by_the_browser(made, tmp_path), strict=True)
        if theirs is not seen_by_us(one)
    }
    assert differing.keys() == DIFFERENCES.keys(), json.dumps(differing, indent=1)
    assert len(differing) <= 0.05 * len(made)
