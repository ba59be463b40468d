"""TLS between the transport of a session and its streams, in small pieces that take their turns.

asyncio's own does at once whatever has come, in the callback of the socket: half a millisecond for a ClientHello, and
a microsecond for each record, which may hold one octet. For each record it gives the interpreter up, too, and waits
until it has that back from a thread that computes. Hundreds of sessions bring all this in one round of the event loop.
It also keeps a quarter of a megabyte for each session, for as long as it lasts.
"""

import asyncio
import sys
from asyncio import sslproto
from collections.abc import Callable
from ssl import MemoryBIO, SSLContext, SSLObject
from typing import Any

PIECE_OCTETS = 16 * 1024  # an ordinary record, of a large message
PIECE_RECORDS = 32
TINY_OCTETS = 32  # in a record, on the average of a piece: more such pieces would keep the loop busy

# None: a piece may be worked on now; else what is done when it may. Given: were the records of the last one tiny?
Turn = Callable[[bool], "asyncio.Future[None] | None"]


class TlsLayer(sslproto.SSLProtocol):
    """The server's side. `waiter`: what the handshake came to."""

    max_size = PIECE_OCTETS
    _app_protocol: asyncio.Protocol
    _call_eof_received: Callable[[], None]
    _incoming: MemoryBIO
    _ssl_buffer_view: memoryview
    _ssl_reading_paused: bool
    _sslobj: SSLObject
    _state: sslproto.SSLProtocolState

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
        called = self._turn(False)
        if called is None:
            self._work()
        else:
            self._wait(called)

    def _wait(self, called: "asyncio.Future[None] | None") -> None:
        """Go on when that is done; None: in the next round of the loop."""
        self._is_waiting = True
        self._plain.pause_reading()
        if called is None:
            self._loop.call_soon(self._called)
        else:
            called.add_done_callback(self._called)

    def _called(self, _: "asyncio.Future[None] | None" = None) -> None:
        self._is_waiting = False
        self._work()
        if not (self._is_waiting or self._ssl_reading_paused or self._plain.is_closing()):
            self._plain.resume_reading()

    def _work(self) -> None:
        super().buffer_updated(0)

    def _do_read__copied(self) -> None:
        """asyncio's reads all that has come. This does so when the connection ends, and else a piece of it."""
        if self._is_waiting and not self._is_ending:
            return
        records, is_closed = self._read(sys.maxsize if self._is_ending else PIECE_RECORDS)
        octets = b"".join(records)
        if octets:
            self._app_protocol.data_received(octets)
        if is_closed:
            self._call_eof_received()
            self._start_shutdown()
        elif len(records) == PIECE_RECORDS and self._incoming.pending and not self._is_ending:
            self._wait(self._turn(len(octets) < PIECE_RECORDS * TINY_OCTETS))

    def _read(self, most: int) -> tuple[list[bytes], bool]:
        """At most so many records, and whether the peer has closed TLS behind them."""
        records: list[bytes] = []
        try:
            while len(records) < most:
                record = self._sslobj.read(PIECE_OCTETS)
                if not record:
                    return records, True
                records.append(record)
        except sslproto.SSLAgainErrors:
            pass
        return records, False

    @property
    def _is_ending(self) -> bool:
        return self._state is not sslproto.SSLProtocolState.WRAPPED
