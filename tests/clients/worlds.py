"""Both Python clients behind one face, and a server that answers by script.

answer = await world.ask(url, lambda client: client.messages.get("msg_1"))     as a coroutine, or in a thread
"""

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from maild_client import AsyncMaild, Maild

KEY = "svc_live_0123456789abcdefghijklmnopqrstuvwxyz"
HANG_UP, SILENCE = b"hang up", b"silence"


class Cut(bytes):
    """An answer after which the connection is closed."""


class Dripped(bytes):
    """An answer whose last DRIPS octets come one by one, each DRIP_S after the one before."""


DRIPS, DRIP_S = 12, 0.1  # together longer than a test allows for one, which is much longer than one


class Clients:
    """What a test asks of a client, as either does it. `pauses`: seconds that it would have waited."""

    def __init__(self, *, is_async: bool) -> None:
        self.is_async = is_async
        self.pauses: list[float] = []

    async def ask(
        self, url: str, question: Callable[[Any], Any], key: str | None = KEY, **options: Any
    ) -> Any:
        """What the question, put to a fresh client, is answered with. It waits nowhere."""
        if self.is_async:
            async with AsyncMaild(key, url, **options) as client:
                client._transport.pause = self._pause
                answer = question(client)
                return await answer if inspect.isawaitable(answer) else answer
        with Maild(key, url, **options) as plain:
            plain._transport.pause = self.pauses.append
            return await asyncio.to_thread(question, plain)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


@dataclass
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def answer(status: int, body: Any = None, raw: bytes | None = None, /, **headers: str) -> bytes:
    """An answer's octets; `headers` with `_` for `-`."""
    content = json.dumps(body).encode() if raw is None else raw
    told = {"Content-Type": "application/json", "Content-Length": str(len(content)), "X-Request-Id": "req_1"}
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + content


def refused(
    status: int, code: str = "provider_unavailable", /, *, details: Any = None, **headers: str
) -> bytes:
    error = {"code": code, "message": "It is not so."} | ({"details": details} if details is not None else {})
    return answer(status, {"error": error}, None, **headers)


MESSAGE = answer(200, {"data": {"id": "msg_1"}})
SENT = answer(201, {"data": {"id": "msg_1"}})
# What passes: a client tries again.
PASSING = [
    HANG_UP,
    *(refused(status) for status in (408, 429, 502, 503, 504)),
    answer(503, None, b"<h1>a proxy</h1>"),
]


@dataclass
class ScriptedServer:
    """Answers one request after the other as its script says; the last line of it again and again."""

    script: list[bytes]
    asked: list[Asked] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self._open: set[asyncio.StreamWriter] = set()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for writer in self._open:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while line := (await reader.readline()).decode():
                method, path, _ = line.split()
                headers = {}
                while (head := (await reader.readline()).decode().strip()) != "":
                    name, _, value = head.partition(": ")
                    headers[name.lower()] = value
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                said = self.script[min(len(self.asked), len(self.script) - 1)]
                self.asked.append(Asked(method, path, headers, body))
                if said == HANG_UP:
                    writer.transport.abort()
                    return
                if isinstance(said, Dripped):
                    await _drip(said, writer)
                elif said != SILENCE:
                    writer.write(said)
                    await writer.drain()
                if isinstance(said, Cut):
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()


async def _drip(said: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(said[:-DRIPS])
    for octet in said[-DRIPS:]:
        await asyncio.sleep(DRIP_S)
        writer.write(bytes([octet]))
