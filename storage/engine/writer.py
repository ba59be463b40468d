"""One writer with group commit.

What is durable when: a future of `submit` has its result after COMMIT under `synchronous=FULL`, which means after an
fsync. Units that wait at the same time share one `BEGIN IMMEDIATE … COMMIT`, hence one fsync for many; each runs inside
a SAVEPOINT of its own, so that one that raises leaves no trace and does not touch its neighbours; those that may be run
again (`Repeatable`) do without, and are run again if one of them raises. If COMMIT itself fails, every unit of the
batch failed, and what it left in the WAL is written over (`_cover`).

Where it runs: the statements of units on the event loop, COMMIT (the fsync, and the checkpoint now and then) on the
connection's thread. Python lets one thread run at a time, and a thread that executes statements beside a busy loop
hands the interpreter back and forth at each of them: half of the CPU time of an inbound message went there
(scripts/bench/inbound). A batch ends after `Pace.slice_s`, so that the loop is never held for long. The few units that
take longer say so (`Apart`): they have a transaction of their own, on the thread, and no savepoint. So has what no
transaction can hold (`Script`).

How a commit is heard: a listener of a topic that one of the batch's units has named (`Tx.notify`) is called on the
event loop, after COMMIT and after the callers of the batch were answered, once for each batch and topic. What a unit
named that was rolled back is not heard. Nor is what other processes commit: a call only hastens a listener, which looks
by itself as well.

What a disk that stands still does to it: a COMMIT waits for the disk as long as that takes, and whose units are in it
with it, since nobody knows whether they are kept. What has not begun can be told: after `Pace.patience_s` without a
commit, the units that wait and are not patient fail (StoreStandsStill), and so do those that come until there is one
again. Patient are the daemon's own: what a loop has to write is not lost, nor is it more for waiting.

A disk that is slow makes each wait longer and batches larger; that is told, and is all.

What a disk that fails does to it, or who takes the store's file away (`store_files.py`): each unit hears so at once,
and the next one is tried all the same. That nothing is kept (`writes_fail`) is told once, until something is.

What a crash leaves: whole transactions. The writing connection alone makes the checkpoints (SQLite before 3.51.3 has a
race between two connections that do): in a pause, where there is one, and at the latest when the WAL has grown to
`CHECKPOINT_PAGES_FORCED`.
"""

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any, NamedTuple, TypeVar

import structlog

from storage.engine.connections import BUSY_TIMEOUT_MS, StoreConnection, roll_back
from storage.engine.failures import StoreStandsStill, in_words, is_refused_by_disk
from storage.engine.local_reads import LocalReads
from storage.engine.store_files import StoreFiles, StoreMisplaced
from storage.engine.tx import NO_TOPICS, Tx
from storage.exhaustion import Spells
from storage.turns.patient_timer import PatientTimer

log = structlog.get_logger("maild.store")

T = TypeVar("T")


class Pace(NamedTuple):
    """How long a batch holds the event loop, and how long a pause in writing is before the WAL is written back. A batch
    waits up to `gather_passes` of the loop until it is `gather_times` as large as the one before; no longer than
    `gather_s`, where passes are long; and not at all for `gather_rest_s` after a single pass that took so long. A
    commit of `slow_s` is told."""

    slice_s: float = 0.004
    checkpoint_idle_s: float = 0.5
    gather_passes: int = 4
    gather_s: float = 0.004
    gather_rest_s: float = 0.1
    gather_times: int = 2
    patience_s: float = BUSY_TIMEOUT_MS / 1000
    slow_s: float = 1


class DatabaseClosed(Exception):
    """The store is shutting down (or never opened); nothing was written."""


class _Marked:
    """A unit of which the writer has to know something."""

    def __init__(self, unit: Callable[[Tx], Any]) -> None:
        self.unit = unit

    def __call__(self, tx: Tx) -> Any:
        return self.unit(tx)


class Repeatable(_Marked):
    """It may be run again."""


class Apart(_Marked):
    """It gets a transaction of its own, on the connection's thread."""


class Script(Apart):
    """SQL in place of a unit, without a result, that brings its transaction. The interpreter is handed over once for
    all of its steps."""

    def __init__(self, sql: str) -> None:
        super().__init__(lambda _: None)
        self._sql = sql

    def run(self, conn: sqlite3.Connection) -> "Outcome":
        roll_back(conn)  # the writer's transaction, in which nothing was done
        try:
            conn.executescript(self._sql)
        except sqlite3.Error as error:
            roll_back(conn)
            return None, error
        return None, None


Outcome = tuple[Any, Exception | None]
AnyUnit = Callable[[Tx], Any]
Listener = Callable[[], None]


class WaitingUnit(NamedTuple):
    """A unit, and who waits for it."""

    unit: AnyUnit
    future: "asyncio.Future[Any]"
    is_patient: bool


class Writer:
    """Units that wait for the writing connection, and the task that serves them while there are some."""

    def __init__(
        self, connection: StoreConnection, local_reads: LocalReads, pace: Pace, files: StoreFiles
    ) -> None:
        self.connection = connection
        self.files = files
        self._local_reads = local_reads
        self._pace = pace
        self.waiting: deque[WaitingUnit] = deque()
        self.listeners: dict[str, list[Listener]] = {}
        self.served = 0
        self.commits = 0
        self.commit_s = 0.0
        self._took_s = 0.0  # the last commit
        self._slow = Spells()
        self._last_size = 1  # of the batches
        self._gathers_from = float("-inf")
        self._tx = Tx(connection.raw)
        connection.raw.execute("PRAGMA busy_timeout = 0")
        self._pump: asyncio.Task[None] | None = None
        self._closed = False
        self._idle: asyncio.TimerHandle | None = None
        self._checkpointing: asyncio.Task[None] | None = None
        self._went_on_at = 0.0
        self._looking: PatientTimer | None = None
        self.stands_still = False  # for longer than patience has lasted
        self._failing_since: float | None = None  # since when nothing that was written could be kept
        self._changes = 0  # of rows, when the batch began

    def submit(self, unit: Callable[[Tx], T], *, is_patient: bool = True) -> "asyncio.Future[T]":
        """What the unit returns, once that is durable; DatabaseClosed, StoreStandsStill, and what the unit raises."""
        if self._closed:
            raise DatabaseClosed("the store is closed")
        if self.stands_still and not is_patient:
            raise StoreStandsStill()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.waiting.append(WaitingUnit(unit, future, is_patient))
        if self._pump is None:
            # A context of its own: it serves all callers, and its log lines must not name the one that woke it.
            self._pump = asyncio.create_task(self._drain(), context=Context())
        return future

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        self._went_on_at = loop.time()
        self._looking = PatientTimer(self._pace.patience_s, self._look)
        try:
            while self.waiting:
                await self._gather()
                await self.serve()
                self._went_on()
        finally:
            self._looking.cancel()
            self._pump = None

    def _went_on(self) -> None:
        now = asyncio.get_running_loop().time()
        if self.stands_still:
            self.stands_still = False
            log.warning("store_goes_on", stood_s=round(now - self._went_on_at, 1))
            self._looking = PatientTimer(self._pace.patience_s, self._look)
        elif self._took_s >= self._pace.slow_s and self._slow.begins():
            log.warning("disk_slow", commit_s=round(self._took_s, 1))
        self._went_on_at = now

    def _look(self) -> None:
        """Refuse who is not patient, where nothing was committed for so long."""
        left_s = self._went_on_at + self._pace.patience_s - asyncio.get_running_loop().time()
        if left_s > 0:
            self._looking = PatientTimer(left_s, self._look)
            return
        self.stands_still = True
        refused = [one for one in self.waiting if not one.is_patient]
        self.waiting = deque(one for one in self.waiting if one.is_patient)
        log.error(
            "store_stands_still", for_s=self._pace.patience_s, refused=len(refused), waiting=len(self.waiting)
        )
        for one in refused:
            if not one.future.done():
                one.future.set_exception(StoreStandsStill())

    async def _gather(self) -> None:
        """Give those that come together a moment: whose units shared a commit mostly ask again soon after it, each in a
        pass of its own, and a commit costs as much for one as for ten. Who is alone waits for nobody."""
        now = time.perf_counter()
        if self._last_size == 1 or now < self._gathers_from:
            return
        until = now + self._pace.gather_s
        for _ in range(self._pace.gather_passes):
            if len(self.waiting) >= self._pace.gather_times * self._last_size or now > until:
                return
            began = now
            await asyncio.sleep(0)
            now = time.perf_counter()
            if now - began > self._pace.gather_s:  # as many come during the commit
                self._gathers_from = now + self._pace.gather_rest_s

    async def serve(self) -> None:
        """Run some of the units that wait, and answer their callers."""
        batch: list[WaitingUnit] = []
        outcomes: list[Outcome] = []
        self._tx.topics = NO_TOPICS
        self._changes = self.connection.raw.total_changes
        self._took_s = 0.0
        try:
            await self._begin()
            if not self.waiting:  # they were refused meanwhile
                roll_back(self.connection.raw)
            elif isinstance(self.waiting[0].unit, Apart):
                batch.append(self.waiting.popleft())
                await self._on_thread(partial(self._run_apart, batch[0].unit, outcomes))
                self._answer(batch, outcomes)
            else:
                self._run_slice(batch, outcomes)
                # Called for by the thread, a round of the event loop before this task goes on.
                answer = partial(self._answer, batch, outcomes)
                soon = asyncio.get_running_loop().call_soon_threadsafe
                await self._on_thread(partial(self._commit_and_tell, partial(soon, answer)))
        except Exception as error:  # BEGIN or COMMIT failed: no unit's work was kept, each caller is told
            self._note_failure(error)
            if not batch and self.waiting:
                batch.append(self.waiting.popleft())
            self._tx.topics = NO_TOPICS
            self._answer(batch, [(None, error)] * len(batch))
        if not self.waiting and not self._closed:
            self._checkpoint_soon()

    @property
    def fails(self) -> bool:
        """Is nothing kept of what is written, since the disk, or another process, refuses it?"""
        return self._failing_since is not None

    def _note_failure(self, error: Exception) -> None:
        if self._failing_since is None and is_refused_by_disk(error):
            self._failing_since = time.monotonic()
            log.error("writes_fail", error=in_words(error))

    def _note_success(self, outcomes: list[Outcome], failing_since: float) -> None:
        """What changes nothing does not show that changes are kept."""
        has_changed = self.connection.raw.total_changes != self._changes
        if has_changed and any(failure is None for _, failure in outcomes):
            self._failing_since = None
            log.warning("writes_succeed", failed_s=round(time.monotonic() - failing_since, 1))

    def _commit_and_tell(self, tell: Callable[[], object], conn: sqlite3.Connection) -> None:
        self._commit(conn)
        tell()

    def _run_apart(self, unit: AnyUnit, outcomes: list[Outcome], conn: sqlite3.Connection) -> None:
        if isinstance(unit, Script):
            outcomes.append(unit.run(conn))
            return
        outcomes.append(_run_alone(conn, self._tx, unit))
        if outcomes[-1][1] is None:
            self._commit(conn)

    def _commit(self, conn: sqlite3.Connection) -> None:
        began = time.perf_counter()
        try:
            self.files.check()
            _commit(conn)
        except StoreMisplaced:  # COMMIT was not tried: the lock that others wait for is still held
            roll_back(conn)
            raise
        finally:
            self._took_s = time.perf_counter() - began
            self.commits += 1
            self.commit_s += self._took_s

    async def _on_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._local_reads.apart():
            return await self.connection.call(work)

    def _answer(self, batch: list[WaitingUnit], outcomes: list[Outcome]) -> None:
        if self._failing_since is not None:
            self._note_success(outcomes, self._failing_since)
        self.served += len(batch)
        self._last_size = len(batch)
        _settle(batch, outcomes)
        # The traceback of what a unit raised has the frames that know these lists: such a circle of a hundred objects
        # would wait for the collector, and the event loop for that.
        batch.clear()
        outcomes.clear()
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
        roll_back(self.connection.raw)  # where memory was short, the end of the last one may have failed too
        try:
            self.connection.raw.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            # Another process (a command) has the write lock: waiting for it is the thread's business.
            await self.connection.call(_begin_patiently)

    def _run_slice(self, batch: list[WaitingUnit], outcomes: list[Outcome]) -> None:
        conn, until = self.connection.raw, time.perf_counter() + self._pace.slice_s
        try:
            while self.waiting and (not outcomes or time.perf_counter() < until):
                unit = self.waiting[0].unit
                if isinstance(unit, Apart):
                    break
                if isinstance(unit, Repeatable):
                    self._run_together(batch, outcomes, until)
                else:
                    batch.append(self.waiting.popleft())
                    outcomes.append(_run_in_savepoint(conn, self._tx, unit))
        except BaseException:
            roll_back(conn)
            raise

    def _run_together(self, batch: list[WaitingUnit], outcomes: list[Outcome], until: float) -> None:
        """Those in front of the line that may be run again. If one raises with something changed, all of them do not
        count, and run again in savepoints."""
        whole = _Whole(self.connection.raw, self._tx, is_all=not batch)
        first = len(batch)
        while (
            self.waiting
            and isinstance(self.waiting[0].unit, Repeatable)
            and (len(batch) == first or time.perf_counter() < until)
        ):
            batch.append(self.waiting.popleft())
            if not whole.run(batch[-1].unit, outcomes):
                whole.roll_back()
                del outcomes[first:]
                for one in batch[first:]:
                    outcomes.append(_run_in_savepoint(self.connection.raw, self._tx, one.unit))
                break
        whole.end()

    def _checkpoint_soon(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self._pace.checkpoint_idle_s, self._checkpoint)

    def _checkpoint(self) -> None:
        if self._pump is None and self._checkpointing is None:
            self._checkpointing = asyncio.create_task(self._write_back())

    async def _write_back(self) -> None:
        try:
            await self._on_thread(_checkpoint)
        except sqlite3.Error as error:  # nothing is lost: the WAL keeps what could not be written back
            log.error("checkpoint_failed", error=in_words(error))

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._checkpointing is not None:
            await asyncio.wait([self._checkpointing])
        self._closed = True
        if self._pump is not None:
            await asyncio.wait([self._pump])
        await self.connection.close()


def _settle(batch: list[WaitingUnit], outcomes: list[Outcome]) -> None:
    for (_, future, _), (result, failure) in zip(batch, outcomes, strict=True):
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


def _commit(conn: sqlite3.Connection) -> None:
    try:
        conn.execute("COMMIT")
    except BaseException:
        roll_back(conn)
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
    except (sqlite3.Error, MemoryError):  # what failed fails again
        roll_back(conn)


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

    def run(self, unit: AnyUnit, outcomes: list[Outcome]) -> bool:
        """False: it raised, and what it had done must go."""
        before, topics = self._conn.total_changes, self._tx.topics
        try:
            outcomes.append((unit(self._tx), None))
        except Exception as error:
            if not self._conn.in_transaction:
                raise
            self._tx.topics = topics
            if self._conn.total_changes != before:
                return False
            outcomes.append((None, error))
        return True

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


def _run_alone(conn: sqlite3.Connection, tx: Tx, unit: AnyUnit) -> Outcome:
    """As the transaction's only unit: that ends with it where it raises. A savepoint around thousands of rows costs as
    much as they do, for each statement that changes several goes through all pages that are copied for it."""
    try:
        return unit(tx), None
    except Exception as error:
        if not conn.in_transaction:  # SQLite gave it up (disk full, I/O error)
            raise
        roll_back(conn)
        tx.topics = NO_TOPICS
        return None, error
    except BaseException:
        roll_back(conn)
        raise


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


def _checkpoint(conn: sqlite3.Connection) -> None:
    conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
