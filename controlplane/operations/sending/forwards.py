"""Passing a message on: its words below others, with its files, or the whole of it as a file."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from controlplane.contract.refusals import Refusal
from controlplane.contract.sending.replies import ForwardMessage
from controlplane.mail import bodies
from controlplane.operations.mail.originals import read_original
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from controlplane.operations.retries import accepted, answered_before, retry_of
from controlplane.sending.submission import Retry, Submission
from controlplane.sending.writing import replying
from controlplane.sending.writing.attachments import check_total
from maild.message.writing.compose import OutgoingAttachment
from maild.message.writing.header_writer import is_id
from maild.message.writing.outgoing_warnings import AuthoredWords
from storage.engine.tx import Tx
from storage.mail import blobs, messages
from storage.mail.blobs import Blob, BlobMissing
from storage.records import AttachmentRow, MessageRow

T = TypeVar("T")

LARGE_BYTES = 256 * 1024  # it takes about four times its size of memory, in its turn
WORDS_BYTES = 1_048_576  # of each body; what is larger goes as a file


async def forward_message(call: Call) -> Result:
    request: ForwardMessage = call.input
    retry = await retry_of(call, "POST /v1/messages/{id}/forward", about=call.id)
    made = await answered_before(call, retry)
    if made is not None:
        return accepted(made)
    return accepted(await passing_on(call, call.id, request, retry, call.services.pipeline.send))


async def passing_on(
    call: Call,
    message_id: str,
    request: ForwardMessage,
    retry: Retry | None,
    use: Callable[[Submission], Awaitable[T]],
) -> T:
    """What `use` gives for the forward; a large message is in memory while it runs, in its turn."""
    parent, rows, blob = await call.db.lookup(_forwarded, call, message_id, request)
    if blob is None or blob.size_bytes <= LARGE_BYTES:
        return await use(await _put_together(call, request, parent, rows, blob, retry))
    async with call.services.forward_turns.turn(call.organization_id):
        return await use(await _put_together(call, request, parent, rows, blob, retry))


async def _put_together(
    call: Call,
    request: ForwardMessage,
    parent: MessageRow,
    rows: Sequence[AttachmentRow],
    blob: Blob | None,
    retry: Retry | None,
) -> Submission:
    if request.as_ == "eml":
        original, files = None, [await _as_file(call, parent, blob)]
    else:
        original = await read_original(call, parent, WORDS_BYTES)
        files = await _read_files(call, rows, blob)
    work = partial(replying.forward_request, parent, request, original)
    send = await call.services.cpu.run(call.organization_id, work)
    check_total([len(one.content) for one in files], send.text, send.html)
    words = AuthoredWords("", request.text, request.html, has_files=bool(files), has_more=True)
    return Submission(call.principal, send, retry, files=files, forward_of=parent.id, words=words)


def _forwarded(
    tx: Tx, call: Call, message_id: str, request: ForwardMessage
) -> tuple[MessageRow, Sequence[AttachmentRow], Blob | None]:
    """The message, those of its attachments that go along, and its bytes, where they are still there."""
    parent = messages.get(tx, call.organization_id, message_id)
    if parent is None:
        raise Refusal("message_not_found")
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
