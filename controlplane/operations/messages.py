"""Messages: sending, listing and searching, reading, labelling, deleting."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from controlplane.access.principal import SEES_HELD
from controlplane.contract import rendering
from controlplane.contract.messages import ListMessages, PatchMessage
from controlplane.contract.refusals import Refusal
from controlplane.mail import attempts, bodies, evidence, labelling, searching
from controlplane.mail.attempts import Attempts
from controlplane.mail.bodies import Bodies, MessageBody
from controlplane.mail.labelling import AskedLabels
from controlplane.operations.operation import Call
from controlplane.operations.results import Download, JsonArray, JsonPieces, Result
from controlplane.sending.submission import (
    Accepted,
    Retry,
    Submission,
    fingerprint,
    read_key,
    recalled,
    size_of,
    small_fingerprint,
)
from maild.message.idn import unicode_domain
from storage import blobs, held_mail, messages
from storage.audit.acts import Act
from storage.blobs import Blob, Blobs
from storage.engine.tx import Tx
from storage.records import MessageRow
from storage.searching.search import IN_EVERYTHING, Needle, Scope
from storage.shown import message_json
from storage.shown.kept_json import KeptJson
from storage.shown.message_json import Part, ShownMessage

ENDPOINT = "POST /v1/messages/send"
FINGERPRINT_INLINE_CHARS = 256 * 1024


class Whole(NamedTuple):
    """A message with everything that its JSON needs: the blob where a body lies there."""

    shown: ShownMessage
    blob: Blob | None

    @classmethod
    def of(cls, tx: Tx, shown: ShownMessage) -> "Whole":
        if shown.blob_id is None or not bodies.needs_blob(shown):
            return cls(shown, None)
        return cls(shown, blobs.get(tx, shown.blob_id))


async def send_message(call: Call) -> Result:
    retry = await retry_of(call, ENDPOINT)
    return accepted(await call.services.pipeline.send(Submission(call.principal, call.input, retry)))


async def retry_of(call: Call, endpoint: str, about: str = "") -> Retry | None:
    """How the call is recognised when it is made again, where it has an Idempotency-Key. `about`: see `fingerprint`."""
    key = read_key(call.idempotency_keys)
    if key is None:
        return None
    work = partial(fingerprint, call.principal, call.input, about)
    is_large = size_of(call.input) > FINGERPRINT_INLINE_CHARS
    made = await call.services.cpu.run(call.organization_id, work) if is_large else work()
    return Retry(endpoint, key, made, since_ms=_recalled_since(call))


def small_retry_of(call: Call, endpoint: str, about: str) -> Retry | None:
    """The same for a call whose body has nothing attached."""
    key = read_key(call.idempotency_keys)
    if key is None:
        return None
    return Retry(
        endpoint, key, small_fingerprint(call.principal, call.input, about), since_ms=_recalled_since(call)
    )


async def answered_before(call: Call, retry: Retry | None) -> Accepted | None:
    """`recalled`, without asking for what was answered, which may be gone since the first time. Refusal where it was
    for another inbox than that of the caller's key."""
    made = await call.db.lookup(recalled, call.organization_id, retry)
    if made is not None:
        call.principal.confine(msgspec.json.decode(made.message, type=_OfInbox).inboxId)
    return made


class _OfInbox(msgspec.Struct):
    inboxId: str


def _recalled_since(call: Call) -> int:
    if call.recalled_for_ms is None:
        return 0
    return call.services.clock.now_ms() - call.recalled_for_ms


def accepted(sent: Accepted) -> Result:
    return Result(msgspec.Raw(sent.message), is_replay=sent.is_replay)


async def list_messages(call: Call) -> JsonArray:
    query: ListMessages = call.input
    inbox_id = call.principal.listed_inbox(query.inboxId)
    if query.held:
        call.principal.require(SEES_HELD)
    asked = AskedLabels.of(query.labels, query.unread)
    if asked.is_contradiction:
        return JsonArray(nothing())
    scope = Scope(
        call.organization_id,
        inbox_id,
        query.threadId,
        query.direction,
        query.since,
        query.until,
        from_domain=query.fromDomain,
        from_domain_shown=query.fromDomain and unicode_domain(query.fromDomain),
        is_verified=query.verified,
        labels=asked.labels,
        is_unread=asked.is_unread,
        status=query.status,
        is_auto_reply=query.isAutoReply,
        is_spam=query.isSpam,
        has_attachments=query.hasAttachments,
        is_held=bool(query.held),
    )
    before = min(filter(None, (query.before, query.cursor)), default=None)
    needle = Needle.of(query.q, query.from_ or _sender_within(scope))
    if needle is None and not scope.is_filtered:
        return JsonArray(parts(call, await _page(call, scope, before, query.limit)))
    found = await searching.find(
        call.db,
        call.services.search_index,
        call.services.kept_json,
        scope,
        needle or IN_EVERYTHING,
        before,
        query.limit,
    )
    return JsonArray(parts(call, found))


def _sender_within(scope: Scope) -> str | None:
    """What the address of whoever writes from the domain has in it, which the index knows."""
    has_one_form = scope.from_domain == scope.from_domain_shown
    return f"@{scope.from_domain}" if scope.from_domain is not None and has_one_form else None


async def _page(call: Call, scope: Scope, before: str | None, limit: int) -> Part:
    kept = call.services.kept_json
    if before is not None or scope.is_held:
        return await call.read(message_json.list_messages, scope, before, limit, kept)
    # What clients ask again and again: has anything come?
    page = await call.db.lookup(message_json.newest_at_hand, scope, limit, kept)
    if page is None:
        page = await call.read(message_json.newest, scope, limit, kept)
    return page


async def nothing() -> AsyncIterator[bytes]:
    """The parts of an empty list."""
    return
    yield b""


async def parts(call: Call, part: Part) -> AsyncIterator[bytes]:
    """This one and the rest, each read in a turn of its own."""
    yield part.json
    while part.rest is not None:
        part = await call.read(part.rest)
        yield part.json


async def get_message(call: Call) -> Result | JsonPieces:
    whole = await call.db.lookup(_seen, call)
    if whole is None:
        raise Refusal("message_not_found")
    return await _shown(call, whole, await read_bodies(call, whole, call.input.html == "sanitized"))


async def shown_message(call: Call, whole: Whole) -> Result | JsonPieces:
    """The message with its bodies, as it stands."""
    return await _shown(call, whole, await read_bodies(call, whole))


async def _shown(call: Call, whole: Whole, bodies: Bodies) -> Result | JsonPieces:
    if bodies.are_held:
        return Result(rendering.message(whole.shown.json, bodies.text.text, bodies.html.text))
    names = {"textBody": bodies.text, "htmlBody": bodies.html}
    return JsonPieces(member_pieces(call, whole, names), brief=msgspec.Raw(whole.shown.json))


async def member_pieces(call: Call, whole: Whole, members: Mapping[str, MessageBody]) -> AsyncIterator[bytes]:
    """The message's JSON with these members besides, in pieces."""
    yield whole.shown.json[:-1]
    for name, body in members.items():
        yield b',"' + name.encode() + b'":'
        async for piece in call.services.body_reader.json(call.organization_id, body):
            yield piece
    yield b"}"


async def get_raw_message(call: Call) -> Download:
    """The message as it stands: what came in, under the lines that were put before it on its way."""
    found = await call.db.lookup(_stored, call)
    if found is None:
        raise Refusal("message_not_found")
    message, blob = found
    if blob is None:
        raise Refusal("attachment_bytes_missing")
    trace = message.trace or b""
    return Download(
        content_type="message/rfc822",
        filename=f"{message.id}.eml",
        size_bytes=len(trace) + blob.size_bytes,
        open=lambda _start, _stop: _with_trace(call.services.blobs, blob, trace),
    )


async def get_evidence(call: Call) -> Result:
    found = await call.services.examiner.evidence_of(
        call.organization_id, call.id, sees_held=call.principal.sees_held
    )
    if found is None:
        raise Refusal("message_not_found")
    return Result(evidence.shown(call.id, found))


async def list_attempts(call: Call) -> JsonArray:
    return JsonArray(attempts.parts(call.read, await call.read(_attempts, call)))


async def label_message(call: Call) -> Result | JsonPieces:
    changed = await call.db.write(_label, call)
    if not call.principal.reads_mail:
        return Result(rendering.wordless(changed.shown.json))
    return await shown_message(call, changed)


async def cancel_scheduled_message(call: Call) -> Result:
    await call.db.write(_cancel, call)
    return Result({"id": call.id, "status": "cancelled"})


async def delete_message(call: Call) -> Result:
    file = await call.db.write(_delete, call)
    if file is not None:
        await asyncio.to_thread(call.services.blobs.remove, file)
    return Result({"id": call.id, "deleted": True})


async def read_bodies(call: Call, whole: Whole, is_sanitized: bool = False) -> Bodies:
    return await call.services.body_reader.read(call.organization_id, whole.shown, whole.blob, is_sanitized)


async def _with_trace(store: Blobs, blob: Blob, trace: bytes) -> AsyncIterator[bytes]:
    pieces = store.stream(blob, 0, blob.size_bytes)
    yield trace + await anext(pieces, b"")
    async for piece in pieces:
        yield piece


def _whole(tx: Tx, organization_id: str, message_id: str, kept: KeptJson | None = None) -> Whole | None:
    shown = message_json.get(tx, organization_id, message_id, kept)
    return Whole.of(tx, shown) if shown else None


def _seen(tx: Tx, call: Call) -> Whole | None:
    """The message that the call names, held ones too where the caller may decide about them."""
    whole = _whole(tx, call.organization_id, call.id, call.services.kept_json)
    if whole is not None or not call.principal.sees_held:
        return whole
    shown = message_json.get_held(tx, call.organization_id, call.id)
    return Whole.of(tx, shown) if shown else None


def _stored(tx: Tx, call: Call) -> tuple[MessageRow, Blob | None] | None:
    """The same for its bytes."""
    row = messages.get(tx, call.organization_id, call.id)
    if row is None and call.principal.sees_held:
        row = held_mail.get(tx, call.organization_id, call.id)
    if row is None:
        return None
    return row, blobs.get(tx, row.blob_id) if row.blob_id else None


def _reached(tx: Tx, call: Call) -> MessageRow:
    """The message that the call names."""
    row = messages.get(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("message_not_found")
    return row


def _attempts(tx: Tx, call: Call) -> Attempts:
    message = _reached(tx, call)
    return Attempts.of(tx, call.organization_id, message.id, message.mode == "live")


def _label(tx: Tx, call: Call) -> Whole:
    body: PatchMessage = call.input
    message = _reached(tx, call)
    if "labels" in body.model_fields_set:
        labelling.replace(tx, call.services.changes(), message, body.labels)
    else:
        labelling.change(tx, call.services.changes(), message, body.addLabels, body.removeLabels)
    whole = _whole(tx, call.organization_id, call.id)
    assert whole is not None
    return whole


def _cancel(tx: Tx, call: Call) -> None:
    message = _reached(tx, call)
    _spare_live_schedule(call, message)
    if not messages.cancel(tx, call.organization_id, message.id):
        raise Refusal("not_scheduled", details={"status": message.status})
    call.record(tx, Act.MESSAGE_CANCELLED, message.id, inboxId=message.inbox_id)


def _spare_live_schedule(call: Call, message: MessageRow) -> None:
    if message.mode == "live" and message.status in ("held", "scheduled", "queued"):
        call.principal.require_live()


def _delete(tx: Tx, call: Call) -> str | None:
    message = _reached(tx, call)
    return remove(tx, call, message)


def remove(tx: Tx, call: Call, message: MessageRow) -> str | None:
    """Delete the message and tell of it; the blob whose file is to be removed after the commit. What is held is
    withdrawn before. Refusal where a test key would take a live message that was to be sent."""
    _spare_live_schedule(call, message)
    if message.status == "held":
        call.services.review_desk.withdraw_deleted(tx, message, call.principal.actor)
    file = messages.delete(tx, message)
    call.services.changes().message_deleted(tx, message)
    call.record(
        tx,
        Act.MESSAGE_DELETED,
        message.id,
        inboxId=message.inbox_id,
        direction=message.direction,
        status=message.status,
    )
    return file
