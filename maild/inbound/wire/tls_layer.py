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
HEADER_OCTETS = 5  # of a record; the last two are the length of what follows
TINY_OCTETS = 32  # in a record, on the average of a piece: more such pieces would keep the loop busy

_NO_DATA = (sslproto.SSLProtocolState.DO_HANDSHAKE, sslproto.SSLProtocolState.SHUTDOWN)

# None: a piece may be worked on now; else what is done when it may. Given: were the records of the last one tiny?
Turn = Callable[[bool], "asyncio.Future[None] | None"]


def _no_turn(_: bool) -> None:
    """Nobody waits for it."""


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
        self._came = bytearray()  # what OpenSSL was not given yet
        self._record_octets = 0  # of the record that it was given in part: those to come
        # What the session does not take is not decrypted; it must not be more than a piece when it goes on.
        self._app_transport.set_read_buffer_limits(PIECE_OCTETS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._plain: Any = transport
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        self._turn = _no_turn  # the session's knows the session, which knows this layer

    def buffer_updated(self, nbytes: int) -> None:
        self._came += self._ssl_buffer_view[:nbytes]
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

    def _on_handshake_complete(self, handshake_exc: BaseException | type[BaseException] | None) -> None:
        """asyncio keeps to itself what OpenSSL has to say of a failure, and raises it from a frame that knows it. Where
        the peer has left it names the class alone."""
        if handshake_exc is None:
            super()._on_handshake_complete(None)
            return
        failure = handshake_exc() if isinstance(handshake_exc, type) else handshake_exc
        self._process_outgoing()  # type: ignore[attr-defined]
        self._wakeup_waiter(failure)  # before the future would keep that frame
        super()._on_handshake_complete(failure)
        failure.__traceback__ = None

    def _work(self) -> None:
        if self._state in _NO_DATA:
            given = self._give(PIECE_RECORDS)
            super().buffer_updated(0)
            if given == PIECE_RECORDS and self._came and not self._is_waiting and self._state in _NO_DATA:
                self._wait(self._turn(True))
        else:
            super().buffer_updated(0)

    def _give(self, most: int) -> int:
        """Give OpenSSL what came, `most` records of it; how many it was."""
        records, at = 0, min(self._record_octets, len(self._came))
        self._record_octets -= at
        while records < most and len(self._came) - at >= HEADER_OCTETS:
            end = at + HEADER_OCTETS + int.from_bytes(self._came[at + 3 : at + HEADER_OCTETS])
            records, at = records + 1, min(end, len(self._came))
            self._record_octets = end - at
        self._incoming.write(self._came[:at])
        del self._came[:at]
        return records

    def _do_read__copied(self) -> None:
        """asyncio's reads all that has come. This does so when the connection ends, and else a piece of it."""
        if self._is_waiting and not self._is_ending:
            return
        given = self._give(sys.maxsize if self._is_ending else PIECE_RECORDS)
        records, is_closed = self._read()
        octets = b"".join(records)
        if octets:
            self._app_protocol.data_received(octets)
        if is_closed:
            self._call_eof_received()
            self._start_shutdown()
        elif given == PIECE_RECORDS and self._came and not self._is_ending:
            self._wait(self._turn(len(octets) < PIECE_RECORDS * TINY_OCTETS))

    def _read(self) -> tuple[list[bytes], bool]:
        """The data of the records that were given, and whether the peer has closed TLS behind them."""
        records: list[bytes] = []
        try:
            while record := self._sslobj.read(PIECE_OCTETS):
                records.append(record)
        except sslproto.SSLAgainErrors:
            return records, False
        return records, True

    def _get_read_buffer_size(self) -> int:
        return len(self._came)

    def _control_ssl_reading(self) -> None:
        if not self._is_waiting:
            super()._control_ssl_reading()  # type: ignore[misc]

    @property
    def _is_ending(self) -> bool:
        return self._state is not sslproto.SSLProtocolState.WRAPPED
