"""Files that html shows, outside a multipart/related."""

import pytest

from maild.message.characters.decode import IDENTITY
from maild.message.model import AttachmentPart, Slice
from maild.message.parsing.parse import parse
from maild.message.parsing.shown_files import MAX_OCTETS, with_shown
from tests.support.laws.work import assert_proportional, bomb


def is_inline(
    html: str, content_id: str = "<p@x>", *, kind: str = "mixed", disposition: str = "", coding: str = "8bit"
) -> bool:
    raw = (
        f"From: a@b.test\nContent-Type: multipart/{kind}; boundary=b\n\n--b\nContent-Type: text/html; charset=utf-8\n"
        f"Content-Transfer-Encoding: {coding}\n\n{html}\n--b\nContent-Type: image/png; name=p.png\n{disposition}"
        f"Content-ID: {content_id}\n\nPNG\n--b--\n"
    )
    (picture,) = parse(raw.replace("\n", "\r\n").encode()).attachments
    return picture.is_inline


@pytest.mark.parametrize("kind", ["mixed", "alternative"])
@pytest.mark.parametrize("disposition", ["", "Content-Disposition: attachment; filename=p.png\n"])
@pytest.mark.parametrize(
    "html",
    [
        '<img src="cid:p@x">',
        "<IMG SRC = CID:p@x>",
        "<img src='cid:p%40x' alt=it>",
        '<table background="cid:p&#64;x">',
        "<p style=\"background: url('cid:p@x')\">",
        "<p style='background: url( cid:p@x )'>",
    ],
)
def test_a_picture_that_html_shows_is_inline(html: str, kind: str, disposition: str) -> None:
    assert is_inline(html, kind=kind, disposition=disposition)


@pytest.mark.parametrize(
    ("html", "coding"),
    [('<img src=3D"ci=\nd:p@x">', "quoted-printable"), ("PGltZyBzcmM9Y2lkOnBAeD4=", "base64")],
)
def test_encoded_html_is_decoded_for_it(html: str, coding: str) -> None:
    assert is_inline(html, coding=coding)


@pytest.mark.parametrize(
    "html",
    ["<img src=cid:other@x>", "<a href=cid:p@x>the file</a>", "src cid:p@x", "<img src=https://b.test/p@x>"],
)
def test_a_file_with_an_id_alone_is_not(html: str) -> None:
    assert not is_inline(html)


@pytest.mark.parametrize("unit", ["src= ", "src=cid:", "src=cid:x ", "url( ", " ", "src=cid:&", "src=cid:%4"])
def test_looking_takes_work_in_proportion(unit: str) -> None:
    picture = AttachmentPart(Slice(0, 0, IDENTITY, None), "p.png", "image/png", 0, "p", is_inline=False)

    def look(html: str) -> None:
        with_shown(html.encode(), [Slice(0, len(html), IDENTITY, None)], [picture])

    html = bomb(unit, before="src=")
    assert_proportional(look, html)
    look(html.whole())


def test_no_more_than_that_much_html_is_read() -> None:
    picture = AttachmentPart(Slice(0, 0, IDENTITY, None), "p.png", "image/png", 0, "p", is_inline=False)
    html = b" " * MAX_OCTETS + b"<img src=cid:p>"
    halves = [Slice(0, MAX_OCTETS, IDENTITY, None), Slice(MAX_OCTETS, 15, IDENTITY, None)]
    assert not with_shown(html, halves, [picture])[0].is_inline
    assert with_shown(html, halves[1:], [picture])[0].is_inline
