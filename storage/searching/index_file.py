"""The index's file as the disk and SQLite have it: which file it is, connections to it, which errors mean damage."""

import sqlite3
from pathlib import Path
from typing import NamedTuple

from storage.engine.connections import BUSY_TIMEOUT_MS

WRITER_CACHE_KIB = 8 * 1024
READER_CACHE_KIB = 4 * 1024
CHECKPOINT_PAGES = 4096
MISPLACED = "its file was taken away, or another put in its place"


class IndexLost(Exception):
    """There is no index that could be asked; it is made (anew)."""


class FileIdentity(NamedTuple):
    """Tells a file from all others, whatever its name."""

    device: int
    inode: int


def file_at(path: Path) -> FileIdentity | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return FileIdentity(found.st_dev, found.st_ino)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    conn = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        conn.execute("PRAGMA synchronous = FULL")
        conn.execute("PRAGMA secure_delete = OFF")  # numbers of trigrams: a merge frees what it has rewritten
        conn.execute("PRAGMA temp_store = MEMORY")
        conn.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB if mode == 'rw' else READER_CACHE_KIB}")
        conn.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES if mode == 'rw' else 0}")
    except BaseException:
        conn.close()
        raise
    return conn


def is_damage(error: sqlite3.Error) -> bool:
    """Is it the file that is at fault, and not the moment (a full disk, no memory)?"""
    code = getattr(error, "sqlite_errorcode", None) or 0  # the low byte is the kind
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )
