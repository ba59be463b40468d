"""Connections to an existing, migrated store, and what each of them is told first."""

import asyncio
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import aiosqlite

from storage.engine.shared_memory import share_in_place
from storage.turns.started_threads import no_thread

T = TypeVar("T")

# 4 MiB: write back though units wait, for some 13 ms of a large store's scattered pages; of four times as many 43.
CHECKPOINT_PAGES_FORCED = 1000
WAL_KEPT_BYTES = 64 * 1024 * 1024  # its file is larger only while an old state is read, as by a backup
WRITER_CACHE_KIB = 16 * 1024
READER_CACHE_KIB = 16 * 1024
BUSY_TIMEOUT_MS = 10_000


class StoreConnection(aiosqlite.Connection):
    """aiosqlite with one more verb: a whole function on the connection's thread, in one hop."""

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        result: T = await self._execute(function, self._conn)  # type: ignore[no-untyped-call]
        return result

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself; never touched while a `call` is under way."""
        return self._conn


async def open_connection(path: Path, read_only: bool) -> StoreConnection:
    connection = StoreConnection(partial(connect, path, read_only), iter_chunk_size=64)
    # A daemon that dies on an error must not hang on this thread at exit (aiosqlite #290).
    connection._thread.daemon = True
    try:
        await connection
    except BaseException as error:
        if connection._thread.ident is None and isinstance(error, RuntimeError):
            raise no_thread(error) from error
        # The thread calls the event loop once more, which may be closed by then: it is waited for here alone.
        await asyncio.to_thread(connection._thread.join)
        raise
    return connection


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """To an existing, migrated store, by a thread of this daemon's processes. The caller closes it."""
    share_in_place(path)
    mode = "ro" if read_only else "rw"
    conn = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        cached_statements=512,
        check_same_thread=False,
    )
    configure(conn, READER_CACHE_KIB if read_only else WRITER_CACHE_KIB)
    conn.execute(f"PRAGMA wal_autocheckpoint = {0 if read_only else CHECKPOINT_PAGES_FORCED}")
    conn.execute(f"PRAGMA journal_size_limit = {WAL_KEPT_BYTES}")
    return conn


def configure(conn: sqlite3.Connection, cache_kib: int = READER_CACHE_KIB) -> None:
    """Set what every connection to the store needs, the daemon's and those of tools. `cache_kib`: of its page cache."""
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute("PRAGMA temp_store = MEMORY")  # savepoints keep old pages: in memory, not in a file
    conn.execute(f"PRAGMA cache_size = -{cache_kib}")


def roll_back(conn: sqlite3.Connection) -> None:
    """End the transaction, unless a failure of it has. Where memory is short this may fail too, and is done again by
    whoever begins the next one."""
    if conn.in_transaction:
        conn.execute("ROLLBACK")
