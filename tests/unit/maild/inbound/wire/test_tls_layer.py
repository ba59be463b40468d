"""What TLS costs a session before anything was said in it (maild/inbound/wire/tls_layer.py)."""

import asyncio
import ssl
import tracemalloc

from maild.inbound.wire.tls_layer import PIECE_OCTETS, TlsLayer


async def test_a_session_under_tls_holds_one_piece() -> None:
    """A thousand sessions with a quarter of a megabyte each would be half of what the daemon may have."""
    loop = asyncio.get_running_loop()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tracemalloc.start()
    try:
        layer = TlsLayer(loop, asyncio.Protocol(), context, loop.create_future(), lambda _: None)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(layer.get_buffer(0)) == PIECE_OCTETS
    assert held < 2 * PIECE_OCTETS
