"""An event feed over HTTP: server-sent events (HTML Living Standard, §9.2).

aiohttp-sse sends the heartbeats and frames the events. A reader that takes nothing for `stalled_s` is cut off.
"""

import asyncio
from contextlib import aclosing

import structlog
from aiohttp import web
from aiohttp_sse import EventSourceResponse

from controlplane.operations.results import EventFeed
from controlplane.webhooks.event_streams import RECONNECT_S, Feed

log = structlog.get_logger("maild.api")

GAP = {"X-Events-Gap": "true"}
# Without an id: the reader stays where it is.
_TOLD_GAP = b": events behind your position are not kept any more; read the lists anew\r\n" + (
    b"event: gap\r\ndata: {}\r\n\r\n"
)


async def stream_events(
    request: web.Request, told: EventFeed, heartbeat_s: float, stalled_s: float
) -> web.StreamResponse:
    """Tell events until either side ends it. Refusal where the feed can't be opened."""
    async with told.subscription as feed:
        transport = request.transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client left")
        feed.cut_with(transport.abort)
        response = EventSourceResponse(
            ping_interval=heartbeat_s, send_timeout=stalled_s, headers=GAP if feed.has_gap else None
        )
        await response.prepare(request)
        try:
            async with response:
                # Without an event a reader that lost its connection would not know where it had been.
                known = f"id: {feed.known}\r\n" if feed.known else ""
                await response.write(f"retry: {RECONNECT_S * 1000}\r\n{known}\r\n".encode())
                if feed.has_gap:
                    await response.write(_TOLD_GAP)
                await _tell(feed, response, transport)
        except (ConnectionError, TimeoutError):  # lost (reset, or aborted by the kernel), or stalled
            feed.cut()
        except Exception:  # the answer has begun: no envelope can say it any more
            log.exception("event_stream_failed")
            feed.cut()
        return response


async def _tell(feed: Feed, response: EventSourceResponse, transport: asyncio.Transport) -> None:
    async with aclosing(feed.events()) as events:
        async for event in events:
            if event is not None:
                await response.send(event.body.decode(), id=event.id, event=event.type)
            elif transport.is_closing():
                return
