"""Messages: sending, listing and searching, reading, labelling, deleting."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import NamedTuple

import msgspec
from aiohttp import web

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.refusals import Refusal
from controlplane.contract.requests import ListMessages
from controlplane.mail import bodies, searching
from controlplane.mail.bodies import Bodies, MessageBody
from controlplane.sending.submission import Accepted, Retry, Submission, fingerprint, read_key
from controlplane.transport.downloads import disposition, stream
from controlplane.transport.streaming import answer_array, stream_json
from storage import blobs, message_json, messages
from storage.blobs import Blob, Blobs
from storage.database import Tx
from storage.message_json import Part, ShownMessage
from storage.records import DeliveryAttemptRow, MessageRow
from storage.search import Needle, Scope

ENDPOINT = "POST /v1/messages/send"
FINGERPRINT_INLINE_BYTES = 256 * 1024


class Whole(NamedTuple):
    """A message with everything that its JSON needs: the blob where a body lies there."""

    shown: ShownMessage
    blob: Blob | None

    @classmethod
    def of(cls, tx: Tx, shown: ShownMessage) -> "Whole":
        if shown.blob_id is None or not bodies.needs_blob(shown):
            return cls(shown, None)
        return cls(shown, blobs.get(tx, shown.blob_id))


async def send(call: Call) -> Result:
    key = read_key(call.request.headers.getall("Idempotency-Key", []))
    retry = None
    if key is not None:
        length = call.request.content_length  # None: sent in chunks, of whatever size
        large = length is None or length > FINGERPRINT_INLINE_BYTES
        work = partial(fingerprint, call.principal, call.body)
        retry = Retry(
            ENDPOINT, key, await call.rooms.cpu.run(call.organization_id, work) if large else work()
        )
    return accepted(await call.rooms.pipeline.send(Submission(call.principal, call.body, retry)))


def accepted(sent: Accepted) -> Result:
    """201 with the message, or 200 where an earlier request made it."""
    shown = msgspec.Raw(sent.message)
    if sent.is_replay:
        return Result(shown, headers={"Idempotent-Replayed": "true"})
    return Result(shown, status=201)


async def page(call: Call) -> Result | web.StreamResponse:
    query: ListMessages = call.query
    inbox_id = call.principal.listed_inbox(query.inboxId)
    scope = Scope(call.organization_id, inbox_id, query.threadId, query.direction, query.since, query.until)
    before = min(filter(None, (query.before, query.cursor)), default=None)
    needle = Needle.of(query.q, query.from_)
    if needle is None:
        listed = await call.read(message_json.list_messages, scope, before, query.limit)
    else:
        listed = await searching.find(call.rooms.db, scope, needle, before, query.limit)
    return await answer_array(call.request, _parts(call, listed))


async def _parts(call: Call, part: Part) -> AsyncIterator[bytes]:
    yield part.json
    while part.rest is not None:
        part = await call.read(part.rest)
        yield part.json


async def show(call: Call) -> Result | web.StreamResponse:
    whole = await call.rooms.db.lookup(_whole, call.organization_id, call.id)
    if whole is None:
        raise Refusal("message_not_found")
    call.principal.confine(whole.shown.inbox_id)
    # What was sent is sanitised already.
    is_sanitized = call.query.html == "sanitized" and bool(whole.shown.is_inbound)
    return await _shown(call, whole, await read_bodies(call, whole, is_sanitized))


async def _shown(call: Call, whole: Whole, bodies: Bodies) -> Result | web.StreamResponse:
    if bodies.are_held:
        return Result(render.message(whole.shown.json, bodies.text.text, bodies.html.text))
    names = {"textBody": bodies.text, "htmlBody": bodies.html}
    return await stream_json(call.request, _data(member_pieces(call, whole, names)))


async def _data(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b'{"data":'
    async for piece in pieces:
        yield piece
    yield b"}"


async def member_pieces(call: Call, whole: Whole, members: Mapping[str, MessageBody]) -> AsyncIterator[bytes]:
    """The message's JSON with these members besides, in pieces."""
    yield whole.shown.json[:-1]
    for name, body in members.items():
        yield b',"' + name.encode() + b'":'
        async for piece in call.rooms.body_reader.json(call.organization_id, body):
            yield piece
    yield b"}"


async def raw(call: Call) -> web.StreamResponse:
    """The message as it stands: what came in, under the lines that were put before it on its way."""
    found = await call.rooms.db.lookup(_stored, call.organization_id, call.id)
    if found is None:
        raise Refusal("message_not_found")
    message, blob = found
    call.principal.confine(message.inbox_id)
    if blob is None:
        raise Refusal("attachment_bytes_missing")
    trace = message.trace or b""
    headers = {
        "Content-Type": "message/rfc822",
        "Content-Disposition": disposition("attachment", f"{message.id}.eml"),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    pieces = _with_trace(call.rooms.blobs, blob, trace)
    return await stream(call.request, pieces, len(trace) + blob.size_bytes, headers)


async def attempts(call: Call) -> Result:
    rows = await call.read(_attempts, call)
    return Result([render.delivery_attempt(row) for row in rows])


async def label(call: Call) -> Result | web.StreamResponse:
    changed = await call.rooms.db.write(_label, call, list(dict.fromkeys(call.body.labels)))
    return await _shown(call, changed, await read_bodies(call, changed))


async def cancel_schedule(call: Call) -> Result:
    await call.rooms.db.write(_cancel, call)
    return Result({"id": call.id, "status": "cancelled"})


async def delete(call: Call) -> Result:
    file = await call.rooms.db.write(_delete, call)
    if file is not None:
        await asyncio.to_thread(call.rooms.blobs.remove, file)
    return Result({"id": call.id, "deleted": True})


async def read_bodies(call: Call, whole: Whole, is_sanitized: bool = False) -> Bodies:
    return await call.rooms.body_reader.read(call.organization_id, whole.shown, whole.blob, is_sanitized)


async def _with_trace(store: Blobs, blob: Blob, trace: bytes) -> AsyncIterator[bytes]:
    pieces = store.stream(blob, 0, blob.size_bytes)
    yield trace + await anext(pieces, b"")
    async for piece in pieces:
        yield piece


def _whole(tx: Tx, organization_id: str, message_id: str) -> Whole | None:
    shown = message_json.get(tx, organization_id, message_id)
    return Whole.of(tx, shown) if shown else None


def _stored(tx: Tx, organization_id: str, message_id: str) -> tuple[MessageRow, Blob | None] | None:
    row = messages.get(tx, organization_id, message_id)
    if row is None:
        return None
    return row, blobs.get(tx, row.blob_id) if row.blob_id else None


def _reached(tx: Tx, call: Call) -> MessageRow:
    """The message that the call names, if its key may touch it."""
    row = messages.get(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("message_not_found")
    call.principal.confine(row.inbox_id)
    return row


def _attempts(tx: Tx, call: Call) -> list[DeliveryAttemptRow]:
    return messages.attempts(tx, _reached(tx, call).id)


def _label(tx: Tx, call: Call, labels: list[str]) -> Whole:
    messages.set_labels(tx, _reached(tx, call), labels)
    whole = _whole(tx, call.organization_id, call.id)
    assert whole is not None
    return whole


def _cancel(tx: Tx, call: Call) -> None:
    message = _reached(tx, call)
    _spare_live_schedule(call, message)
    if not messages.cancel(tx, call.organization_id, message.id):
        raise Refusal("not_scheduled", details={"status": message.status})


def _spare_live_schedule(call: Call, message: MessageRow) -> None:
    if message.mode == "live" and message.status == "scheduled":
        call.principal.require_live()


def _delete(tx: Tx, call: Call) -> str | None:
    message = _reached(tx, call)
    _spare_live_schedule(call, message)
    return messages.delete(tx, message)
