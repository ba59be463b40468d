"""Blobs: durable before their row, swept after a crash, bounded in memory (storage/mail/blobs.py)."""

import asyncio
import errno
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partialmethod
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.testing import capture_logs

from storage.clock import Clock
from storage.engine.failures import is_refused
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.blobs import SPOOL_BUFFER_BYTES, Blob, BlobDamaged, BlobMissing, Blobs, Stored
from tests.support.laws.vm_steps import steps_of
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds import memory_store

INLINE = 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "blobs"


@pytest.fixture
def store(folder: Path) -> Blobs:
    made = Blobs(folder, Ids(Clock()), INLINE)
    made.prepare()
    return made


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def row(stored: Stored) -> Blob:
    return Blob(stored.id, stored.size_bytes, stored.data, stored.sha256)


async def test_small_ones_are_kept_in_their_row(store: Blobs, folder: Path) -> None:
    for size in (0, 1, INLINE):
        stored = await store.store(b"x" * size)
        assert (stored.data, stored.path, stored.size_bytes) == (b"x" * size, None, size)
        assert stored.sha256 == hashlib.sha256(b"x" * size).digest()
    assert files(folder) == []


@pytest.mark.parametrize("size", [INLINE + 1, SPOOL_BUFFER_BYTES, SPOOL_BUFFER_BYTES + 1, 3_000_000])
async def test_large_ones_are_files(store: Blobs, folder: Path, size: int) -> None:
    content = os.urandom(size)
    stored = await store.store(content)
    assert stored.data is None and stored.path == store.path(stored.id)
    assert stored.path.read_bytes() == content
    assert stored.sha256 == hashlib.sha256(content).digest()
    assert files(folder) == [stored.path]  # nothing left in tmp
    assert stored.path.stat().st_mode & 0o777 == 0o600
    assert stored.path.parent.stat().st_mode & 0o077 == 0
    view = stored.view()
    assert bytes(view[:10]) == content[:10] and len(view) == size


async def test_a_clean_up_of_empty_folders_costs_nothing(store: Blobs, folder: Path) -> None:
    (folder / "tmp").rmdir()
    stored = await store.store(b"x" * (INLINE + 1))
    assert files(folder) == [stored.path]


async def test_where_the_folder_was_moved_no_other_is_made(store: Blobs, folder: Path) -> None:
    folder.rename(folder.with_name("away"))
    with pytest.raises(OSError, match="taken away") as refused:
        await store.store(b"x" * (INLINE + 1))
    assert is_refused(refused.value)
    assert not folder.exists()


async def test_pieces_make_the_same_as_the_whole(store: Blobs) -> None:
    spool = store.spool()
    content = os.urandom(1_000_000)
    for start in range(0, len(content), 77_777):
        await spool.write(content[start : start + 77_777])
    stored = await spool.finish()
    assert stored.size_bytes == spool.size_bytes == len(content)
    assert stored.path is not None and stored.path.read_bytes() == content
    assert stored.sha256 == hashlib.sha256(content).digest()


class Recorder:
    """The operating system as `storage.mail.blobs` sees it, with a record of what was asked in which order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, str]] = []
        self.names: dict[int, str] = {}
        self.fail_at: tuple[str, int] | None = None
        self._open, self._fsync, self._close, self._write = os.open, os.fsync, os.close, os.write
        self._rename = Path.rename
        for name in ("open", "fsync", "close", "write"):
            monkeypatch.setattr(os, name, getattr(self, name))
        monkeypatch.setattr(Path, "rename", partialmethod(Recorder.renamed, self))

    def note(self, call: str, subject: str) -> None:
        self.calls.append((call, subject))
        if self.fail_at is not None and self.fail_at[0] == f"{call} {subject}":
            raise OSError(self.fail_at[1], os.strerror(self.fail_at[1]))

    @staticmethod
    def kind(path: Path) -> str:
        if path.parent.name == "tmp":
            return "file"
        return "folder" if path.is_dir() and path.name != "blobs" else "root"

    def open(self, path: Any, *rest: Any, **more: Any) -> int:
        descriptor = self._open(path, *rest, **more)
        self.names[descriptor] = self.kind(Path(path))
        return descriptor

    def write(self, descriptor: int, data: Any) -> int:
        if descriptor in self.names:
            self.note("write", self.names[descriptor])
        return self._write(
            descriptor, data[: 1 + len(data) // 2]
        )  # the kernel may take less than it is given

    def fsync(self, descriptor: int) -> None:
        self.note("fsync", self.names[descriptor])
        self._fsync(descriptor)

    def close(self, descriptor: int) -> None:
        name = self.names.pop(descriptor, "")
        self._close(descriptor)
        if name:
            self.note("close", name)

    @staticmethod
    def renamed(source: Path, recorder: "Recorder", target: Path) -> Path:
        recorder.note("rename", "file")
        return recorder._rename(source, target)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    with monkeypatch.context() as patch:
        yield Recorder(patch)


async def test_it_is_on_disk_before_its_row_may_commit(store: Blobs, system: Recorder) -> None:
    """file fsynced, closed, renamed; a new folder's name fsynced too, and the folder that holds the new name last."""
    content = b"x" * 50_000
    stored = await store.store(content)
    order = [call for call in system.calls if call[0] != "write"]
    assert order == [
        ("fsync", "file"), ("close", "file"), ("fsync", "root"), ("close", "root"), ("rename", "file"),
        ("fsync", "folder"), ("close", "folder"),
    ]  # fmt: skip
    assert system.calls[0] == ("write", "file")
    assert stored.path is not None and stored.path.read_bytes() == content  # short writes were gone on with


async def test_the_folder_of_another_file_has_its_name_too_before_a_row_may_commit(
    store: Blobs, folder: Path, system: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: who made it may be a thread that has not fsynced its name yet, or a process that was killed before."""
    monkeypatch.setattr(store._ids, "new", lambda kind: f"{kind}_1xx")
    (folder / "xx").mkdir()
    await store.store(b"x" * 50_000)
    assert system.calls.index(("fsync", "root")) < system.calls.index(("rename", "file"))
    system.calls.clear()
    monkeypatch.setattr(store._ids, "new", lambda kind: f"{kind}_2xx")
    await store.store(b"x" * 50_000)
    assert ("fsync", "root") not in system.calls  # once for each folder is enough


async def test_the_folders_that_were_there_have_their_names_from_the_start(
    store: Blobs, folder: Path, system: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D2: one fsync for all of them."""
    (folder / "xx").mkdir()
    store.prepare()
    assert ("fsync", "root") in system.calls
    system.calls.clear()
    monkeypatch.setattr(store._ids, "new", lambda kind: f"{kind}_1xx")
    await store.store(b"x" * 50_000)
    assert ("fsync", "root") not in system.calls


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("at", ["write file", "fsync file", "close file", "rename file", "fsync folder"])
async def test_a_failing_disk_is_told_and_leaves_nothing_unfinished(
    store: Blobs, folder: Path, system: Recorder, at: str, number: int
) -> None:
    """D3: no error is ever retried as a success."""
    system.fail_at = (at, number)
    with pytest.raises(OSError) as told:
        await store.store(b"x" * 50_000)
    assert told.value.errno == number
    assert files(folder) == []
    assert system.names == {}  # no descriptor leaks
    system.fail_at = None
    assert (await store.store(b"y" * 50_000)).path is not None


async def test_a_spool_is_bounded_in_memory(store: Blobs) -> None:
    spool = store.spool()
    piece = b"x" * 64 * 1024
    for _ in range(100):
        await spool.write(piece)
        assert len(spool._buffer) <= SPOOL_BUFFER_BYTES + len(piece)
    assert spool.size_bytes == 100 * len(piece)
    await spool.discard()


async def test_discarding_forgets_everything_and_may_be_repeated(store: Blobs, folder: Path) -> None:
    spool = store.spool()
    await spool.write(b"x" * 1_000_000)
    assert len(files(folder)) == 1
    for _ in range(2):
        await spool.discard()
        assert files(folder) == []
    stored = await store.store(b"x" * 5000)
    finished = store.spool()
    await finished.write(b"y" * 5000)
    kept = await finished.finish()
    await finished.discard()  # harmless after finish()
    assert kept.path is not None and kept.path.exists() and stored.path is not None and stored.path.exists()


async def test_discarding_a_write_that_was_cancelled_leaves_nothing(
    store: Blobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread can't be cancelled: what it still does must not survive the discard."""
    loop = asyncio.get_running_loop()
    begun, go_on, done = asyncio.Event(), threading.Event(), asyncio.Event()
    flush = blobs.Spool._flush

    def slow(self: blobs.Spool) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(GIVES_UP_S)
        try:
            flush(self)
        finally:
            loop.call_soon_threadsafe(done.set)

    monkeypatch.setattr(blobs.Spool, "_flush", slow)
    spool = store.spool()

    async def write() -> None:
        try:
            await spool.write(b"x" * 1_000_000)
        except BaseException:
            await spool.discard()
            raise

    writing = asyncio.create_task(write())
    await begun.wait()
    writing.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait([writing])
    async with asyncio.timeout(GIVES_UP_S):
        await done.wait()
    assert files(folder) == []
    assert spool._file is None


async def test_a_write_that_was_cancelled_twice_is_waited_for_all_the_same(
    store: Blobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the end of its connection, and by that of the process: what is discarded meanwhile is the thread's."""
    loop = asyncio.get_running_loop()
    begun, go_on, flushed = asyncio.Event(), threading.Event(), threading.Event()
    flush = blobs.Spool._flush

    def slow(self: blobs.Spool) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(GIVES_UP_S)
        flush(self)
        flushed.set()

    monkeypatch.setattr(blobs.Spool, "_flush", slow)
    writing = asyncio.create_task(store.store(b"x" * 1_000_000))
    await begun.wait()
    for _ in range(2):
        writing.cancel()
        for _ in range(3):
            await asyncio.sleep(0)
    is_waited_for = not writing.done()
    go_on.set()
    await asyncio.wait([writing])
    assert is_waited_for and writing.cancelled()
    assert flushed.is_set() and files(folder) == []


async def test_finishing_that_was_cancelled_leaves_nothing(
    store: Blobs, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread goes on and gives the file its name; nobody is left to write its row."""
    loop = asyncio.get_running_loop()
    begun, go_on = asyncio.Event(), threading.Event()
    finish = blobs.Spool._finish_file

    def slow(self: blobs.Spool) -> Path:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait(GIVES_UP_S)
        return finish(self)

    monkeypatch.setattr(blobs.Spool, "_finish_file", slow)
    storing = asyncio.create_task(store.store(b"x" * 5000))
    await begun.wait()
    storing.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.wait([storing])
    assert storing.cancelled() and files(folder) == []


async def test_the_sweep_removes_what_no_row_knows(store: Blobs, folder: Path) -> None:
    known = await store.store(b"k" * 5000)
    orphan = await store.store(b"o" * 5000)
    unfinished = store.spool()
    await unfinished.write(b"u" * 1_000_000)
    assert store.sweep(frozenset({known.id})) == 2
    assert files(folder) == [known.path]
    assert orphan.path is not None and not orphan.path.exists()
    assert store.sweep(frozenset({known.id})) == 0


@pytest.mark.parametrize("find", [blobs.known_files, lambda tx: blobs.files_after(tx, "", 10)])
def test_which_are_files_is_known_without_a_look_at_the_others(find: Callable[[Tx], object]) -> None:
    """Each start asks, and all raw messages that stand in rows are gigabytes."""

    def steps(size: int) -> int:
        conn = memory_store.empty()
        tx = Tx(conn)
        for number in range(size):
            blobs.insert(tx, Stored(f"blb_{number:04}", 3, b"", b"raw", None), 0)
        for number in range(3):
            blobs.insert(tx, Stored(f"blb_file{number}", 3, b"", None, None), 0)
        return steps_of(conn, lambda: find(tx))

    assert steps(1000) <= steps(100) + 2


async def test_ranges_of_either_kind(store: Blobs) -> None:
    for size in (INLINE, 700_000):
        content = os.urandom(size)
        blob = row(await store.store(content))
        assert await store.load(blob) == content
        assert await store.load(blob, 10) == content[10:]
        assert await store.load(blob, 10, 20) == content[10:30]
        assert await store.load(blob, size, 0) == b""
        pieces = [piece async for piece in store.stream(blob, 5, size - 6)]
        assert b"".join(pieces) == content[5:-1]
        assert max(map(len, pieces)) <= blobs.READ_CHUNK_BYTES
        assert [piece async for piece in store.stream(blob, 0, 0)] == []


async def test_what_is_brought_from_the_disk_is_one_call_for_each_range(
    store: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call gives the interpreter away, and the event loop waits behind whoever wants it back."""
    content = os.urandom(5 * blobs.READ_CHUNK_BYTES + 3)
    stored = await store.store(content)
    ranges = [(3, len(content) - 3), (0, 0), (7, 20)]
    brought: list[tuple[int, int]] = []
    preadv = os.preadv

    def count(descriptor: int, into: list[bytearray], offset: int) -> int:
        octets = preadv(descriptor, into, offset)
        brought.append((offset, octets))
        return octets

    monkeypatch.setattr(os, "preadv", count)
    await store.bring(row(stored), ranges)
    assert [offset for offset, _ in brought] == [offset for offset, _ in ranges]
    assert all(octets >= length for (_, octets), (_, length) in zip(brought, ranges, strict=True))


async def test_files_are_read_on_no_more_threads_than_were_given_for_it(folder: Path) -> None:
    """Each takes a core while it copies and compares: six of the event loop's own left it a quarter of two cores."""
    readers: set[str] = set()

    class Noted(Blobs):
        def _opened(self, blob: Blob) -> Any:
            readers.add(threading.current_thread().name)
            return super()._opened(blob)

    with ThreadPoolExecutor(1, "reader") as reading:
        store = Noted(folder, Ids(Clock()), INLINE, reading=reading)
        store.prepare()
        blob = row(await store.store(os.urandom(700_000)))
        await asyncio.gather(*(store.load(blob, n, 5) for n in range(10)), store.bring(blob, [(0, 9)]))
    assert readers == {"reader_0"}


async def test_bytes_that_are_gone_or_cut_short_are_missing(store: Blobs) -> None:
    stored = await store.store(b"x" * 5000)
    assert stored.path is not None
    os.truncate(stored.path, 4000)
    for length in (4000, None):
        with pytest.raises(BlobMissing):
            await store.load(row(stored), 0, length)
    store.remove(stored.id)
    store.remove(stored.id)  # idempotent
    with pytest.raises(BlobMissing):
        await store.load(row(stored), 0, 10)


@pytest.mark.parametrize("size", [INLINE, 700_000])
async def test_bytes_that_changed_are_given_to_nobody(store: Blobs, size: int) -> None:
    stored = await store.store(b"x" * size)
    blob = row(stored)
    if stored.path is None:
        blob = blob._replace(data=b"x" * (size - 1) + b"y")
    else:
        with stored.path.open("r+b") as file:
            file.seek(300_000)
            file.write(b"y")
    with capture_logs([merge_contextvars]) as logged, bound_contextvars(request_id="req_1"):
        for span in ((0, None), (0, 10), (size - 1, 1)):
            with pytest.raises(BlobDamaged):
                await store.load(blob, *span)
        with pytest.raises(BlobDamaged):
            store.check(blob)
    assert [(one["log_level"], one["event"], one["blob_id"], one["request_id"]) for one in logged] == [
        ("error", "blob_damaged", stored.id, "req_1")
    ] * 3  # who checks reports by itself
    assert not any("x" * 5 in str(value) for one in logged for value in one.values())


async def test_a_file_is_compared_once_until_it_is_another(
    store: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that fetches ranges, or comes again, costs no second reading of the whole."""
    compared: list[bytes] = []
    compare = blobs.compare_digest

    def counted(found: bytes, sha256: bytes) -> None:
        compared.append(found)
        compare(found, sha256)

    monkeypatch.setattr(blobs, "compare_digest", counted)
    stored = await store.store(b"x" * 700_000)
    blob = row(stored)
    for _ in range(3):
        assert [len(piece) async for piece in store.stream(blob, 10, 600_000)] == [262144, 262144, 75712]
    assert compared == [stored.sha256]
    store.check(blob)
    assert compared == [stored.sha256] * 2
    assert stored.path is not None
    os.utime(stored.path, ns=(0, 0))
    await store.load(blob, 0, 10)
    assert compared == [stored.sha256] * 3


async def test_who_reads_many_pieces_of_a_row_has_its_bytes_compared_once(
    store: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mail has a thousand attachments in 100 KiB: to forward it hashed as many times 100 KiB on the event loop."""
    compared = Mock(wraps=blobs.compare)
    monkeypatch.setattr(blobs, "compare", compared)
    blob = row(await store.store(b"words"))
    assert [await store.load(blob, at, 1) for at in range(5)] == [b"w", b"o", b"r", b"d", b"s"]
    assert compared.call_count == 1
    store.check(blob)
    another_look = blob._replace(data=bytes(bytearray(b"words")))
    assert await store.load(another_look) == b"words"
    assert compared.call_count == 3


async def test_what_is_known_of_files_is_bounded(store: Blobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "VERIFIED_MAX", 3)
    for _ in range(5):
        await store.load(row(await store.store(b"x" * 5000)), 0, 10)
    assert len(store._verified) == 3


def test_threads_that_forget_files_at_one_moment_fail_nobody(
    store: Blobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "VERIFIED_MAX", 3)

    def read_many(reader: int) -> None:
        for n in range(20_000):
            store._note_verified(Blob(f"blb_{reader}_{n % 50}", 1, None, b""), (1, 2, 3))

    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as readers:
            list(readers.map(read_many, range(4)))
    finally:
        sys.setswitchinterval(interval_s)
    assert len(store._verified) <= 3


def test_no_name_of_a_file_comes_from_outside(store: Blobs, folder: Path) -> None:
    """A7: ids alone, which are ours."""
    path = store.path(Ids(Clock()).new("blb"))
    assert path.parent.parent == folder and len(path.parent.name) == 2


async def test_a_folder_whose_name_was_not_synced_is_synced_by_the_next_message_in_it(
    folder: Path, system: Recorder
) -> None:
    """D2: a descriptor is missing, or the disk fails, for the folder of folders alone."""
    names = iter(("blb_1aa", "blb_2aa", "blb_3aa"))
    store = Blobs(folder, Mock(new=lambda _: next(names)), INLINE)
    store.prepare()
    system.fail_at = ("fsync root", errno.EMFILE)
    with pytest.raises(OSError):
        await store.store(b"x" * 50_000)
    system.fail_at = None
    for synced in (1, 0):
        system.calls.clear()
        await store.store(b"x" * 50_000)
        assert system.calls.count(("fsync", "root")) == synced


async def test_folders_that_are_there_at_the_start_last(folder: Path, store: Blobs, system: Recorder) -> None:
    """Perhaps the process before was killed between making one and syncing its name."""
    await store.store(b"x" * 50_000)
    system.calls.clear()
    Blobs(folder, Ids(Clock()), INLINE).prepare()
    assert ("fsync", "root") in system.calls
