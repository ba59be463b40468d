"""Which files a model may be shown as an image. What a model's host can't read it refuses with the whole conversation,
in which the image stays: one such mail would end an agent's work. So a file must be whole, as far as its frame tells
without its pixels being decoded, and of a size that models take; its sender's word for its type is not taken.
"""

import struct
import zlib
from collections.abc import Callable
from typing import Final

SIDE_MAX: Final = 8000  # pixels; more is refused by some of the models' hosts
_PARTS_MAX: Final = 1000  # of a file: it is looked at on the loop
_SIZE_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # ITU T.81 table B.1: SOF
_SCAN: Final = 0xDA
_END_OF_JPEG: Final = b"\xff\xd9"

Size = tuple[int, int]


def image_type(octets: bytes) -> str | None:
    """Its media type; None: it is no image to be shown."""
    for start, kind, size_of in _KINDS:
        if octets.startswith(start):
            try:
                size = size_of(octets)
            except struct.error:  # it ends too early
                return None
            return kind if size is not None and all(0 < side <= SIDE_MAX for side in size) else None
    return None


def _png(octets: bytes) -> Size | None:
    """PNG §5: chunks, each with its checksum, from IHDR to IEND."""
    at, seen = 8, set[bytes]()
    for _ in range(_PARTS_MAX):
        length, name = struct.unpack_from(">I4s", octets, at)
        (checksum,) = struct.unpack_from(">I", octets, at + 8 + length)
        if zlib.crc32(octets[at + 4 : at + 8 + length]) != checksum or (not seen and name != b"IHDR"):
            return None
        if name == b"IEND":
            return struct.unpack_from(">II", octets, 16) if b"IDAT" in seen else None
        seen.add(name)
        at += 12 + length
    return None


def _jpeg(octets: bytes) -> Size | None:
    """ITU T.81 §B.1: segments up to the first scan, and an end behind it."""
    at, size = 2, None
    for _ in range(_PARTS_MAX):
        sign, marker, length = struct.unpack_from(">BBH", octets, at)
        if sign != 0xFF:
            return None
        if marker == _SCAN:
            return size if _END_OF_JPEG in octets[at:] else None
        if marker in _SIZE_MARKERS:
            height, width = struct.unpack_from(">HH", octets, at + 5)
            size = (width, height)
        at += 1 if marker == 0xFF else 2 + length
    return None


def _gif(octets: bytes) -> Size | None:
    """GIF89a §18, §27: the logical screen, and the trailer."""
    return struct.unpack_from("<HH", octets, 6) if octets.rstrip(b"\0").endswith(b";") else None


def _webp(octets: bytes) -> Size | None:
    """RFC 9649 §2.4 to §2.7."""
    length, form, name = struct.unpack_from("<4xI4s4s", octets)
    if form != b"WEBP" or 8 + length > len(octets) or len(octets) < 30:
        return None
    if name == b"VP8X":
        return 1 + int.from_bytes(octets[24:27], "little"), 1 + int.from_bytes(octets[27:30], "little")
    if name == b"VP8L" and octets[20] == 0x2F:
        bits = int.from_bytes(octets[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if name == b"VP8 " and octets[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", octets, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


_KINDS: Final[tuple[tuple[bytes, str, Callable[[bytes], Size | None]], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png", _png),
    (b"\xff\xd8\xff", "image/jpeg", _jpeg),
    (b"GIF87a", "image/gif", _gif),
    (b"GIF89a", "image/gif", _gif),
    (b"RIFF", "image/webp", _webp),
)
