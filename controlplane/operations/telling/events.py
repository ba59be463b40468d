"""The event log: what webhooks tell, to be read at one's own pace, or as it happens."""

import asyncio
from collections.abc import AsyncIterator

from controlplane.contract.telling.events import BrowseEvents, ListEvents, StreamEvents
from controlplane.operations.event_types import heard
from controlplane.operations.operation import Call
from controlplane.operations.reach import require_reach
from controlplane.operations.results import EventFeed, JsonArray
from controlplane.webhooks.events import encode, envelope, render
from storage.engine.tx import Tx
from storage.publishing import events
from storage.publishing.events import Selection

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
    return events.position(tx, selection, after), events.has_gap(tx, selection, after)


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


async def browse_events(call: Call) -> JsonArray:
    """Newest first, and without the bodies of messages."""
    query: BrowseEvents = call.input
    selection = Selection(
        call.organization_id, call.principal.listed_inbox(query.inboxId), heard(call.principal, query.types)
    )
    if query.at is not None:
        position = await call.read(_behind, selection, query.at)
    else:
        position = await call.read(_front, selection, query.before)
    return JsonArray(_in_brief(call, selection, position, query.limit))


def _front(tx: Tx, selection: Selection, before: str | None) -> int:
    """The position in front of which to look; of an event that is gone all that is older is gone, too."""
    if before is None:
        return events.newest(tx) + 1
    return events.kept_position(tx, selection.organization_id, before) or 0


def _behind(tx: Tx, selection: Selection, at: str) -> int:
    """The position in front of which that event is the first."""
    found = events.kept_position(tx, selection.organization_id, at)
    return 0 if found is None else found + 1


async def _in_brief(call: Call, selection: Selection, position: int, limit: int) -> AsyncIterator[bytes]:
    while limit:
        page = await call.read(events.list_back, selection, before=position, limit=limit)
        for event in page.rows:
            yield encode(envelope(event, None, None))
        if page.is_end:
            return
        limit -= len(page.rows)
        position = page.position


async def stream_events(call: Call) -> EventFeed:
    query: StreamEvents = call.input
    await call.read(require_reach, call, {"inbox": query.inboxId})
    selection = Selection(
        call.organization_id, call.principal.listed_inbox(query.inboxId), heard(call.principal, query.types)
    )
    after = query.lastEventId or query.after
    return EventFeed(call.services.streams.subscribe(call.principal.credential_id, selection, after))
