"""The header section: where it ends, its fields in order, unfolded on demand.

Values are kept as latin-1 text of the raw octets, so that splitting costs one pass and nothing is
lost; `Headers.get` shows them as UTF-8 where they are UTF-8 (RFC 6532 §3.2), else as latin-1.

What `parse` takes for the header of a message is what `header_start` and `find_body` say, and nothing else: whoever
judges fields of it (forged results, signatures, the author) asks them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from maild.message.octets import Buffer

MAX_HEADER_BYTES = 256 * 1024  # Postfix keeps 100 KiB (header_size_limit)
MAX_HEADER_FIELDS = 10_000
MAX_LEADER_OCTETS = 1024  # what may stand before the first field
_WINDOW_OCTETS = 64 * 1024
_FEW_BYTES = 2 * MAX_HEADER_FIELDS  # too few for more fields than that: `a:`

# RFC 5322 §2.2: printable US-ASCII but the colon; §4.5 allows blanks before it.
_FIELD = re.compile(r"^([!-9;-~]++)[ \t]*+:[ \t]*+([^\n]*+(?:\n[ \t][^\n]*+)*)", re.MULTILINE)
_FIELD_START = re.compile(rb"[!-9;-~]{1,998}+[ \t]*+:")
_COLON = re.compile(rb"[ \t]*+:")
_BLANK_LINE = re.compile(rb"\r?\n")
_MBOX_START = re.compile(rb">?From [^\n]{0,998}\n")
_LEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*+\r?+\n)*[ \t]*+")
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_LINE_OF_FIELD = re.compile(rb"^[!-9;-~]{1,998}+[ \t]*+:", re.MULTILINE)
_BOUNDARY = re.compile(rb"\bboundary[ \t]*+=[ \t]*+\"?+", re.IGNORECASE)
_BOUNDARY_END = re.compile(rb"[\"; \t\r\n]")
_LAST_FIELD = re.compile(rb"[^\n]*+\n(?:[ \t]++[^ \t\r\n][^\n]*+\n)*")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\r\n"))
_FOLDED_NAME = re.compile(rb"\r?\n[ \t]++:")
_BARE_CR = re.compile(rb"\r(?!\n)")


class Headers:
    """The fields of one header section, in order and in their own case; look-up ignores case."""

    __slots__ = ("_fields", "_index")

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self._fields = fields
        index: dict[str, list[int]] = {}
        for position, (name, _) in enumerate(fields):
            key = name.lower()
            if key in index:
                index[key].append(position)
            else:
                index[key] = [position]
        self._index = index

    def get(self, name: str) -> str | None:
        """The first field of that name: raw value, unfolded; None when there is none."""
        found = self._index.get(name.lower())
        return None if found is None else _show(self._fields[found[0]][1])

    def get_all(self, name: str) -> list[str]:
        """Every field of that name, in order, unfolded."""
        return [_show(self._fields[at][1]) for at in self._index.get(name.lower(), ())]

    def items(self) -> Iterator[tuple[str, str]]:
        """(name as written, unfolded value), in order."""
        return ((name, _show(value)) for name, value in self._fields)

    def raw_items(self) -> Iterator[tuple[str, str]]:
        """Like `items`, but as they were read, each character one raw octet: for the `Headers` of some of them."""
        return iter(self._fields)

    def escaped(self, name: str) -> list[str]:
        """Like `get_all`, but octets that are no UTF-8 stand as lone surrogates (PEP 383), for `encoded_words`."""
        return [_escape(self._fields[at][1]) for at in self._index.get(name.lower(), ())]

    def octets(self, name: str) -> str | None:
        """Like `get`, but each character is one raw octet: for boundaries and charsets."""
        found = self._index.get(name.lower())
        return None if found is None else unfold(self._fields[found[0]][1])

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._index

    def __len__(self) -> int:
        return len(self._fields)


def read_headers(block: bytes) -> Headers:
    """The fields of a header section; lines that are not fields are passed over. Never raises."""
    text = block.decode("latin-1")
    if len(block) < _FEW_BYTES:
        return Headers(_FIELD.findall(text))
    found = islice(_FIELD.finditer(text), MAX_HEADER_FIELDS)
    return Headers([(field[1], field[2]) for field in found])


def header_start(raw: Buffer, end: int) -> int:
    """Where the first field of the message raw[:end] stands; 0 for a message that has none.

    By RFC 5322 a message that begins with an empty line has no fields. What web pages and editors saved does begin so,
    or with blanks or a byte order mark, and readers pass over these.
    """
    start = leader_length(raw, end)
    return start if start and _begins_with_field(raw, start, end) else 0


def leader_length(raw: Buffer, end: int) -> int:
    """How many octets a reader may pass over before the first field of raw[:end]: MAX_LEADER_OCTETS at most."""
    leader = _LEADER.match(raw, 0, min(end, MAX_LEADER_OCTETS))
    return leader.end() if leader else 0


def is_read_alike(block: bytes, name: str, headers: Headers) -> bool:
    """Whether readers that drop controls, take a bare CR for a line's end, or unfold before they look for names, see
    the same fields of that name.

    `headers`: what was read of the block.
    """
    variants = []
    if len(block.translate(None, _CONTROLS)) < len(block):
        variants.append(block.translate(None, _CONTROLS))
    if block.count(b"\r") > block.count(b"\r\n"):
        variants.append(_BARE_CR.sub(b"\n", block))
    if _FOLDED_NAME.search(block):
        variants.append(_FOLDED_NAME.sub(b":", block))
    found = headers.get_all(name)
    return all(read_headers(one).get_all(name) == found for one in variants)


def has_field(raw: Buffer, start: int, end: int, name: bytes) -> bool:
    """Whether a line that begins in raw[start:end] begins with that field name (lower case)."""
    mark = b"\n" + name
    for at in range(max(0, start - 1), end, _WINDOW_OCTETS):
        window = bytes(raw[at : min(end, at + _WINDOW_OCTETS + len(mark))]).lower()
        found = window.find(mark)
        while found >= 0:
            if _COLON.match(raw, at + found + len(mark), end):
                return True
            found = window.find(mark, found + 1)
    return False


def find_body(raw: Buffer, start: int, end: int) -> tuple[int, int]:
    """(end of the fields, start of the body) of the entity in raw[start:end].

    The fields end at the first empty line (RFC 5322 §2.1). An entity that does not begin with a
    field has none, and is all body. Where nothing follows the empty line, or there is none, lines behind the last
    field that belong to none are the body: what is shown is then what signatures are about. So is all from the first
    delimiter of a multipart that no empty line divides from its fields.
    """
    if not _begins_with_field(raw, start, end):
        blank = _BLANK_LINE.match(raw, start, end)
        return start, start if blank is None else blank.end()
    crlf = raw.find(b"\n\r\n", start, end)
    bare = raw.find(b"\n\n", start, end if crlf < 0 else crlf)
    if bare >= 0:
        fields_end, body = bare + 1, bare + 2
    else:
        fields_end, body = (crlf + 1, crlf + 3) if crlf >= 0 else (end, end)
    if fields_end - start > _WINDOW_OCTETS:
        return fields_end, body
    delimiter = _delimiter_among(raw, start, fields_end)
    if delimiter is not None:
        return delimiter, delimiter
    if _is_blank(raw, body, end):
        words = _behind_fields(raw, start, fields_end)
        if not _is_blank(raw, words, fields_end) and not _may_hold_fields(bytes(raw[words:fields_end])):
            return words, words
    return fields_end, body


def _delimiter_among(raw: Buffer, start: int, end: int) -> int | None:
    """Where a line among the fields of raw[start:end] is the delimiter that one of them declares, and no fields but
    those of a part stand below: whoever passes over the line must not find another author there."""
    at = raw.find(b"\n--", start, end) + 1
    if not at:
        return None
    section = bytes(raw[start:end])
    line = section[at - start :].partition(b"\n")[0].strip()
    is_declared = any(
        section.startswith(line[2:], found.end())
        and _BOUNDARY_END.match(section, found.end() + len(line) - 2)
        for found in _BOUNDARY.finditer(section, 0, at - start)
    )
    names = _LINE_OF_FIELD.findall(section, at - start)
    is_part = all(name.lower().startswith(b"content-") for name in names)
    return at if is_declared and is_part and not _may_hold_fields(section) else None


def _is_blank(raw: Buffer, start: int, end: int) -> bool:
    found = _BLANKS.match(raw, start, end)
    return found is None or found.end() == end


def _may_hold_fields(block: bytes) -> bool:
    """Other readers may see fields where some are, and they have to be judged as such (`is_read_alike`)."""
    has_controls = len(block.translate(None, _CONTROLS)) < len(block)
    return has_controls or block.count(b"\r") > block.count(b"\r\n") or bool(_FOLDED_NAME.search(block))


def _behind_fields(raw: Buffer, start: int, end: int) -> int:
    """Where the last field of raw[start:end] ends, with the lines that continue it; one of blanks does not."""
    last = start
    for field in _LINE_OF_FIELD.finditer(raw, start, end):
        last = field.start()
    lines = _LAST_FIELD.match(raw, last, end)
    return lines.end() if lines else end


def _begins_with_field(raw: Buffer, start: int, end: int) -> bool:
    return bool(_FIELD_START.match(raw, start, end) or _MBOX_START.match(raw, start, end))


def unfold(value: str) -> str:
    """RFC 5322 §2.2.3: the line breaks go, the blanks stay."""
    if "\n" in value:
        value = value.replace("\r\n", "").replace("\n", "")
    if "\r" in value:
        value = value.rstrip("\r").replace("\r", " ")
    return value.rstrip(" \t")


def octets_to_text(value: str) -> str:
    """latin-1 text of raw octets as UTF-8 if it is that, else unchanged."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def escape_octets(value: str) -> str:
    """latin-1 text of raw octets as UTF-8; octets that are none stand as lone surrogates (PEP 383)."""
    return value if value.isascii() else value.encode("latin-1", "replace").decode("utf-8", "surrogateescape")


def _escape(value: str) -> str:
    return escape_octets(unfold(value))


def _show(value: str) -> str:
    value = unfold(value)
    return value if value.isascii() else octets_to_text(value)
