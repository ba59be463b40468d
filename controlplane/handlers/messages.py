"""Messages: sending, listing, reading."""

from typing import NamedTuple

from controlplane import bodies, render
from controlplane.api import Answer, Call
from controlplane.errors import ApiError
from controlplane.schemas import ListMessages
from storage import blobs, messages
from storage.blobs import Blob
from storage.database import Tx
from storage.records import Attachment, Message, Recipient


class Whole(NamedTuple):
    """A message with everything that its JSON needs."""

    message: Message
    attachments: list[Attachment]
    recipients: list[Recipient]
    blob: Blob | None


async def send(call: Call) -> Answer:
    sent = await call.rooms.pipeline.send(call.principal, call.body)
    return Answer(render.listed_message(sent.message, sent.attachments, sent.recipients), status=201)


async def page(call: Call) -> Answer:
    query = call.query
    inbox_id = query.inboxId
    if call.principal.inbox_id is not None:
        if inbox_id not in (None, call.principal.inbox_id):
            return Answer([])
        inbox_id = call.principal.inbox_id
    listed = await call.rooms.db.read(_listed, call.organization_id, query, inbox_id)
    return Answer([render.listed_message(one.message, one.attachments, one.recipients) for one in listed])


async def show(call: Call) -> Answer:
    whole = await call.rooms.db.read(_whole, call.organization_id, call.id)
    if whole is None:
        raise ApiError("message_not_found")
    call.principal.confine(whole.message.inbox_id)
    return Answer(await complete(call, whole))


async def complete(call: Call, whole: Whole) -> dict[str, object]:
    """The message's JSON with its bodies."""
    text = await bodies.text_of(call.rooms.blobs, whole.message, whole.blob)
    html = await bodies.html_of(call.rooms.blobs, whole.message, whole.blob)
    return render.message(whole.message, whole.attachments, whole.recipients, text, html)


def with_parts(tx: Tx, rows: list[Message]) -> list[Whole]:
    """The rows with their attachments, recipients and, where a body lies there, blobs."""
    attachments = messages.attachments_of(tx, [row.id for row in rows])
    outbound = [row.id for row in rows if row.direction == "outbound"]
    recipients = messages.recipients_of(tx, outbound) if outbound else {}
    return [Whole(row, attachments[row.id], recipients.get(row.id, []), _blob(tx, row)) for row in rows]


def _blob(tx: Tx, row: Message) -> Blob | None:
    return blobs.get(tx, row.blob_id) if row.blob_id and bodies.needs_blob(row) else None


def _whole(tx: Tx, organization_id: str, message_id: str) -> Whole | None:
    row = messages.get(tx, organization_id, message_id)
    return with_parts(tx, [row])[0] if row else None


def _listed(tx: Tx, organization_id: str, query: ListMessages, inbox_id: str | None) -> list[Whole]:
    rows = messages.page(
        tx,
        organization_id,
        limit=query.limit,
        inbox_id=inbox_id,
        thread_id=query.threadId,
        direction=query.direction,
        from_part=query.from_,
        since_ms=query.since,
        until_ms=query.until,
        before=min(filter(None, (query.before, query.cursor)), default=None),
    )
    attachments = messages.attachments_of(tx, [row.id for row in rows])
    recipients = messages.recipients_of(tx, [row.id for row in rows if row.direction == "outbound"])
    return [Whole(row, attachments[row.id], recipients.get(row.id, []), None) for row in rows]
