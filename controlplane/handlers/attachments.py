"""Attachments: bytes that a stranger sent, served so that no browser is talked into running them."""

from urllib.parse import quote

from aiohttp import web

from controlplane import bodies
from controlplane.api import Call
from controlplane.errors import ApiError
from storage import blobs, messages
from storage.blobs import Blob, BlobMissing
from storage.database import Tx
from storage.records import Attachment, Message

INLINE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"}
)
_ASCII_NAME = {code: "_" for code in (*range(32), ord('"'), ord("\\"), 127)}


async def download(call: Call) -> web.StreamResponse:
    found = await call.rooms.db.read(_find, call.organization_id, call.id)
    if found is None:
        raise ApiError("attachment_not_found")
    attachment, message, blob = found
    call.principal.confine(message.inbox_id)
    if blob is None:
        raise ApiError("attachment_bytes_missing")
    pieces = bodies.decoded(call.rooms.blobs, blob, attachment)
    try:
        first = await anext(pieces, b"")
    except BlobMissing as error:
        raise ApiError("attachment_bytes_missing") from error
    response = web.StreamResponse(headers=_headers(attachment, call.query.inline))
    response.content_length = attachment.size_bytes
    await response.prepare(call.request)
    await response.write(first)
    async for piece in pieces:
        await response.write(piece)
    await response.write_eof()
    return response


def _find(tx: Tx, organization_id: str, attachment_id: str) -> tuple[Attachment, Message, Blob | None] | None:
    found = messages.attachment(tx, organization_id, attachment_id)
    if found is None:
        return None
    attachment, message = found
    return attachment, message, blobs.get(tx, message.blob_id) if message.blob_id else None


def _headers(attachment: Attachment, inline: bool) -> dict[str, str]:
    content_type = attachment.content_type
    shown = inline and content_type in INLINE_TYPES
    return {
        "Content-Type": "text/plain; charset=utf-8" if content_type == "text/plain" else content_type,
        "Content-Disposition": disposition("inline" if shown else "attachment", attachment.filename),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }


def disposition(kind: str, filename: str) -> str:
    """RFC 6266 §4: the name in full for those who read `filename*`, an ASCII likeness for the rest."""
    plain = filename.translate(_ASCII_NAME).encode("ascii", "replace").decode().replace("?", "_")
    if plain == filename:
        return f'{kind}; filename="{plain}"'
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
