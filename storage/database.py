"""One writer with group commit, a few readers.

What is durable when: `await db.write(unit)` returns after COMMIT under `synchronous=FULL`, which
means after an fsync. Units that wait at the same time share one `BEGIN IMMEDIATE … COMMIT`, hence one
fsync for many; each runs inside a SAVEPOINT of its own, so that one that raises leaves no trace and
does not touch its neighbours. If COMMIT itself fails, every unit of the batch failed.

Who may call: any coroutine of the event loop. A unit is a plain function `def f(tx, …)` of a few
milliseconds at most, without I/O of its own. It runs on the connection's thread: one hop for a whole
unit, and for all units of a batch. A cancelled caller does not stop its unit: it was promised to the
writer, and is committed or fails as a whole.

What a crash leaves: whole transactions. The writing connection alone makes the checkpoints (SQLite
before 3.51.3 has a race between two connections that do): in a pause, where there is one, and
at the latest when the WAL has grown to `CHECKPOINT_PAGES_FORCED`.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import aiosqlite

P = ParamSpec("P")
T = TypeVar("T")

BATCH_UNITS_MAX = 256
CHECKPOINT_PAGES_FORCED = 4096  # 16 MiB: write back though somebody waits
CHECKPOINT_IDLE_S = 0.5  # write back when nobody has written for so long
READERS = 2
CACHE_KIB = 32 * 1024
BUSY_TIMEOUT_MS = 10_000


class DatabaseClosed(Exception):
    """The store is shutting down (or never opened); nothing was written."""


class Tx:
    """What a unit of work sees: statements on one connection, inside one transaction."""

    __slots__ = ("_execute",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._execute = connection.execute

    def run(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> int:
        """Execute; the number of rows changed."""
        return self._execute(sql, parameters).rowcount

    def one(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self._execute(sql, parameters).fetchone()
        return row

    def all(
        self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()
    ) -> list[tuple[Any, ...]]:
        return self._execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self._execute(sql, parameters).fetchone()
        return None if row is None else row[0]


Outcome = tuple[Any, Exception | None]


class Database:
    """The store: `write` and `read` run units of work; see the module's rules."""

    def __init__(self, writer: "_Batcher", readers: "list[_Batcher]") -> None:
        self._writer = writer
        self._readers = readers
        self._idle: asyncio.TimerHandle | None = None
        self._checkpointing: asyncio.Task[None] | None = None
        writer.drained = self._checkpoint_soon

    @classmethod
    async def open(cls, path: Path) -> "Database":
        """Open an existing, migrated store (`storage.migrate`)."""
        opened: list[_Batcher] = []
        try:
            opened.append(_Batcher(await _connect(path, read_only=False), _run_writes))
            for _ in range(READERS):
                opened.append(_Batcher(await _connect(path, read_only=True), _run_reads))
        except BaseException:
            for batcher in opened:
                await batcher.close()
            raise
        return cls(opened[0], opened[1:])

    async def write(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` in a transaction; returns its result after COMMIT, or raises what it raised."""
        return await self._writer.submit(lambda tx: unit(tx, *args, **kwargs))

    async def read(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` on a read-only connection: one consistent state, all earlier writes seen."""
        reader = min(self._readers, key=_Batcher.load)
        return await reader.submit(lambda tx: unit(tx, *args, **kwargs))

    async def checkpoint(self) -> None:
        """Write the WAL back into the database file."""
        await self._writer.connection.call(_checkpoint)

    def _checkpoint_soon(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(CHECKPOINT_IDLE_S, self._checkpoint_now)

    def _checkpoint_now(self) -> None:
        self._checkpointing = asyncio.create_task(self.checkpoint())

    async def close(self) -> None:
        """Finish what waits, write the WAL back, close. Idempotent."""
        if self._idle is not None:
            self._idle.cancel()
        if self._checkpointing is not None:
            await asyncio.wait([self._checkpointing])
        # The readers first: the last connection that closes removes the WAL.
        for batcher in [*self._readers, self._writer]:
            await batcher.close()


class _Connection(aiosqlite.Connection):
    """aiosqlite with one more verb: a whole function on the connection's thread, in one hop."""

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        result: T = await self._execute(function, self._conn)  # type: ignore[no-untyped-call]
        return result


async def _connect(path: Path, read_only: bool) -> _Connection:
    connection = _Connection(partial(_open, path, read_only), iter_chunk_size=64)
    # A daemon that dies on an error must not hang on this thread at exit (aiosqlite #290).
    connection._thread.daemon = True
    await connection
    return connection


def _open(path: Path, read_only: bool) -> sqlite3.Connection:
    mode = "ro" if read_only else "rw"
    conn = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, cached_statements=512
    )
    configure(conn)
    conn.execute(f"PRAGMA wal_autocheckpoint = {0 if read_only else CHECKPOINT_PAGES_FORCED}")
    return conn


def configure(conn: sqlite3.Connection) -> None:
    """What every connection to the store needs, whoever opens it."""
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


class _Batcher:
    """Runs the units that wait at one moment together, in one hop to a connection's thread."""

    def __init__(
        self,
        connection: _Connection,
        run: Callable[[sqlite3.Connection, list[Callable[[Tx], Any]]], list[Outcome]],
    ) -> None:
        self.connection = connection
        self.drained: Callable[[], None] | None = None
        self._run = run
        self._waiting: deque[tuple[Callable[[Tx], Any], asyncio.Future[Any]]] = deque()
        self._pump: asyncio.Task[None] | None = None
        self._closed = False

    def load(self) -> int:
        return len(self._waiting) + (self._pump is not None)

    def submit(self, unit: Callable[[Tx], T]) -> "asyncio.Future[T]":
        if self._closed:
            raise DatabaseClosed("the store is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((unit, future))
        if self._pump is None:
            self._pump = asyncio.create_task(self._drain())
        return future

    async def _drain(self) -> None:
        try:
            while self._waiting:
                size = min(len(self._waiting), BATCH_UNITS_MAX)
                await self._run_batch([self._waiting.popleft() for _ in range(size)])
        finally:
            self._pump = None
        if self.drained is not None and not self._closed:
            self.drained()

    async def _run_batch(self, batch: list[tuple[Callable[[Tx], Any], asyncio.Future[Any]]]) -> None:
        units = [unit for unit, _ in batch]
        try:
            outcomes = await self.connection.call(lambda conn: self._run(conn, units))
        except Exception as error:  # BEGIN or COMMIT failed: nobody's work was kept, each is told
            outcomes = [(None, error)] * len(units)
        for (_, future), (result, failure) in zip(batch, outcomes, strict=True):
            if future.done():  # the caller was cancelled; its unit was not
                continue
            if failure is None:
                future.set_result(result)
            else:
                future.set_exception(failure)

    async def close(self) -> None:
        self._closed = True
        if self._pump is not None:
            await asyncio.wait([self._pump])
        await self.connection.close()


def _run_writes(conn: sqlite3.Connection, units: list[Callable[[Tx], Any]]) -> list[Outcome]:
    tx = Tx(conn)
    conn.execute("BEGIN IMMEDIATE")
    try:
        outcomes = [_run_in_savepoint(conn, tx, unit) for unit in units]
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
    return outcomes


def _run_in_savepoint(conn: sqlite3.Connection, tx: Tx, unit: Callable[[Tx], Any]) -> Outcome:
    conn.execute("SAVEPOINT unit")
    try:
        result = unit(tx)
    except Exception as error:
        if not conn.in_transaction:  # SQLite gave up the whole transaction (disk full, I/O error)
            raise
        conn.execute("ROLLBACK TO unit")
        conn.execute("RELEASE unit")
        return None, error
    conn.execute("RELEASE unit")
    return result, None


def _run_reads(conn: sqlite3.Connection, units: list[Callable[[Tx], Any]]) -> list[Outcome]:
    # A transaction for each unit: it sees one state of the store, with all that was committed before it.
    tx = Tx(conn)
    outcomes: list[Outcome] = []
    for unit in units:
        conn.execute("BEGIN")
        try:
            outcomes.append((unit(tx), None))
        except Exception as error:
            outcomes.append((None, error))
        finally:
            conn.execute("ROLLBACK")
    return outcomes


def _checkpoint(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
