"""The store's door: one writer with group commit, a few readers.

The methods are called by coroutines of the event loop. A unit is a plain function `def f(tx, …)` of a few milliseconds
at most, without I/O of its own. A cancelled caller does not stop its unit: it was promised to the writer, and is
committed or fails as a whole.

Writing units share transactions, and are durable when their call returns (`storage.engine.writer`). Point look-ups by
an index run on the loop (`lookup`; `peek`, where one statement is all; storage.engine.local_reads): a few microseconds
instead of a hop. All other reading is done by the readers' threads: `read_for` an organization, which has
`ORGANIZATION_READERS` of the `READERS` at most and takes turns with the others (storage.turns.fair_threads); `read` for
the daemon itself, which comes first.
"""

import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from storage.engine.connections import StoreConnection, connect, open_connection, roll_back
from storage.engine.damage import DamageWatch
from storage.engine.failures import StoreFailure
from storage.engine.local_reads import LocalReads
from storage.engine.store_files import StoreFiles
from storage.engine.tx import Tx
from storage.engine.writer import AnyUnit, Apart, DatabaseClosed, Listener, Pace, Repeatable, Script, Writer
from storage.turns import background
from storage.turns.fair_threads import OWN, FairThreads, Serve

P = ParamSpec("P")
T = TypeVar("T")

READERS = 3
ORGANIZATION_READERS = READERS - 1
READ_S = 0.005  # of a reader; who has more to read comes again, and others have their turn in between


class Database:
    """The store: `write`, `read` and `lookup` run units of work; see the module's rules."""

    def __init__(self, path: Path, writer: Writer, readers: list[StoreConnection], local: LocalReads) -> None:
        self.path = path
        self._writer = writer
        self._reading = readers
        self._readers: FairThreads[AnyUnit, Any] = FairThreads(
            [_reader(one) for one in readers], ORGANIZATION_READERS
        )
        self._local = local
        self._closed = False
        self._damage = DamageWatch()
        self._check: Callable[[Tx], None] | None = None
        self._is_patient = True

    def asking(self, check: Callable[[Tx], None]) -> "Database":
        """This store for one request: each unit (but a `peek`) runs `check(tx)` first, in the unit's transaction,
        and does nothing when that raises. It is `impatient`."""
        view = self.impatient()
        view._check = check
        return view

    def impatient(self) -> "Database":
        """This store for who is waited for outside: a unit that would wait longer than `Pace.patience_s` for the disk
        is not begun, and raises StoreStandsStill."""
        view = Database.__new__(Database)
        view.__dict__.update(self.__dict__)
        view._is_patient = False
        return view

    @property
    def stands_still(self) -> bool:
        """Has the disk taken nothing for so long that what is not patient is refused?"""
        return self._writer.stands_still

    @property
    def fails(self) -> bool:
        """Is nothing kept of what is written, since the disk refuses it?"""
        return self._writer.fails

    def require_in_place(self) -> None:
        """StoreFailure where a file of the store was taken away, or another put in its place."""
        self._writer.files.check()

    @property
    def is_damaged(self) -> bool:
        """Has a unit met pages that can't be read any more?"""
        return self._damage.is_met

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
        """Open an existing, migrated store (`storage.engine.migrate`)."""
        connections: list[StoreConnection] = []
        try:
            connections.append(await open_connection(path, read_only=False))
            for _ in range(READERS):
                connections.append(await open_connection(path, read_only=True))
                await connections[-1].call(lambda _: background.go_behind(background.BESIDE))
            local = LocalReads(connect(path, read_only=True))
        except BaseException:
            for connection in connections:
                await connection.close()
            raise
        return cls(path, Writer(connections[0], local, pace, StoreFiles(path)), connections[1:], local)

    async def write(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` in a transaction; returns its result after COMMIT, or raises what it raised."""
        return await self._submit(self._asked(lambda tx: unit(tx, *args, **kwargs)))

    async def write_repeatable(
        self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write` for a unit that changes nothing but the store, and mostly raises before it does, if at all: it may be
        run several times, and only what the last run has done is kept. It saves a savepoint."""
        return await self._submit(Repeatable(self._asked(lambda tx: unit(tx, *args, **kwargs))))

    async def write_apart(
        self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """`write` for a unit of many rows, on the thread: the event loop goes on, other writing units wait for it."""
        return await self._submit(Apart(self._asked(lambda tx: unit(tx, *args, **kwargs))))

    async def run_script(self, sql: str) -> None:
        """Run what is no unit, since no transaction can hold it; on the thread, as `write_apart`."""
        await self._submit(Script(sql))

    async def _submit(self, unit: Callable[[Tx], T]) -> T:
        try:
            return await self._writer.submit(unit, is_patient=self._is_patient)
        except StoreFailure as error:
            self._damage.look_at(error)
            raise

    def listen(self, topic: str, listener: Listener) -> None:
        """Call `listener`, a quick, plain function, after each COMMIT whose units named the topic (`Tx.notify`)."""
        self._writer.listeners.setdefault(topic, []).append(listener)

    @property
    def units_written(self) -> int:
        """How many writing units of this process were served so far: tells whether one was since the last look."""
        return self._writer.served

    @property
    def commits(self) -> tuple[int, float]:
        """How many commits of this process there were, also such as failed, and how many seconds they took."""
        return self._writer.commits, self._writer.commit_s

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
        try:
            found: T = await self._readers.submit(organization_id, asked)
        except StoreFailure as error:
            self._damage.look_at(error)
            raise
        return found

    async def lookup(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `unit(tx, …)` here and now. For a handful of rows found by an index, nothing else.

        It is awaited so that a store behind a network could answer it; SQLite answers without suspending the caller.
        """
        if self._closed:
            raise DatabaseClosed("the store is closed")
        try:
            return self._local.run(self._asked(lambda tx: unit(tx, *args, **kwargs)))
        except StoreFailure as error:
            self._damage.look_at(error)
            raise

    async def peek(self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`lookup` for a unit of one statement, which sees one state of the store without a transaction."""
        if self._closed:
            raise DatabaseClosed("the store is closed")
        try:
            return self._local.peek(lambda tx: unit(tx, *args, **kwargs))
        except StoreFailure as error:
            self._damage.look_at(error)
            raise

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


def _reader(connection: StoreConnection) -> "Callable[[Serve[AnyUnit, Any]], Awaitable[None]]":
    async def on_its_thread(serve: "Serve[AnyUnit, Any]") -> None:
        await connection.call(lambda conn: serve(partial(_read, conn)))

    return on_its_thread


def _read(conn: sqlite3.Connection, unit: AnyUnit) -> Any:
    # A transaction for each unit: it sees one state of the store, with all that was committed before it.
    roll_back(conn)  # where memory was short, the end of the last one may have failed
    conn.execute("BEGIN")
    try:
        return unit(Tx(conn))
    finally:
        roll_back(conn)


def _shrink(tx: Tx) -> None:
    tx.run("PRAGMA shrink_memory")
