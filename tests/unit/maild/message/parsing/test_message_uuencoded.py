"""uuencoded files in texts are attachments, and the words around them the text (maild/message/parsing/uuencoded.py)."""

import base64
import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.characters.decode import decode_slice
from maild.message.parsing.mime import MAX_PARTS
from maild.message.parsing.parse import parse, read_text
from maild.message.parsing.uuencoded import find_block
from tests.support.laws.work import assert_proportional, bomb

CONTENT = bytes(range(256)) * 3


def uuencoded(content: bytes, name: bytes = b"a.pdf", end: bytes = b"\r\n", zero: bytes = b"`") -> bytes:
    lines = [binascii.b2a_uu(content[at : at + 45]).rstrip(b"\n") for at in range(0, len(content), 45)]
    return end.join([b"begin 644 " + name, *lines, zero, b"end", b""])


def read(body: bytes, head: bytes = b"") -> tuple[str, list[tuple[str, str, bytes]]]:
    raw = head + b"Subject: x\r\n\r\n" + body
    message = parse(raw)
    files = []
    for one in message.attachments:
        at = one.slice
        content = decode_slice(raw[at.offset : at.offset + at.length], at.encoding)
        assert len(content) == one.size_bytes
        files.append((one.filename, one.content_type, content))
    return read_text(raw, message.text)[0], files


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize("zero", [b"`", b" ", b""])
def test_a_file_between_words(end: bytes, zero: bytes) -> None:
    text, files = read(b"before" + end + uuencoded(CONTENT, end=end, zero=zero) + b"after" + end)
    assert text == "before\nafter\n"
    assert files == [("a.pdf", "application/pdf", CONTENT)]


def in_base64(content: bytes, end: bytes = b"\r\n") -> bytes:
    """As `uuencode -m` writes it."""
    lines = base64.encodebytes(content).splitlines()
    return end.join([b"begin-base64 644 a.pdf", *lines, b"====", b""])


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize("content", [b"", b"a", CONTENT])
def test_a_file_in_base64_between_words(end: bytes, content: bytes) -> None:
    body = (
        b"before" + end + in_base64(content, end) + b"between" + end + uuencoded(b"b", b"b", end) + b"after"
    )
    text, files = read(body)
    assert text == "before\nbetween\nafter"
    assert files == [("a.pdf", "application/pdf", content), ("b", "application/octet-stream", b"b")]


def test_several_files_and_odd_names() -> None:
    names = ["my holiday.jpeg", "../etc/passwd", "说明.txt"]
    body = b"".join(uuencoded(CONTENT[:n], name.encode()) for n, name in enumerate(names))
    text, files = read(body)
    assert text == ""
    assert files == [
        ("my holiday.jpeg", "image/jpeg", b""),
        ("_etc_passwd", "application/octet-stream", CONTENT[:1]),
        ("说明.txt", "text/plain", CONTENT[:2]),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"We begin 644 things\r\nend\r\n",
        b"begin 644 a\r\nnot a line of it\r\nend\r\n",
        b"We\r\nbegin 100 days of it\r\nend\r\n",
        uuencoded(CONTENT).replace(b"end\r\n", b""),
        uuencoded(CONTENT).replace(b"begin", b" begin"),
        uuencoded(CONTENT).replace(b"begin 644", b"begin 9"),
        uuencoded(CONTENT).replace(b"\r\nM", b"\r\n#"),
        b"> " + uuencoded(CONTENT).replace(b"\r\n", b"\r\n> "),
        b"begin 644 \r\n`\r\nend\r\n",
        in_base64(CONTENT).replace(b"====", b"==="),
        in_base64(CONTENT).replace(b"begin", b">begin"),
        in_base64(CONTENT).replace(b"64 6", b"64  6"),
        in_base64(CONTENT).replace(b"AAEC", b"A EC"),
        b"begin-base64 644 a\r\nwords\r\n\r\n====\r\n",
    ],
)
def test_what_is_no_whole_block_stays_text(body: bytes) -> None:
    text, files = read(body)
    assert (text, files) == (body.decode().replace("\r\n", "\n"), [])


def test_a_part_that_is_uuencoded_as_a_whole() -> None:
    head = b"Content-Type: image/png; name=b.png\r\nContent-Transfer-Encoding: X-UUEncode\r\n"
    assert read(uuencoded(CONTENT), head) == ("", [("b.png", "image/png", CONTENT)])
    head = b"Content-Type: text/plain\r\nContent-Transfer-Encoding: x-uue\r\n"
    assert read(uuencoded(b"words\n"), head) == ("words\n", [])
    assert read(b"no block", head) == ("no block", [])


def test_files_count_as_parts() -> None:
    text, files = read(uuencoded(b"") * (MAX_PARTS + 5))
    assert len(files) == MAX_PARTS
    assert text.count("begin") == 5


@given(st.binary(max_size=300), st.sampled_from([b"\r\n", b"\n"]))
def test_any_octets_come_back(content: bytes, end: bytes) -> None:
    assert read(uuencoded(content, end=end))[1] == [("a.pdf", "application/pdf", content)]


@pytest.mark.parametrize(
    "unit",
    [
        "begin ",
        "begin 644 a\n",
        "begin 644 a\n#86)C\n",
        "#86)C\n",
        "\nbegin 644 a\n`\n",
        "begin 644 a\n`\nend\n",
        "begin-base64 644 a\nYQ==\n",
        "\nbegin-base64 644 a\n====\n",
    ],
)
@pytest.mark.parametrize("before", ["", "begin 644 a\n", "begin-base64 644 a\n"])
def test_blocks_take_work_in_proportion(unit: str, before: str) -> None:
    assert_proportional(lambda text: find_block(text.encode(), 0, len(text)), bomb(unit, before))
    find_block(bomb(unit, before).whole().encode(), 0, 10**6)
    assert_proportional(lambda text: parse(b"Subject: x\n\n" + text.encode()), bomb(unit, before))
