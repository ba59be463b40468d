"""An HTTPS endpoint on loopback that takes webhooks and misbehaves as told.

It speaks HTTP/1.1 by hand, so that an answer may be late, endless, torn, compressed or no HTTP at all.
Answers are scripted by path; a path without a script answers 200. Tests wait with `received_count`.
"""

import asyncio
import contextlib
import json
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

HOST = "sink.test"


@dataclass(frozen=True)
class Reply:
    """`hold`: wait for this before answering. `raw` replaces the whole answer. `body_hold`: wait for
    this between head and body. `endless`: after the head, bytes without end. `drop`: hang up instead.
    `drip_s`: so long between any two bytes of the answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"ok"
    hold: asyncio.Event | None = None
    body_hold: asyncio.Event | None = None
    raw: bytes | None = None
    endless: bool = False
    drop: bool = False
    drip_s: float = 0
    hang_up_after: bool = False


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes
    connection: int  # which of the sink's connections, from 1

    @property
    def event(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document

    @property
    def delivery_id(self) -> str:
        return self.headers["x-svc-delivery"]


class WebhookSink:
    """`async with WebhookSink(tmp_path) as sink:` then `sink.url("/a")`, `sink.ca_file`, `sink.received`."""

    def __init__(self, folder: Path, host: str = HOST, port: int = 0) -> None:
        self._host = host
        self.wanted_port = port
        self._ca = ThrowawayCa(folder)
        self._context = self._ca.server_context([host, f"*.{host}", "localhost", "127.0.0.1"])
        self._scripts: defaultdict[str, deque[Reply]] = defaultdict(deque)
        self._standing: dict[str, Reply] = {}
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.received: list[Received] = []
        self.connections = 0
        self.under_way = 0
        self.most_under_way = 0
        self.bytes_sent = 0

    @property
    def ca_file(self) -> Path:
        return self._ca.ca_file

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def url(self, path: str = "/hook", host: str | None = None) -> str:
        return f"https://{host or self._host}:{self.port}{path}"

    def script(self, path: str, *replies: Reply) -> None:
        """Answer the next requests for `path` so, then 200 (or what `always` says)."""
        self._scripts[path].extend(replies)

    def always(self, path: str, reply: Reply) -> None:
        self._standing[path] = reply

    async def resolve(self, host: str) -> list[str]:
        """The `resolve` to hand to Egress: every name of the sink leads to loopback."""
        if host == self._host or host.endswith("." + self._host):
            return ["127.0.0.1"]
        return []

    async def received_count(self, count: int, path: str | None = None) -> list[Received]:
        """Wait until so many requests came (for `path`), and return them."""

        def enough() -> bool:
            return len(self._of(path)) >= count

        async with asyncio.timeout(GIVES_UP_S), self._arrived:
            await self._arrived.wait_for(enough)
        return self._of(path)

    def _of(self, path: str | None) -> list[Received]:
        return [one for one in self.received if path is None or one.path == path]

    async def __aenter__(self) -> "WebhookSink":
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", self.wanted_port, ssl=self._context
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(reader, writer, self.connections)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, connection: int
    ) -> None:
        while True:
            request = await _read_request(reader, connection)
            script = self._scripts[request.path]
            reply = script.popleft() if script else self._standing.get(request.path, Reply())
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)
            try:
                async with self._arrived:
                    self.received.append(request)
                    self._arrived.notify_all()
                if not await self._answer(reply, writer):
                    return
            finally:
                self.under_way -= 1

    async def _answer(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        """Send the reply; may the connection go on?"""
        if reply.hold is not None:
            await reply.hold.wait()
        if reply.drop:
            return False
        if reply.drip_s:
            return await self._drip(reply, writer)
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return False
        head = [f"HTTP/1.1 {reply.status} Scripted"]
        head += [f"{name}: {value}" for name, value in reply.headers.items()]
        if not reply.endless:
            head.append(f"Content-Length: {len(reply.body)}")
        writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
        await writer.drain()
        if reply.body_hold is not None:
            await reply.body_hold.wait()
        while reply.endless:
            writer.write(b"x" * 65536)
            await writer.drain()
            self.bytes_sent += 65536
        writer.write(reply.body)
        await writer.drain()
        return not reply.hang_up_after

    async def _drip(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        octets = reply.raw or b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + reply.body * 9999
        for octet in octets:
            writer.write(bytes([octet]))
            await writer.drain()
            self.bytes_sent += 1
            await asyncio.sleep(reply.drip_s)
        return False


async def _read_request(reader: asyncio.StreamReader, connection: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    request_line, *lines = head.split("\r\n")[:-2]
    method, path, _ = request_line.split(" ")
    pairs = [line.split(": ", 1) for line in lines]
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body, connection)
