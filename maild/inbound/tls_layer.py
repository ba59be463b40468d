"""TLS between the transport of a session and its streams, in small pieces that take their turns.

asyncio's own does at once whatever has come, in the callback of the socket: half a millisecond for a ClientHello, and
a microsecond for each record, which may hold one octet. Hundreds of sessions bring that in one round of the event loop.
It also keeps a quarter of a megabyte for each session, for as long as it lasts.
"""

import asyncio
from asyncio import sslproto
from collections.abc import Callable
from ssl import MemoryBIO, SSLContext
from typing import Any

# Some 700 records of one octet, half a millisecond, which is what a handshake takes; of ordinary ones one.
PIECE_OCTETS = 16 * 1024

# None: a piece may be worked on now; else what is done when it may.
Turn = Callable[[], "asyncio.Future[None] | None"]


class TlsLayer(sslproto.SSLProtocol):
    """The server's side. `waiter`: what the handshake came to."""

    max_size = PIECE_OCTETS
    _incoming: MemoryBIO
    _ssl_buffer_view: memoryview
    _ssl_reading_paused: bool

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        session: asyncio.Protocol,
        context: SSLContext,
        waiter: "asyncio.Future[None]",
        turn: Turn,
    ) -> None:
        super().__init__(loop, session, context, waiter, server_side=True)
        self._turn = turn
        self._is_waiting = False
        # What the session does not take is not decrypted; it must not be more than a piece when it goes on.
        self._app_transport.set_read_buffer_limits(PIECE_OCTETS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._plain: Any = transport
        super().connection_made(transport)

    def buffer_updated(self, nbytes: int) -> None:
        self._incoming.write(self._ssl_buffer_view[:nbytes])
        if self._is_waiting:
            return
        called = self._turn()
        if called is None:
            self._work()
            return
        self._is_waiting = True
        self._plain.pause_reading()
        called.add_done_callback(self._called)

    def _called(self, _: "asyncio.Future[None]") -> None:
        self._is_waiting = False
        self._work()
        if not (self._ssl_reading_paused or self._plain.is_closing()):
            self._plain.resume_reading()

    def _work(self) -> None:
        super().buffer_updated(0)
