"""The figures beside the menu, and the stream that keeps them up to date: what waits in this organization.

A tab takes one of the organization's places to wait (`http.waits_per_organization`), asks after commits that published
an event, once in REST_S at most, and begins anew after STREAM_S, where it is asked whether the session's time is over.
It ends when its session is revoked.
"""

import asyncio
from collections.abc import Mapping
from typing import cast

import msgspec
import structlog
from aiohttp import web
from aiohttp_sse import EventSourceResponse

from controlplane.console.page import ask_operation
from controlplane.console.session import SignedIn
from controlplane.contract.refusals import Refusal
from controlplane.operations.invoke import Operations
from controlplane.transport.connections import connection_of
from controlplane.webhooks.event_streams import Streams
from controlplane.webhooks.waits import Wait

STREAM_S = 600.0
REST_S = 1.0
STALLED_S = 20
RECONNECT_MS = 5000

Figures = Mapping[str, int]

log = structlog.get_logger("maild.api")


class Live:
    """`heartbeat_s`: between two signs of life."""

    def __init__(self, operations: Operations, streams: Streams, heartbeat_s: float) -> None:
        self._operations = operations
        self._streams = streams
        self._heartbeat_s = heartbeat_s

    async def waiting(self, signed_in: SignedIn) -> Figures:
        """`unread`, `held`, `queued` at this moment. Refusal."""
        return cast(Figures, await ask_operation(self._operations, signed_in.principal, "showWaiting"))

    async def tell(self, request: web.Request, signed_in: SignedIn) -> web.StreamResponse:
        """Tell of each change until either side ends it. 204, which tells a browser to give up, where there is no
        place."""
        connection = connection_of(request)
        principal = signed_in.principal
        place = self._streams.waiting(
            principal.credential_id, principal.organization_id, None, connection.on_lost
        )
        try:
            async with place as wait:
                return await self._stream(request, signed_in, wait)
        except Refusal:  # no place is free: nothing was sent yet
            return web.Response(status=204)

    async def _stream(self, request: web.Request, signed_in: SignedIn, wait: Wait) -> web.StreamResponse:
        response = EventSourceResponse(ping_interval=self._heartbeat_s, send_timeout=STALLED_S)
        await response.prepare(request)
        now = asyncio.get_running_loop().time
        told: Figures | None = None

        async def change() -> Figures | None:
            figures = await self.waiting(signed_in)
            return None if figures == told else figures

        try:
            async with response:
                await response.write(f"retry: {RECONNECT_MS}\r\n\r\n".encode())
                ends_at = now() + STREAM_S
                while now() < ends_at:
                    told = await wait.until(change, ends_at - now())
                    if told is None:
                        break
                    await response.send(msgspec.json.encode(told).decode(), event="waiting")
                    await asyncio.sleep(REST_S)
        except (Refusal, ConnectionError, TimeoutError):
            pass  # the session was revoked; the client left, or takes nothing
        except Exception:  # the answer has begun: no page can say it any more
            log.exception("event_stream_failed")
        return response
