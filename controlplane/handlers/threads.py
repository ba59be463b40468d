"""Threads: conversations, alone with their messages or listed; the archive."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError, Fault, invalid
from controlplane.handlers.messages import Whole, read_bodies
from controlplane.schemas import ListThreads, ThreadCursor
from storage import message_json, threads
from storage.database import Tx
from storage.records import Thread


async def page(call: Call) -> Answer:
    inbox_id = call.query.inboxId
    if call.principal.inbox_id is not None:
        if inbox_id not in (None, call.principal.inbox_id):
            return Answer([])
        inbox_id = call.principal.inbox_id
    rows, labels = await call.rooms.db.read(_page, call.organization_id, call.query, inbox_id)
    return Answer([render.thread(row, labels[row.id]) for row in rows])


async def show(call: Call) -> Answer:
    found = await call.rooms.db.read(_show, call.organization_id, call.id)
    if found is None:
        raise ApiError("thread_not_found")
    row, labels, wholes = found
    call.principal.confine(row.inbox_id)
    elements = [render.thread_message(one.shown.json, *await read_bodies(call, one)) for one in wholes]
    return Answer({**render.thread(row, labels), "messages": elements})


async def archive(call: Call) -> Answer:
    row, labels = await call.rooms.db.write(_archive, call)
    return Answer(render.thread(row, labels))


def _archive(tx: Tx, call: Call) -> tuple[Thread, list[str]]:
    row = threads.archive(tx, call.organization_id, call.id, call.body.isArchived)
    if row is None:
        raise ApiError("thread_not_found")
    call.principal.confine(row.inbox_id)
    return row, threads.labels(tx, [row.id])[row.id]


def _page(
    tx: Tx, organization_id: str, query: ListThreads, inbox_id: str | None
) -> tuple[list[Thread], dict[str, list[str]]]:
    rows = threads.page(
        tx,
        organization_id,
        limit=query.limit,
        inbox_id=inbox_id,
        before=_position(tx, organization_id, query.cursor) if query.cursor else None,
        is_archived=query.isArchived,
    )
    return rows, threads.labels(tx, [row.id for row in rows])


def _position(tx: Tx, organization_id: str, cursor: ThreadCursor) -> tuple[int, str]:
    """Where the page before ended; a cursor without its moment is where that thread stands now."""
    if cursor.at_ms is not None:
        return cursor.at_ms, cursor.thread_id
    row = threads.get(tx, organization_id, cursor.thread_id)
    if row is None:
        raise invalid([Fault("cursor", "invalid_cursor", "This thread is gone; add its '@<lastMessageAt>'")])
    return row.last_message_at, row.id


def _show(tx: Tx, organization_id: str, thread_id: str) -> tuple[Thread, list[str], list[Whole]] | None:
    row = threads.get(tx, organization_id, thread_id)
    if row is None:
        return None
    wholes = [Whole.of(tx, shown) for shown in message_json.of_thread(tx, organization_id, thread_id)]
    return row, threads.labels(tx, [thread_id])[thread_id], wholes
