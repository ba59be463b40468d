"""Attachments: their bytes, as the sender of the mail made them."""

from functools import partial

from controlplane.contract.refusals import Refusal
from controlplane.mail import bodies
from controlplane.operations.operation import Call
from controlplane.operations.results import Download
from storage import blobs, held_mail, messages
from storage.blobs import Blob
from storage.database import Tx
from storage.records import AttachmentRow

INLINE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
)


async def get_attachment(call: Call) -> Download:
    found = await call.read(_find, call)
    if found is None:
        raise Refusal("attachment_not_found")
    attachment, blob = found
    if blob is None:
        raise Refusal("attachment_bytes_missing")
    content_type = attachment.content_type
    return Download(
        content_type="text/plain; charset=utf-8" if content_type == "text/plain" else content_type,
        filename=attachment.filename,
        size_bytes=attachment.size_bytes,
        open=partial(bodies.decoded, call.services.blobs, blob, attachment),
        tag=attachment.id,  # the bytes behind an id never change
        is_inline=call.input.inline and content_type in INLINE_TYPES,
    )


def _find(tx: Tx, call: Call) -> tuple[AttachmentRow, Blob | None] | None:
    found = messages.attachment(tx, call.organization_id, call.id)
    if found is None and call.principal.sees_held:
        found = held_mail.attachment(tx, call.organization_id, call.id)
    if found is None:
        return None
    attachment, message = found
    return attachment, blobs.get(tx, message.blob_id) if message.blob_id else None
