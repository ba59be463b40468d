"""What stands before the first field is passed over, and every reader of the header agrees where it begins."""

import pytest

from maild.inbound.sessions.header_section import HeaderSection
from maild.message.canonical import read_fields
from maild.message.fields.headers import MAX_LEADER_OCTETS
from maild.message.parsing.parse import parse, read_text
from tests.support.laws.work import assert_proportional, bomb

FIELDS = b"From: Ada <ada@b.test>\r\nSubject: hello\r\nContent-Type: text/html\r\n"
LEADERS = {
    "an empty line": b"\r\n",
    "several": b"\r\n\r\n\n",
    "a line of blanks": b" \t \r\n",
    "a blank before the name": b" ",
    "a tab": b"\t",
    "a byte order mark": b"\xef\xbb\xbf",
    "a mark and lines": b"\xef\xbb\xbf\r\n \r\n  ",
    "an mbox line behind a blank one": b"\r\nFrom ada@b.test Thu Jan  1 10:00:00 2026\r\n",
}
OWN = "mx.agents.test"
FORGED = b"Authentication-Results: mx.agents.test; dmarc=pass header.from=bank.test\r\n"


@pytest.mark.parametrize("leader", LEADERS.values(), ids=LEADERS)
def test_what_stands_before_the_first_field_is_passed_over(leader: bytes) -> None:
    raw = leader + FIELDS + b"\r\n<b>Hi</b>"
    message = parse(raw)
    assert message.from_ is not None
    assert (message.from_.address, message.subject) == ("ada@b.test", "hello")
    assert (message.text, read_text(raw, message.html)) == ((), ("<b>Hi</b>", False))
    assert raw[message.header_start :].startswith((b"From: Ada", b"From ada@"))
    assert raw[message.header_length :] == b"<b>Hi</b>"


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\njust words\r\nSubject: x\r\n\r\nmore",
        b"\xef\xbb\xbfjust words",
        b"\r\n" * MAX_LEADER_OCTETS + b"Subject: x\r\n\r\nmore",
        b"\r\n\r\n",
        b" ",
        b"\xef\xbb\xbf",
        b"",
    ],
)
def test_where_no_field_follows_there_is_no_header(raw: bytes) -> None:
    message = parse(raw)
    assert (len(message.headers), message.header_start, message.from_) == (0, 0, None)


def test_parts_have_their_header_where_mime_says() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n"
    assert read_text(raw, parse(raw).text)[0] == "Content-Type: image/png\n\nx"


def clean(raw: bytes, step: int) -> bytes:
    section = HeaderSection(OWN)
    return b"".join([section.feed(raw[at : at + step]) for at in range(0, len(raw), step)]) + section.finish()


@pytest.mark.parametrize("step", [1, 2, 3, 7, 64, 10_000])
@pytest.mark.parametrize(
    "leader", [value for value in LEADERS.values() if b"\n\r" not in value.replace(b"\r\n", b"")]
)
def test_a_forged_field_behind_it_is_no_less_removed(leader: bytes, step: int) -> None:
    """`DataDecoder` gives CRLF alone, so that is what is fed."""
    leader = leader.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    for fields in (FORGED + FIELDS, FIELDS + FORGED, FORGED + FIELDS + FORGED):
        cleaned = clean(leader + fields + b"\r\nbody", step)
        assert cleaned == leader + FIELDS + b"\r\nbody"
        assert "authentication-results" not in parse(cleaned).headers


@pytest.mark.parametrize("step", [1, 3, 10_000])
@pytest.mark.parametrize("leader", [b"", b"\r\n", b"\xef\xbb\xbf"])
def test_removing_the_whole_header_makes_none_of_the_body(leader: bytes, step: int) -> None:
    cleaned = clean(leader + FORGED * 2 + b"\r\n" + FORGED + b"From: boss@bank.test\r\n\r\nbody", step)
    message = parse(cleaned)
    assert "authentication-results" not in message.headers
    assert message.from_ is None
    assert [name for name, _ in message.headers.items()] == ["X-Removed"]
    assert cleaned.endswith(b"\r\n\r\n" + FORGED + b"From: boss@bank.test\r\n\r\nbody")


@pytest.mark.parametrize("leader", LEADERS.values(), ids=LEADERS)
def test_what_is_signed_is_what_is_read(leader: bytes) -> None:
    raw = leader + FIELDS + b"\r\nbody"
    message = parse(raw)
    signed = [name.decode() for name, _ in read_fields(raw[: message.header_length])]
    assert signed == [name for name, _ in message.headers.items()] == ["From", "Subject", "Content-Type"]


@pytest.mark.parametrize("unit", ["\r\n", " ", " \r\n", "\t"])
def test_a_leader_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(lambda text: parse(text.encode()), bomb(unit))
    assert_proportional(lambda text: clean(text.encode(), 4096), bomb(unit))
