"""A client of GET /v1/events/stream, as dumb as a browser's EventSource: it parses, remembers the last id, waits."""

import asyncio
import json
from types import TracebackType
from typing import Any, NamedTuple

import aiohttp

from tests.support.laws import published
from tests.support.running import Api
from tests.support.waiting import GIVES_UP_S


class Told(NamedTuple):
    id: str
    type: str
    event: dict[str, Any]


class EventStream:
    """`async with EventStream(api, types="email.sent") as stream: told = await stream.next()`"""

    def __init__(self, api: Api, last_event_id: str | None = None, **query: str) -> None:
        self._api = api
        self._query = query
        self._headers = {"Authorization": f"Bearer {api.key}"}
        if last_event_id is not None:
            self._headers["Last-Event-ID"] = last_event_id
        self.last_event_id = last_event_id
        self.retry_ms: int | None = None
        self.heartbeats = 0
        self.gaps = 0
        self.response: aiohttp.ClientResponse

    async def __aenter__(self) -> "EventStream":
        self.response = await self._api._session.get(
            self._api.url + "/v1/events/stream",
            params=self._query,
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(None),
        )
        assert self.response.status == 200, await self.response.read()
        assert self.response.headers["Content-Type"] == "text/event-stream"
        await self._block()  # what every stream begins with
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.response.close()

    async def next(self) -> Told:
        """The next event; fails when the stream ends before."""
        while True:
            fields = await self._block()
            assert fields is not None, "the stream ended"
            if fields.get("event") == "gap":
                assert "id" not in fields
                self.gaps += 1
            elif "data" in fields:
                published.check_body(fields["data"].encode())
                return Told(fields["id"], fields["event"], json.loads(fields["data"]))

    async def heartbeat(self) -> None:
        """Wait for the next one."""
        before = self.heartbeats
        while self.heartbeats == before:
            assert await self._block() is not None, "the stream ended"

    async def ended(self) -> None:
        """Read until the server ends the stream."""
        while await self._block() is not None:
            pass

    async def _block(self) -> dict[str, str] | None:
        fields: dict[str, str] = {}
        while True:
            async with asyncio.timeout(GIVES_UP_S):
                line = (await self.response.content.readline()).decode()
            if not line:
                return None
            line = line.rstrip("\r\n")
            if not line:
                return fields
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "":
                self.heartbeats += 1
            elif name == "retry":
                self.retry_ms = int(value)
            elif name == "id":
                self.last_event_id = value
            fields[name] = value
