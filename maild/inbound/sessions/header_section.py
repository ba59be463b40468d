"""The header section of a message as it comes in: hops counted, and results taken out that only we may give.

RFC 8601 §5: a host that adds Authentication-Results removes those of others that bear its own name, or a reader of
the raw message would believe them. That has to happen before the bytes are stored, since all that we keep of a
message points into them. A signature of the sender's over such a field breaks by that, which the RFC accepts.

Its section is that of `parse` (`maild.message.fields.headers`), which passes over blank lines, blanks and a byte order
mark before the first field. A header of which nothing is left gets a field in place of what was removed: else what
follows its empty line would be read as the header.

Feed it what `DataDecoder` gives (lines end with CRLF and are never cut between the two), in pieces cut anywhere. It
takes linear time, holds back at most MAX_HELD_OCTETS, and touches nothing behind the section.
"""

import re
from itertools import islice

from maild.message.fields.headers import MAX_LEADER_OCTETS, leader_length
from maild.message.fields.idn import is_same_domain
from maild.message.fields.mailboxes import unescape

MAX_HELD_OCTETS = 16 * 1024  # of a field that bears results; no honest one is longer; it is removed
_MAX_NAME_OCTETS = 64
MAX_COMMENT_MARKS = 32  # before the name in such a field, 0.2 µs each
LIGHT_FIELDS = 10  # with results: 2 to 8 µs each; sessions by the hundred may bring some in one round

_STAND_IN = b"\r\nX-Removed: Authentication-Results"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NAME = b"\r\nauthentication-results"
_RESULTS = re.compile(re.escape(_NAME) + rb"[ \t]*+:")
_HOP = re.compile(rb"\r\nreceived[ \t]*+:")
_FIELD_END = re.compile(rb"\r\n(?=[^ \t])")
_BLANKS = re.compile(r"\s*+")
_COMMENT_MARK = re.compile(r"\\.|[()]", re.DOTALL)
_ID = re.compile(r'"((?>(?:[^"\\]++|\\.)*))"|([^\s;("]++)', re.DOTALL)


class HeaderSection:
    """`hops`: Received fields so far; `is_over`: what follows is the body. `authserv_id`: our own, lower case."""

    def __init__(self, authserv_id: str) -> None:
        self.hops = 0
        self._own_id = authserv_id
        self._held = b"\r\n"  # each field is found by the CRLF before it, and the first has none
        self._surplus = 2
        self._leader: bytes | None = b""  # None once the first field has begun
        self._has_removed = False
        self.is_over = self._is_dropping = False

    def is_light(self, piece: bytes) -> bool:
        return self.is_over or piece.lower().count(_NAME) <= LIGHT_FIELDS

    def feed(self, data: bytes) -> bytes:
        if self.is_over:
            return data
        if self._leader is None:
            return self._feed(data)
        data = self._leader + data
        length = leader_length(data, len(data))
        if length < MAX_LEADER_OCTETS and _may_go_on(data[length:]):
            self._leader = data
            return b""
        return self._begin(data, length)

    def _begin(self, data: bytes, length: int) -> bytes:
        self._leader = None
        return data[:length] + self._feed(data[length:])

    def _feed(self, data: bytes) -> bytes:
        text = self._held + data
        if self._is_dropping:
            end = _FIELD_END.search(text)
            if end is None:
                self._held = _line_end(text)
                return b""
            text, self._is_dropping = text[end.start() :], False
        end_of_section = text.find(b"\r\n\r\n")
        if end_of_section < 0:
            return self._emit(self._clean(text, is_whole=False))
        self.is_over = True
        section = self._clean(text[:end_of_section], is_whole=True)
        if not section and self._surplus and self._has_removed:
            section = _STAND_IN
        return self._emit(section, text[end_of_section:])

    def finish(self) -> bytes:
        """What was held back; the message ended within its header section."""
        if self.is_over:
            return b""
        begun = b"" if self._leader is None else self._begin(self._leader, len(self._leader))
        self.is_over = True
        rest = self._held
        section = rest.removesuffix(b"\r\n")
        kept = b"" if self._is_dropping else self._clean(section, is_whole=True)
        return begun + self._emit(kept, rest[len(section) :])

    def _emit(self, section: bytes, body: bytes = b"") -> bytes:
        self.hops += len(_HOP.findall(section.lower()))
        surplus = min(self._surplus, len(section) + len(body))
        self._surplus -= surplus
        return (section + body)[surplus:]

    def _clean(self, text: bytes, *, is_whole: bool) -> bytes:
        """The fields without forged ones; what can't be judged before more comes is held back."""
        kept: list[bytes] = []
        lower, position = text.lower(), 0
        while (found := _RESULTS.search(lower, position)) is not None:
            end = _FIELD_END.search(text, found.end())
            if end is None and not is_whole:
                self._hold(text[found.start() :])
                return b"".join(kept) + text[position : found.start()]
            field_end = len(text) if end is None else end.start()
            is_forged = self._is_ours(text[found.end() : field_end])
            self._has_removed = self._has_removed or is_forged
            kept.append(text[position : found.start() if is_forged else field_end])
            position = field_end
        line = len(text) if is_whole else max(position, text.rfind(b"\r\n"))
        if not _may_become_a_name(lower[line:]):
            line = len(text)
        self._hold(text[line:])
        return b"".join(kept) + text[position:line]

    def _hold(self, rest: bytes) -> None:
        self._is_dropping = len(rest) > MAX_HELD_OCTETS
        self._has_removed = self._has_removed or self._is_dropping
        self._held = _line_end(rest) if self._is_dropping else rest

    def _is_ours(self, value: bytes) -> bool:
        text = value.decode("utf-8", "replace")
        named = _authserv_id(text)
        if named is None:  # it can't be read, and a lax reader may think that it can
            return self._own_id in text.lower()
        return is_same_domain(named, self._own_id)


def _may_go_on(rest: bytes) -> bool:
    """May what was cut here be more of what stands before the first field?"""
    return _BYTE_ORDER_MARK.startswith(rest) or rest == b"\r"


def _line_end(text: bytes) -> bytes:
    return b"\r\n" if text.endswith(b"\r\n") else b""


def _may_become_a_name(line: bytes) -> bool:
    return len(line) <= _MAX_NAME_OCTETS or (line.startswith(_NAME) and not line[len(_NAME) :].strip(b" \t"))


def _authserv_id(value: str) -> str | None:
    """RFC 8601 §2.2: the first word or quoted string, behind blanks and comments; None where none is found there."""
    position = _behind_blanks(value, 0)
    if value.startswith("(", position):
        position = _behind_comments(value, position)
    found = _ID.match(value, position)
    if found is None:
        return None
    return found[2] if found[1] is None else unescape(found[1])


def _behind_blanks(value: str, position: int) -> int:
    blanks = _BLANKS.match(value, position)
    return blanks.end() if blanks else position


def _behind_comments(value: str, position: int) -> int:
    """Behind blanks and comments; the end where one is not closed, or they have too many marks."""
    depth = 0
    for mark in islice(_COMMENT_MARK.finditer(value, position), MAX_COMMENT_MARKS):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            position = _behind_blanks(value, mark.end())
            if not value.startswith("(", position):
                return position
    return len(value)
