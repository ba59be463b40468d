"""SQLite's shared file is written in place where a file system has that (storage/engine/shared_memory.py)."""

import errno
import fcntl
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from storage.engine import connections
from storage.engine.shared_memory import share_in_place


class FileSystem:
    """Of which files it was told that they are written in place; `refuses`: with this errno."""

    def __init__(self) -> None:
        self.in_place: list[int] = []
        self.refuses = 0

    def ioctl(self, descriptor: int, request: int, flags: bytes) -> None:
        assert (request, flags) == (0x40086602, b"\x00\x00\x80\x00")
        assert os.fstat(descriptor).st_size == 0, "of a file that has octets it would not be taken"
        if self.refuses:
            raise OSError(self.refuses, os.strerror(self.refuses))
        self.in_place.append(os.fstat(descriptor).st_ino)


@pytest.fixture
def file_system(monkeypatch: pytest.MonkeyPatch) -> FileSystem:
    made = FileSystem()
    monkeypatch.setattr(fcntl, "ioctl", made.ioctl)
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """At rest: the last connection took what is beside it away."""
    path = tmp_path / "store.sqlite3"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("CREATE TABLE notes (text)")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    path.chmod(0o640)
    yield path


def test_the_file_that_connections_share_is_one_that_is_written_in_place(
    store: Path, file_system: FileSystem
) -> None:
    shared = store.with_name(f"{store.name}-shm")
    with closing(connections.connect(store, read_only=False)) as conn:
        conn.execute("INSERT INTO notes VALUES ('one')")
        assert [shared.stat().st_ino] == file_system.in_place
        assert shared.stat().st_size > 0 and shared.stat().st_mode & 0o777 == 0o640
        with closing(connections.connect(store, read_only=True)) as other:
            assert other.execute("SELECT text FROM notes").fetchall() == [("one",)]
    assert len(file_system.in_place) == 1, "one that is open is left alone: to close it gives up its locks"
    assert [one.name for one in store.parent.iterdir()] == [store.name]


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSPC, errno.EPERM])
def test_a_file_system_that_has_no_such_files_is_left_as_it_is(
    store: Path, file_system: FileSystem, number: int
) -> None:
    file_system.refuses = number
    share_in_place(store)
    assert [one.name for one in store.parent.iterdir()] == [store.name]
    with closing(connections.connect(store, read_only=False)) as conn:
        conn.execute("INSERT INTO notes VALUES ('one')")


def test_who_opens_the_store_beside_it_keeps_its_locks(
    store: Path, file_system: FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the moment on in which the file has its name, another thread may have it open: POSIX locks are of the
    process, and are gone with the first descriptor that is closed."""
    opened: list[sqlite3.Connection] = []
    link = os.link

    def named(building: Path, name: Path) -> None:
        link(building, name)
        conn = sqlite3.connect(store, check_same_thread=False)
        opened.append(conn)
        conn.execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(os, "link", named)
    share_in_place(store)
    with closing(opened.pop()):
        write = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        command = [sys.executable, "-c", write, str(store)]
        other = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "database is locked" in other.stderr


def test_where_nothing_can_be_made_it_is_not_for_this_to_tell(tmp_path: Path) -> None:
    share_in_place(tmp_path / "nowhere" / "store.sqlite3")


def test_one_that_another_process_made_meanwhile_stays(
    store: Path, file_system: FileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = store.with_name(f"{store.name}-shm")
    link = os.link

    def slower(building: Path, name: Path) -> None:
        shared.write_bytes(b"theirs")
        link(building, name)

    monkeypatch.setattr(os, "link", slower)
    share_in_place(store)
    assert shared.read_bytes() == b"theirs"
    assert sorted(one.name for one in store.parent.iterdir()) == [store.name, shared.name]
