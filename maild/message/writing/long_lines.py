"""Parts with lines that no host has to take (RFC 5321 §4.5.3.1.6), in a transfer encoding that breaks them.

    text that is not encoded                    quoted-printable; base64 where much of it is beyond ASCII
    base64                                      the same digits, in lines
    other leaves that are not encoded, quoted-printable that is wrong    base64

What a reader makes of a part stays the same, octet for octet. What is signed or encrypted, and messages within
messages, stay as they are: their octets are somebody's proof. So do header lines, the words around parts, and more than
MAX_QUOTED_OCTETS of quoted-printable.
Pure; windows of bounded size, so that each step is short whatever the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from pybase64 import b64encode

from maild.message.characters.decode import BASE64, IDENTITY, QUOTED_PRINTABLE, decode_stream
from maild.message.fields.headers import find_body, read_headers
from maild.message.fields.parameters import media_type, read_value
from maild.message.octets import Buffer, RawMessage
from maild.message.parsing.mime import (
    ENCODINGS,
    MAX_PART_HEADER_BYTES,
    MAX_PARTS,
    before_line_break,
    delimiter_of,
    find_delimiter,
)
from maild.message.writing.body_writer import write_quoted_printable
from maild.message.writing.header_writer import MAX_LINE_OCTETS

MAX_ENCODED_DEPTH: Final = 20  # of multiparts; mail programs nest three or four
MAX_QUOTED_OCTETS: Final = 1024 * 1024  # a line is decoded as a whole, which holds the interpreter
WINDOW_OCTETS: Final = 57 * 1024

_LINE_OCTETS = 76
_KEPT = frozenset({"multipart/signed", "multipart/encrypted"})  # RFC 1847
_ENCODING_FIELD = re.compile(rb"^content-transfer-encoding[ \t]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.I | re.M)
_PLAIN_OCTETS = bytes([*b"\t\r\n", *range(0x20, 0x7F)])


class LongLineWatch:
    """Sees a line of more than 998 octets and its CRLF among octets that come in pieces: `found`."""

    def __init__(self) -> None:
        self.found = False
        self._open = 0  # octets of the line that goes on

    def feed(self, data: bytes) -> None:
        """The next piece, of any size; costs nothing for what is cut into lines, however many."""
        begin, end = -self._open, len(data)  # where the line begins
        while end - begin > MAX_LINE_OCTETS + 1:  # its CR may stand there
            line_end = data.rfind(b"\n", max(begin, 0), max(begin + MAX_LINE_OCTETS + 2, 0))
            if line_end < 0:
                self.found = True
                return
            begin = line_end + 1
        last_end = data.rfind(b"\n", max(begin, 0))
        self._open = end - (begin if last_end < 0 else last_end + 1)


class _Leaf(NamedTuple):
    """A part that is no multipart: its fields, and where the empty line behind them and the body begin and end."""

    start: int
    fields_end: int
    body: int
    end: int
    is_text: bool
    encoding: str


def break_long_lines(raw: RawMessage) -> Iterator[bytes]:
    """The message in pieces. `raw`: lines that end with CRLF, a header section that begins with a field."""
    raw = bytes(raw) if isinstance(raw, memoryview) else raw
    at = 0
    for leaf in _leaves(raw):
        if _is_too_much(leaf) or not _has_long_line(raw, leaf.body, leaf.end):
            continue
        yield from _windows(raw, at, leaf.start)
        yield from _encoded(raw, leaf)
        at = leaf.end
    yield from _windows(raw, at, len(raw))


def _leaves(raw: Buffer) -> Iterator[_Leaf]:
    """Those that may be written anew, in order."""
    left = MAX_PARTS

    def of_entity(start: int, end: int, default_type: str, depth: int) -> Iterator[_Leaf]:
        nonlocal left
        left -= 1
        fields_end, body = find_body(raw, start, end)
        headers = read_headers(bytes(raw[start : min(fields_end, start + MAX_PART_HEADER_BYTES)]))
        declared = headers.octets("content-type")
        word, parameters = (default_type, {}) if declared is None else read_value(declared)
        kind = media_type(word)
        if not kind.startswith("multipart/"):
            encoding = ENCODINGS.get((headers.octets("content-transfer-encoding") or "7bit").strip().lower())
            is_whole = raw[fields_end:body] == b"\r\n" and fields_end - start <= MAX_PART_HEADER_BYTES
            if encoding is not None and is_whole and not kind.startswith("message/"):
                yield _Leaf(start, fields_end, body, end, kind.startswith("text/"), encoding)
        elif kind not in _KEPT and depth < MAX_ENCODED_DEPTH and (delimiter := delimiter_of(parameters)):
            default_type = "message/rfc822" if kind == "multipart/digest" else "text/plain"
            for part_start, part_end in _parts(raw, delimiter, body, end):
                if left > 0:
                    yield from of_entity(part_start, part_end, default_type, depth + 1)

    yield from of_entity(0, len(raw), "text/plain", 0)


def _parts(raw: Buffer, delimiter: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    found = find_delimiter(raw, delimiter, start, end)
    while found is not None and not found[2]:
        part = found[1]
        found = find_delimiter(raw, delimiter, part, end)
        yield part, end if found is None else before_line_break(raw, part, found[0])


def _is_too_much(leaf: _Leaf) -> bool:
    return leaf.encoding == QUOTED_PRINTABLE and leaf.end - leaf.body > MAX_QUOTED_OCTETS


def _has_long_line(raw: Buffer, start: int, end: int) -> bool:
    watch = LongLineWatch()
    for window in _windows(raw, start, end):
        watch.feed(window)
        if watch.found:
            return True
    return False


def _windows(raw: Buffer, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, WINDOW_OCTETS):
        yield bytes(raw[at : min(end, at + WINDOW_OCTETS)])


def _encoded(raw: Buffer, leaf: _Leaf) -> Iterator[bytes]:
    """The leaf, fields and body."""
    is_words = leaf.is_text and leaf.encoding == IDENTITY and _is_mostly_ascii(raw, leaf)
    fields = _ENCODING_FIELD.sub(b"", bytes(raw[leaf.start : leaf.fields_end]))
    if leaf.start == 0 and "mime-version" not in read_headers(fields):
        fields += b"MIME-Version: 1.0\r\n"  # RFC 2045 §4: without it there are no encodings
    yield b"%bContent-Transfer-Encoding: %b\r\n\r\n" % (
        fields,
        (QUOTED_PRINTABLE if is_words else BASE64).encode("ascii"),
    )
    if is_words:
        yield from _quoted_printable(raw, leaf.body, leaf.end)
    else:
        octets = _windows(raw, leaf.body, leaf.end)
        yield from _in_lines(_digits(octets) if leaf.encoding == BASE64 else _base64(octets, leaf.encoding))
        if leaf.end == len(raw):
            yield b"\r\n"


def _is_mostly_ascii(raw: Buffer, leaf: _Leaf) -> bool:
    """Is quoted-printable, three octets for one, shorter than base64, four for three?"""
    others = sum(len(one.translate(None, _PLAIN_OCTETS)) for one in _windows(raw, leaf.body, leaf.end))
    return others * 6 <= leaf.end - leaf.body


def _quoted_printable(raw: Buffer, start: int, end: int) -> Iterator[bytes]:
    """Cut behind a line's end where there is one; else the line goes on behind a soft break (RFC 2045 §6.7)."""
    while start < end:
        cut = end
        if end - start > WINDOW_OCTETS:
            line_end = raw.rfind(b"\n", start, start + WINDOW_OCTETS)
            cut = start + WINDOW_OCTETS if line_end < 0 else line_end + 1
            cut -= raw[cut - 1] == 13  # CR and LF stay together
        encoded = write_quoted_printable(bytes(raw[start:cut]))
        yield encoded if cut == end or encoded.endswith(b"\r\n") else encoded + b"=\r\n"
        start = cut


def _base64(windows: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """The digits of what they decode to."""
    decoder = decode_stream(encoding)
    held = b""
    for window in windows:
        held += decoder.feed(window)
        whole = len(held) - len(held) % 3  # octets that four digits stand for
        yield b64encode(held[:whole])
        held = held[whole:]
    yield b64encode(held + decoder.flush())


def _digits(windows: Iterator[bytes]) -> Iterator[bytes]:
    return (window.translate(None, b" \t\r\n") for window in windows)


def _in_lines(digits: Iterator[bytes]) -> Iterator[bytes]:
    """Lines of 76, CRLF between them."""
    held = b""
    separator = b""
    for piece in digits:
        held += piece
        whole = len(held) - len(held) % _LINE_OCTETS
        if whole:
            lines = [held[at : at + _LINE_OCTETS] for at in range(0, whole, _LINE_OCTETS)]
            yield separator + b"\r\n".join(lines)
            separator = b"\r\n"
            held = held[whole:]
    if held:
        yield separator + held
