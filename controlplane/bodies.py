"""Bodies and attachments, read from the stored message by the ranges that its rows name."""

from collections.abc import AsyncIterator

from maild.message.decode import decode_stream
from maild.message.digest import slices_from
from maild.message.model import Slice
from maild.message.parse import read_text
from storage import blobs, messages
from storage.blobs import Blob, Blobs
from storage.database import Database, Tx
from storage.records import Attachment, Message, load

BODY_SLICES_MAX = 200


async def text_of(store: Blobs, message: Message, blob: Blob | None) -> str | None:
    """The text body: from the row, or from the blob when it is too large for a row."""
    if message.text_slices is None or blob is None:
        return message.text_body
    return await _read(store, blob, message.text_slices)


async def html_of(store: Blobs, message: Message, blob: Blob | None) -> str | None:
    if message.html_slices is None or blob is None:
        return None
    return await _read(store, blob, message.html_slices)


class TextLoader:
    """The whole text of a message whose text is too large for its row (for events about it)."""

    def __init__(self, db: Database, store: Blobs) -> None:
        self._db = db
        self._store = store

    async def __call__(self, message_id: str) -> str | None:
        found = await self._db.read(_with_blob, message_id)
        return await text_of(self._store, *found) if found else None


def _with_blob(tx: Tx, message_id: str) -> tuple[Message, Blob | None] | None:
    message = messages.by_id(tx, message_id)
    if message is None:
        return None
    return message, blobs.get(tx, message.blob_id) if message.blob_id else None


def needs_blob(message: Message) -> bool:
    return message.text_slices is not None or message.html_slices is not None


async def _read(store: Blobs, blob: Blob, fields: str) -> str:
    parts = []
    for one in slices_from(load(fields))[:BODY_SLICES_MAX]:
        data = await store.load(blob, one.offset, one.length)
        here = Slice(0, one.length, one.encoding, one.charset)
        parts.append(read_text(data, (here,))[0])
    return "\n".join(parts)


async def decoded(store: Blobs, blob: Blob, attachment: Attachment) -> AsyncIterator[bytes]:
    """The attachment's bytes, in pieces of bounded size."""
    decoder = decode_stream(attachment.encoding)
    async for piece in store.stream(blob, attachment.slice_offset, attachment.slice_length):
        decoded_piece = decoder.feed(piece)
        if decoded_piece:
            yield decoded_piece
    rest = decoder.flush()
    if rest:
        yield rest
