"""How long a message may take on its way to a host, by the loop's clock, which these tests move."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from maild.outbound.routing.route import Hop
from maild.outbound.sessions.attempt_record import AttemptRecord
from maild.outbound.sessions.session_faults import MessageCut
from maild.outbound.sessions.smtp_client import NextHopSession, Timeouts
from maild.outbound.signing.wire import END

PIECE = b"x" * 1000
TIMES = Timeouts()


class SlowWire:
    """A message of which a piece is taken every so many seconds."""

    def __init__(self, pieces: int, each_s: float, forward: Any) -> None:
        self._pieces = pieces
        self._each_s = each_s
        self._forward = forward

    def __len__(self) -> int:
        return self._pieces * len(PIECE) + len(END)

    async def pieces(self) -> AsyncGenerator[bytes]:
        for _ in range(self._pieces):
            yield PIECE
            self._forward(self._each_s)
        yield END


async def send(pieces: int, each_s: float) -> int:
    """The code of the host's reply to it."""
    loop = asyncio.get_running_loop()
    usual, ahead = loop.time, 0.0

    def forward(seconds: float) -> None:
        nonlocal ahead
        ahead += seconds

    loop.time = lambda: usual() + ahead  # type: ignore[method-assign]

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


def sent(pieces: int, each_s: float) -> int:
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:  # uvloop's clock can't be moved
        return runner.run(send(pieces, each_s))


def test_a_message_that_gets_on_is_given_time_however_full_the_line_is() -> None:
    """Twenty sessions share it; those that are cut begin anew, and fill it again."""
    assert sent(pieces=20, each_s=TIMES.data_block / 2) == 250


def test_a_host_that_reads_a_block_now_and_then_does_not_hold_the_session_for_a_day() -> None:
    with pytest.raises(MessageCut, match="timed out in the middle of the message"):
        sent(pieces=60, each_s=TIMES.data_block / 2)
