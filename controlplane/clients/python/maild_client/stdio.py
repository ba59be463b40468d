"""This process as the bridge of a host: its stdin, stdout and stderr, and how it ends."""

import asyncio
import contextlib
import os
import queue
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2

from maild_client._async.client import http_client_for
from maild_client.bridge import AT_ONCE_MAX, LINE_BYTES_MAX, TIMEOUT, Bridge
from maild_client.credentials import ClientCredentials

CHUNK_BYTES = 65_536


def main(credentials: ClientCredentials) -> int:
    """Bridge this process's stdin and stdout, until stdin ends or SIGTERM comes; the exit code. ConfigurationError."""
    try:
        asyncio.run(_serve(credentials))
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve(credentials: ClientCredentials) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    tell = _Stderr(credentials.api_key)
    parts = urlsplit(credentials.url)
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        tell("the key goes over the network in the clear: use https")
    with contextlib.suppress(NotImplementedError):  # Windows ends the process by itself
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    writer = _PipeWriter(loop, sys.stdout.fileno(), on_gone=task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        async with http_client_for(
            credentials.url,
            timeout=TIMEOUT,
            limits=httpx2.Limits(max_connections=AT_ONCE_MAX, max_keepalive_connections=8),
            headers={"User-Agent": "maildc-mcp"},
        ) as client:
            await Bridge(credentials, client, writer.write, tell).run(_lines(loop, sys.stdin.fileno()))


class _Stderr:
    """A line for the log of the host. Nobody may be there to read it."""

    def __init__(self, api_key: str) -> None:
        self._api_key = api_key

    def __call__(self, told: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            print(f"maildc mcp: {told.replace(self._api_key, '…')}", file=sys.stderr, flush=True)


async def _lines(loop: asyncio.AbstractEventLoop, number: int) -> AsyncIterator[bytes | None]:
    """The lines of a file descriptor, read on a thread: a file, a console and a pipe of Windows can't be waited for."""
    said: asyncio.Queue[bytes | EOFError | None] = asyncio.Queue(maxsize=AT_ONCE_MAX)

    def put(line: bytes | EOFError | None) -> None:
        asyncio.run_coroutine_threadsafe(said.put(line), loop).result()

    def read() -> None:
        # The loop ends while it waits: nobody is left to hear the line.
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            for line in split(lambda: os.read(number, CHUNK_BYTES)):
                put(line)
            put(EOFError())

    threading.Thread(target=read, daemon=True).start()
    while not isinstance(line := await said.get(), EOFError):
        yield line


def split(read: Callable[[], bytes], most: int = LINE_BYTES_MAX) -> Iterator[bytes | None]:
    """Yield the lines of what `read` gives until it gives nothing; None in place of one longer than `most` bytes."""
    held: list[bytes] = []
    size = 0
    while chunk := _read(read):
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            yield None if size + len(part) > most else b"".join([*held, part])
            held, size = [], 0
        size += len(rest)
        if size <= most:
            held.append(rest)
        else:
            held = []
    if size:
        yield None if size > most else b"".join(held)


def _read(read: Callable[[], bytes]) -> bytes:
    try:
        return read()
    except OSError:  # closed under us
        return b""


class _PipeWriter:
    """Writes lines on a thread: a host that does not read must not hold up what else there is to do."""

    def __init__(self, loop: asyncio.AbstractEventLoop, number: int, on_gone: Callable[[], Any]) -> None:
        self._loop = loop
        self._number = number
        self._on_gone = on_gone
        self._waiting: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    async def write(self, line: bytes) -> None:
        """Returns when the host can read it; a host that is gone ends the bridge."""
        written = self._loop.create_future()
        self._waiting.put((line + b"\n", written))
        await written

    def _run(self) -> None:
        is_there = True
        with contextlib.suppress(RuntimeError):  # the loop ended meanwhile
            while is_there:
                line, written = self._waiting.get()
                is_there = self._put(line)
                self._loop.call_soon_threadsafe(_settle, written)
            self._loop.call_soon_threadsafe(self._on_gone)

    def _put(self, line: bytes) -> bool:
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self._number, left) :]
        except OSError:
            return False
        return True


def _settle(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)
