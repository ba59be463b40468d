"""What another message says, for one that quotes it or passes it on: read, sanitised, in bounds."""

from functools import partial

from controlplane.contract.refusals import Refusal
from controlplane.mail import bodies
from controlplane.mail.bodies import MessageBody
from controlplane.operations.mail.shown_messages import Whole, read_bodies
from controlplane.operations.operation import Call
from maild.message.parsing.text import html_to_text
from maild.message.writing.quoting import QUOTED_OCTETS, Original
from storage.engine.tx import Tx
from storage.mail.blobs import BlobMissing
from storage.records import MessageRow, load
from storage.shown import message_json

BEGINNING_CHARS = QUOTED_OCTETS  # no character takes less than an octet


async def read_original(call: Call, parent: MessageRow, limit_bytes: int | None) -> Original:
    """What the message says. `limit_bytes`: Refusal where a body has more; None: the beginning will do."""
    whole = await call.db.lookup(_whole, call.organization_id, parent.id)
    if limit_bytes is not None:
        if whole.blob is None and bodies.needs_blob(parent):
            raise Refusal("attachment_bytes_missing")
        _refuse_long(parent, limit_bytes)
    said = await read_bodies(call, whole, is_sanitized=True)
    limit_chars = BEGINNING_CHARS if limit_bytes is None else limit_bytes
    work = partial(_as_original, parent, limit_chars=limit_chars)
    try:
        return await call.services.cpu.run(call.organization_id, partial(work, said.text, said.html))
    except BlobMissing as error:  # large bodies are read piece by piece
        await call.db.lookup(_whole, call.organization_id, parent.id)  # Refusal, if it was deleted meanwhile
        if limit_bytes is not None:
            raise Refusal("attachment_bytes_missing") from error
        return work(MessageBody(), MessageBody())


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


def _as_original(message: MessageRow, text: MessageBody, html: MessageBody, *, limit_chars: int) -> Original:
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
