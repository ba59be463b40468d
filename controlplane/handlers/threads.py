"""Threads: conversations, alone with their messages or listed; the archive."""

from collections.abc import AsyncIterator, Sequence

import msgspec
from aiohttp import web

from controlplane import render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError, Fault, invalid
from controlplane.handlers.messages import Whole, read_bodies
from controlplane.schemas import ListThreads
from controlplane.streaming import stream_array
from controlplane.values import ThreadCursor
from storage import message_json, thread_json, threads
from storage.database import Tx
from storage.thread_json import ShownThread

WHOLE_BYTES_MAX = 4 * 1024 * 1024  # a conversation of more raw bytes is not held in memory


async def page(call: Call) -> Answer:
    inbox_id = call.query.inboxId
    if call.principal.inbox_id is not None:
        if inbox_id not in (None, call.principal.inbox_id):
            return Answer([])
        inbox_id = call.principal.inbox_id
    return Answer(msgspec.Raw(await call.rooms.db.read(_page, call.organization_id, call.query, inbox_id)))


async def show(call: Call) -> Answer | web.StreamResponse:
    thread, ids, size_bytes = await call.rooms.db.read(_look, call)
    if size_bytes > WHOLE_BYTES_MAX:
        # Strangers decide how much stands in a conversation: message by message, then.
        head = b'{"data":' + thread.json[:-1] + b',"messages":'
        return await stream_array(call.request, head, _each(call, ids), b"}}")
    wholes = await call.rooms.db.read(_wholes, call)
    return Answer(render.thread(thread.json, [await _element(call, whole) for whole in wholes]))


async def _each(call: Call, ids: Sequence[str]) -> AsyncIterator[bytes]:
    for message_id in ids:
        whole = await call.rooms.db.read(_whole, call.organization_id, message_id)
        if whole is not None:  # it may have been deleted since
            yield bytes(await _element(call, whole))


async def _element(call: Call, whole: Whole) -> msgspec.Raw:
    return render.thread_message(whole.shown.json, *await read_bodies(call, whole))


async def archive(call: Call) -> Answer:
    return Answer(msgspec.Raw(await call.rooms.db.write(_archive, call)))


def _reached(tx: Tx, call: Call) -> ShownThread:
    """The thread that the call names, if its key may touch it."""
    thread = thread_json.get(tx, call.organization_id, call.id)
    if thread is None:
        raise ApiError("thread_not_found")
    call.principal.confine(thread.inbox_id)
    return thread


def _archive(tx: Tx, call: Call) -> bytes:
    _reached(tx, call)
    threads.archive(tx, call.organization_id, call.id, call.body.isArchived)
    return _reached(tx, call).json


def _page(tx: Tx, organization_id: str, query: ListThreads, inbox_id: str | None) -> bytes:
    return thread_json.page(
        tx,
        organization_id,
        limit=query.limit,
        inbox_id=inbox_id,
        before=_position(tx, organization_id, query.cursor) if query.cursor else None,
        is_archived=query.isArchived,
    )


def _position(tx: Tx, organization_id: str, cursor: ThreadCursor) -> tuple[int, str]:
    """Where the page before ended; a cursor without its moment is where that thread stands now."""
    if cursor.at_ms is not None:
        return cursor.at_ms, cursor.thread_id
    row = threads.get(tx, organization_id, cursor.thread_id)
    if row is None:
        raise invalid([Fault("cursor", "invalid_cursor", "This thread is gone; add its '@<lastMessageAt>'")])
    return row.last_message_at, row.id


def _look(tx: Tx, call: Call) -> tuple[ShownThread, list[str], int]:
    thread = _reached(tx, call)
    return thread, *message_json.ids_of_thread(tx, call.organization_id, call.id)


def _wholes(tx: Tx, call: Call) -> list[Whole]:
    return [Whole.of(tx, one) for one in message_json.of_thread(tx, call.organization_id, call.id)]


def _whole(tx: Tx, organization_id: str, message_id: str) -> Whole | None:
    shown = message_json.one_of_thread(tx, organization_id, message_id)
    return Whole.of(tx, shown) if shown else None
