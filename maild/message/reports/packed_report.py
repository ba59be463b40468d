"""Aggregate reports come packed: one file in a zip or gzip, or as it is. Pure, and bounded whatever it claims.

Sizes that an archive states are not believed: what comes out is counted. It is inflated in pieces, since one call in C
keeps the interpreter to its end. Names in an archive are not looked at, so they lead nowhere.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from maild.message.reports.domain_report import NoReport

PACKED_MAX: Final = 2 * 1024 * 1024
INFLATED_MAX: Final = 10 * 1024 * 1024
_PIECE = 64 * 1024

_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_ZIP_END = b"PK\x05\x06"
_LOCAL = struct.Struct("<4sHHHHHIIIHH")  # APPNOTE.TXT 4.3.7
_END_OCTETS = 22  # 4.3.16, without a comment, which has 65,535 at most
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZES_FOLLOW = 0x01, 0x08


def unpack(octets: bytes) -> bytes:
    """The one file in it, or the octets themselves; NoReport when that is too large, damaged, or one of several."""
    if len(octets) > PACKED_MAX:
        raise NoReport
    if octets.startswith(_GZIP):
        return _inflate(octets, 0, zlib.MAX_WBITS | 16)
    if octets.startswith(_ZIP):
        return _unzip(octets)
    return octets


def _unzip(octets: bytes) -> bytes:
    if len(octets) < _LOCAL.size or _count_files(octets) != 1:
        raise NoReport
    _, _, flags, method, _, _, _, packed, _, name, extra = _LOCAL.unpack_from(octets)
    start = _LOCAL.size + name + extra
    if flags & _ENCRYPTED or start > len(octets):
        raise NoReport
    if method == _DEFLATED:
        return _inflate(octets, start, -zlib.MAX_WBITS)
    if method == _STORED and not flags & _SIZES_FOLLOW:
        return octets[start : start + packed]
    raise NoReport


def _count_files(octets: bytes) -> int:
    at = octets.rfind(_ZIP_END, -(_END_OCTETS + 0xFFFF))
    if at < 0 or len(octets) - at < _END_OCTETS:
        raise NoReport
    return int.from_bytes(octets[at + 10 : at + 12], "little")


def _inflate(octets: bytes, start: int, window_bits: int) -> bytes:
    inflating = zlib.decompressobj(window_bits)
    found = bytearray()
    try:
        for at in range(start, len(octets), _PIECE):
            piece = octets[at : at + _PIECE]
            while piece:
                found += inflating.decompress(piece, _PIECE)
                if len(found) > INFLATED_MAX:
                    raise NoReport
                piece = inflating.unconsumed_tail
            if inflating.eof:
                return bytes(found)
    except zlib.error as error:
        raise NoReport from error
    raise NoReport  # truncated: a part would be counted as the whole
