"""A large message as it goes over the wire: out of memory, where there is room to spare, else out of the store.

It is signed as a whole (`content.py`). Read again piece by piece as it is sent it is the same octets: the store hands
out only what was stored (`storage/mail/blobs.py`), and nothing else goes in. Where it fails in the midst, the final dot
is never sent, so that no host takes a part for the whole.
"""

from collections.abc import AsyncGenerator, Callable

from aiosmtplib.protocol import LINE_ENDINGS_REGEX

from maild.message.octets import has_bare_line_end
from storage.mail.blobs import BlobDamaged

END = b".\r\n"  # RFC 5321 §4.1.1.4
KEPT_PIECE_BYTES = 64 * 1024


class KeptWire:
    """What follows the 354, with the final dot, in memory: `len()` octets."""

    def __init__(self, octets: bytes) -> None:
        self._octets = octets

    def __len__(self) -> int:
        return len(self._octets)

    async def pieces(self) -> AsyncGenerator[bytes]:
        for start in range(0, len(self._octets), KEPT_PIECE_BYTES):
            yield self._octets[start : start + KEPT_PIECE_BYTES]


class StoredWire:
    """The same out of the store."""

    def __init__(
        self,
        signature: bytes,
        fields: bytes,
        stored: Callable[[], AsyncGenerator[bytes]],
        size: int,
        is_as_stored: bool,
    ) -> None:
        """`fields`: what precedes the stored bytes, which `stored` reads from the beginning; `size`: as was signed;
        `is_as_stored`: the stored bytes need no other line ends, and no dots."""
        self._signature = signature
        self._fields = fields
        self._stored = stored
        self._size = size
        self._is_as_stored = is_as_stored

    def __len__(self) -> int:
        return self._size

    async def pieces(self) -> AsyncGenerator[bytes]:
        """From the beginning, as often as it is asked for. BlobMissing, BlobDamaged."""
        stuffing = Stuffing()
        piece = self._signature + stuffing.of(self._fields)
        sent = len(piece)
        yield piece
        async for stored in self._stored():
            piece = stored if self._is_as_stored else stuffing.of(stored)
            sent += len(piece)
            yield piece
        piece = stuffing.rest() + END
        if sent + len(piece) != self._size:
            raise BlobDamaged(f"{sent + len(piece)} octets would be sent, {self._size} were signed")
        yield piece


LargeWire = KeptWire | StoredWire


def stuffed(octets: bytes, begins_line: bool = True) -> bytes:
    """The dots of RFC 5321 §4.5.2; every line ends with CRLF."""
    if b"." not in octets:  # one octet is found in a thirtieth of the time that three take; base64 has none
        return octets
    dotted = octets.replace(b"\r\n.", b"\r\n..")
    return b"." + dotted if begins_line and dotted.startswith(b".") else dotted


class Stuffing:
    """Every line end as CRLF, the last one too, and the dots (RFC 5321 §4.5.2), of octets that come in pieces."""

    def __init__(self) -> None:
        self._held = b""  # a CR, whose LF may begin the next piece
        self._begins_line = True

    def of(self, piece: bytes) -> bytes:
        """The next piece as it goes over the wire."""
        piece = self._held + piece
        self._held = piece[-1:] if piece.endswith(b"\r") else b""
        if self._held:
            piece = piece[:-1]
        if has_bare_line_end(piece):
            piece = LINE_ENDINGS_REGEX.sub(b"\r\n", piece)
        begins_line = self._begins_line
        if piece:
            self._begins_line = piece.endswith(b"\n")
        return stuffed(piece, begins_line)

    def rest(self) -> bytes:
        """The line end that is left."""
        return b"\r\n" if self._held or not self._begins_line else b""
