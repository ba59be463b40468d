"""Attachments: their bytes, as the sender of the mail made them."""

from collections.abc import AsyncIterator, Callable
from functools import partial

from controlplane.contract.refusals import Refusal
from controlplane.mail import bodies
from controlplane.operations.operation import Call
from controlplane.operations.results import Download
from maild.message.characters.charsets import begins_as_utf8
from storage.engine.tx import Tx
from storage.mail import blobs, held_mail, messages
from storage.mail.blobs import Blob, BlobMissing
from storage.records import AttachmentRow

INLINE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
)

_LOOKED_AT_BYTES = 64 * 1024


async def get_attachment(call: Call) -> Download:
    found = await call.read(_find, call)
    if found is None:
        raise Refusal("attachment_not_found")
    attachment, blob = found
    if blob is None:
        raise Refusal("attachment_bytes_missing")
    content_type = attachment.content_type
    read = partial(bodies.decoded, call.services.blobs, blob, attachment)
    is_utf8 = content_type == "text/plain" and await _is_utf8(read, attachment.size_bytes)
    return Download(
        content_type="text/plain; charset=utf-8" if is_utf8 else content_type,
        filename=attachment.filename,
        size_bytes=attachment.size_bytes,
        open=read,
        tag=attachment.id,  # the bytes behind an id never change
        is_inline=call.input.inline and content_type in INLINE_TYPES,
    )


async def _is_utf8(read: Callable[[int, int], AsyncIterator[bytes]], size_bytes: int) -> bool:
    looked_at = min(size_bytes, _LOOKED_AT_BYTES)
    try:
        beginning = b"".join([piece async for piece in read(0, looked_at)])
    except BlobMissing as error:
        raise Refusal("attachment_bytes_missing") from error
    return begins_as_utf8(beginning, is_whole=looked_at == size_bytes)


def _find(tx: Tx, call: Call) -> tuple[AttachmentRow, Blob | None] | None:
    found = messages.attachment(tx, call.organization_id, call.id)
    if found is None and call.principal.sees_held:
        found = held_mail.attachment(tx, call.organization_id, call.id)
    if found is None:
        return None
    attachment, message = found
    return attachment, blobs.get(tx, message.blob_id) if message.blob_id else None
