"""A12: who is slower than any client is cut off, who opens too many connections hears 503; others are served."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest

from conf.tuning import HttpTuning, Tuning
from tests.conftest import Start
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def hurried(stalled_s: float = 30.0) -> Tuning:
    """A server that looks often, and judges a body's pace by a short time."""
    return Tuning(http=HttpTuning(look_s=0.05, rate_window_s=0.3, patient_s=0.3, stalled_s=stalled_s))


@pytest.fixture
async def impatient(start: Start) -> Running:
    return await start(http={"header_timeout_s": 1, "max_connections": 5}, tuning=hurried(stalled_s=0.3))


@asynccontextmanager
async def opened(running: Running) -> AsyncIterator[Stream]:
    where = urlsplit(running.daemon.http.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def is_cut(reader: asyncio.StreamReader) -> bool:
    """Wait until the server ends the connection, whichever way."""
    try:
        async with asyncio.timeout(GIVES_UP_S):
            return await reader.read() == b""
    except ConnectionError:
        return True


async def test_a_connection_that_asks_nothing(impatient: Running) -> None:
    async with opened(impatient) as (reader, _):
        assert await is_cut(reader)


async def test_a_head_that_trickles_in(impatient: Running) -> None:
    async with opened(impatient) as (reader, writer):
        cut = asyncio.create_task(is_cut(reader))
        writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\nX-A: ")
        while not cut.done():
            writer.write(b"a")
            await asyncio.wait([cut], timeout=0.05)
        assert cut.result()


async def test_a_second_head_that_stops_halfway(impatient: Running) -> None:
    """After an answer the keep-alive time counts, but only until the next head begins."""
    async with opened(impatient) as (reader, writer):
        writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        writer.write(b"GET /health HTTP/1.1\r\nHo")
        assert await is_cut(reader)


async def trickle(maild: Running) -> None:
    """Send a body, octet after octet, until the connection is cut."""
    async with opened(maild) as (reader, writer):
        cut = asyncio.create_task(is_cut(reader))
        writer.write(
            f"POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {maild.api.key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n".encode()
        )
        while not cut.done():
            writer.write(b" ")
            await asyncio.wait([cut], timeout=0.05)
        assert cut.result()


async def test_a_body_that_trickles_in(impatient: Running) -> None:
    await trickle(impatient)


async def test_a_body_that_is_steady_and_never_done(start: Start) -> None:
    """Fast enough at every moment, and yet it would hold for hours what others need."""
    http = {"body_timeout_s": 1, "body_min_bytes_per_s": 1, "max_connections": 2}
    running = await start(http=http, tuning=hurried())
    await trickle(running)


@asynccontextmanager
async def slow_reader(running: Running) -> AsyncIterator[socket.socket]:
    """Of an answer of 10 MB, which has begun; its kernel holds little for it."""
    bot = await running.inbox("bot")
    big = await running.api.send(bot, attachments=[{"filename": "a", "content": "QUFB" * 2_500_000}])
    where = urlsplit(running.daemon.http.url)
    loop = asyncio.get_running_loop()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.setblocking(False)
        await loop.sock_connect(sock, (where.hostname, where.port))
        await loop.sock_sendall(
            sock,
            f"GET /v1/messages/{big.data['id']}/raw HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {running.api.key}\r\n\r\n".encode(),
        )
        await loop.sock_recv(sock, 2000)
        yield sock


async def read_on(running: Running, sock: socket.socket, octets: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Take a little now and then, until so much has come or the server has given up; how much came. For the server no
    other time passes than this takes on a machine that does nothing else."""
    watch = running.daemon.http.listener.watch
    taken, now_s = 0, watch.now()
    monkeypatch.setattr(watch, "now", lambda: now_s)
    async with asyncio.timeout(GIVES_UP_S):
        while taken < octets and any(one._current_request for one in watch._connections):
            with suppress(BlockingIOError):
                taken += len(sock.recv(2000))
            await asyncio.sleep(0.05)
            now_s += 0.05
    return taken


async def test_an_answer_that_is_taken_in_drops(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something is taken every now and then; what is held for it is held no longer than the pace allows."""
    running = await start(http={"body_min_bytes_per_s": 1_000_000}, tuning=hurried(stalled_s=0.5))
    async with slow_reader(running) as sock:
        taken = await read_on(running, sock, 5_000_000, monkeypatch)
    assert taken < 5_000_000  # what the kernel holds of it still comes; the rest never does


async def test_an_answer_that_gets_on_while_the_kernel_takes_no_more_of_it(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel holds megabytes of an answer, and takes more when a third of them is gone; the reader gets on all the
    while."""
    running = await start(tuning=hurried(stalled_s=0.5))
    async with slow_reader(running) as sock:
        assert await read_on(running, sock, 60_000, monkeypatch) >= 60_000


async def test_one_connection_too_many_hears_503(impatient: Running) -> None:
    held = [opened(impatient) for _ in range(8)]
    streams = [await one.__aenter__() for one in held]
    answers = [asyncio.create_task(reader.read()) for reader, _ in streams]
    done, waiting = await asyncio.wait(answers, timeout=GIVES_UP_S, return_when=asyncio.FIRST_COMPLETED)
    answer = next(iter(done)).result()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert json.loads(body)["error"]["code"] == "provider_unavailable"
    for one in waiting:
        one.cancel()
    for stream in held:
        await stream.__aexit__(None, None, None)


@pytest.fixture
async def full(impatient: Running) -> AsyncIterator[Running]:
    """All places are taken."""
    async with AsyncExitStack() as held:
        for _ in range(5):
            await held.enter_async_context(opened(impatient))
        yield impatient


async def test_who_is_one_too_many_hears_it_whatever_it_sends(full: Running) -> None:
    """A client that sends its body behind its head would find the connection reset, and not know why."""
    async with opened(full) as (reader, writer):
        answer = await reader.readuntil(b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in answer
        for _ in range(20):
            writer.write(b"POST /v1/messages/send HTTP/1.1\r\n" + bytes(64 * 1024))
            await writer.drain()
        assert json.loads(await reader.read())["error"]["code"] == "provider_unavailable"


async def test_who_stays_though_it_is_one_too_many_is_cut(full: Running) -> None:
    async with opened(full) as (reader, writer):
        assert (await reader.read()).startswith(b"HTTP/1.1 503 ")
        with pytest.raises(ConnectionError):
            while True:
                writer.write(b"more")
                await writer.drain()
