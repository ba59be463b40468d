"""Attachments: bytes that a stranger sent, served so that no browser is talked into running them."""

from aiohttp import web

from controlplane.api import Call
from controlplane.contract.refusals import Refusal
from controlplane.mail import bodies
from controlplane.transport.downloads import asked_range, disposition, stream
from storage import blobs, messages
from storage.blobs import Blob
from storage.database import Tx
from storage.records import AttachmentRow, MessageRow

INLINE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
)


async def download(call: Call) -> web.StreamResponse:
    found = await call.read(_find, call.organization_id, call.id)
    if found is None:
        raise Refusal("attachment_not_found")
    attachment, message, blob = found
    call.principal.confine(message.inbox_id)
    if blob is None:
        raise Refusal("attachment_bytes_missing")
    headers = _headers(attachment, call.query.inline)
    span = asked_range(call.request, attachment.size_bytes, headers["ETag"])
    part = (span.start, span.stop) if span else (0, attachment.size_bytes)
    pieces = bodies.decoded(call.rooms.blobs, blob, attachment, *part)
    return await stream(call.request, pieces, attachment.size_bytes, headers, span)


def _find(
    tx: Tx, organization_id: str, attachment_id: str
) -> tuple[AttachmentRow, MessageRow, Blob | None] | None:
    found = messages.attachment(tx, organization_id, attachment_id)
    if found is None:
        return None
    attachment, message = found
    return attachment, message, blobs.get(tx, message.blob_id) if message.blob_id else None


def _headers(attachment: AttachmentRow, inline: bool) -> dict[str, str]:
    content_type = attachment.content_type
    shown = inline and content_type in INLINE_TYPES
    return {
        "Content-Type": "text/plain; charset=utf-8" if content_type == "text/plain" else content_type,
        "Content-Disposition": disposition("inline" if shown else "attachment", attachment.filename),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Accept-Ranges": "bytes",
        "ETag": f'"{attachment.id}"',  # the bytes behind an id never change
    }
