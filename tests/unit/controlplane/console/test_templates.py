"""What templates may not hold: markup that nobody escaped, and what a page's policy would not run."""

import re
from importlib import resources
from typing import Any

import pytest

from controlplane.console.rendering import Templates
from storage.clock import Clock

FOLDER = resources.files("controlplane.console")
TEMPLATES = {one.name: one.read_text("utf-8") for one in (FOLDER / "templates").iterdir()}
FORBIDDEN = {
    "unescaped": r"\|\s*safe\b|autoescape|Markup|\|\s*tojson|\bxmlattr\b",
    "a handler in the markup": r"<[^>]*\son[a-z]+=[\"'{]",
    "a style in the markup": r"<style|<[^>]*\sstyle\s*=",
    "a script in the markup": r"<script(?![^>]*\ssrc=)",
    "an attribute without quotes": r"<[a-z][^>]*\s[a-z-]+=\{\{",
    "a place elsewhere": r"(?:src|href|action)=\"(?:https?:)?//",
    "javascript": r"javascript:",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_template_holds(what: str) -> None:
    found = [name for name, text in TEMPLATES.items() if re.search(FORBIDDEN[what], text, re.IGNORECASE)]
    assert found == []
    assert len(TEMPLATES) > 10


def test_a_form_that_acts_is_a_post() -> None:
    for name, text in TEMPLATES.items():
        for form in re.findall(r"<form[^>]*>", text):
            assert 'method="post"' in form or 'method="get"' in form, name


def test_a_table_that_scrolls_can_be_scrolled_by_keys() -> None:
    """axe-core, scrollable-region-focusable: a reader's table has no link or button that could have the focus."""
    found = [tag for text in TEMPLATES.values() for tag in re.findall(r'<div[^>]*class="scroll"[^>]*>', text)]
    assert len(found) > 10
    for tag in found:
        assert re.search(r' role="region" aria-label="\w+" tabindex="0"', tag), tag


def test_no_module_of_the_console_makes_markup() -> None:
    """Python hands over text; what is markup stands in templates, and in the one document for frames."""
    for file in resources.files("controlplane.console").rglob("*.py"):  # type: ignore[attr-defined]
        text = file.read_text("utf-8")
        assert "Markup" not in text and "markupsafe" not in text, file
        if file.name != "mail_html.py":
            assert not re.search(r"""["']<[a-z]+[ >]""", text), file


def test_every_template_compiles() -> None:
    Templates(Clock(), "host").compile()


def test_a_name_that_is_missing_is_a_fault_and_no_empty_place() -> None:
    with pytest.raises(Exception, match="undefined"):
        Templates(Clock(), "host").render("fault.html", {})


def test_what_pages_load_is_small() -> None:
    sizes = {one.name: len(one.read_bytes()) for one in (FOLDER / "static").iterdir()}
    assert sizes["console.css"] <= 25 * 1024
    assert len((FOLDER / "static" / "console.js").read_text("utf-8").splitlines()) <= 150


def test_values_are_escaped() -> None:
    shown: dict[str, Any] = {
        "title": "<script>alert(1)</script>", "text": '"><img src=x>', "details": ["'<b>"],
        "member": None, "acts": False, "waiting": None, "path": "", "done": "", "fault": None,
    }  # fmt: skip
    text = Templates(Clock(), "host").render("fault.html", shown)
    assert "<script>alert" not in text and "<img" not in text and "<b>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
