"""The bytes of a message as they go over the wire: loaded, signed, dot-stuffed, and few at a time.

The stored message is immutable; what is per recipient (an unsubscribe link) or per delivery (the
DKIM-Signature) is put before it here. Line ends are made CRLF before signing, and nothing is changed after it
but the dots (RFC 5321 §4.5.2), so what is signed is what is sent, and no bare CR or LF leaves this host.

The work is done in threads of its own also where it is small: a signature is 0.3 to 0.7 ms of RSA without the
GIL, and handing it over made the queue a third faster on two cores (measured at 4 KiB). A message that is sent while
no other is waits for no thread. What stands in a line is signed ahead, and what is deferred keeps its signature, where
its bytes come with its lease (`kept_signatures.py`); the rest of the work is 10 µs then. Nothing else is decided ahead:
whether the message may still leave is asked when it does.

No host can hold up others' large messages: one is in memory while it is signed, and as it is sent where there is room
to spare; else it comes out of the store piece by piece (`wire.py`), as it does where the destination has not answered
lately. Small ones stay: their budgets suffice for all sessions that there are by default, and such destinations have
one of their own. All copies that are made here count, so that memory stays bounded however many messages are due.
"""

import asyncio
import re
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import NamedTuple

from aiosmtplib.protocol import LINE_ENDINGS_REGEX

from maild.message.canonical import pieces_of_lines, read_fields
from maild.message.octets import has_bare_line_end
from maild.outbound.signing.dkim import PLAIN_FORM, DkimKeys, SignatureForm, SigningKey, sign
from maild.outbound.signing.kept_signatures import Copy, KeptSignatures, Signed
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.signing.signing_threads import SigningJob, SigningThreads
from maild.outbound.signing.wire import END, KeptWire, LargeWire, StoredWire, stuffed
from storage.clock import Clock
from storage.engine.database import Database
from storage.exhaustion import Exhausted, is_exhaustion
from storage.mail import blobs
from storage.mail.blobs import Blob, BlobDamaged, BlobMissing, Blobs
from storage.sending.leases import Due
from storage.turns.cpu_threads import CpuThreads

SMALL_BYTES = 64 * 1024
SMALL_COPIES = 2  # the stored bytes and the stuffed ones
SMALL_BYTES_IN_FLIGHT = 50 * 1024 * 1024  # SESSIONS_PER_PLACE for each of 100 connections (`places.py`)
DOUBTFUL_BYTES_IN_FLIGHT = 25 * 1024 * 1024  # half of these
LARGE_BYTES_SIGNED = 48 * 1024 * 1024
LARGE_BYTES_KEPT = 32 * 1024 * 1024
LARGE_COPIES = 3  # the stored bytes, those with their fields, and with CRLF
PIECE_BYTES = 256 * 1024
LARGE_BYTES = 256 * 1024  # more has its turn at the CPU threads: it must not hold up the small ones
BODY_HASHES_MAX = 1_000
_ADDRESS_FIELDS = frozenset((b"from", b"sender", b"reply-to", b"to", b"cc", b"bcc"))  # also behind Resent-
_BESIDE_ADDRESSES = re.compile(rb"[\s<>(),:;]+")


class Content(NamedTuple):
    """One message as it goes to one next hop."""

    wire: bytes | LargeWire  # what follows the 354, with the final dot
    size_bytes: int  # as SIZE= counts (RFC 1870 §6)
    has_8bit: bool
    has_utf8_address: bool  # in its header; words beyond ASCII are no reason for SMTPUTF8


Sign = Callable[[bytes], Signed]


class Contents:
    """Loads and signs messages, within budgets of memory."""

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        keys: DkimKeys,
        recipient_headers: RecipientHeaders,
        clock: Clock,
        cpu: CpuThreads,
    ) -> None:
        self._db = db
        self._blobs = blobs
        self._keys = keys
        self._recipient_headers = recipient_headers
        self._clock = clock
        self._cpu = cpu
        self._large = ByteBudget(LARGE_BYTES_SIGNED)
        self._spare = ByteBudget(LARGE_BYTES_KEPT)
        self._small = ByteBudget(SMALL_BYTES_IN_FLIGHT)
        self._doubtful = ByteBudget(DOUBTFUL_BYTES_IN_FLIGHT)
        self._threads = SigningThreads()
        self._signatures = KeptSignatures(clock)
        # The hash of a body is good for the message's other destinations.
        self._body_hashes: OrderedDict[str, bytes] = OrderedDict()

    def has_room_for(self, row: Due, is_doubtful: bool) -> bool:
        """Would `room_for` not wait?"""
        budget, size = self._need(row, is_doubtful)
        return budget.has_room_for(size)

    async def room_for(self, row: Due, is_doubtful: bool) -> "MessageRoom":
        """Wait until the message fits into memory; it may be loaded until the room is given back."""
        budget, size = self._need(row, is_doubtful)
        held = await budget.hold(size)
        if budget is not self._large:
            return MessageRoom(None, held)
        return MessageRoom(held, None if is_doubtful else self._spare.hold_at_once(row.size_bytes))

    def _need(self, row: Due, is_doubtful: bool) -> tuple["ByteBudget", int]:
        if row.size_bytes > SMALL_BYTES:
            return self._large, row.size_bytes * LARGE_COPIES
        return self._doubtful if is_doubtful else self._small, row.size_bytes * SMALL_COPIES

    def sign_ahead(self, row: Due, form: SignatureForm = PLAIN_FORM) -> None:
        """Have it signed before it is asked for, where that takes no waiting; `forget` it in the end."""
        key = self._keys.cached(row.sender_domain)
        if key is None or row.data is None or row.sha256 is None:
            return
        key = key.in_form(form)
        if self._signatures.get(_copy(row), key) is None:
            self._threads.ahead(self._signing(row, row.data, row.sha256, key))

    def forget(self, row: Due) -> None:
        """There will be no other attempt."""
        self._signatures.forget(_copy(row))

    async def load(
        self, row: Due, stays: bool = True, is_alone: bool = False, form: SignatureForm = PLAIN_FORM
    ) -> Content:
        """The message as it goes to this row's recipients. `stays`: in memory (`MessageRoom`). `is_alone`: no other is
        being sent.

        BlobMissing, BlobDamaged, NoKey, SealError."""
        key = (await self._keys.active(row.sender_domain)).in_form(form)
        content, body_digest = await self._composed(row, key, stays, is_alone)
        if row.blob_id is not None:
            self._body_hashes[row.blob_id] = body_digest
            while len(self._body_hashes) > BODY_HASHES_MAX:
                self._body_hashes.popitem(last=False)
        return content

    def close(self) -> None:
        """End the threads; what is signed meanwhile is dropped."""
        self._threads.close()

    async def _composed(
        self, row: Due, key: SigningKey, stays: bool, is_alone: bool
    ) -> tuple[Content, bytes]:
        fields = self._recipient_headers.of(row)
        if row.data is None or row.sha256 is None:
            stored = await self._read(row)
            again = None if stays else partial(self._pieces, row)
            work = partial(_compose, fields, stored, self._sign(row, key, self._now_s()), again)
            if len(stored) > LARGE_BYTES:
                return await self._cpu.run(row.organization_id, work)
            return await self._threads.now(SigningJob(work))
        job = self._signatures.get(_copy(row), key)
        if job is None and is_alone:
            return _compose_small(fields, row.data, row.sha256, self._sign(row, key, self._now_s()))
        signed = await self._threads.now(job or self._signing(row, row.data, row.sha256, key))
        return _compose_small(fields, row.data, row.sha256, lambda _raw: signed)

    def _signing(self, row: Due, stored: bytes, sha256: bytes, key: SigningKey) -> SigningJob[Signed]:
        """A job that signs it, whose result is kept for its next attempt as well."""
        at_s = self._now_s()
        fields, sign_now = self._recipient_headers.of(row), self._sign(row, key, at_s)
        job = SigningJob(partial(_signed, fields, stored, sha256, sign_now))
        self._signatures.keep(_copy(row), job, key, at_s)
        return job

    def _sign(self, row: Due, key: SigningKey, at_s: int) -> Sign:
        digest = None if row.blob_id is None else self._body_hashes.get(row.blob_id)
        return partial(sign, key=key, at_s=at_s, digest=digest)

    def _now_s(self) -> int:
        return self._clock.now_ms() // 1000

    async def _read(self, row: Due) -> bytes:
        return await self._blobs.load(await self._blob(row))

    async def _pieces(self, row: Due) -> AsyncGenerator[bytes]:
        """The stored bytes, few of which are in memory at a time. BlobMissing, BlobDamaged, Exhausted."""
        blob = await self._blob(row)
        for start in range(0, blob.size_bytes, PIECE_BYTES):
            try:
                yield await self._blobs.load(blob, start, min(PIECE_BYTES, blob.size_bytes - start))
            except OSError as error:  # ours, which must not count as the host's
                if is_exhaustion(error):
                    raise Exhausted(f"the message can't be read: {error.strerror}") from error
                raise BlobDamaged(f"its file can't be read: {error.strerror}") from error

    async def _blob(self, row: Due) -> Blob:
        blob = None if row.blob_id is None else await self._db.read(blobs.get, row.blob_id)
        if blob is None:
            raise BlobMissing(row.blob_id or row.message_id)
        return blob


def _copy(row: Due) -> Copy:
    """What has content of its own: the message, or where each recipient has a link of its own, the recipient."""
    return row.message_id, row.position if row.unsubscribe else -1


def with_crlf(raw: bytes) -> bytes:
    """Every line end as CRLF, the last one too; the same object where that is so already."""
    if any(has_bare_line_end(piece) for piece in pieces_of_lines(raw)):
        raw = LINE_ENDINGS_REGEX.sub(b"\r\n", raw)
    return raw if raw.endswith(b"\r\n") else raw + b"\r\n"


def _signed(fields: bytes, stored: bytes, sha256: bytes, sign_now: Sign) -> Signed:
    """BlobDamaged where these are not the bytes that were stored."""
    blobs.compare(stored, sha256)
    return sign_now(with_crlf(fields + stored))


def _compose_small(fields: bytes, stored: bytes, sha256: bytes, sign_now: Sign) -> tuple[Content, bytes]:
    """BlobDamaged where these are not the bytes that were stored."""
    blobs.compare(stored, sha256)
    return _compose(fields, stored, sign_now, None)


def _compose(
    fields: bytes,
    stored: bytes,
    sign_now: Sign,
    again: Callable[[], AsyncGenerator[bytes]] | None,
) -> tuple[Content, bytes]:
    """`stored`: bytes that were compared with their hash. `again`: where they come from when they are sent; None: they
    stay in memory."""
    raw = with_crlf(fields + stored)
    signature, digest = sign_now(raw)
    # The signature has no line that begins with a dot.
    lines = map(stuffed, pieces_of_lines(raw))
    is_ascii = raw.isascii()
    wire: bytes | LargeWire
    if again is None:
        wire = b"".join((signature, *lines, END))
        if len(wire) > SMALL_BYTES:
            wire = KeptWire(wire)
    else:
        size = sum(map(len, lines))
        is_as_stored = size == len(fields) + len(stored)  # whatever is mended makes it longer
        wire = StoredWire(signature, fields, again, len(signature) + size + len(END), is_as_stored)
    content = Content(
        wire,
        len(signature) + len(raw),
        has_8bit=not is_ascii,
        has_utf8_address=not is_ascii and _names_utf8_address(raw[: raw.find(b"\r\n\r\n")]),
    )
    return content, digest


def _names_utf8_address(header: bytes) -> bool:
    if header.isascii():
        return False
    lists = [
        value
        for name, value in read_fields(header)
        if name.rstrip().lower().removeprefix(b"resent-") in _ADDRESS_FIELDS
    ]
    words = (word for addresses in lists for word in _BESIDE_ADDRESSES.split(addresses))
    return any(b"@" in word and not word.isascii() for word in words)


class HeldBytes:
    """A part of a budget; whoever holds it gives it back, whatever happens."""

    __slots__ = ("_give",)

    def __init__(self, give: Callable[[], None]) -> None:
        self._give: Callable[[], None] | None = give

    def give(self) -> None:
        """Give it back; once is enough."""
        give, self._give = self._give, None
        if give is not None:
            give()


class MessageRoom:
    """What a message holds of the memory until it is given back. `stays`: so it may, when it is signed."""

    def __init__(self, signing: HeldBytes | None, staying: HeldBytes | None) -> None:
        self._signing = signing
        self._staying = staying

    @property
    def stays(self) -> bool:
        return self._staying is not None

    def signed(self) -> None:
        """The copies are gone that were made meanwhile."""
        if self._signing is not None:
            self._signing.give()

    def give(self) -> None:
        self.signed()
        if self._staying is not None:
            self._staying.give()


class ByteBudget:
    """A number of bytes that many may hold parts of; first come, first served."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free = limit
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def hold(self, size: int) -> "HeldBytes":
        """Wait until `size` bytes are free (at most the whole budget), and hold them until they are given back."""
        size = min(size, self._limit)
        await self._take(size)
        return HeldBytes(partial(self._give, size))

    def hold_at_once(self, size: int) -> "HeldBytes | None":
        """None where that many are not free."""
        if size > self._free or self._waiting:
            return None
        self._free -= size
        return HeldBytes(partial(self._give, size))

    def has_room_for(self, size: int) -> bool:
        """Would `hold` not wait?"""
        return not self._waiting and min(size, self._limit) <= self._free

    async def _take(self, size: int) -> None:
        if self.has_room_for(size):
            self._free -= size
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, future))
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._give(size)
            raise

    def _give(self, size: int) -> None:
        self._free += size
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self._free):
            wanted, future = self._waiting.popleft()
            if not future.done():
                self._free -= wanted
                future.set_result(None)
