"""`events.stream` and `events.list` of both Python clients: for ever, from where they were, and never past a gap."""

import asyncio
import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from maild_client import AsyncMaild, AuthenticationFailed, ConnectionFailed, EventsGap, Maild, ServerFailed
from tests.clients.told_streams import BREAKING, ENDLESS, GAP, NEW_TYPE, POSITION, POSITIONS, event, ids, told
from tests.clients.worlds import HANG_UP, KEY, SILENCE, Clients, ScriptedServer, answer, refused
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S


@pytest.fixture(params=[True, False], ids=["coroutines", "plain"])
def clients(request: pytest.FixtureRequest) -> Clients:
    return Clients(is_async=request.param)


async def follow(clients: Clients, url: str, count: int, **asked: Any) -> list[Any]:
    """So many of what a stream tells; a gap is "gap"."""

    async def of(client: AsyncMaild) -> list[Any]:
        heard: list[Any] = []
        async with client.events.stream(**asked) as stream:
            while len(heard) < count:
                try:
                    heard.append(await anext(stream))
                except EventsGap:
                    heard.append("gap")
        return heard

    def of_plain(client: Maild) -> list[Any]:
        heard: list[Any] = []
        with client.events.stream(**asked) as stream:
            while len(heard) < count:
                try:
                    heard.append(next(stream))
                except EventsGap:
                    heard.append("gap")
        return heard

    found: list[Any] = await clients.ask(url, of if clients.is_async else of_plain)
    return found


async def test_a_stream_that_breaks_goes_on_where_it_was(clients: Clients) -> None:
    async with ScriptedServer(BREAKING) as server:
        heard = await follow(clients, server.url, 4, types=["*"], inbox_id="inb_1")
        positions = [one.headers.get("last-event-id") for one in server.asked]
        assert {one.path for one in server.asked} == {"/v1/events/stream?types=%2A&inboxId=inb_1"}
    assert ids(heard) == ["evt_1", "evt_2", "evt_3", "evt_6"]
    assert positions == POSITIONS


async def test_who_is_to_come_again_in_years_looks_after_a_day(clients: Clients) -> None:
    async with ScriptedServer(ENDLESS) as server:
        assert ids(await follow(clients, server.url, 2)) == ["evt_1", "evt_2"]
    assert clients.pauses[-1] == 86_400


async def test_a_gap_is_raised_and_the_stream_goes_on(clients: Clients) -> None:
    async with ScriptedServer([told(POSITION, GAP, event("evt_7"), event("evt_8"))]) as server:
        assert ids(await follow(clients, server.url, 3, after="evt_1")) == ["gap", "evt_7", "evt_8"]


async def test_an_event_of_a_new_type_is_an_event(clients: Clients) -> None:
    stream = f"event: mood.changed\r\nid: evt_9\r\ndata: {json.dumps(NEW_TYPE)}\r\n\r\n"
    async with ScriptedServer([told(stream)]) as server:
        assert await follow(clients, server.url, 1) == [NEW_TYPE]


async def test_who_never_had_a_stream_is_told_why(clients: Clients) -> None:
    for script, error in (
        (refused(401, "invalid_api_key"), AuthenticationFailed), (refused(503), ServerFailed),
        (HANG_UP, ConnectionFailed), (answer(200, {"data": []}), ConnectionFailed), (told(), ConnectionFailed),
    ):  # fmt: skip
        async with ScriptedServer([script]) as server:
            with pytest.raises(error):
                await follow(clients, server.url, 1)


async def test_a_revoked_key_ends_it(clients: Clients) -> None:
    async with ScriptedServer([told(POSITION), refused(401, "invalid_api_key")]) as server:
        with pytest.raises(AuthenticationFailed):
            await follow(clients, server.url, 1)


async def test_a_list_does_not_pass_over_a_gap(clients: Clients) -> None:
    page = answer(200, {"data": [{"id": "evt_1"}]}, X_Events_Gap="true")
    async with ScriptedServer([page]) as server:
        with pytest.raises(EventsGap):
            await clients.ask(server.url, lambda client: client.events.list(after="evt_0").page())


@pytest.mark.parametrize("then", [SILENCE, HANG_UP], ids=["while nothing happens", "in a pause"])
async def test_who_closes_it_ends_the_loop_of_another_task(then: bytes) -> None:
    first = bytes(told(event("evt_1"), has_length=False)) if then == SILENCE else told(event("evt_1"))
    async with ScriptedServer([first, then]) as server, AsyncMaild(KEY, server.url) as client:
        stream, heard = client.events.stream(), asyncio.Event()

        async def loop() -> None:
            async for _ in stream:
                heard.set()

        async with asyncio.timeout(GIVES_UP_S), asyncio.TaskGroup() as tasks:
            tasks.create_task(loop())
            await heard.wait()
            await asyncio.sleep(0.02)
            await stream.aclose()


async def test_who_closes_it_ends_the_loop_of_another_thread() -> None:
    async with ScriptedServer([bytes(told(event("evt_1"), has_length=False)), SILENCE]) as server:
        with Maild(KEY, server.url) as client:
            stream, heard = client.events.stream(), asyncio.Event()
            loop = asyncio.get_running_loop()

            def listen() -> None:
                for _ in stream:
                    loop.call_soon_threadsafe(heard.set)

            async with asyncio.timeout(GIVES_UP_S):
                listening = asyncio.create_task(asyncio.to_thread(listen))
                await heard.wait()
                stream.close()
                await listening
        assert len(server.asked) == 1


async def test_who_closes_it_ends_a_loop_that_is_busy_with_an_event(clients: Clients) -> None:
    heard: list[Any] = []

    async def listen(client: AsyncMaild) -> None:
        stream = client.events.stream()
        async for one in stream:
            heard.append(one)
            await stream.aclose()
            if len(heard) == 2:
                break

    def listen_too(client: Maild) -> None:
        stream = client.events.stream()
        for one in stream:
            heard.append(one)
            stream.close()
            if len(heard) == 2:
                break

    async with ScriptedServer([told(event("evt_1"), event("evt_2"))]) as server:
        await clients.ask(server.url, listen if clients.is_async else listen_too)
    assert ids(heard) == ["evt_1"]


class _Wire(httpx2.BaseTransport):
    """Streams that end, or never do, told over a connection whose other end is `far`."""

    def __init__(self, *, ends: bool = False, version: bytes = b"HTTP/1.1") -> None:
        self._near, self.far = socket.socketpair()
        self.far.setblocking(False)
        self._ends = ends
        self._version = version

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(
            200,
            headers={"Content-Type": "text/event-stream"},
            content=self._told(),
            extensions={"network_stream": self, "http_version": self._version},
        )

    def _told(self) -> Iterator[bytes]:
        yield event("evt_1").encode()
        while not self._ends:
            yield b": heartbeat\r\n\r\n"

    def get_extra_info(self, _what: str) -> socket.socket:
        return self._near

    @property
    def is_open(self) -> bool:
        """Has nobody ended the connection itself?"""
        try:
            return self.far.recv(1) != b""
        except BlockingIOError:
            return True

    def __exit__(self, *_how: object) -> None:
        self._near.close()
        self.far.close()


def plain_client(wire: _Wire) -> Maild:
    client = Maild(KEY, "http://127.0.0.1", http_client=httpx2.Client(transport=wire))
    client._transport.pause = lambda _seconds: None
    return client


def test_a_stream_that_has_ended_leaves_its_connection_to_whoever_has_it_next() -> None:
    with _Wire(ends=True) as wire:
        stream = plain_client(wire).events.stream()
        next(stream)
        next(stream)
        assert wire.is_open


@pytest.mark.parametrize(("version", "stays_open"), [(b"HTTP/1.1", False), (b"HTTP/2", True)])
def test_who_closes_a_stream_ends_no_other_call_on_its_connection(version: bytes, stays_open: bool) -> None:
    with _Wire(version=version) as wire:
        client = plain_client(wire)
        stream = client.events.stream()
        next(stream)
        client._transport.close()
        assert wire.is_open is stays_open


def test_a_child_that_closes_the_client_leaves_the_streams_of_its_parent() -> None:
    with _Wire() as wire:
        client = plain_client(wire)
        stream = client.events.stream()
        next(stream)
        child = os.fork()
        if not child:
            with suppress(BaseException):
                client._transport.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert wire.is_open


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_closed_client_has_closed_the_streams_that_a_loop_has_left(is_kept: bool) -> None:
    """What is open still when the event loop ends, asyncio tells of on stderr."""
    faults: list[str] = []

    async def leave(url: str) -> None:
        async with AsyncMaild(KEY, url) as client:
            kept = client.events.stream() if is_kept else None
            async for _ in kept or client.events.stream():
                break

    def live(url: str) -> None:
        with asyncio.Runner() as runner:
            runner.get_loop().set_exception_handler(lambda _, told: faults.append(told["message"]))
            runner.run(leave(url))

    async with ScriptedServer([bytes(told(event("evt_1"), has_length=False))]) as server:
        await asyncio.to_thread(live, server.url)
    assert faults == []


async def test_who_comes_back_to_a_stream_misses_nothing(maild: Running, bot: dict[str, Any]) -> None:
    async with AsyncMaild(maild.api.key, maild.api.url) as client, client.events.stream() as stream:
        next_event = asyncio.create_task(anext(stream))
        while next_event.done() is False:  # it begins with what happens once it is there
            await maild.deliver(bot["address"], "Subject: hello\n\nhello\n")
            await asyncio.wait({next_event}, timeout=0.1)
        first = await next_event
        assert first["type"] == "email.received" and first["data"]["subject"] == "hello"
        await stream.aclose()
        await maild.deliver(bot["address"], "Subject: meanwhile\n\nhello\n")
        seen = {first["id"]}
        async for event in stream:
            assert event["id"] not in seen
            seen.add(event["id"])
            if event["type"] == "email.received" and event["data"]["subject"] == "meanwhile":
                break


def test_a_stream_shows_no_key() -> None:
    stream = Maild(KEY, "http://a.test").events.stream()
    assert KEY not in repr(stream) + repr(vars(stream))
