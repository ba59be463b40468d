"""Answering a message or a conversation, and passing a message on."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.drafts import CreateDraft
from controlplane.contract.messages import SendMessage
from controlplane.contract.refusals import Refusal
from controlplane.contract.replies import ForwardMessage, ReplyMessage
from controlplane.mail import bodies
from controlplane.mail.bodies import MessageBody
from controlplane.operations import drafts
from controlplane.operations.messages import Whole, accepted, read_bodies, retry_of
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.sending import replying
from controlplane.sending.attachments import check_total
from controlplane.sending.replying import Answer
from controlplane.sending.submission import Accepted, Retry, Submission, recalled, with_resolved
from maild.message.compose import OutgoingAttachment
from maild.message.header_writer import is_id
from maild.message.quoting import Original
from maild.message.text import html_to_text
from storage import blobs, conversation, idempotency, message_json, messages, threads
from storage.blobs import Blob, BlobMissing
from storage.database import Tx
from storage.records import AttachmentRow, MessageRow, load

QUOTED_CHARS = 64 * 1024  # read of a body that is quoted; fewer are shown where they take more octets
LARGE_BYTES = (
    256 * 1024
)  # of a message that is passed on: it takes about four times its size of memory, in its turn
FORWARDED_BYTES = 1_048_576  # of each body; what is larger goes as a file

Find = Callable[[Tx, Call], MessageRow]


async def reply_to_message(call: Call) -> Result:
    return await _reply(call, _message, "POST /v1/messages/{id}/reply")


async def reply_to_thread(call: Call) -> Result:
    return await _reply(call, _newest_of_thread, "POST /v1/threads/{id}/reply")


async def forward_message(call: Call) -> Result:
    request: ForwardMessage = call.input
    retry = await retry_of(call, "POST /v1/messages/{id}/forward", about=call.id)
    made = await call.db.lookup(recalled, call.organization_id, retry)
    if made is not None:
        return accepted(made)
    parent, rows, blob = await call.db.lookup(_forwarded, call, request)
    if blob is None or blob.size_bytes <= LARGE_BYTES:
        return accepted(await _forward(call, parent, rows, blob, retry))
    async with call.services.forward_turns.turn(call.organization_id):
        return accepted(await _forward(call, parent, rows, blob, retry))


async def _forward(
    call: Call, parent: MessageRow, rows: Sequence[AttachmentRow], blob: Blob | None, retry: Retry | None
) -> Accepted:
    request: ForwardMessage = call.input
    if request.as_ == "eml":
        original, files = None, [await _as_file(call, parent, blob)]
    else:
        original = await _original(call, parent, FORWARDED_BYTES)
        files = await _read_files(call, rows, blob)
    work = partial(replying.forward_request, parent, request, original)
    send = await call.services.cpu.run(call.organization_id, work)
    check_total([len(one.content) for one in files], send.text, send.html)
    submission = Submission(call.principal, send, retry, files=files, forward_of=parent.id)
    return await call.services.pipeline.send(submission)


# Answers -----------------------------------------------------------------------------------------


async def _reply(call: Call, find: Find, endpoint: str) -> Result:
    request: ReplyMessage = call.input
    replying.require_authority(call.principal, request)
    retry = await retry_of(call, endpoint, about=call.id)
    # Before anything is looked for: what was answered may be gone since the first time.
    made = await call.db.lookup(recalled, call.organization_id, retry)
    if made is not None:
        return accepted(made)
    found = await call.db.lookup(_answer, call, find)
    send = await _request(call, found)
    if request.asDraft:
        return accepted(await _draft(call, found, send, retry))
    submission = Submission(call.principal, send, retry, authority=found.authority, resolved=found.resolved)
    return accepted(await call.services.pipeline.send(submission))


async def _request(call: Call, found: Answer) -> SendMessage:
    """The send that the answer is; what it quotes is read and put into form on a thread."""
    request: ReplyMessage = call.input
    if request.quote == "none":
        return replying.reply_request(found, request, None)
    original = await _original(call, found.parent, None)
    work = partial(replying.reply_request, found, request, original)
    return await call.services.cpu.run(call.organization_id, work)


def _answer(tx: Tx, call: Call, find: Find) -> Answer:
    return replying.answer(tx, call.principal, find(tx, call), call.input)


def _message(tx: Tx, call: Call) -> MessageRow:
    row = messages.get(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal("message_not_found")
    return row


def _newest_of_thread(tx: Tx, call: Call) -> MessageRow:
    if threads.get(tx, call.organization_id, call.id) is None:
        raise Refusal("thread_not_found")
    row = conversation.newest_inbound(tx, call.organization_id, call.id)
    if row is None:
        raise Refusal(
            "no_reply_target", "Nobody has written in this conversation yet; reply to one of its messages.",
            {"dropped": []},
        )  # fmt: skip
    return row


async def _draft(call: Call, found: Answer, send: SendMessage, retry: Retry | None) -> Accepted:
    body = CreateDraft.model_construct(
        inboxId=send.inboxId,
        to=send.to,
        cc=send.cc,
        bcc=send.bcc,
        subject=send.subject,
        text=send.text,
        html=send.html,
        inReplyTo=send.inReplyTo,
        ifLastMessageId=send.ifLastMessageId,
    )
    drafts.refuse_large(body)
    with refusing_what_exceeds():
        return await call.db.write(_write_draft, call, body, found.resolved, retry)


def _write_draft(tx: Tx, call: Call, body: CreateDraft, resolved: bytes, retry: Retry | None) -> Accepted:
    made = recalled(tx, call.organization_id, retry)
    if made is not None:
        return made
    row = drafts.create(tx, call, body)
    shown = with_resolved(msgspec.json.encode(drafts.shown_draft(row)), resolved)
    if retry is not None:
        idempotency.keep(tx, call.organization_id, *retry[:3], shown.decode(), None, row.created_at)
    return Accepted(shown, is_replay=False)


# The other message -------------------------------------------------------------------------------


async def _original(call: Call, parent: MessageRow, limit_bytes: int | None) -> Original:
    """What the message says. `limit_bytes`: Refusal where a body has more; None: the beginning will do."""
    whole = await call.db.lookup(_whole, call.organization_id, parent.id)
    if limit_bytes is not None:
        if whole.blob is None and bodies.needs_blob(parent):
            raise Refusal("attachment_bytes_missing")
        _refuse_long(parent, limit_bytes)
    said = await read_bodies(call, whole, is_sanitized=True)
    limit_chars = QUOTED_CHARS if limit_bytes is None else limit_bytes
    return await call.services.cpu.run(
        call.organization_id, partial(_as_original, parent, said.text, said.html, limit_chars)
    )


def _whole(tx: Tx, organization_id: str, message_id: str) -> Whole:
    shown = message_json.get(tx, organization_id, message_id)
    if shown is None:
        raise Refusal("message_not_found")
    return Whole.of(tx, shown)


def _refuse_long(message: MessageRow, limit_bytes: int) -> None:
    for slices in (message.text_slices, message.html_slices):
        size = sum(one[1] for one in load(slices)) if slices else 0
        if size > limit_bytes:
            raise Refusal(
                "payload_too_large",
                "The words of this message are too long to be written below others; forward it as 'eml'.",
                {"sizeBytes": size, "limit": limit_bytes},
            )


def _as_original(message: MessageRow, text: MessageBody, html: MessageBody, limit_chars: int) -> Original:
    markup = _words(html, limit_chars)
    words = _words(text, limit_chars)
    if words is None and markup is not None:
        words = html_to_text(markup)
    return Original(
        from_name=message.from_name,
        from_address=message.from_address,
        to=load(message.to_addresses),
        cc=load(message.cc_addresses),
        subject=message.subject,
        created_at=message.created_at,
        text=words,
        html=markup,
    )


def _words(body: MessageBody, limit_chars: int) -> str | None:
    if body.pieces is None:
        return body.text
    found = ""
    for piece in body.pieces():
        found += piece or ""
        if len(found) > limit_chars:
            break
    return found


# Files -------------------------------------------------------------------------------------------


def _forwarded(
    tx: Tx, call: Call, request: ForwardMessage
) -> tuple[MessageRow, Sequence[AttachmentRow], Blob | None]:
    """The message, those of its attachments that go along, and its bytes, where they are still there."""
    parent = _message(tx, call)
    rows = messages.attachments(tx, parent.id)
    if request.attachmentIds is not None:
        known = {row.id: row for row in rows}
        wanted = dict.fromkeys(request.attachmentIds)
        if not wanted.keys() <= known.keys():
            raise Refusal("attachment_not_found")
        rows = [known[one] for one in wanted]
    blob = blobs.get(tx, parent.blob_id) if parent.blob_id else None
    if blob is None and (rows or request.as_ == "eml"):
        raise Refusal("attachment_bytes_missing")
    if request.as_ == "inline":
        check_total([row.size_bytes for row in rows], request.text, request.html)
    return parent, rows, blob


async def _read_files(
    call: Call, rows: Sequence[AttachmentRow], blob: Blob | None
) -> list[OutgoingAttachment]:
    try:
        return [await _read_file(call, row, blob) for row in rows if blob is not None]
    except BlobMissing as error:
        raise Refusal("attachment_bytes_missing") from error


async def _read_file(call: Call, row: AttachmentRow, blob: Blob) -> OutgoingAttachment:
    pieces = [piece async for piece in bodies.decoded(call.services.blobs, blob, row)]
    shown_as = row.content_id if row.is_inline and row.content_id and is_id(f"<{row.content_id}>") else None
    return OutgoingAttachment(row.filename, row.content_type, b"".join(pieces), shown_as)


async def _as_file(call: Call, message: MessageRow, blob: Blob | None) -> OutgoingAttachment:
    """The message as it stands, under the lines that were put before it on its way."""
    assert blob is not None
    trace = message.trace or b""
    check_total([len(trace) + blob.size_bytes], None, None)
    try:
        raw = await call.services.blobs.load(blob)
    except BlobMissing as error:
        raise Refusal("attachment_bytes_missing") from error
    return OutgoingAttachment(f"{message.id}.eml", "message/rfc822", trace + raw)
