"""The event log: what webhooks tell, to be read at one's own pace."""

import asyncio
from typing import Any

import msgspec
from aiohttp import web

from controlplane.api import Answer, Call
from controlplane.reading import read_query
from controlplane.schemas import ListEvents, StreamEvents
from controlplane.webhooks.events import render
from storage import events
from storage.database import Tx
from storage.events import Selection, Told


async def page(call: Call) -> Answer:
    query: ListEvents = call.query
    bound_to = call.principal.inbox_id
    if bound_to is not None and query.inboxId not in (None, bound_to):
        return Answer([])
    selection = Selection(call.organization_id, bound_to or query.inboxId, query.types)
    told = await call.read(_page, selection, query.after, query.limit)
    shown = []
    for event, words in told:
        shown.append(msgspec.Raw(await render(event, words, call.rooms.load_text)))
        await asyncio.sleep(0)  # a page may hold some megabytes of words: others are served in between
    return Answer(shown)


async def stream(call: Call) -> web.StreamResponse:
    """Server-sent events. The header wins: a browser's EventSource repeats the query of its first request."""
    query: StreamEvents = call.query
    bound_to = call.principal.inbox_id
    if query.inboxId is not None:
        call.principal.confine(query.inboxId)
    after = query.lastEventId or query.after
    named = call.request.headers.get("Last-Event-ID")
    if named:
        resumed: Any = read_query(StreamEvents, [("lastEventId", named)])
        after = resumed.lastEventId
    selection = Selection(call.organization_id, bound_to or query.inboxId, query.types)
    return await call.rooms.streams.serve(call.request, call.principal.key_id, selection, after)


def _page(tx: Tx, selection: Selection, after: str | None, limit: int) -> list[Told]:
    position = 0 if after is None else events.position(tx, selection, after)
    return events.page(tx, selection, after=position, limit=limit)
