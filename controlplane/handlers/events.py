"""The event log: what webhooks tell, to be read at one's own pace."""

import asyncio

import msgspec

from controlplane.api import Answer, Call
from controlplane.bodies import TextLoader
from controlplane.schemas import ListEvents
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
    told = await call.rooms.db.read(_page, selection, query.after, query.limit)
    load_text = TextLoader(call.rooms.db, call.rooms.blobs)
    shown = []
    for event, words in told:
        shown.append(msgspec.Raw(await render(event, words, load_text)))
        await asyncio.sleep(0)  # a page may hold some megabytes of words: others are served in between
    return Answer(shown)


def _page(tx: Tx, selection: Selection, after: str | None, limit: int) -> list[Told]:
    position = 0 if after is None else events.position(tx, selection, after)
    return events.page(tx, selection, after=position, limit=limit)
