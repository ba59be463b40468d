"""Bodies and attachments, read from the stored message by the ranges that its rows name."""

from collections.abc import AsyncIterator

from maild.message.decode import BASE64, IDENTITY, Decoder, base64_digits, decode_stream
from maild.message.digest import slices_from
from maild.message.model import Slice
from maild.message.parse import read_text
from storage import blobs, messages
from storage.blobs import Blob, Blobs
from storage.database import Database, Tx
from storage.message_json import Shown
from storage.records import Attachment, Message, load

BODY_SLICES_MAX = 200


async def text_of(store: Blobs, message: Message | Shown, blob: Blob | None) -> str | None:
    """The text body: from the row, or from the blob when it is too large for a row."""
    if message.text_slices is None or blob is None:
        return message.text_body
    return await _read(store, blob, message.text_slices)


async def html_of(store: Blobs, message: Message | Shown, blob: Blob | None) -> str | None:
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


def needs_blob(message: Message | Shown) -> bool:
    return message.text_slices is not None or message.html_slices is not None


async def _read(store: Blobs, blob: Blob, fields: str) -> str:
    parts = []
    for one in slices_from(load(fields))[:BODY_SLICES_MAX]:
        data = await store.load(blob, one.offset, one.length)
        here = Slice(0, one.length, one.encoding, one.charset)
        parts.append(read_text(data, (here,))[0])
    return "\n".join(parts)


async def decoded(
    store: Blobs, blob: Blob, attachment: Attachment, start: int = 0, stop: int | None = None
) -> AsyncIterator[bytes]:
    """The attachment's bytes from `start` to before `stop` (default: all), in pieces of bounded size."""
    stop = attachment.size_bytes if stop is None else stop
    if attachment.encoding == IDENTITY:
        async for piece in store.stream(blob, attachment.slice_offset + start, stop - start):
            yield piece
        return
    if attachment.encoding == BASE64 and start:
        at, pieces = start // 3 * 3, _base64_from(store, blob, attachment, start // 3 * 4)
    else:
        at, pieces = 0, store.stream(blob, attachment.slice_offset, attachment.slice_length)
    decoder = decode_stream(attachment.encoding)
    async for piece in _then_flush(decoder, pieces):
        wanted = piece[max(0, start - at) : stop - at]
        at += len(piece)
        if wanted:
            yield wanted
        if at >= stop:
            return


async def _then_flush(decoder: Decoder, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield decoder.feed(piece)
    yield decoder.flush()


async def _base64_from(store: Blobs, blob: Blob, attachment: Attachment, skip: int) -> AsyncIterator[bytes]:
    """The base64 text behind its first `skip` digits, which are counted and not decoded.

    Mailers break lines where they like, so only counting says where a byte of the attachment stands.
    """
    async for piece in store.stream(blob, attachment.slice_offset, attachment.slice_length):
        if not skip:
            yield piece
            continue
        digits = base64_digits(piece)
        if len(digits) <= skip:
            skip -= len(digits)
            continue
        # "=" ends the data (RFC 2045 §6.8): what the decoder sees must still say so.
        yield digits[skip:] + (b"=" if b"=" in piece else b"")
        skip = 0
