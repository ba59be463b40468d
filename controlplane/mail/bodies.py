"""Bodies and attachments, read from the stored message by the ranges that its rows name.

How large a body is its sender decides. A small one is decoded at once, and beyond `INLINE_BYTES` on the CPU threads. Of
one that has more than `HELD_BYTES` only a piece is ever in memory: it goes out as JSON, piece by piece.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, cast

import msgspec

from maild.message.characters.decode import IDENTITY, Decoder, decode_stream
from maild.message.characters.guessing import Guesser, NoGuesser, TooMuchWork
from maild.message.digest import slices_from
from maild.message.model import Slice
from maild.message.parsing.parse import read_text
from maild.message.parsing.text_stream import text_pieces
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import blobs, messages
from storage.mail.blobs import Blob, BlobMissing, Blobs
from storage.records import AttachmentRow, MessageRow, load
from storage.shown.message_json import ShownMessage
from storage.turns.cpu_threads import CpuThreads

BODY_SLICES_MAX = 200
INLINE_BYTES = 16 * 1024  # half a millisecond, or 4 ms where the charset has to be guessed
HELD_BYTES = 256 * 1024
OCTETS_PER_CHAR_MAX = 12  # encoded: four octets of UTF-8, three characters of quoted-printable each
EVENT_CHARS_MAX = 64 * 1024 + 1  # one more than an event shows, which tells that there is more


class MessageBody(NamedTuple):
    """One body of a message: the text itself, or what gives its pieces. None: there is none."""

    text: str | None = None
    pieces: Callable[[], Iterator[str | None]] | None = None


class Bodies(NamedTuple):
    """The two bodies of a message, as they are shown."""

    text: MessageBody
    html: MessageBody

    @property
    def are_held(self) -> bool:
        """Are both in memory? Otherwise at least one is read in pieces, while the answer is written."""
        return self.text.pieces is None and self.html.pieces is None


class BodyReader:
    """`sanitize`: what HTML becomes that is asked for sanitised, of which `sanitized_chars` are read."""

    def __init__(
        self, store: Blobs, cpu: CpuThreads, sanitize: Callable[[str], str], sanitized_chars: int
    ) -> None:
        self._sanitized_chars = sanitized_chars
        self._store = store
        self._cpu = cpu
        self._sanitize = sanitize

    async def read(
        self, organization_id: str, shown: ShownMessage, blob: Blob | None, is_sanitized: bool = False
    ) -> Bodies:
        """Text and HTML; a body whose bytes are gone is not shown (`MessageBody()`)."""
        if blob is None:
            return Bodies(MessageBody(shown.text_body), MessageBody())
        text, html = slices_of(shown.text_slices), slices_of(shown.html_slices)
        size = sum(one.length for one in (*text, *html))
        work = partial(self._bodies, blob, shown.text_body, text, html, is_sanitized)
        try:
            if size <= INLINE_BYTES and blob.data is not None and not is_sanitized:
                with suppress(TooMuchWork):
                    return work(NoGuesser())
            await self._store.bring(blob, ranges_of(text, html))
            return await self._cpu.run(organization_id, work)
        except BlobMissing:
            return Bodies(MessageBody(shown.text_body), MessageBody())

    def _bodies(
        self,
        blob: Blob,
        text_body: str | None,
        text: list[Slice],
        html: list[Slice],
        is_sanitized: bool,
        guesser: Guesser | None = None,
    ) -> Bodies:
        self._store.read(blob, 0, 0)  # before anything of it is shown
        shown = self._body(blob, text, guesser) if text else MessageBody(text_body)
        if not is_sanitized or not html:
            return Bodies(shown, self._body(blob, html, guesser))
        words, _ = read_text(stored_octets(self._store, blob), html, self._sanitized_chars)
        return Bodies(shown, MessageBody(self._sanitize(words)))

    def _body(self, blob: Blob, slices: list[Slice], guesser: Guesser | None) -> MessageBody:
        if not slices:
            return MessageBody()
        if sum(one.length for one in slices) > HELD_BYTES:
            return MessageBody(pieces=partial(text_pieces, partial(self._store.read, blob), slices))
        return MessageBody(read_text(stored_octets(self._store, blob), slices, guesser=guesser)[0])

    async def json(self, organization_id: str, body: MessageBody) -> AsyncIterator[bytes]:
        """The body as a JSON value, in pieces."""
        if body.pieces is None:
            yield msgspec.json.encode(body.text)
            return
        yield b'"'
        async for piece in self._cpu.steps(organization_id, _escaped(body.pieces())):
            if piece:
                yield piece
        yield b'"'


def _escaped(pieces: Iterator[str | None]) -> Iterator[bytes]:
    for piece in pieces:
        yield b"" if piece is None else msgspec.json.encode(piece)[1:-1]


def slices_of(fields: str | None) -> list[Slice]:
    return [] if fields is None else list(slices_from(load(fields))[:BODY_SLICES_MAX])


def ranges_of(*bodies: Sequence[Slice], chars: int | None = None) -> list[tuple[int, int]]:
    """Where the first `chars` (None: all) of each body may lie in the stored message: what is to be brought from the
    disk before they are decoded."""
    longest = None if chars is None else chars * OCTETS_PER_CHAR_MAX
    return [(one.offset, min(one.length, longest or one.length)) for slices in bodies for one in slices]


def stored_octets(store: Blobs, blob: Blob) -> Any:
    """The stored message as `read_text` takes it: its ranges."""
    return cast(Any, _Ranges(partial(store.read, blob)))


class _Ranges:
    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self._read = read

    def __getitem__(self, span: slice) -> bytes:
        return self._read(span.start, span.stop - span.start)


class TextLoader:
    """As much of a text that is too large for its row as events about it show; and of HTML."""

    def __init__(self, db: Database, store: Blobs, cpu: CpuThreads) -> None:
        self._db = db
        self._store = store
        self._cpu = cpu

    async def __call__(self, organization_id: str, message_id: str) -> str | None:
        found = await self._db.read_for(organization_id, _with_blob, organization_id, message_id)
        if found is None:
            return None
        message, blob = found
        slices = slices_of(message.text_slices)
        if blob is None or not slices:
            return message.text_body
        return await self._beginning_of(organization_id, blob, slices)

    async def html(self, organization_id: str, message_id: str) -> str | None:
        """None where it has none, or its bytes are gone."""
        found = await self._db.read_for(organization_id, _with_blob, organization_id, message_id)
        if found is None:
            return None
        message, blob = found
        slices = slices_of(message.html_slices)
        if blob is None or not slices:
            return None
        return await self._beginning_of(organization_id, blob, slices)

    async def _beginning_of(self, organization_id: str, blob: Blob, slices: Sequence[Slice]) -> str | None:
        with suppress(BlobMissing):
            await self._store.bring(blob, ranges_of(slices, chars=EVENT_CHARS_MAX))
        return await self._cpu.run(organization_id, partial(self._beginning, blob, slices))

    def _beginning(self, blob: Blob, slices: Sequence[Slice]) -> str | None:
        try:
            return read_text(stored_octets(self._store, blob), slices, EVENT_CHARS_MAX)[0]
        except BlobMissing:
            return None


def _with_blob(tx: Tx, organization_id: str, message_id: str) -> tuple[MessageRow, Blob | None] | None:
    message = messages.get(tx, organization_id, message_id)
    if message is None:
        return None
    return message, blobs.get(tx, message.blob_id) if message.blob_id else None


def needs_blob(message: MessageRow | ShownMessage) -> bool:
    """Does a body of the message lie in its raw bytes, so that reading it takes the blob?"""
    return message.text_slices is not None or message.html_slices is not None


async def decoded(
    store: Blobs, blob: Blob, attachment: AttachmentRow, start: int = 0, stop: int | None = None
) -> AsyncIterator[bytes]:
    """The attachment's bytes from `start` to before `stop` (default: all), in pieces of bounded size."""
    stop = attachment.size_bytes if stop is None else stop
    if attachment.encoding == IDENTITY:
        async for piece in store.stream(blob, attachment.slice_offset + start, stop - start):
            yield piece
        return
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
