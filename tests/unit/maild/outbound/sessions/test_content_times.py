"""How long a message may take on its way to a host, by the loop's clock, which these tests move."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any, TypeVar

import pytest
import uvloop

from maild.outbound.routing.route import Hop
from maild.outbound.sessions.attempt_record import AttemptRecord
from maild.outbound.sessions.session_faults import MessageCut
from maild.outbound.sessions.smtp_client import NextHopSession, Timeouts
from maild.outbound.signing.wire import END

T = TypeVar("T")

PIECE = b"x" * 1000
LONG = 300_000
BUFFER = 8 * 1024
TIMES = Timeouts()
# In the first ones the kernel may still acknowledge what was on its way. They are over before a whole message is late.
SILENT_BLOCKS = int(TIMES.content / TIMES.data_block) // 2


class SlowWire:
    """A message of which a piece is taken every so many seconds."""

    def __init__(self, pieces: int, each_s: float, forward: Any, piece: bytes = PIECE) -> None:
        self._piece = piece
        self._pieces = pieces
        self._each_s = each_s
        self._forward = forward

    def __len__(self) -> int:
        return self._pieces * len(self._piece) + len(END)

    async def pieces(self) -> AsyncGenerator[bytes]:
        for _ in range(self._pieces):
            yield self._piece
            self._forward(self._each_s)
        yield END


def movable_clock() -> Callable[[float], None]:
    """Moves the running loop's clock on, by so many seconds."""
    loop = asyncio.get_running_loop()
    usual, ahead = loop.time, 0.0

    def forward(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    loop.time = lambda: usual() + ahead  # type: ignore[method-assign]
    return forward


async def send(pieces: int, each_s: float) -> int:
    """The code of the host's reply to it."""
    loop, forward = asyncio.get_running_loop(), movable_clock()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(END)
        writer.write(b"250 taken\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    record = AttemptRecord(loop.time).host(Hop("mx.test", "127.0.0.1", port))
    session = await NextHopSession.connect("127.0.0.1", port, TIMES, record)
    wire: Any = SlowWire(pieces, each_s, forward)
    try:
        return (await session.content(wire)).code
    finally:
        session.close()
        server.close()


async def send_to(reads_bytes_per_s: int, most: int) -> None:
    """A message of LONG octets to a host that takes so many of them, at this pace."""
    loop, forward = asyncio.get_running_loop(), movable_clock()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        listener.setblocking(False)
        where = Hop("mx.test", *listener.getsockname())
        record = AttemptRecord(loop.time).host(where)
        session = await NextHopSession.connect(where.address, where.port, TIMES, record)
        ours: Any = session._protocol.transport
        ours.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        theirs, _ = await loop.sock_accept(listener)
        wire: Any = SlowWire(3, 0, forward, b"x" * (LONG // 3))
        sending = asyncio.create_task(session.content(wire))
        taken, last = 0, b""
        while taken < most and not sending.done():
            octets = await loop.sock_recv(theirs, BUFFER)
            taken += len(octets)
            last = (last + octets)[-len(END) :]
            forward(len(octets) / reads_bytes_per_s)
            if last == END:
                await loop.sock_sendall(theirs, b"250 taken\r\n")
                break
        with theirs:
            for _ in range(0 if taken >= LONG else SILENT_BLOCKS):
                if sending.done():
                    break
                forward(TIMES.data_block)
                for _ in range(200):
                    await asyncio.sleep(0)
            assert sending.done() or taken >= LONG
            try:
                await sending
            finally:
                session.close()


def run(story: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:  # uvloop's clock can't be moved
        return runner.run(story)


def sent(pieces: int, each_s: float) -> int:
    return run(send(pieces, each_s))


def test_a_piece_of_which_something_gets_through_is_waited_for() -> None:
    run(send_to(reads_bytes_per_s=150, most=LONG * 2))


def test_a_host_that_takes_nothing_any_more_is_not() -> None:
    with pytest.raises(MessageCut, match="timed out in the middle of the message"):
        run(send_to(reads_bytes_per_s=150, most=LONG // 3))


def test_a_message_that_gets_on_is_given_time_however_full_the_line_is() -> None:
    """Twenty sessions share it; those that are cut begin anew, and fill it again."""
    assert sent(pieces=20, each_s=TIMES.data_block / 2) == 250


def test_a_host_that_reads_a_block_now_and_then_does_not_hold_the_session_for_a_day() -> None:
    with pytest.raises(MessageCut, match="timed out in the middle of the message"):
        sent(pieces=60, each_s=TIMES.data_block / 2)


class StandsStill(asyncio.Protocol):
    """A host in this process, which stands still for so long once the reply is on its way."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._connection = transport.get_extra_info("socket").fileno()

    def data_received(self, data: bytes) -> None:
        os.write(self._connection, b"250 taken\r\n")
        until = time.monotonic() + self._seconds
        while time.monotonic() < until:
            pass


async def send_and_stand_still() -> int:
    """The code of the reply that came while this process stood still, for longer than a reply is waited for."""
    loop, times = asyncio.get_running_loop(), Timeouts(data_end=0.02)
    server = await loop.create_server(lambda: StandsStill(2 * times.data_end), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    record = AttemptRecord(time.monotonic).host(Hop("mx.test", "127.0.0.1", port))
    session = await NextHopSession.connect("127.0.0.1", port, times, record)
    try:
        return (await session.content(END)).code
    finally:
        session.close()
        server.close()


def test_a_reply_that_came_while_the_process_stood_still_is_heard() -> None:
    # It has timers before it reads; asyncio's own loop reads first.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(send_and_stand_still()) == 250
