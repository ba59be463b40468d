"""What is shown as an image is one that a model's host can read: a broken one would end the agent's conversation."""

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.mcp.shown_images import SIDE_MAX, image_type


def chunk(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int = 2, height: int = 1) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    words = zlib.compress(b"\0" * (1 + width) * height) if width * height < 100 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", words) + chunk(b"IEND")


def jpeg(width: int = 2, height: int = 1) -> bytes:
    size = b"\xff\xc0\x00\x0b\x08" + struct.pack(">HH", height, width) + b"\x01\x01\x11\x00"
    return b"\xff\xd8\xff\xfe\x00\x04hi\xff" + size + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x12\xff\xd9"


def gif(width: int = 1, height: int = 1) -> bytes:
    rest = b"\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
    return b"GIF89a" + struct.pack("<HH", width, height) + rest


def lossless(width: int = 1, height: int = 1) -> bytes:
    bits = struct.pack("<I", width - 1 | height - 1 << 14 | 1 << 28)
    return b"RIFF\x1a\0\0\0WEBPVP8L\r\0\0\0/" + bits + b"\x07\x10\x11\x11\x88\x88\xfe\x07\0"


def extended(width: int = 1, height: int = 1) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    inner = b"VP8X\x0a\0\0\0\0\0\0\0" + sides + lossless()[12:]
    return b"RIFF" + struct.pack("<I", 4 + len(inner)) + b"WEBP" + inner


LOSSY = base64.b64decode("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
MAKERS = [(png, "png"), (jpeg, "jpeg"), (gif, "gif"), (lossless, "webp"), (extended, "webp")]
WHOLE = [*((make(), kind) for make, kind in MAKERS), (LOSSY, "webp")]


@pytest.mark.parametrize(("octets", "kind"), WHOLE)
def test_whole_images_are_shown_and_no_part_of_one(octets: bytes, kind: str) -> None:
    assert image_type(octets) == f"image/{kind}"
    assert [length for length in range(len(octets)) if image_type(octets[:length])] == []


@pytest.mark.parametrize(("make", "kind"), MAKERS)
def test_no_image_is_larger_than_models_take(make: object, kind: str) -> None:
    assert callable(make)
    for sides in ((SIDE_MAX, 1), (1, SIDE_MAX)):
        assert image_type(make(*sides)) == f"image/{kind}"
    for sides in ((SIDE_MAX + 1, 1), (1, SIDE_MAX + 1)):
        assert image_type(make(*sides)) is None


def test_a_picture_without_sides_and_a_chunk_that_is_damaged_are_not_shown() -> None:
    assert image_type(png(0, 1)) is image_type(jpeg(1, 0)) is image_type(gif(0, 0)) is None
    damaged = bytearray(png())
    damaged[-17] ^= 1
    assert image_type(bytes(damaged)) is None
    assert image_type(png()[:8] + chunk(b"tEXt", b"a") * 2000 + png()[8:]) is None


@given(
    st.sampled_from([make()[:cut] for make, _ in MAKERS for cut in (4, 8, 12, 20)]), st.binary(max_size=60)
)
def test_any_octets_are_looked_at(start: bytes, rest: bytes) -> None:
    assert image_type(start + rest) in (None, "image/png", "image/jpeg", "image/gif", "image/webp")
