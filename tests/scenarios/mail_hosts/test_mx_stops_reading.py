"""A host stops reading in the middle of the message: the connection is gone afterwards, with all that waits in it.

On uvloop, as the product runs: there a transport that is closed stays until everything is written, for ever perhaps.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import MethodType
from typing import cast

import pytest
import uvloop

from maild.outbound.sessions.connections import PooledSession
from maild.outbound.sessions.smtp_client import Timeouts
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

LARGE = RAW + (b"y" * 76 + b"\r\n") * 300_000  # more than the sockets of both sides hold


@asynccontextmanager
async def host_of_ours(sending: Sending) -> AsyncIterator[socket.socket]:
    """Where mail to there.test connects to; the queue runs."""
    sending.dns.add_mx("there.test")
    await sending.mx.stop()
    with socket.create_server(("127.0.0.1", sending.mx.port)) as listener:
        listener.setblocking(False)
        await sending.queue.start()
        yield listener


async def take_until_354(listener: socket.socket) -> socket.socket:
    """A host that takes the envelope, and then reads no more."""
    loop = asyncio.get_running_loop()
    conn, _ = await loop.sock_accept(listener)
    conn.setblocking(False)
    for reply in (b"220 hop", b"250 hop", b"250 ok", b"250 ok"):
        await loop.sock_sendall(conn, reply + b"\r\n")
        await loop.sock_recv(conn, 4096)
    await loop.sock_sendall(conn, b"354 go on\r\n")
    return conn


async def read_all(conn: socket.socket) -> int:
    count = 0
    async with asyncio.timeout(GIVES_UP_S):
        while octets := await asyncio.get_running_loop().sock_recv(conn, 1 << 20):
            count += len(octets)
    return count


async def story(folder: Path, gives_way: bool) -> None:
    timeouts = Timeouts(data_block=60 if gives_way else 0.2)
    async with Sending(folder, timeouts=timeouts) as sending, host_of_ours(sending) as listener:
        message_id = await sending.send("you@there.test", raw=LARGE)
        before = len(os.listdir("/proc/self/fd"))
        conn = await take_until_354(listener)
        if gives_way:
            await give_way(sending)
        await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(message_id)
        assert "timed out" in row.response
        assert len(os.listdir("/proc/self/fd")) <= before + 1  # the host's own end
        with conn:
            assert await read_all(conn) < len(LARGE)


async def give_way(sending: Sending) -> None:
    """End the only session for others, as soon as the host is not reading any more."""
    (place,) = sending.queue._deliverer._connections._places._taken
    pooled = cast(PooledSession, cast(MethodType, place.give_way).__self__)
    async with asyncio.timeout(GIVES_UP_S):
        while not pooled.session._protocol._paused:
            await asyncio.sleep(0.005)
    assert pooled.give_way()


@pytest.mark.parametrize("gives_way", [False, True])
def test_the_connection_is_aborted(tmp_path: Path, gives_way: bool) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(story(tmp_path, gives_way))
