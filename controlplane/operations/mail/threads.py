"""Threads: conversations, alone with their messages or listed; the archive."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

import msgspec

from controlplane.contract import rendering
from controlplane.contract.fields import ThreadCursor
from controlplane.contract.mail.threads import ListThreads
from controlplane.contract.refusals import Refusal
from controlplane.mail import thread_finding
from controlplane.mail.labelling import AskedLabels
from controlplane.operations.mail.shown_messages import Whole, member_pieces, nothing, parts, read_bodies
from controlplane.operations.operation import Call
from controlplane.operations.results import JsonArray, JsonPieces, Result
from storage.engine.tx import Tx
from storage.ids import made_at
from storage.mail import threads
from storage.searching.labels import Owner, ThreadPlace, WantedThreads
from storage.shown import message_json, thread_json
from storage.shown.message_json import Part, Weight
from storage.shown.thread_json import FIRST, ShownThread

BODY_BYTES_MAX = 8 * 1024 * 1024  # docs/decisions.md, "Thread": of one answer
WHOLE_BYTES_MAX = 256 * 1024  # a larger answer is written slice by slice, and never held as a whole
SLICE_MESSAGES = 8


class Chosen(NamedTuple):
    """What of a thread an answer shows: which messages, oldest first; themselves, where they are few and small."""

    thread: ShownThread
    ids: list[str]
    has_more: bool
    wholes: list[Whole] | None


async def list_threads(call: Call) -> JsonArray:
    query: ListThreads = call.input
    inbox_id = call.principal.listed_inbox(query.inboxId)
    asked = AskedLabels.of(query.labels, query.unread)
    if asked.is_contradiction:
        return JsonArray(nothing())
    if asked.are_any:
        owner = Owner(call.organization_id, inbox_id)
        wanted = WantedThreads(owner, asked.labels, asked.is_unread, query.isArchived)
        before = ThreadPlace(*await call.read(_begin, call))
        return JsonArray(
            parts(
                call, await thread_finding.find(call.db, call.services.kept_json, wanted, before, query.limit)
            )
        )
    return JsonArray(parts(call, await call.read(_page, call, inbox_id)))


async def get_thread(call: Call) -> Result | JsonPieces:
    chosen = await call.read(_choose, call)
    if chosen.wholes is None:
        return JsonPieces(_pieces(call, chosen))
    elements = []
    for whole in chosen.wholes:
        text, html = await read_bodies(call, whole)
        elements.append(rendering.thread_message(whole.shown.json, text.text, html.text))
    return Result(rendering.thread(chosen.thread.json, chosen.has_more, elements))


async def _pieces(call: Call, chosen: Chosen) -> AsyncIterator[bytes]:
    yield rendering.thread_head(chosen.thread.json, chosen.has_more) + b"["
    separator = b""
    for at in range(0, len(chosen.ids), SLICE_MESSAGES):
        some = chosen.ids[at : at + SLICE_MESSAGES]  # less those that were deleted since
        for whole in await call.read(_wholes, call.organization_id, some):
            yield separator
            separator = b","
            text, html = await read_bodies(call, whole)
            members = {"textBody": text, "htmlBody": html, "text": text, "html": html}
            async for piece in member_pieces(call, whole, members):
                yield piece
    yield b"]}"


async def show_thread(call: Call) -> Result:
    return Result(msgspec.Raw((await call.read(_reached, call)).json))


async def update_thread(call: Call) -> Result:
    changed = await call.db.write(_archive, call)
    return Result(msgspec.Raw(changed) if call.principal.reads_mail else rendering.wordless(changed))


def _reached(tx: Tx, call: Call) -> ShownThread:
    """The thread that the call names."""
    thread = thread_json.get(tx, call.organization_id, call.id)
    if thread is None:
        raise Refusal("thread_not_found")
    return thread


def _archive(tx: Tx, call: Call) -> bytes:
    thread = _reached(tx, call)
    if threads.archive(tx, call.organization_id, call.id, call.input.isArchived):
        told, mode = call.services.changes(), call.principal.mode
        told.thread_updated(tx, call.organization_id, thread.inbox_id, call.id, call.input.isArchived, mode)
    return _reached(tx, call).json


def _begin(tx: Tx, call: Call) -> tuple[int, str]:
    """Behind which place in the order of threads the page begins."""
    cursor: ThreadCursor | None = call.input.cursor
    return FIRST if cursor is None else _position(tx, call.organization_id, cursor)


def _page(tx: Tx, call: Call, inbox_id: str | None) -> Part:
    query: ListThreads = call.input
    return thread_json.list_threads(
        tx,
        call.organization_id,
        limit=query.limit,
        inbox_id=inbox_id,
        before=_begin(tx, call),
        is_archived=query.isArchived,
        kept=call.services.kept_json,
    )


def _position(tx: Tx, organization_id: str, cursor: ThreadCursor) -> tuple[int, str]:
    """Where the page before ended; without its moment where that thread stands now, or began if it is gone."""
    if cursor.at_ms is not None:
        return cursor.at_ms, cursor.thread_id
    row = threads.get(tx, organization_id, cursor.thread_id)
    if row is None:
        return made_at(cursor.thread_id), cursor.thread_id
    return row.last_message_at, row.id


def _choose(tx: Tx, call: Call) -> Chosen:
    """The newest messages before the cursor, as many as are asked for and BODY_BYTES_MAX holds, but one at least."""
    thread = _reached(tx, call)
    limit = call.input.limit
    weights = message_json.weigh_thread(tx, call.organization_id, call.id, call.input.before, limit + 1)
    shown: list[Weight] = []
    bodies_bytes = 0
    for one in weights[:limit]:
        bodies_bytes += one.body_bytes
        if shown and bodies_bytes > BODY_BYTES_MAX:
            break
        shown.append(one)
    ids = [one.id for one in reversed(shown)]
    size_bytes = sum(2 * one.body_bytes + one.other_bytes for one in shown)  # bodies have two names
    wholes = _wholes(tx, call.organization_id, ids) if size_bytes <= WHOLE_BYTES_MAX else None
    return Chosen(thread, ids, len(shown) < len(weights), wholes)


def _wholes(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[Whole]:
    return [Whole.of(tx, one) for one in message_json.some_of_thread(tx, organization_id, message_ids)]
