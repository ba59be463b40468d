"""What comes out of the store in pieces is, octet for octet, what was signed as a whole."""

from collections.abc import AsyncGenerator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maild.outbound.signing.content import with_crlf
from maild.outbound.signing.wire import END, StoredWire, stuffed
from storage.mail.blobs import BlobDamaged

SIGNATURE = b"DKIM-Signature: v=1\r\n"
OCTETS = st.lists(st.sampled_from([b"\r", b"\n", b".", b"a"])).map(b"".join)


def wire_of(fields: bytes, pieces: list[bytes], size: int) -> StoredWire:
    async def stored() -> AsyncGenerator[bytes]:
        for piece in pieces:
            yield piece

    return StoredWire(
        SIGNATURE, fields, stored, size, size == len(SIGNATURE + fields + b"".join(pieces) + END)
    )


async def sent(wire: StoredWire) -> list[bytes]:
    return [piece async for piece in wire.pieces()]


@given(st.sampled_from([b"", b"X: y\r\n"]), st.lists(OCTETS))
@example(b"", [b"a\n\r"])
@example(b"", [b"a\r", b"\n", b".b"])
@example(b"", [b"a\n", b".b\r"])
async def test_any_pieces_make_the_whole(fields: bytes, pieces: list[bytes]) -> None:
    pieces = [b"a", *pieces]  # no message is empty
    whole = SIGNATURE + stuffed(with_crlf(fields + b"".join(pieces))) + END
    wire = wire_of(fields, pieces, len(whole))
    for _ in range(2):  # the next host gets the same
        assert b"".join(await sent(wire)) == whole


async def test_what_does_not_have_the_length_that_was_signed_gets_no_end() -> None:
    wire = wire_of(b"", [b"ab\r\n"], len(SIGNATURE) + len(b"abc\r\n") + len(END))
    heard = []
    with pytest.raises(BlobDamaged):
        async for piece in wire.pieces():
            heard.append(piece)
    assert not b"".join(heard).endswith(END)
