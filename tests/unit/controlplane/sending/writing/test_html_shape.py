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


def unlike(count: int) -> list[str]:
    """As many tags of formatting, none of which are equal."""
    return [f"<b id={number}>" for number in range(count)]


OPENED_AGAIN = {
    "in the next paragraph": "".join(f"<p>{one}x</p>" for one in unlike(1000)),
    "in the next block": "".join(f"<div>{one}x</div>" for one in unlike(1000)),
    "in one line": "<u>" * 50 + "".join(unlike(400)) + "</u>x" * 400,
    "in a cell": "<table><td>" + "".join(f"<p>{one}x</p>" for one in unlike(1000)),
    "closed beyond a table": "".join(f"{one}x<table></b></table>" for one in unlike(1000)),
    "closed by another cell's end": "<table><td>"
    + "".join(f"<p>{one}x</p></th></td_>" for one in unlike(1000)),
    "closed beyond too many blocks": "".join(f"{one}x{'<div>' * 9}</b>{'</div>' * 9}" for one in unlike(500)),
    "before an object": "".join(unlike(400)) + "<object></object>" + "<p>x</p>" * 1000,
    "before a cell without its table": f"<div>{''.join(unlike(400))}</div><td>" + "<p>x</p>" * 1000,
    "before a table that the next one ended": (
        f"<table><table></table>{''.join(unlike(400))}<td>" + "<p>x</p>" * 1000
    ),
}


@pytest.mark.parametrize("html", OPENED_AGAIN.values(), ids=OPENED_AGAIN)
def test_formatting_that_is_opened_again_and_again(html: str) -> None:
    """Of each of these texts of some 20 KB a parser makes hundreds of thousands of elements."""
    assert is_too_complex(html)


NOT_CLOSED = {
    "in a comment": "<div><!--</div>-->",
    "in an attribute": '<div title="</div>">',
    "by a longer name": "<div></div_>",
    "by what is around it": "<span><div></span>",
    "by what no HTML knows": "<foo><div></foo>",
    "by formatting": "<b><div></b>",
    "by a paragraph that it ended": "<p><div></p>",
    "by a list's item": "<li><ul></li>",
}


@pytest.mark.parametrize("unit", NOT_CLOSED.values(), ids=NOT_CLOSED)
def test_a_tag_that_closes_nothing(unit: str) -> None:
    assert is_too_complex(unit * (2 * DEPTH_MAX))


NOT_TIDY = {
    "paragraphs in a font that is never closed": "<p><font face=Arial>text</p>\n" * 5000,
    "cells in fonts that are never closed": "<table>"
    + "".join(f"<tr><td><font color=#{number:06x}>text</td></tr>" for number in range(5000)),
    "a font around all": f"<font face=Arial>{'<p>one</p>' * 5000}</font>",
    "crossed blocks": "<div><font><p>text</font></p></div>" * 5000,
}


@pytest.mark.parametrize("html", NOT_TIDY.values(), ids=NOT_TIDY)
def test_formatting_as_it_is_written(html: str) -> None:
    assert not is_too_complex(html)
