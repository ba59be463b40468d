"""S/MIME that is signed and has no other form: the message within `application/pkcs7-mime` (RFC 8551 §3.5.2).

Of the CMS structure (RFC 5652 §5) nothing is read but the way to the content, in DER or BER; nothing is verified. The
work is bounded by MAX_OCTETS and MAX_CHUNKS; what goes beyond them is cut, or nothing.
"""

from __future__ import annotations

from typing import Final

from maild.message.characters.decode import decode_slice
from maild.message.fields.parameters import OCTET_STREAM
from maild.message.model import AttachmentPart
from maild.message.octets import RawMessage

SIGNED_TYPES: Final = ("application/pkcs7-mime", "application/x-pkcs7-mime")
MAX_OCTETS: Final = 1024 * 1024  # of the structure that are read
MAX_CHUNKS: Final = 2000  # programs that stream write some thousand octets in each

_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_DATA: Final = bytes.fromhex("2a864886f70d010701")
_INTEGER, _OCTETS, _OBJECT, _SEQUENCE, _SET = 0x02, 0x04, 0x06, 0x30, 0x31
_CONSTRUCTED_OCTETS, _EXPLICIT = 0x24, 0xA0


class _NotSignedError(Exception):
    """It is something else, or broken."""


def signed_message(raw: RawMessage, part: AttachmentPart) -> bytes | None:
    """The message that the part holds, with the fields that tell its parts; None where it holds none."""
    is_called_so = part.content_type == OCTET_STREAM and part.filename.lower().endswith(".p7m")
    if part.content_type not in SIGNED_TYPES and not is_called_so:  # RFC 8551 §3.10
        return None
    at, length = part.slice.offset, min(part.slice.length, MAX_OCTETS * 3 // 2)
    try:
        return _content(decode_slice(bytes(raw[at : at + length]), part.slice.encoding)[:MAX_OCTETS])
    except _NotSignedError:
        return None


def _content(structure: bytes) -> bytes:
    reader = _BerReader(structure)
    reader.enter(_SEQUENCE)
    if reader.read(_OBJECT) != _SIGNED_DATA:
        raise _NotSignedError
    reader.enter(_EXPLICIT)
    reader.enter(_SEQUENCE)
    reader.read(_INTEGER)
    reader.read(_SET)  # of digest algorithms
    reader.enter(_SEQUENCE)
    if reader.read(_OBJECT) != _DATA:
        raise _NotSignedError
    reader.enter(_EXPLICIT)
    if not reader.is_at(_CONSTRUCTED_OCTETS):
        return reader.read(_OCTETS)
    reader.enter(_CONSTRUCTED_OCTETS)
    chunks: list[bytes] = []
    while reader.is_at(_OCTETS):
        if len(chunks) == MAX_CHUNKS:
            raise _NotSignedError
        chunks.append(reader.read(_OCTETS))
    return b"".join(chunks)


class _BerReader:
    """Reads one element behind the other (X.690 §8.1), and may go into one; where that ends it does not ask."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def is_at(self, tag: int) -> bool:
        return self._octets[self._at : self._at + 1] == bytes([tag])

    def enter(self, tag: int) -> None:
        self._length(tag)

    def read(self, tag: int) -> bytes:
        """Its content, or the beginning of it where the octets end before."""
        length = self._length(tag)
        if length is None:
            raise _NotSignedError
        start = self._at
        self._at += length
        return self._octets[start : self._at]

    def _length(self, tag: int) -> int | None:
        """Of the content, which comes next; None where its end is marked (X.690 §8.1.3.6)."""
        if not self.is_at(tag) or self._at + 1 >= len(self._octets):
            raise _NotSignedError
        first = self._octets[self._at + 1]
        self._at += 2
        if first <= 0x80:
            return None if first == 0x80 else first
        start = self._at
        self._at += first & 0x7F
        return int.from_bytes(self._octets[start : min(self._at, start + 8)], "big")
