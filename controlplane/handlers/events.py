"""The event log: what webhooks tell, to be read at one's own pace."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web

from controlplane.api import Call, Result
from controlplane.contract.requests import ListEvents, StreamEvents
from controlplane.transport.reading import read_query
from controlplane.transport.streaming import answer_array
from controlplane.webhooks.events import render
from storage import events
from storage.events import Selection

SLICE_EVENTS = 25


async def page(call: Call) -> Result | web.StreamResponse:
    query: ListEvents = call.query
    selection = Selection(call.organization_id, call.principal.listed_inbox(query.inboxId), query.types)
    position = 0 if query.after is None else await call.read(events.position, selection, query.after)
    return await answer_array(call.request, _rendered(call, selection, position, query.limit))


async def _rendered(call: Call, selection: Selection, position: int, limit: int) -> AsyncIterator[bytes]:
    """An event may hold 128 KiB of words: few are in memory at a time."""
    while limit:
        told = await call.read(events.list_events, selection, after=position, limit=min(limit, SLICE_EVENTS))
        for event, words in told:
            yield await render(event, words, call.rooms.load_text)
            await asyncio.sleep(0)
        if len(told) < min(limit, SLICE_EVENTS):
            return
        limit -= len(told)
        position = told[-1].event.seq


async def stream(call: Call) -> web.StreamResponse:
    """Server-sent events. The header wins: a browser's EventSource repeats the query of its first request."""
    query: StreamEvents = call.query
    if query.inboxId is not None:
        call.principal.confine(query.inboxId)
    after = query.lastEventId or query.after
    named = call.request.headers.get("Last-Event-ID")
    if named:
        resumed: Any = read_query(StreamEvents, [("lastEventId", named)])
        after = resumed.lastEventId
    selection = Selection(call.organization_id, call.principal.listed_inbox(query.inboxId), query.types)
    return await call.rooms.streams.serve(call.request, call.principal.key_id, selection, after)
