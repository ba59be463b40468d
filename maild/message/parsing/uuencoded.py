"""uuencoded files in plain text: `begin 644 name`, lines of at most 45 octets, `end` (POSIX uuencode); and those of
`uuencode -m`: `begin-base64 644 name`, base64, `====`.

Only a whole block at the beginning of lines is one; anything else is words. Linear: a block that fails is not looked
at again, because no line of one begins as `begin` does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from maild.message.characters.decode import BASE64, UUENCODE
from maild.message.octets import Buffer

_MARK = b"begin"
_BEGIN = re.compile(rb"begin(-base64)? [0-7]{3,4} ([^\r\n]{1,255})\r?\n")
_LINE = re.compile(rb"([ -`]{0,87})\r?\n")  # the length, 63 octets in 84 characters, perhaps a checksum
_END = re.compile(rb"end[ \t]*+(?:\r?\n|\r?\Z)")
_BASE64_LINE = re.compile(rb"[A-Za-z0-9+/]{1,84}+={0,2}[ \t]*+\r?\n")
_BASE64_END = re.compile(rb"====[ \t]*+(?:\r?\n|\r?\Z)")
_LINE_FEED = 10


class UuencodedBlock(NamedTuple):
    """A file within raw[start:end]; its encoded lines are raw[lines_start:lines_end]. `name`: raw octets."""

    start: int
    lines_start: int
    lines_end: int
    end: int
    name: bytes
    encoding: str


def find_block(raw: Buffer, start: int, end: int) -> UuencodedBlock | None:
    """The first whole block in raw[start:end]; `start` must be the beginning of a line."""
    at = start
    while (at := raw.find(_MARK, at, end)) >= 0:
        begin = _BEGIN.match(raw, at, end) if at == start or raw[at - 1] == _LINE_FEED else None
        if begin is None:
            at += len(_MARK)
            continue
        lines_end, closing = (_base64 if begin[1] else _uu)(raw, begin.end(), end)
        if closing is not None:
            encoding = BASE64 if begin[1] else UUENCODE
            return UuencodedBlock(at, begin.end(), lines_end, closing.end(), begin[2], encoding)
        at = lines_end
    return None


def _base64(raw: Buffer, at: int, end: int) -> tuple[int, re.Match[bytes] | None]:
    """Where the lines end that hold octets, and what stands below them where that ends the block."""
    while (line := _BASE64_LINE.match(raw, at, end)) is not None:
        at = line.end()
    return at, _BASE64_END.match(raw, at, end)


def _uu(raw: Buffer, at: int, end: int) -> tuple[int, re.Match[bytes] | None]:
    lines_end = _lines_end(raw, at, end)
    last = _LINE.match(raw, lines_end, end)
    closing = last and _END.match(raw, last.end(), end)
    if not closing and lines_end > at:  # without its last line, which says that it was the last
        closing = _END.match(raw, lines_end, end)
    return lines_end, closing


def _lines_end(raw: Buffer, at: int, end: int) -> int:
    """Where the lines that hold octets end."""
    while (line := _LINE.match(raw, at, end)) is not None:
        characters = line.end(1) - at
        octets = (raw[at] - 32) & 63 if characters else 0
        if octets == 0 or characters > 2 + (octets + 2) // 3 * 4:
            break
        at = line.end()
    return at
