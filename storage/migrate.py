"""Makes a store, or brings an older one up to date. Forward only.

`PRAGMA user_version` counts the steps taken; each step is one transaction that also raises it, so
that a crash leaves either the old version or the new one. A store newer than this program is refused.
"""

import sqlite3
from importlib import resources
from pathlib import Path

from storage.database import configure


class StoreError(Exception):
    """The store can't be used; the text says why and what to do."""


def steps() -> list[str]:
    """The SQL of every migration, oldest first."""
    folder = resources.files("storage") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(folder / name).read_text("utf-8") for name in names]


def prepare(path: Path) -> None:
    """Create the store at `path` where there is none, else take the steps that it lacks."""
    conn = connect(path)
    try:
        conn.execute("PRAGMA journal_mode = WAL")
        todo = steps()
        version = conn.execute("PRAGMA user_version").fetchone()[0]
        if version > len(todo):
            raise StoreError(
                f"{path} has schema version {version}, newer than this program's {len(todo)}: upgrade maild"
            )
        if version == 0:
            _take(conn, (resources.files("storage") / "schema.sql").read_text("utf-8"), len(todo))
            return
        for number in range(version, len(todo)):
            _take(conn, todo[number], number + 1)
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {error}") from error
    finally:
        conn.close()


def connect(path: Path) -> sqlite3.Connection:
    """A plain writing connection, for tools that run beside a daemon; it makes no checkpoints."""
    try:
        conn = sqlite3.connect(path, isolation_level=None)
        configure(conn)
        conn.execute("PRAGMA wal_autocheckpoint = 0")
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from error
    return conn


def _take(conn: sqlite3.Connection, sql: str, version: int) -> None:
    # executescript() commits an open transaction first, so the script brings its own.
    try:
        conn.executescript(f"BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {version};\nCOMMIT;")
    except sqlite3.Error:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
