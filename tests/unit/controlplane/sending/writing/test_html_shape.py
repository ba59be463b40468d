"""HTML that would cost its sanitiser seconds or gigabytes is known before, and mail as people write it passes."""

import pytest

from controlplane.sending.writing.html_shape import DEPTH_MAX, TAGS_MAX, is_too_complex

DEEP = {
    "unclosed": "<div>" * 600,
    "closed too late": "<div>" * 600 + "</div>" * 600,
    "closed by others": "<div></b>" * 600,
    "closed behind a table": "<div><table></div>" * 600,
    "two that do not end each other": "<li><dd>" * 600,
    "upper case": "<DIV>" * 600,
    "with attributes": "<div class='a>b'>" * 600,
}


@pytest.mark.parametrize("html", DEEP.values(), ids=DEEP)
def test_too_deep(html: str) -> None:
    assert is_too_complex(html)


def test_too_many() -> None:
    assert is_too_complex("<b></b>" * TAGS_MAX)


SLOPPY = {
    "paragraphs never closed": "<p>text<br>" * 5000,
    "list items never closed": "<ul>" + "<li>one<p>two" * 5000,
    "cells and rows never closed": "<table>" + "<tr><td>a<td>b" * 5000,
    "crossed": "<b><i>text</b></i>" * (DEPTH_MAX - 10),
    "nested tables": ("<table><tr><td>" * 40 + "</td></tr></table>" * 40) * 20,
    "closed": "<div><p><b>text</b></p></div>" * 5000,
    "closers of nothing": "</div>" * 5000,
}


@pytest.mark.parametrize("html", SLOPPY.values(), ids=SLOPPY)
def test_mail_as_it_is_written(html: str) -> None:
    assert not is_too_complex(html)


@pytest.mark.parametrize("unit", ["<option>", "<form><option></form>"])
def test_what_is_cleaned_as_another_element_is_as_deep_as_that(unit: str) -> None:
    """A form, a list and what they hold become `div`s, of which a closing tag closes the inner one alone."""
    assert is_too_complex(unit * (DEPTH_MAX + 1))
