"""The event log: what webhooks tell, to be read at one's own pace, or as it happens."""

import asyncio
from collections.abc import AsyncIterator

from controlplane.contract.events import ListEvents, StreamEvents
from controlplane.operations.event_types import heard
from controlplane.operations.operation import Call
from controlplane.operations.results import EventFeed, JsonArray
from controlplane.webhooks.events import render
from storage import events
from storage.database import Tx
from storage.events import Selection

SLICE_EVENTS = 25


async def list_events(call: Call) -> JsonArray:
    query: ListEvents = call.input
    selection = Selection(
        call.organization_id, call.principal.listed_inbox(query.inboxId), heard(call.principal, query.types)
    )
    if query.after is None:
        return JsonArray(_rendered(call, selection, 0, query.limit))
    position, has_gap = await call.read(_begin, selection, query.after)
    return JsonArray(_rendered(call, selection, position, query.limit), has_gap)


def _begin(tx: Tx, selection: Selection, after: str) -> tuple[int, bool]:
    return events.position(tx, selection, after), events.has_gap(tx, selection.organization_id, after)


async def _rendered(call: Call, selection: Selection, position: int, limit: int) -> AsyncIterator[bytes]:
    """An event may hold 128 KiB of words: few are in memory at a time."""
    while limit:
        page = await call.read(events.list_events, selection, after=position, limit=min(limit, SLICE_EVENTS))
        for event, words in page.told:
            yield await render(event, words, call.services.load_text)
            await asyncio.sleep(0)
        if page.is_end:
            return
        limit -= len(page.told)
        position = page.position


async def stream_events(call: Call) -> EventFeed:
    query: StreamEvents = call.input
    if query.inboxId is not None:
        call.principal.confine(query.inboxId)
    selection = Selection(
        call.organization_id, call.principal.listed_inbox(query.inboxId), heard(call.principal, query.types)
    )
    after = query.lastEventId or query.after
    return EventFeed(call.services.streams.subscribe(call.principal.credential_id, selection, after))
