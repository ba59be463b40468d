"""One writer with group commit, a few readers.

What is durable when: `await db.write(unit)` returns after COMMIT under `synchronous=FULL`, which
means after an fsync. Units that wait at the same time share one `BEGIN IMMEDIATE … COMMIT`, hence one
fsync for many; each runs inside a SAVEPOINT of its own, so that one that raises leaves no trace and
does not touch its neighbours; those that may be run again (`write_repeatable`) do without, and are run again if
one of them raises. If COMMIT itself fails, every unit of the batch failed, and what it left in the WAL
is written over (`_cover`).

The methods are called by coroutines of the event loop. A unit is a plain function `def f(tx, …)` of a few
milliseconds at most, without I/O of its own. A cancelled caller does not stop its unit: it was promised
to the writer, and is committed or fails as a whole.

Where it runs: the statements of writing units on the event loop, COMMIT (the fsync, and the checkpoint
now and then) on the connection's thread. Python lets one thread run at a time, and a thread that
executes statements beside a busy loop hands the interpreter back and forth at each of them: half of
the CPU time of an inbound message went there (scripts/bench/inbound). A batch ends after `Pace.slice_s`, so
that the loop is never held for long. The few units that take longer say so (`write_apart`): they have a transaction
of their own, on the thread. Point look-ups by an index run on the loop as well (`lookup`; `peek`, where
one statement is all): a few microseconds instead of a hop. All other reading is done by the readers' threads:
`read_for` an organization, which has `ORGANIZATION_READERS` of the `READERS` at most and takes turns with the others
(storage.turns.fair_threads); `read` for the daemon itself, which comes first.

How a commit is heard: a listener (`listen`) of a topic that one of the batch's units has named (`Tx.notify`) is
called on the event loop, after COMMIT and after the callers of the batch were answered, once for each batch and topic.
What a unit named that was rolled back is not heard. Nor is what other processes commit: a call only hastens a
listener, which looks by itself as well.

What a crash leaves: whole transactions. The writing connection alone makes the checkpoints (SQLite
before 3.51.3 has a race between two connections that do): in a pause, where there is one, and
at the latest when the WAL has grown to `CHECKPOINT_PAGES_FORCED`.
"""

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import aiosqlite
import structlog

from storage.turns import background
from storage.turns.fair_threads import OWN, FairThreads, Serve

log = structlog.get_logger("maild.store")

P = ParamSpec("P")
T = TypeVar("T")

CHECKPOINT_PAGES_FORCED = 4096  # 16 MiB: write back though units wait
READERS = 3
ORGANIZATION_READERS = READERS - 1
WRITER_CACHE_KIB = 16 * 1024
READER_CACHE_KIB = 16 * 1024
BUSY_TIMEOUT_MS = 10_000


NO_TOPICS: frozenset[str] = frozenset()


class Pace(NamedTuple):
    """How long a batch holds the event loop, and how long a pause in writing is before the WAL is written back. A batch
    waits up to `gather_passes` of the loop until it is `gather_times` as large as the one before."""

    slice_s: float = 0.004
    checkpoint_idle_s: float = 0.5
    gather_passes: int = 4
    gather_times: int = 2


class DatabaseClosed(Exception):
    """The store is shutting down (or never opened); nothing was written."""


class Tx:
    """What a unit of work sees: statements on one connection, inside one transaction."""

    __slots__ = ("_execute", "_execute_many", "topics")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.topics = NO_TOPICS
        self._execute = connection.execute
        self._execute_many = connection.executemany

    def notify(self, topic: str) -> None:
        """Once this is committed, call the listeners of the topic (`Database.listen`)."""
        if topic not in self.topics:
            self.topics |= {topic}

    def run(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> int:
        """Execute; the number of rows changed. StoreFailure (storage.failures), as for every statement."""
        return self._execute(sql, parameters).rowcount

    def run_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Execute once for each row of parameters."""
        self._execute_many(sql, rows)

    def one(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        """The first row, or None."""
        row: tuple[Any, ...] | None = self._execute(sql, parameters).fetchone()
        return row

    def all(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Every row, in the order of the statement."""
        return self._execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Mapping[str, Any] | tuple[Any, ...] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self._execute(sql, parameters).fetchone()
        return None if row is None else row[0]


class _Marked:
    """A unit of which the writer has to know something."""

    def __init__(self, unit: Callable[[Tx], Any]) -> None:
        self.unit = unit

    def __call__(self, tx: Tx) -> Any:
        return self.unit(tx)


class _Repeatable(_Marked):
    """It may be run again."""


class _Apart(_Marked):
    """It gets a transaction of its own, on the connection's thread."""


Outcome = tuple[Any, Exception | None]
AnyUnit = Callable[[Tx], Any]
Waiting = tuple[AnyUnit, "asyncio.Future[Any]"]
Listener = Callable[[], None]


class Database:
    """The store: `write`, `read` and `lookup` run units of work; see the module's rules."""

    def __init__(
        self, path: Path, writer: "_Writer", readers: "list[_Connection]", local: sqlite3.Connection
    ) -> None:
        self.path = path
        self._writer = writer
        self._reading = readers
        self._readers: FairThreads[AnyUnit, Any] = FairThreads(
            [_reader(one) for one in readers], ORGANIZATION_READERS
        )
        self._local = local
        self._local_tx = Tx(local)
        self._closed = False
        self._check: Callable[[Tx], None] | None = None

    def asking(self, check: Callable[[Tx], None]) -> "Database":
        """This store for one request: each unit (but a `peek`) runs `check(tx)` first, in the unit's transaction,
        and does nothing when that raises."""
        view = Database.__new__(Database)
        view.__dict__.update(self.__dict__)
        view._check = check
        return view

    def _asked(self, unit: Callable[[Tx], T]) -> Callable[[Tx], T]:
        check = self._check
        if check is None:
            return unit

        def checked(tx: Tx) -> T:
            check(tx)
            return unit(tx)

        return checked

    @classmethod
    async def open(cls, path: Path, pace: Pace = Pace()) -> "Database":
        """Open an existing, migrated store (`storage.migrate`)."""
        connections: list[_Connection] = []
        try:
            connections.append(await _connect(path, read_only=False))
            for _ in range(READERS):
                connections.append(await _connect(path, read_only=True))
                await connections[-1].call(lambda _: background.go_behind(background.BESIDE))
            local = connect(path, read_only=True)
        except BaseException:
            for connection in connections:
                await connection.close()
            raise
        return cls(path, _Writer(connections[0], pace), connections[1:], local)

    async def write(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` in a transaction; returns its result after COMMIT, or raises what it raised."""
        return await self._writer.submit(self._asked(lambda tx: unit(tx, *args, **kwargs)))

    async def write_repeatable(
        self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write` for a unit that changes nothing but the store, and mostly raises before it does, if at all: it may be
        run several times, and only what the last run has done is kept. It saves a savepoint."""
        return await self._writer.submit(_Repeatable(self._asked(lambda tx: unit(tx, *args, **kwargs))))

    async def write_apart(
        self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write` for a unit of many rows, on the thread: the event loop goes on, other writing units wait for it."""
        return await self._writer.submit(_Apart(self._asked(lambda tx: unit(tx, *args, **kwargs))))

    def listen(self, topic: str, listener: Listener) -> None:
        """Call `listener`, a quick, plain function, after each COMMIT whose units named the topic (`Tx.notify`)."""
        self._writer.listeners.setdefault(topic, []).append(listener)

    @property
    def units_written(self) -> int:
        """How many writing units of this process were served so far: tells whether one was since the last look."""
        return self._writer.served

    async def read(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` on a reader's thread: one consistent state, all earlier writes seen.

        For questions of the daemon itself, which come before those of all organizations.
        """
        return await self.read_for(OWN, unit, *args, **kwargs)

    async def read_for(
        self, organization_id: str, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`read` on behalf of an organization, in its turn."""
        if self._closed:
            raise DatabaseClosed("the store is closed")
        asked = self._asked(lambda tx: unit(tx, *args, **kwargs))
        found: T = await self._readers.submit(organization_id, asked)
        return found

    async def lookup(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` here and now. For a handful of rows found by an index, nothing else.

        It is awaited so that a store behind a network could answer it; SQLite answers without suspending the caller.
        """
        if self._closed:
            raise DatabaseClosed("the store is closed")
        self._local.execute("BEGIN")
        try:
            return self._asked(lambda tx: unit(tx, *args, **kwargs))(self._local_tx)
        finally:
            self._local.execute("ROLLBACK")

    async def peek(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`lookup` for a unit of one statement, which sees one state of the store without a transaction."""
        if self._closed:
            raise DatabaseClosed("the store is closed")
        return unit(self._local_tx, *args, **kwargs)

    async def empty_caches(self) -> None:
        """Give the pages back that the connections keep. All is read anew from then on: for a pause in the work."""
        await self.write_apart(_shrink)
        for reader in self._reading:
            await reader.call(lambda conn: _shrink(Tx(conn)))
        await self.lookup(_shrink)

    async def close(self) -> None:
        """Finish what waits, write the WAL back, close. Idempotent."""
        if self._closed:
            return
        self._closed = True
        # The readers first: the last connection that closes removes the WAL.
        self._local.close()
        await self._readers.finish()
        for connection in self._reading:
            await connection.close()
        await self._writer.close()


class _Connection(aiosqlite.Connection):
    """aiosqlite with one more verb: a whole function on the connection's thread, in one hop."""

    async def call(self, function: Callable[[sqlite3.Connection], T]) -> T:
        result: T = await self._execute(function, self._conn)  # type: ignore[no-untyped-call]
        return result

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself; never touched while a `call` is under way."""
        return self._conn


async def _connect(path: Path, read_only: bool) -> _Connection:
    connection = _Connection(partial(connect, path, read_only), iter_chunk_size=64)
    # A daemon that dies on an error must not hang on this thread at exit (aiosqlite #290).
    connection._thread.daemon = True
    try:
        await connection
    except BaseException:
        # The thread calls the event loop once more, which may be closed by then: it is waited for here alone.
        await asyncio.to_thread(connection._thread.join)
        raise
    return connection


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """To an existing, migrated store, by a thread of this daemon's processes. The caller closes it."""
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
    return conn


def configure(conn: sqlite3.Connection, cache_kib: int = READER_CACHE_KIB) -> None:
    """Set what every connection to the store needs, the daemon's and those of tools. `cache_kib`: of its page cache."""
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute("PRAGMA foreign_keys = ON")
    conn.execute("PRAGMA temp_store = MEMORY")  # savepoints keep old pages: in memory, not in a file
    conn.execute(f"PRAGMA cache_size = -{cache_kib}")


def _reader(connection: _Connection) -> "Callable[[Serve[AnyUnit, Any]], Awaitable[None]]":
    async def on_its_thread(serve: "Serve[AnyUnit, Any]") -> None:
        await connection.call(lambda conn: serve(partial(_read, conn)))

    return on_its_thread


class _Writer:
    """Units that wait for the writing connection, and the task that serves them while there are some."""

    def __init__(self, connection: _Connection, pace: Pace) -> None:
        self.connection = connection
        self._pace = pace
        self.waiting: deque[Waiting] = deque()
        self.listeners: dict[str, list[Listener]] = {}
        self.served = 0
        self._last_size = 1  # of the batches
        self._tx = Tx(connection.raw)
        connection.raw.execute("PRAGMA busy_timeout = 0")
        self._pump: asyncio.Task[None] | None = None
        self._closed = False
        self._idle: asyncio.TimerHandle | None = None
        self._checkpointing: asyncio.Task[None] | None = None

    def submit(self, unit: Callable[[Tx], T]) -> "asyncio.Future[T]":
        if self._closed:
            raise DatabaseClosed("the store is closed")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.waiting.append((unit, future))
        if self._pump is None:
            # A context of its own: it serves all callers, and its log lines must not name the one that woke it.
            self._pump = asyncio.create_task(self._drain(), context=Context())
        return future

    async def _drain(self) -> None:
        try:
            while self.waiting:
                await self._gather()
                await self.serve()
        finally:
            self._pump = None

    async def _gather(self) -> None:
        """Give those that come together a moment: whose units shared a commit mostly ask again soon after it, each in a
        pass of its own, and a commit costs as much for one as for ten. Who is alone waits for nobody."""
        passes = self._pace.gather_passes if self._last_size > 1 else 0
        for _ in range(passes):
            if len(self.waiting) >= self._pace.gather_times * self._last_size:
                return
            await asyncio.sleep(0)

    async def serve(self) -> None:
        """Run some of the units that wait, and answer their callers."""
        batch: list[Waiting] = []
        self._tx.topics = NO_TOPICS
        try:
            await self._begin()
            if isinstance(self.waiting[0][0], _Apart):
                batch.append(self.waiting.popleft())
                outcome = await self.connection.call(partial(_run_apart, self._tx, batch[0][0]))
                self._answer(batch, [outcome])
            else:
                outcomes = self._run_slice(batch)
                # Called for by the thread, a round of the event loop before this task goes on.
                answer = partial(self._answer, batch, outcomes)
                soon = asyncio.get_running_loop().call_soon_threadsafe
                await self.connection.call(partial(_commit_and_tell, partial(soon, answer)))
        except Exception as error:  # BEGIN or COMMIT failed: no unit's work was kept, each caller is told
            batch = batch or [self.waiting.popleft()]
            self._tx.topics = NO_TOPICS
            self._answer(batch, [(None, error)] * len(batch))
        if not self.waiting and not self._closed:
            self._checkpoint_soon()

    def _answer(self, batch: list[Waiting], outcomes: list[Outcome]) -> None:
        self.served += len(batch)
        self._last_size = len(batch)
        _settle(batch, outcomes)
        self._call_listeners(self._tx.topics)

    def _call_listeners(self, topics: frozenset[str]) -> None:
        for topic in topics:
            for listener in self.listeners.get(topic, ()):
                try:
                    listener()
                except Exception:  # the other listeners are called, and the writer goes on
                    log.exception("listener_failed", topic=topic)

    async def _begin(self) -> None:
        if self._checkpointing is not None:
            await asyncio.wait([self._checkpointing])
            self._checkpointing = None
        try:
            self.connection.raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            # Another process (a command) has the write lock: waiting for it is the thread's business.
            await self.connection.call(_begin_patiently)

    def _run_slice(self, batch: list[Waiting]) -> list[Outcome]:
        conn, until = self.connection.raw, time.perf_counter() + self._pace.slice_s
        outcomes: list[Outcome] = []
        try:
            while self.waiting and (not outcomes or time.perf_counter() < until):
                unit = self.waiting[0][0]
                if isinstance(unit, _Apart):
                    break
                if isinstance(unit, _Repeatable):
                    outcomes += self._run_together(batch, until)
                else:
                    batch.append(self.waiting.popleft())
                    outcomes.append(_run_in_savepoint(conn, self._tx, unit))
        except BaseException:
            if conn.in_transaction:
                conn.execute("ROLLBACK")
            raise
        return outcomes

    def _run_together(self, batch: list[Waiting], until: float) -> list[Outcome]:
        """Those in front of the line that may be run again. If one raises with something changed, all of them do not
        count, and run again in savepoints."""
        outcomes: list[Outcome] = []
        whole = _Whole(self.connection.raw, self._tx, is_all=not batch)
        first = len(batch)
        while (
            self.waiting
            and isinstance(self.waiting[0][0], _Repeatable)
            and (not outcomes or time.perf_counter() < until)
        ):
            batch.append(self.waiting.popleft())
            outcome = whole.run(batch[-1][0])
            if outcome is None:
                whole.roll_back()
                outcomes = [
                    _run_in_savepoint(self.connection.raw, self._tx, unit) for unit, _ in batch[first:]
                ]
                break
            outcomes.append(outcome)
        whole.end()
        return outcomes

    def _checkpoint_soon(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self._pace.checkpoint_idle_s, self._checkpoint)

    def _checkpoint(self) -> None:
        if self._pump is None and self._checkpointing is None:
            self._checkpointing = asyncio.create_task(self._write_back())

    async def _write_back(self) -> None:
        try:
            await self.connection.call(_checkpoint)
        except sqlite3.Error:  # nothing is lost: the WAL keeps what could not be written back
            log.exception("checkpoint_failed")

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._checkpointing is not None:
            await asyncio.wait([self._checkpointing])
        self._closed = True
        if self._pump is not None:
            await asyncio.wait([self._pump])
        await self.connection.close()


def _settle(batch: list[Waiting], outcomes: list[Outcome]) -> None:
    for (_, future), (result, failure) in zip(batch, outcomes, strict=True):
        if future.done():  # the caller was cancelled; its unit was not
            continue
        if failure is None:
            future.set_result(result)
        else:
            future.set_exception(failure)


def _begin_patiently(conn: sqlite3.Connection) -> None:
    conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    try:
        conn.execute("BEGIN IMMEDIATE")
    finally:
        conn.execute("PRAGMA busy_timeout = 0")


def _commit_and_tell(tell: Callable[[], object], conn: sqlite3.Connection) -> None:
    _commit(conn)
    tell()


def _commit(conn: sqlite3.Connection) -> None:
    try:
        conn.execute("COMMIT")
    except BaseException:
        _roll_back(conn)
        _cover(conn)
        raise


def _cover(conn: sqlite3.Connection) -> None:
    """Write over what a COMMIT that failed has left in the WAL.

    Where its fsync failed, all its frames stand there: this process passes them over, but a process that opens the
    store after a kill would take them for committed, though their callers were told that they are not. A transaction
    that changes nothing takes their place, whether its own fsync works or not; the next one takes its place in turn.
    """
    try:
        version = conn.execute("PRAGMA user_version").fetchone()[0]
        conn.execute("BEGIN IMMEDIATE")
        conn.execute(f"PRAGMA user_version = {version}")
        conn.execute("COMMIT")
    except sqlite3.Error:  # the disk that failed fails again
        _roll_back(conn)


def _roll_back(conn: sqlite3.Connection) -> None:
    if conn.in_transaction:
        conn.execute("ROLLBACK")


def _run_apart(tx: Tx, unit: AnyUnit, conn: sqlite3.Connection) -> Outcome:
    try:
        outcome = _run_in_savepoint(conn, tx, unit)
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
    _commit(conn)
    return outcome


class _Whole:
    """What several units do, which stays as a whole or goes: as long as they are all that is done (`is_all`), the
    transaction itself, else one savepoint. For a savepoint SQLite copies each page that changes, so that one for each
    unit is a fourteenth of the CPU time of a send."""

    def __init__(self, conn: sqlite3.Connection, tx: Tx, *, is_all: bool) -> None:
        self._conn = conn
        self._tx = tx
        self._topics = tx.topics
        self._is_all = is_all
        if not is_all:
            conn.execute("SAVEPOINT whole")

    def run(self, unit: AnyUnit) -> Outcome | None:
        """None: it raised, and what it had done must go."""
        before, topics = self._conn.total_changes, self._tx.topics
        try:
            return unit(self._tx), None
        except Exception as error:
            if not self._conn.in_transaction:
                raise
            self._tx.topics = topics
            return (None, error) if self._conn.total_changes == before else None

    def roll_back(self) -> None:
        self._tx.topics = self._topics
        if self._is_all:
            self._conn.execute("ROLLBACK")
            self._conn.execute("BEGIN IMMEDIATE")
        else:
            self._conn.execute("ROLLBACK TO whole")

    def end(self) -> None:
        if not self._is_all:
            self._conn.execute("RELEASE whole")


def _run_in_savepoint(conn: sqlite3.Connection, tx: Tx, unit: AnyUnit) -> Outcome:
    conn.execute("SAVEPOINT unit")
    topics = tx.topics
    try:
        result = unit(tx)
    except Exception as error:
        if not conn.in_transaction:  # SQLite gave up the whole transaction (disk full, I/O error)
            raise
        conn.execute("ROLLBACK TO unit")
        conn.execute("RELEASE unit")
        tx.topics = topics
        return None, error
    conn.execute("RELEASE unit")
    return result, None


def _read(conn: sqlite3.Connection, unit: AnyUnit) -> Any:
    # A transaction for each unit: it sees one state of the store, with all that was committed before it.
    conn.execute("BEGIN")
    try:
        return unit(Tx(conn))
    finally:
        conn.execute("ROLLBACK")


def _shrink(tx: Tx) -> None:
    tx.run("PRAGMA shrink_memory")


def _checkpoint(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
