"""Messages: sending, listing and searching, reading, labelling, deleting."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from functools import partial

from controlplane.access.principal import SEES_HELD
from controlplane.contract import rendering
from controlplane.contract.mail.messages import ListMessages, PatchMessage
from controlplane.contract.refusals import Refusal
from controlplane.mail import attempts, evidence, labelling, searching
from controlplane.mail.attempts import Attempts
from controlplane.mail.labelling import AskedLabels
from controlplane.operations.mail.shown_messages import Whole, nothing, parts, shown_message
from controlplane.operations.operation import Call
from controlplane.operations.results import Download, JsonArray, JsonPieces, Result
from controlplane.operations.retries import accepted, retry_of
from controlplane.sending.submission import Submission
from maild.message.fields.idn import unicode_domain
from storage.agents import claims
from storage.audit.acts import Act
from storage.engine.tx import Tx
from storage.mail import blobs, held_mail, messages
from storage.mail.blobs import Blob, Blobs
from storage.records import MessageRow
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_scope import Scope
from storage.sending import deleted_mail
from storage.shown import message_json
from storage.shown.kept_json import KeptJson
from storage.shown.message_json import Part

ENDPOINT = "POST /v1/messages/send"


async def send_message(call: Call) -> Result:
    retry = await retry_of(call, ENDPOINT)
    return accepted(await call.services.pipeline.send(Submission(call.principal, call.input, retry)))


async def list_messages(call: Call) -> JsonArray:
    query: ListMessages = call.input
    inbox_id = call.principal.listed_inbox(query.inboxId)
    if query.held:
        call.principal.require(SEES_HELD)
    asked = AskedLabels.of(query.labels, query.unread)
    if asked.is_contradiction:
        return JsonArray(nothing())
    scope = _scope_of(call.organization_id, inbox_id, query, asked)
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


def _scope_of(organization_id: str, inbox_id: str | None, query: ListMessages, asked: AskedLabels) -> Scope:
    return Scope(
        organization_id,
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


async def get_message(call: Call) -> Result | JsonPieces:
    whole = await call.db.lookup(_seen, call)
    if whole is None:
        raise Refusal("message_not_found")
    return await shown_message(call, whole, call.input.html == "sanitized")


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
        open=partial(_with_trace, call.services.blobs, blob, trace),
        tag=hashlib.sha256(trace + blob.sha256).hexdigest()[:32],
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
    if await call.db.lookup(messages.has_much, call.id):
        file = await call.db.write_apart(_delete, call, await forget_words(call, call.id))
    else:
        file = await call.db.write(_delete, call)
    if file is not None:
        await asyncio.to_thread(call.services.blobs.remove, file)
    return Result({"id": call.id, "deleted": True})


async def forget_words(call: Call, message_id: str) -> int:
    """Each event of a message to many recipients shows them all: so they lose its words before it goes, some at a time,
    between which others write. The event up to which they are gone."""
    forgotten = 0
    while (last := await call.db.write_apart(_forget_some, call, message_id, forgotten)) is not None:
        forgotten = last
    return forgotten


async def _with_trace(store: Blobs, blob: Blob, trace: bytes, start: int, stop: int) -> AsyncIterator[bytes]:
    """The octets from `start` to before `stop` of the trace and the message behind it."""
    offset, end = max(0, start - len(trace)), max(0, stop - len(trace))
    pieces = store.stream(blob, offset, end - offset)
    yield trace[start:stop] + await anext(pieces, b"")
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
    spare_live(tx, call, message)
    if not messages.cancel(tx, call.organization_id, message.id):
        raise Refusal("not_scheduled", details={"status": message.status})
    call.record(tx, Act.MESSAGE_CANCELLED, message.id, inboxId=message.inbox_id)


def spare_live(tx: Tx, call: Call, message: MessageRow) -> None:
    """Refusal where a test key would end a live message that is to be sent, or a worker's claim of one."""
    if message.mode != "live" or call.principal.mode == "live":
        return
    if message.status in ("held", "scheduled", "queued") or claims.is_held(tx, message):
        call.principal.require_live()


def _forget_some(tx: Tx, call: Call, message_id: str, behind: int) -> int | None:
    message = messages.get(tx, call.organization_id, message_id)
    if message is None:
        return None
    spare_live(tx, call, message)
    return messages.forget_some_words(tx, message_id, behind)


def _delete(tx: Tx, call: Call, forgotten: int = 0) -> str | None:
    message = _reached(tx, call)
    return remove(tx, call, message, forgotten)


def remove(tx: Tx, call: Call, message: MessageRow, forgotten: int) -> str | None:
    """Delete the message and tell of it; the blob whose file is to be removed after the commit. What is held is
    withdrawn before. `forgotten`: as of `messages.delete`. Refusal where a test key would take from live ones what they
    are at."""
    spare_live(tx, call, message)
    if message.status == "held":
        call.services.review_desk.withdraw_deleted(tx, message, call.principal.actor)
    deleted_mail.note(tx, message, call.services.clock.now_ms())
    file = messages.delete(tx, message, forgotten)
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
