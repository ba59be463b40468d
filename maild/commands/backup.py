"""`maild backup`: the store as it is at one moment, with its raw messages, in another folder; also beside a daemon.

The folder is a whole backup at every instant, whatever is killed: raw messages never change, so those of the new state
are put beside those of the last one; then the database is replaced, by one rename; what it does not name goes last. So
a second backup into the same folder copies what is new.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.durable_files import fsync_folder, is_there, make_folder
from storage.engine.migrate import StoreError
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs
from storage.mail.blobs import Blob, BlobDamaged, Blobs, compare_digest
from storage.upkeep import integrity, snapshot

SLICE_FILES = 500
CHUNK_BYTES = 1024 * 1024
# Files may go while they are copied, with their messages. What is left to copy is less with each snapshot.
SNAPSHOTS_MAX = 5
_FRESH = "maild.new"  # the database that is to be
_LOCK = "backup.lock"


class BackupFault(Exception):
    """There can't be a backup in that folder; the text says why."""


@dataclass(slots=True)
class Copied:
    """`copied`: files that the folder did not have. `faults`: of blobs that the store names and can't give, by id."""

    copied: int = 0
    octets: int = 0
    faults: dict[str, str] = field(default_factory=dict)


def back_up(folder: DataFolder, target: Path) -> dict[str, Any]:
    """`{"ok", "folder", "files", "copied", "copiedBytes", "removed", "faults": [{"id", "fault"}], "noted"}`; not `ok`
    where raw messages are lost or damaged in the store itself: all else is in the backup. `noted`: for the metrics and
    `doctor`, which tell how old the last one is that was `ok`. BackupFault, DataFolderError,
    StoreError: the last backup is as it was."""
    folder.check_store()
    backup = DataFolder(target)
    try:
        with _whoever_writes_there(folder, backup):
            _refuse_other_folders(folder, backup)
            make_folder(target, 0o700)
            with _alone(target):
                done = _back_up(folder, backup)
    except OSError as error:
        raise BackupFault(
            f"{error.filename or target}: {error.strerror}; what {target} held before is whole"
        ) from error
    return {**done, "noted": done["ok"] and _note(folder)}


def _note(folder: DataFolder) -> bool:
    """False where that can't be written, which makes the backup no worse."""
    try:
        folder.note_backup()
    except OSError:
        return False
    return True


def _whoever_writes_there(folder: DataFolder, backup: DataFolder) -> AbstractContextManager[None]:
    """The user of the daemon, where the folder is its, and not root: else its own next backup could not go on."""
    parts = [one for one in (folder.path, backup.path, backup.database) if is_there(one)]
    is_theirs = len({one.stat().st_uid for one in parts}) == 1
    return backup.as_its_owner() if is_theirs else nullcontext()


def _back_up(folder: DataFolder, backup: DataFolder) -> dict[str, Any]:
    done, fresh = Copied(), backup.path / _FRESH
    _copy_files(folder, folder.database, backup, done)
    try:
        _take_whole(folder, backup, fresh, done)
        fresh.rename(backup.database)
    finally:
        fresh.unlink(missing_ok=True)  # a full disk has better use for a part of it
    fsync_folder(backup.path)
    files, removed = _remove_others(backup)
    return {
        "ok": not done.faults,
        "folder": str(backup.path),
        "files": files,
        "copied": done.copied,
        "copiedBytes": done.octets,
        "removed": removed,
        "faults": [{"id": blob_id, "fault": fault} for blob_id, fault in sorted(done.faults.items())],
    }


def _refuse_other_folders(folder: DataFolder, backup: DataFolder) -> None:
    """Nothing is written where something else is: least of all over the store of a daemon."""
    target, source = backup.path.resolve(), folder.path.resolve()
    if target == source or source in target.parents or target in source.parents:
        raise BackupFault(f"{target} is the data folder, lies in it, or holds it")
    names = {path.name for path in target.iterdir()} if is_there(target) else set()
    used = sorted(names & {"lock", *(f"{backup.database.name}{one}" for one in ("-wal", "-journal"))})
    if used:
        raise BackupFault(f"{target} is the data folder of a daemon, or in use: it has a file {used[0]}")
    if backup.database.name in names:
        if snapshot.owner_of(backup.database) != snapshot.owner_of(folder.database):
            raise BackupFault(f"{target} holds the backup of another store")
    elif names and _LOCK not in names:  # a first backup that was killed has left its lock
        raise BackupFault(
            f"{target} has other files ({min(names)}): name a folder that is empty, or not there yet"
        )


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """One backup into a folder at a time; the lock ends with its process. A first backup that put nothing there takes
    its lock away."""
    lock = target / _LOCK
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _takes(descriptor, lock):
            raise BackupFault(f"another backup into {target} is running")
        try:
            yield
        finally:
            if os.listdir(target) == [_LOCK]:
                lock.unlink()
    finally:
        os.close(descriptor)


def _takes(descriptor: int, lock: Path) -> bool:
    """Is the lock ours now, and no file that another backup has taken away meanwhile?"""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _take_whole(folder: DataFolder, backup: DataFolder, fresh: Path, done: Copied) -> None:
    """A snapshot of which each raw message is there, but those that the store itself has lost."""
    for _ in range(SNAPSHOTS_MAX):
        snapshot.take(folder.database, fresh)
        gone = _copy_files(folder, fresh, backup, done)
        if not gone:
            return
    raise StoreError("raw messages went faster than they could be copied; try again when less is deleted")


def _copy_files(folder: DataFolder, named_by: Path, backup: DataFolder, done: Copied) -> bool:
    """Copy what this database names and the backup does not have. True where a message went with its file meanwhile."""
    has_gone = False
    with integrity.opened(named_by) as names, integrity.opened(folder.database) as live:
        for blob in _files(names.tx):
            try:
                source, target = (blobs.file_of(one.blobs, blob.id) for one in (folder, backup))
                _copy_file(source, target, blob, done)
            except FileNotFoundError:
                if blobs.get(live.tx, blob.id) is None:
                    has_gone = True
                else:
                    done.faults[blob.id] = "its file is gone"
            except BlobDamaged as error:
                done.faults[blob.id] = str(error)
    return has_gone


def _files(tx: Tx) -> Iterator[Blob]:
    after = ""
    while some := blobs.files_after(tx, after, SLICE_FILES):
        after = some[-1].id
        yield from some


def _copy_file(source: Path, target: Path, blob: Blob, done: Copied) -> None:
    """FileNotFoundError without the source; BlobDamaged where its bytes are not those that were stored."""
    if is_there(target) and target.stat().st_size == blob.size_bytes:
        return  # a file has its name once it is whole
    if not is_there(target.parent):
        make_folder(target.parent, 0o700)
    building = target.with_suffix(".new")
    try:
        with source.open("rb") as read, building.open("wb") as written:
            digest = hashlib.sha256()
            while chunk := read.read(CHUNK_BYTES):
                digest.update(chunk)
                written.write(chunk)
            written.flush()
            os.fsync(written.fileno())
        compare_digest(digest.digest(), blob.sha256)
        building.rename(target)
    finally:
        building.unlink(missing_ok=True)
    fsync_folder(target.parent)
    done.copied += 1
    done.octets += blob.size_bytes


def _remove_others(backup: DataFolder) -> tuple[int, int]:
    """Remove what the backup's database does not name; how many files it has, and how many went."""
    with integrity.opened(backup.database) as store:
        known = blobs.known_files(store.tx)
    return len(known), Blobs(backup.blobs, Ids(Clock()), 0).sweep(known)
