"""The database as it is at one moment, as a file of its own; also beside a running daemon, which goes on writing."""

import os
import sqlite3
from pathlib import Path

from storage.engine import migrate
from storage.engine.failures import in_words
from storage.engine.migrate import StoreError
from storage.engine.tx import Tx
from storage.tenants import organizations

PIECE_PAGES = 2048  # 8 MiB: what is written at once has each fsync on that disk wait behind it
_BESIDE = ("", "-journal", "-wal", "-shm")  # what one that was killed may have left: SQLite would heed it


def take(database: Path, to: Path) -> None:
    """Write what is committed now to `to`, durably and without a log beside it; a file of that name is replaced.
    StoreError; OSError where the disk refuses.

    The daemon's log of changes is not written back while this reads.
    """
    for beside in _BESIDE:
        to.with_name(f"{to.name}{beside}").unlink(missing_ok=True)
    os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    source = migrate.connect(database, read_only=True)
    try:
        _copy(source, to)
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{to}: {in_words(error)}") from error
    finally:
        source.close()
    with to.open("rb") as file:
        os.fsync(file.fileno())


def owner_of(database: Path) -> str | None:
    """The operator's own organization, by which two copies of a store are told from two stores; of any version.
    StoreError."""
    conn = migrate.connect_any_version(database, read_only=True)
    try:
        return organizations.own(Tx(conn))
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{database}: {in_words(error)}") from error
    finally:
        conn.close()


def _copy(source: sqlite3.Connection, to: Path) -> None:
    """Piece by piece, each durable before the next: a daemon whose store lies on the same disk goes on meanwhile."""
    # A transaction keeps its state from the first read on; else what is committed meanwhile has the copy begin anew.
    source.execute("BEGIN")
    source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    target = sqlite3.connect(to, isolation_level=None)
    try:
        # The file is fsynced once it is whole, and what is not whole is thrown away.
        target.execute("PRAGMA synchronous = OFF")
        target.execute("PRAGMA journal_mode = OFF").fetchone()
        with to.open("rb") as file:
            source.backup(target, pages=PIECE_PAGES, progress=lambda *_: os.fdatasync(file.fileno()))
        # What opens it finds one file, also where it may not write beside it. The daemon's start sets WAL again.
        target.execute("PRAGMA journal_mode = DELETE").fetchone()
    finally:
        target.close()
