"""The canonical forms that DKIM and ARC sign (RFC 6376 §3.4), for signer and verifier, in linear time.

Bodies are taken piece by piece, so that other threads get the interpreter in between. Any octets will do; lines end
with CRLF. Blanks are the space and the tab alone (§2.8).
"""

import hashlib
import re
from collections.abc import Iterator

from maild.message.fields.headers import header_start
from maild.message.octets import Buffer

SIMPLE = b"simple"
RELAXED = b"relaxed"
PIECE_BYTES = 32 * 1024

_BLANKS = re.compile(rb"\t[\t ]*+| [\t ]++")  # more than the one space that stays as it is

# RFC 5322 §2.2: printable US-ASCII but the colon; a blank before it is obsolete (§4.5).
_FIELD = re.compile(rb"^([!-9;-~]++[ \t]*+):([^\n]*+(?:\n[ \t][^\n]*+)*)(?:\n|\Z)", re.MULTILINE)

Field = tuple[bytes, bytes]  # name as written, and the value behind the colon, without the last line end


def read_fields(header: bytes) -> list[Field]:
    """The fields of a header section (CRLF line ends), from the top; lines that are no fields are left out.

    The first is the one that `parse` takes for it, or an author could be named behind a byte order mark whom no
    signature covers.
    """
    header = header[header_start(header, len(header)) :]
    return [(name, value.removesuffix(b"\r")) for name, value in _FIELD.findall(header)]


def header_line(field: Field, form: bytes) -> bytes:
    """The field as it is signed, its line end included."""
    if form == SIMPLE:
        return field[0] + b":" + field[1] + b"\r\n"
    name, value = field
    unfolded = value.replace(b"\r\n", b"").replace(b"\n", b"")
    return name.lower().rstrip(b" \t") + b":" + _one_space(unfolded).strip(b" \t\r\n") + b"\r\n"


def body_hash(raw: Buffer, body_at: int, form: bytes = RELAXED, piece_bytes: int = PIECE_BYTES) -> bytes:
    """SHA-256 of the canonical body, which begins at `body_at`."""
    pieces = pieces_of_lines(raw, body_at, piece_bytes)
    return _simple_hash(pieces) if form == SIMPLE else _relaxed_hash(pieces)


def _relaxed_hash(pieces: Iterator[bytes]) -> bytes:
    """RFC 6376 §3.4.4."""
    found = hashlib.sha256()
    line_ends = 0  # since the last word: they count if another follows
    has_words = False
    for lines in pieces:
        piece = lines
        if b" " in lines or b"\t" in lines:  # found in a thirtieth of the time that two octets take
            piece = _one_blank(piece)
        words = piece.rstrip(b"\r\n")
        if words:
            found.update(b"\r\n" * line_ends + words)
            line_ends, has_words = 0, True
        line_ends += (len(piece) - len(words)) // 2
    if has_words:
        found.update(b"\r\n")
    return found.digest()


def _one_blank(lines: bytes) -> bytes:
    """Each run of blanks as one space, and none before a line end."""
    return _one_space(lines).replace(b" \r\n", b"\r\n")


def _one_space(text: bytes) -> bytes:
    """Each run of blanks as one space."""
    return _BLANKS.sub(b" ", text) if b"\t" in text or b"  " in text else text


def _simple_hash(pieces: Iterator[bytes]) -> bytes:
    """RFC 6376 §3.4.3: an empty body is one line end."""
    found = hashlib.sha256()
    line_ends = 0
    for lines in pieces:
        words = lines.rstrip(b"\r\n")
        if words:
            found.update(b"\r\n" * line_ends + words)
            line_ends = 0
        line_ends += (len(lines) - len(words)) // 2
    found.update(b"\r\n")
    return found.digest()


def pieces_of_lines(raw: Buffer, at: int = 0, piece_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """Whole lines from `at` on, some `piece_bytes` at a time."""
    while at < len(raw):
        line_end = raw.find(b"\n", at + piece_bytes)
        end = len(raw) if line_end < 0 else line_end + 1
        yield bytes(raw[at:end])
        at = end
