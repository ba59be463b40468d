"""Lines that no host has to take are carried by a transfer encoding; what a reader makes of the mail stays the same."""

import base64
import quopri
from email import message_from_bytes
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.writing.long_lines import WINDOW_OCTETS, LongLineWatch, break_long_lines

LONG = b"0123456789 " * 120
HEADER = b"From: bot@ours.test\r\nMIME-Version: 1.0\r\n"


def broken(raw: bytes) -> bytes:
    return b"".join(break_long_lines(raw))


def longest(raw: bytes) -> int:
    return max(map(len, raw.split(b"\r\n")))


def leaves(raw: bytes) -> list[tuple[str, bytes]]:
    """As a reader that nobody here wrote sees them."""
    found = []
    for part in message_from_bytes(raw).walk():
        assert isinstance(part, Message)
        if not part.is_multipart():
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            found.append((part.get_content_type(), payload))
    return found


def multipart(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(b"--b\r\n%b\r\n" % part for part in parts)
    return HEADER + b"Content-Type: multipart/%b; boundary=b\r\n\r\nfor old readers\r\n%b--b--\r\n" % (
        kind,
        body,
    )


def test_a_line_of_text_is_carried_and_read_as_it_was() -> None:
    raw = HEADER + b"Content-Type: text/html\r\n\r\n<p>\r\n" + LONG + b" \r\nFrom here\r\n.\r\n"
    sent = broken(raw)
    assert longest(sent) <= 76
    assert b"\r\nFrom " not in sent[10:]
    assert b"Content-Transfer-Encoding: quoted-printable\r\n\r\n" in sent
    assert leaves(sent) == leaves(raw)


def test_text_that_is_mostly_beyond_ascii_is_base64() -> None:
    raw = HEADER + b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    raw += "日本語".encode() * 400 + b"\r\n"
    sent = broken(raw)
    assert sent.isascii()
    assert sent.count(b"Content-Transfer-Encoding") == 1
    assert b"Content-Transfer-Encoding: base64\r\n\r\n" in sent
    assert leaves(sent) == leaves(raw)


def test_base64_in_one_line_gets_lines() -> None:
    octets = bytes(range(256)) * 10
    part = b"Content-Type: image/png\r\nContent-Transfer-Encoding: BASE64\r\n\r\n" + base64.b64encode(octets)
    raw = multipart(b"mixed", b"\r\nshort\r\n", part)
    sent = broken(raw)
    assert longest(sent) <= 76
    assert leaves(sent) == leaves(raw) == [("text/plain", b"short\r\n"), ("image/png", octets)]


def test_quoted_printable_that_was_not_broken_is_carried() -> None:
    words = quopri.encodestring("Grüße, ".encode() * 300).replace(b"=\n", b"")
    raw = (
        HEADER
        + b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
    )
    raw += words + b"\r\n"
    sent = broken(raw)
    assert longest(sent) <= 76
    assert leaves(sent) == leaves(raw)


def test_each_part_is_looked_at_for_itself() -> None:
    short = b"Content-Type: text/plain\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGr\xc3\xbc\xc3\x9fe"
    raw = multipart(b"alternative", short, b"Content-Type: text/html\r\n\r\n" + LONG)
    sent = broken(raw)
    assert short in sent
    assert b"for old readers\r\n" in sent
    assert longest(sent) <= 76
    assert leaves(sent) == leaves(raw)


def test_a_part_without_fields_gets_one() -> None:
    raw = multipart(b"mixed", b"\r\n" + LONG)
    sent = broken(raw)
    assert b"--b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" in sent
    assert leaves(sent) == leaves(raw)


def test_mail_that_is_no_mime_becomes_it() -> None:
    raw = b"From: bot@ours.test\r\nSubject: x\r\n\r\n" + LONG + b"\r\n"
    sent = broken(raw)
    assert b"\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" in sent
    assert leaves(sent) == leaves(raw)


@pytest.mark.parametrize(
    "raw",
    [
        multipart(b"signed; protocol=x", b"\r\n" + LONG, b"Content-Type: application/pgp-signature\r\n\r\nx"),
        multipart(b"encrypted", b"\r\n" + LONG),
        multipart(b"mixed", b"Content-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n" + LONG),
        multipart(b"digest", b"\r\nSubject: x\r\n\r\n" + LONG),
        HEADER + b"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + b"=3D" * 500_000 + b"\r\n",
        HEADER + b"Content-Transfer-Encoding: x-mine\r\n\r\n" + LONG + b"\r\n",
        HEADER + b"\r\n" + b"x" * 998 + b"\r\n" + b"y" * 998 + b"\r\n",
        HEADER + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + LONG + b"\r\n",
    ],
)
def test_what_is_somebodys_proof_or_fits_stays_octet_for_octet(raw: bytes) -> None:
    assert broken(raw) == raw


@pytest.mark.parametrize(
    "words", [b"a" * (3 * WINDOW_OCTETS), b"a b\r\n" * WINDOW_OCTETS + LONG, b" \r\n".join([LONG] * 60)]
)
@pytest.mark.parametrize("kind", [b"text/plain", b"application/octet-stream"])
def test_a_large_part_is_written_in_bounded_pieces(words: bytes, kind: bytes) -> None:
    raw = HEADER + b"Content-Type: %b\r\n\r\n%b\r\n" % (kind, words)
    pieces = list(break_long_lines(raw))
    assert max(map(len, pieces)) < 4 * WINDOW_OCTETS
    assert longest(b"".join(pieces)) <= 76
    assert leaves(b"".join(pieces)) == leaves(raw)


def test_cr_and_lf_stay_together_where_a_window_ends() -> None:
    words = b"a" * (WINDOW_OCTETS - 1) + b"\r\n" + LONG
    raw = HEADER + b"\r\n" + words + b"\r\n"
    assert leaves(broken(raw)) == [("text/plain", words + b"\r\n")]


LINES = st.lists(st.integers(0, 1100), max_size=6)


@given(LINES, st.lists(st.integers(1, 700), max_size=12))
def test_the_watch_sees_a_long_line_however_it_comes(lengths: list[int], sizes: list[int]) -> None:
    octets = b"".join(b"x" * length + b"\r\n" for length in lengths)
    watch = LongLineWatch()
    at = 0
    for size in [*sizes, len(octets)]:
        watch.feed(octets[at : at + size])
        at += size
    assert watch.found == any(length > 998 for length in lengths)


@given(
    st.lists(
        st.sampled_from([b"x" * 40, b" ", b"\r\n", b"=", b".", b"From ", b"\xc3\xa9" * 9, b"\t", LONG]),
        max_size=40,
    )
)
def test_whatever_the_words_are_they_are_read_as_they_were(words: list[bytes]) -> None:
    raw = HEADER + b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    raw += b"".join(words) + b"\r\n"
    sent = broken(raw)
    assert longest(sent) <= 998
    assert leaves(sent) == leaves(raw)
