"""Threads: conversations, alone with their messages or listed."""

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError
from controlplane.handlers.messages import Whole, complete, with_parts
from storage import messages, threads
from storage.database import Tx
from storage.records import Thread


async def page(call: Call) -> Answer:
    inbox_id = call.query.inboxId
    if call.principal.inbox_id is not None:
        if inbox_id not in (None, call.principal.inbox_id):
            return Answer([])
        inbox_id = call.principal.inbox_id
    rows, labels = await call.rooms.db.read(_page, call.organization_id, call.query.limit, inbox_id)
    return Answer([render.thread(row, labels[row.id]) for row in rows])


async def show(call: Call) -> Answer:
    found = await call.rooms.db.read(_show, call.organization_id, call.id)
    if found is None:
        raise ApiError("thread_not_found")
    row, labels, wholes = found
    call.principal.confine(row.inbox_id)
    elements = [render.thread_message(await complete(call, whole)) for whole in wholes]
    return Answer({**render.thread(row, labels), "messages": elements})


def _page(
    tx: Tx, organization_id: str, limit: int, inbox_id: str | None
) -> tuple[list[Thread], dict[str, list[str]]]:
    rows = threads.page(tx, organization_id, limit=limit, inbox_id=inbox_id)
    return rows, threads.labels(tx, [row.id for row in rows])


def _show(tx: Tx, organization_id: str, thread_id: str) -> tuple[Thread, list[str], list[Whole]] | None:
    row = threads.get(tx, organization_id, thread_id)
    if row is None:
        return None
    return row, threads.labels(tx, [thread_id])[thread_id], with_parts(tx, messages.of_thread(tx, thread_id))
