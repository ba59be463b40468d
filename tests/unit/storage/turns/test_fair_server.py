"""Connections that begin when they may (storage/turns/fair_server.py)."""

import asyncio
import errno
import os
from collections import defaultdict
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from storage.turns import fair_server
from storage.turns.fair_server import FairServer

HELLO = b"hello\n"
FIRST, SECOND, THIRD = (f"127.0.0.{number}" for number in (11, 12, 13))


class Greeting(asyncio.Protocol):
    """Says hello, and gives back what it hears."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(HELLO)

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


class Door:
    """A server whose connections wait until their address is let in."""

    def __init__(self) -> None:
        self.server = FairServer(Greeting, self._place)
        self.let_in: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.knocked: asyncio.Queue[str] = asyncio.Queue()
        self._opened: list[asyncio.StreamWriter] = []

    def _place(self, address: str) -> asyncio.Future[None] | None:
        self.knocked.put_nowait(address)
        if self.let_in[address].is_set():
            return None
        called = asyncio.get_running_loop().create_future()
        waits = asyncio.create_task(self.let_in[address].wait())
        waits.add_done_callback(lambda _: called.set_result(None))
        return called

    async def come(self, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = self.server.sockets[0].getsockname()[1]
        streams = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        self._opened.append(streams[1])
        return streams

    async def leave(self) -> None:
        for event in self.let_in.values():
            event.set()
        await self.server.close()
        for writer in self._opened:
            writer.transport.abort()


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    door = Door()
    await door.server.listen("127.0.0.1", 0)
    yield door
    await door.leave()


async def test_who_waits_holds_nobody_up(door: Door) -> None:
    early = [await door.come(FIRST) for _ in range(5)]
    door.let_in[SECOND].set()
    reader, _ = await door.come(SECOND)
    assert await reader.readline() == HELLO
    door.let_in[FIRST].set()
    assert [await reader.readline() for reader, _ in early] == [HELLO] * 5


async def test_who_need_not_wait_begins_in_the_next_pass_of_the_loop(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under load each pass before the greeting is one that all of a mail waits for."""
    loop = asyncio.get_running_loop()
    was_greeted: asyncio.Future[bool] = loop.create_future()
    greeted: list[Greeting] = []
    connection_made, accept_one = Greeting.connection_made, FairServer._accept_one

    def made(protocol: Greeting, transport: asyncio.BaseTransport) -> None:
        greeted.append(protocol)
        connection_made(protocol, transport)

    def accept(*args: Any) -> None:
        accept_one(*args)
        if not was_greeted.done():
            loop.call_soon(lambda: was_greeted.set_result(bool(greeted)))

    monkeypatch.setattr(Greeting, "connection_made", made)
    monkeypatch.setattr(FairServer, "_accept_one", accept)
    door.let_in[FIRST].set()
    await door.come(FIRST)
    assert await was_greeted


async def test_close_hangs_up_on_those_who_wait_and_leaves_those_who_have_begun(door: Door) -> None:
    door.let_in[FIRST].set()
    begun, writer = await door.come(FIRST)
    assert await begun.readline() == HELLO
    waiting, _ = await door.come(SECOND)
    assert [await door.knocked.get() for _ in range(2)] == [FIRST, SECOND]
    closing = asyncio.create_task(door.server.close())
    await asyncio.sleep(0)
    door.let_in[SECOND].set()
    await closing
    assert await waiting.read() == b""
    writer.write(b"still here\n")
    assert await begun.readline() == b"still here\n"


async def test_no_more_are_accepted_than_may_wait(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_server, "WAITING_MAX", 2)
    streams = [await door.come(address) for address in (FIRST, SECOND, THIRD)]
    assert [await door.knocked.get() for _ in range(2)] == [FIRST, SECOND]
    assert not door.server._is_accepting and door.knocked.empty()
    door.let_in[FIRST].set()
    assert await streams[0][0].readline() == HELLO
    assert await door.knocked.get() == THIRD


@pytest.mark.parametrize(
    "number", [errno.EMFILE, errno.ECONNABORTED], ids=("no_descriptor_is_free", "gone_before_it_was_accepted")
)
async def test_what_keeps_it_from_accepting_one_connection_does_not_stop_it(
    door: Door, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    failed = asyncio.Event()
    accept_one = FairServer._accept_one

    def accept(*args: Any) -> None:
        if not failed.is_set():
            failed.set()
            raise OSError(number, os.strerror(number))
        accept_one(*args)

    monkeypatch.setattr(fair_server, "REST_S", 0)
    monkeypatch.setattr(FairServer, "_accept_one", accept)
    door.let_in[FIRST].set()
    reader, _ = await door.come(FIRST)
    assert await reader.readline() == HELLO and failed.is_set()


async def test_a_port_that_is_taken_is_told_and_nothing_is_left_open(door: Door) -> None:
    port = door.server.sockets[0].getsockname()[1]
    other = FairServer(Greeting, door._place)
    with pytest.raises(OSError):
        await other.listen("127.0.0.1", port)
    assert other.sockets == ()
