"""Raw messages: immutable bytes, each stored once, small ones in a row and large ones in a file.

What is durable when: a `Stored` with `data` becomes durable with the row that `insert` writes. One
without is a file already: written to `tmp/`, fsynced, renamed into its folder, folder fsynced, all
before `store()` or `Spool.finish()` returns. So whatever row commits, its bytes are on disk.

What is read is what was stored: bytes are compared with their row's sha256. Those of a row are compared each time that
they were read from the store; a file is compared as a whole before any of it is handed out, and again when it is not
the same file any more (`_verified`). Bytes that changed count as missing.

The caller that stores bytes commits their row inside `Blobs.keep()`: a file whose row did not commit is removed at
once, whatever stood in the way.

What a crash leaves: files in `tmp/`, and files whose row never committed. `sweep()` removes both at
start, before anything is written. File names derive from our own ids alone, never from a peer's text.
"""

import asyncio
import errno
import hashlib
import mmap
import os
from collections import OrderedDict
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import Executor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import structlog

from storage.durable_files import fsync_folder, is_there, make_folder
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.records import columns
from storage.turns.cpu_process import MappedFile

log = structlog.get_logger("maild.store")

SPOOL_BUFFER_BYTES = 256 * 1024
READ_CHUNK_BYTES = 256 * 1024
IOVECS_MAX = 1024  # of one preadv(2) (IOV_MAX)
VERIFIED_MAX = 10_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
STORE_CHUNK_BYTES = 1024 * 1024  # a millisecond of copying on the event loop
# For more at once hashlib lets other threads have the interpreter, and to get it back takes longer than a small hash.
HASHED_AT_ONCE_BYTES = 2047
HASHED_HERE_BYTES = 8 * 1024
T = TypeVar("T")
RawMessage = bytes | mmap.mmap


class BlobMissing(Exception):
    """The row is there, its bytes are not (removed by retention, or lost)."""


class BlobDamaged(BlobMissing):
    """The bytes are there, but not those that were stored."""


class Blob(NamedTuple):
    """A row: `data` is None when the bytes are a file."""

    id: str
    size_bytes: int
    data: bytes | None
    sha256: bytes


@dataclass(slots=True)
class Stored:
    """Bytes that wait for their row. `is_named`: a unit of work wrote the row (which may yet fail to commit)."""

    id: str
    size_bytes: int
    sha256: bytes
    data: bytes | None
    path: Path | None
    is_named: bool = False

    @property
    def as_blob(self) -> Blob:
        """Its row to be, for who reads it before."""
        return Blob(self.id, self.size_bytes, self.data, self.sha256)

    def view(self) -> RawMessage:
        """The bytes, or a read-only map of their file."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def to_hand_over(self) -> RawMessage:
        """For the process that computes, where it arrives as `view()` is here; here it can't be read."""
        if self.data is not None:
            return self.data
        assert self.path is not None
        return cast(mmap.mmap, MappedFile(self.path))


def in_row(ids: Ids, raw: bytes) -> Stored:
    """Bytes of ours that are never large: they go into the row, whatever `storage.inline_blob_bytes` is."""
    return Stored(ids.new("blb"), len(raw), hashlib.sha256(raw).digest(), raw, None)


def insert(
    tx: Tx, stored: Stored, now_ms: int, refs: int = 1, transaction_digest: bytes | None = None
) -> None:
    """Write the row; the bytes are durable when it commits. `refs`: how many messages show them.
    `transaction_digest`: see `storage.mail.unheard_replies`."""
    stored.is_named = True
    tx.run(
        """INSERT INTO blobs (id, size_bytes, sha256, data, refs, created_at, transaction_digest)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (stored.id, stored.size_bytes, stored.sha256, stored.data, refs, now_ms, transaction_digest),
    )


def retain(tx: Tx, blob_id: str, refs: int = 1) -> None:
    """Note that `refs` more messages show these bytes (fewer, when it is negative). The count is for who looks for
    damage; nothing is deleted by it."""
    tx.run("UPDATE blobs SET refs = refs + ? WHERE id = ?", (refs, blob_id))


def get(tx: Tx, blob_id: str) -> Blob | None:
    """The row, with its data where the bytes are not a file; None when it is gone."""
    row = tx.one(f"SELECT {columns(Blob)} FROM blobs WHERE id = ?", (blob_id,))
    return Blob(*row) if row else None


class Blobs:
    """The folder of the large ones: `<folder>/<two characters>/<id>`."""

    def __init__(
        self,
        folder: Path,
        ids: Ids,
        inline_bytes: int,
        writing: Executor | None = None,
        reading: Executor | None = None,
    ) -> None:
        """`writing`: threads that wait for the disk with what is written, so that those who read don't wait behind an
        fsync. `reading`: threads that read files, and compare the whole of one the first time: as many as there are may
        take cores from the event loop. None: the event loop's own."""
        self._folder = folder
        self._writing = writing
        self._reading = reading
        self._tmp = folder / "tmp"
        self._ids = ids
        self._inline_bytes = inline_bytes
        self._keeping: set[asyncio.Task[Any]] = set()
        # Folders in it whose names have been fsynced: one that is there may be another thread's, which is about to.
        self._durable: set[str] = set()
        # Files that were compared: blob → (inode, mtime, ctime) of its file then. May be thrown away at any time.
        self._verified: OrderedDict[str, tuple[int, int, int]] = OrderedDict()
        self._compared: bytes | None = None  # the bytes of a row that were compared last

    def prepare(self) -> None:
        """Make the folder for unfinished files; called once at start, before anything is stored."""
        make_folder(self._folder, 0o700)
        make_folder(self._tmp, 0o700)
        self._durable.update(one.name for one in self._folder.iterdir())
        fsync_folder(self._folder)

    def spool(self) -> "Spool":
        """A spool for a message that is still arriving; the caller ends it with `finish` or `discard`."""
        return Spool(self)

    async def store(self, raw: bytes) -> Stored:
        """`Spool.finish` for bytes that are complete already."""
        if len(raw) <= self._inline_bytes:
            return Stored(self._ids.new("blb"), len(raw), hashlib.sha256(raw).digest(), raw, None)
        return await self.store_pieces(_pieces(raw))

    async def store_pieces(self, pieces: AsyncIterable[bytes | memoryview]) -> Stored:
        """`store` for bytes that come bit by bit. OSError when the disk refuses; then nothing is kept."""
        spool = self.spool()
        try:
            async for piece in pieces:
                await spool.write(piece)
            return await spool.finish()
        except BaseException:
            await spool.discard()
            raise

    async def keep(self, stored: Stored, commit: Callable[[], Awaitable[T]]) -> T:
        """The result of `commit`, which is to write the row of `stored` (`insert`); without the row its file goes.

        `commit` runs to its end though the caller is cancelled: a unit that was promised to the writer may commit."""
        if stored.path is None:
            return await commit()
        task = asyncio.ensure_future(self._keep_named(stored, commit))
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)
        try:
            return await asyncio.shield(task)
        finally:
            del task  # its exception knows this frame

    async def _keep_named(self, stored: Stored, commit: Callable[[], Awaitable[T]]) -> T:
        is_kept = False
        try:
            result = await commit()
            is_kept = stored.is_named
            return result
        except asyncio.CancelledError:
            # The process ends; the sweep at the next start finds out whether the row committed.
            is_kept = True
            raise
        finally:
            if not is_kept:
                await self._in_thread(partial(self.remove, stored.id))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """A thread can't be cancelled: a cancelled caller waits for it, so that what it writes can be discarded."""
        task = asyncio.get_running_loop().run_in_executor(self._writing, work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            while not task.done():
                with suppress(asyncio.CancelledError):  # once more, by another who ends it
                    await asyncio.wait([task])
            raise

    def path(self, blob_id: str) -> Path:
        """Where the file of a blob is, or would be: nothing is looked at."""
        return file_of(self._folder, blob_id)

    async def load(self, blob: Blob, offset: int = 0, length: int | None = None) -> bytes:
        """A range of the bytes (all of them by default). BlobMissing."""
        work = partial(self.read, blob, offset, length)
        return work() if blob.data is not None else await self._to_reader(work)

    async def bring(self, blob: Blob, ranges: Iterable[tuple[int, int]]) -> None:
        """Have these ranges (offset, length) of the bytes read from the disk, for who reads them next on a thread where
        others would wait for the disk with it. BlobMissing."""
        if blob.data is None:
            await self._to_reader(partial(self._bring, blob, list(ranges)))

    async def _to_reader(self, work: Callable[[], T]) -> T:
        """What is logged there names the request that asked."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, copy_context().run, work)

    def _bring(self, blob: Blob, ranges: list[tuple[int, int]]) -> None:
        """In one call for each range, which lets go of the interpreter until all is there: each piece by itself would
        be one more time that the event loop waits behind this thread."""
        self.read(blob, 0, 0)
        dropped = bytearray(READ_CHUNK_BYTES)
        with self._opened(blob) as file:
            for offset, length in ranges:
                pieces = min(-(-length // READ_CHUNK_BYTES), IOVECS_MAX)
                os.preadv(file.fileno(), [dropped] * pieces, offset)

    def read(self, blob: Blob, offset: int = 0, length: int | None = None) -> bytes:
        """`load` for a caller on a thread of its own: it blocks. Damage is logged."""
        end = blob.size_bytes if length is None else offset + length
        try:
            return self._range(blob, offset, end)
        except BlobDamaged as error:
            log.error("blob_damaged", blob_id=blob.id, error=str(error), advice="run 'maild check'")
            raise

    def check(self, blob: Blob) -> None:
        """Compare the bytes with what was stored, whatever was compared before. BlobMissing."""
        self._verified.pop(blob.id, None)
        self._compared = None
        self._range(blob, 0, 0)

    def _range(self, blob: Blob, start: int, end: int) -> bytes:
        if blob.data is not None:
            if blob.data is not self._compared:
                compare(blob.data, blob.sha256)
                self._compared = blob.data
            return blob.data[start:end]
        with self._opened(blob) as file:
            return self._read(file, blob, start, end - start)

    def _opened(self, blob: Blob) -> BufferedReader:
        try:
            return self.path(blob.id).open("rb")
        except FileNotFoundError as error:
            raise BlobMissing("its file is gone") from error

    async def stream(self, blob: Blob, offset: int, length: int) -> AsyncIterator[bytes]:
        """The range in pieces of bounded size."""
        for start in range(offset, offset + length, READ_CHUNK_BYTES):
            yield await self.load(blob, start, min(READ_CHUNK_BYTES, offset + length - start))

    def _read(self, file: BufferedReader, blob: Blob, offset: int, length: int) -> bytes:
        status = os.fstat(file.fileno())
        if status.st_size != blob.size_bytes:
            raise BlobDamaged(f"it has {status.st_size} bytes, {blob.size_bytes} were stored")
        seen = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        if (offset, length) == (0, blob.size_bytes):
            data = file.read()
            compare(data, blob.sha256)
            self._note_verified(blob, seen)
            return data
        if self._verified.get(blob.id) != seen:
            compare_digest(hashlib.file_digest(file, "sha256").digest(), blob.sha256)
            self._note_verified(blob, seen)
        file.seek(offset)
        return file.read(length)

    def _note_verified(self, blob: Blob, seen: tuple[int, int, int]) -> None:
        self._verified[blob.id] = seen
        while len(self._verified) > VERIFIED_MAX:
            self._verified.popitem(last=False)  # in one step: other threads are at it too

    def remove(self, blob_id: str) -> None:
        """Remove the file of a blob, if it has one; called after the commit that removed its row."""
        self.path(blob_id).unlink(missing_ok=True)

    def sweep(self, known: frozenset[str]) -> int:
        """Remove what a crash left: unfinished files, and files that no row knows. Returns how many."""
        removed = 0
        for file in self._folder.glob("*/*"):
            if file.parent == self._tmp or file.name not in known:
                file.unlink()
                removed += 1
        return removed

    def _keep(self, temporary: Path, blob_id: str) -> Path:
        """Give a finished, fsynced file its name, durably."""
        target = self.path(blob_id)
        if target.parent.name not in self._durable or not is_there(target.parent):
            make_folder(target.parent, 0o700)
            self._durable.add(target.parent.name)
        temporary.rename(target)
        fsync_folder(target.parent)
        return target


def file_of(folder: Path, blob_id: str) -> Path:
    """Where the file of a blob is in a folder of blobs, or would be."""
    return folder / blob_id[-2:] / blob_id


def compare(data: bytes, sha256: bytes) -> None:
    """BlobDamaged when these are not the bytes that were stored."""
    compare_digest(_digest(data), sha256)


def _digest(data: bytes) -> bytes:
    if len(data) > HASHED_HERE_BYTES:
        return hashlib.sha256(data).digest()
    hashed = hashlib.sha256()
    for start in range(0, len(data), HASHED_AT_ONCE_BYTES):
        hashed.update(data[start : start + HASHED_AT_ONCE_BYTES])
    return hashed.digest()


def compare_digest(found: bytes, sha256: bytes) -> None:
    """`compare` for bytes that were hashed already."""
    if found != sha256:
        raise BlobDamaged("its bytes have changed since they were stored")


def known_files(tx: Tx) -> frozenset[str]:
    """The ids of all blobs whose bytes are files: what `sweep` keeps."""
    return frozenset(row[0] for row in tx.all("SELECT id FROM blobs WHERE data IS NULL"))


def files_after(tx: Tx, after: str, limit: int) -> list[Blob]:
    """Up to `limit` blobs behind the id `after` whose bytes are files, oldest first."""
    rows = tx.all(
        f"SELECT {columns(Blob)} FROM blobs WHERE id > ? AND data IS NULL ORDER BY id LIMIT ?", (after, limit)
    )
    return [Blob(*row) for row in rows]


class Spool:
    """A message on its way in: kept in memory while small, in a file under `tmp/` beyond that.

    Memory stays below SPOOL_BUFFER_BYTES and one chunk, whatever the peer sends. One user at a
    time; either `finish()` or `discard()` ends it.
    """

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._id = blobs._ids.new("blb")
        self._buffer = bytearray()
        self._file: int | None = None
        self._hash = hashlib.sha256()
        self.size_bytes = 0

    @property
    def held_bytes(self) -> int:
        """How many of its bytes are in memory."""
        return len(self._buffer)

    async def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Add to the message. OSError when the disk refuses; then `discard` is what is left to do."""
        self._buffer += chunk
        self.size_bytes += len(chunk)
        if len(self._buffer) > max(SPOOL_BUFFER_BYTES, self._blobs._inline_bytes):
            await self._blobs._in_thread(self._flush)

    async def finish(self) -> Stored:
        """The message, durable but for its row (see the module's rules); OSError when the disk refuses."""
        if self._file is None and self.size_bytes <= self._blobs._inline_bytes:
            data = bytes(self._buffer)
            return Stored(self._id, self.size_bytes, hashlib.sha256(data).digest(), data, None)
        try:
            path = await self._blobs._in_thread(self._finish_file)
        except BaseException:
            # Cancelled after the file got its name; or the last step of naming it failed.
            self._blobs.remove(self._id)
            raise
        return Stored(self._id, self.size_bytes, self._hash.digest(), None, path)

    async def discard(self) -> None:
        """Forget it; idempotent, and harmless after `finish()`."""
        self._buffer = bytearray()  # not clear(): a write that failed may still hold a view of it
        if self._file is not None:
            descriptor, self._file = self._file, None
            await self._blobs._in_thread(partial(self._drop, descriptor))

    def _drop(self, descriptor: int) -> None:
        # It takes a few milliseconds for a large file, and a hundred sessions may be cut off at once.
        os.close(descriptor)
        self._temporary.unlink(missing_ok=True)

    @property
    def _temporary(self) -> Path:
        return self._blobs._tmp / self._id

    def _flush(self) -> None:
        if self._file is None:
            self._file = self._begin_file()
        self._hash.update(self._buffer)
        view = memoryview(self._buffer)
        while view:
            view = view[os.write(self._file, view) :]
        view.release()
        self._buffer = bytearray()

    def _begin_file(self) -> int:
        try:
            return os.open(self._temporary, _NEW, 0o600)
        except FileNotFoundError:
            return self._begin_in_new_folder()

    def _begin_in_new_folder(self) -> int:
        """Nothing in that folder outlives its message, so who clears empty ones away takes it."""
        try:
            self._temporary.parent.mkdir(0o700, exist_ok=True)
            return os.open(self._temporary, _NEW, 0o600)
        except FileNotFoundError as error:
            above = self._temporary.parent.parent
            raise OSError(errno.ESTALE, "the folder was taken away", str(above)) from error

    def _finish_file(self) -> Path:
        self._flush()
        assert self._file is not None
        os.fsync(self._file)
        # close() can report a late write error too, so it comes before the rename.
        descriptor, self._file = self._file, None
        try:
            os.close(descriptor)
            return self._blobs._keep(self._temporary, self._id)
        except OSError:
            with suppress(FileNotFoundError):
                self._temporary.unlink()
            raise


async def _pieces(raw: bytes) -> AsyncIterator[memoryview]:
    for start in range(0, len(raw), STORE_CHUNK_BYTES):
        yield memoryview(raw)[start : start + STORE_CHUNK_BYTES]
