"""Group commit and its promises (storage/engine/writer.py): together in one transaction, alone in its failures."""

import asyncio
import gc
import itertools
import sqlite3
import threading
import weakref
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.contextvars import bound_contextvars, get_contextvars
from structlog.testing import capture_logs

from storage.engine import connections, database, writer
from storage.engine.connections import BUSY_TIMEOUT_MS, CHECKPOINT_PAGES_FORCED, StoreConnection, configure
from storage.engine.database import Database
from storage.engine.failures import StoreFailure, StoreStandsStill
from storage.engine.store_files import StoreFiles
from storage.engine.tx import Tx
from storage.engine.writer import DatabaseClosed, Pace
from storage.turns import patient_timer
from tests.support.waiting import GIVES_UP_S


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.executescript(
        """CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
           CREATE TABLE parents (id INTEGER PRIMARY KEY);
           CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);"""
    )
    conn.close()
    return path


@pytest.fixture
async def db(path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    db = await Database.open(path, getattr(request, "param", Pace()))
    yield db
    await db.close()


endless_slices = pytest.mark.parametrize("db", [Pace(slice_s=GIVES_UP_S)], indirect=True)
no_patience = pytest.mark.parametrize("db", [Pace(patience_s=0)], indirect=True)
empty_slices = pytest.mark.parametrize("db", [Pace(slice_s=0)], indirect=True)


def note(tx: Tx, text: str) -> str:
    tx.run("INSERT INTO notes (text) VALUES (?)", (text,))
    return text


def notes(tx: Tx) -> list[str]:
    return [row[0] for row in tx.all("SELECT text FROM notes ORDER BY id")]


def fail(tx: Tx, text: str) -> None:
    note(tx, text)
    raise ValueError(text)


def orphan(tx: Tx) -> None:
    """Breaks a rule that SQLite looks at when it commits."""
    tx.run("INSERT INTO children (parent) VALUES (1)")


def kept(path: Path) -> list[str]:
    """What another process sees: committed rows alone."""
    conn = sqlite3.connect(path)
    try:
        return [row[0] for row in conn.execute("SELECT text FROM notes ORDER BY id")]
    finally:
        conn.close()


def notes_of(path: Path, number: int) -> list[str]:
    return [one for one in kept(path) if one.partition(".")[0] == str(number)]


@pytest.fixture
def statements(db: Database) -> Iterator[list[str]]:
    """What the writing connection executes from now on."""
    seen: list[str] = []
    conn = db._writer.connection.raw
    conn.set_trace_callback(seen.append)
    yield seen
    conn.set_trace_callback(None)


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each COMMIT: the number of changes that its connection has made so far."""
    seen: list[int] = []
    commit = writer._commit

    def counted(conn: sqlite3.Connection) -> None:
        commit(conn)
        seen.append(conn.total_changes)

    monkeypatch.setattr(writer, "_commit", counted)
    return seen


async def at_rest(db: Database) -> None:
    """Callers are answered a moment before the writer ends: whoever asks in between joins what it takes up next."""
    while db._writer._pump is not None:
        await asyncio.sleep(0)


async def write_later(db: Database, passes: int, text: str) -> None:
    """After so many passes of the event loop."""
    for _ in range(passes):
        await asyncio.sleep(0)
    await db.write(note, text)


async def test_a_write_is_committed_when_its_caller_goes_on(db: Database, path: Path) -> None:
    assert await db.write(note, "one") == "one"
    assert kept(path) == ["one"]


@endless_slices
async def test_units_that_wait_share_one_commit(db: Database, path: Path, commits: list[int]) -> None:
    await asyncio.gather(*(db.write(note, str(n)) for n in range(50)))
    assert commits == [50]
    assert kept(path) == [str(n) for n in range(50)]


async def test_a_unit_apart_needs_no_savepoint(db: Database, statements: list[str]) -> None:
    """Around thousands of rows it costs as much as they do, and all other units wait."""
    await db.write_apart(note, "one")
    assert [one.partition(" ")[0] for one in statements] == ["BEGIN", "INSERT", "COMMIT"]


async def test_a_unit_apart_that_raises_leaves_nothing_to_those_beside_it(db: Database, path: Path) -> None:
    outcomes = await asyncio.gather(
        db.write(note, "before"),
        db.write_apart(fail, "gone"),
        db.write(note, "behind"),
        db.write_apart(note, "apart"),
        return_exceptions=True,
    )
    assert [str(one) for one in outcomes] == ["before", "gone", "behind", "apart"]
    assert isinstance(outcomes[1], ValueError)
    assert kept(path) == ["before", "behind", "apart"]


async def test_commits_are_counted_with_their_time(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they took is how long the disk was waited for, so one that fails counts as well."""
    before, _ = db.commits
    await db.write(note, "one")
    await db.write_apart(note, "two")
    counted, before_s = db.commits
    assert counted == before + 2 and before_s > 0

    def fails(conn: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(writer, "_commit", fails)
    with pytest.raises(sqlite3.OperationalError):
        await db.write(note, "three")
    assert db.commits[0] == counted + 1


@pytest.mark.parametrize(
    "db", [Pace(slice_s=GIVES_UP_S, gather_passes=50, gather_s=GIVES_UP_S)], indirect=True
)
async def test_units_that_come_in_the_passes_after_each_other_share_a_commit(
    db: Database, commits: list[int]
) -> None:
    """As those do whose callers were answered together: each has something to do before it asks again."""

    async def three_times(passes: int) -> None:
        for turn in range(3):
            await write_later(db, passes, f"{turn} {passes}")

    await asyncio.gather(*(db.write(note, str(n)) for n in range(4)))
    await asyncio.gather(*(three_times(passes) for passes in range(4)))
    assert commits == [4, 8, 12, 16]


@pytest.mark.parametrize(
    "db", [Pace(slice_s=GIVES_UP_S, gather_passes=1_000_000_000, gather_s=0)], indirect=True
)
async def test_where_passes_are_long_a_batch_waits_for_one_of_them(db: Database, commits: list[int]) -> None:
    async with asyncio.timeout(GIVES_UP_S):
        await asyncio.gather(*(db.write(note, str(n)) for n in range(4)))
        await db.write(note, "alone")
    assert commits == [4, 5]


@pytest.mark.parametrize(
    "db", [Pace(slice_s=GIVES_UP_S, gather_passes=4, gather_s=0, gather_rest_s=3600)], indirect=True
)
async def test_once_a_pass_was_long_no_batch_waits_for_a_while(db: Database, commits: list[int]) -> None:
    await asyncio.gather(*(db.write(note, str(n)) for n in range(4)))
    await asyncio.gather(*(write_later(db, passes, f"long {passes}") for passes in range(2)))
    assert commits == [4, 6]
    await at_rest(db)
    await asyncio.gather(*(write_later(db, passes, f"then {passes}") for passes in range(2)))
    assert commits == [4, 6, 7, 8]


@pytest.mark.parametrize("db", [Pace(gather_passes=1_000_000_000)], indirect=True)
async def test_who_is_alone_waits_for_nobody(db: Database, path: Path) -> None:
    async with asyncio.timeout(GIVES_UP_S):
        for n in range(3):
            await db.write(note, str(n))
    assert kept(path) == ["0", "1", "2"]


@empty_slices
async def test_a_slice_bounds_a_batch(db: Database, commits: list[int]) -> None:
    """The event loop is held for one slice at most; the rest has a transaction of its own."""
    await asyncio.gather(*(db.write(note, str(n)) for n in range(5)))
    assert commits == [1, 2, 3, 4, 5]


@empty_slices
async def test_the_loop_runs_between_slices(db: Database) -> None:
    turns: list[str] = []

    async def other() -> None:
        while len(turns) < 8:
            turns.append("other")
            await asyncio.sleep(0)

    def unit(tx: Tx) -> None:
        turns.append("unit")

    await asyncio.gather(*(db.write(unit) for _ in range(4)), other())
    assert "other" in turns[turns.index("unit") : len(turns) - turns[::-1].index("unit")]


@endless_slices
async def test_a_unit_that_fails_leaves_no_trace_and_its_neighbours_alone(
    db: Database, path: Path, commits: list[int]
) -> None:
    results: Sequence[Any] = await asyncio.gather(
        db.write(note, "before"), db.write(fail, "bad"), db.write(note, "after"), return_exceptions=True
    )
    assert results[0] == "before" and results[2] == "after"
    assert isinstance(results[1], ValueError)
    assert kept(path) == ["before", "after"] and len(commits) == 1


def refuse(tx: Tx, text: str) -> None:
    """Raises before it changes anything."""
    tx.notify(text)
    raise ValueError(text)


def tell(tx: Tx, text: str) -> str:
    tx.notify(text)
    return note(tx, text)


def tell_and_fail(tx: Tx, text: str) -> None:
    tx.notify(text)
    fail(tx, text)


class Refused(Exception):
    """One that can be watched."""


@endless_slices
@pytest.mark.parametrize(
    "kinds", [*itertools.product(("write", "write_repeatable", "write_apart"), repeat=3)]
)
async def test_what_a_unit_raised_goes_when_its_caller_has_it(db: Database, kinds: tuple[str, ...]) -> None:
    """Its traceback has the writer's frames, and these had it among the outcomes: each refused send left a hundred
    objects that only the collector ends, all of them at once while the event loop stands."""
    raised: list[weakref.ref[Refused]] = []

    def watched() -> Refused:
        error = Refused()
        raised.append(weakref.ref(error))
        return error

    def refuse(tx: Tx) -> None:
        raise watched()

    gc.disable()
    try:
        found = await asyncio.gather(*(getattr(db, kind)(refuse) for kind in kinds), return_exceptions=True)
        assert [type(one) for one in found] == [Refused] * 3
        del found
        await asyncio.sleep(0)  # the writer's task ends
        assert [one() for one in raised] == [None] * 3
    finally:
        gc.enable()


@endless_slices
async def test_units_of_all_kinds_leave_their_neighbours_alone(db: Database, path: Path) -> None:
    """Four in a batch, in every order: those that fail leave no trace, and tell nobody."""
    kinds = [(db.write, tell), (db.write, tell_and_fail)]
    kinds += [(db.write_repeatable, unit) for unit in (tell, refuse, tell_and_fail)]
    wanted: list[str] = []
    heard: list[str] = []
    for number, batch in enumerate(itertools.product(kinds, repeat=4)):
        texts = [f"{number}.{place}" for place in range(4)]
        for text in texts:
            db.listen(text, partial(heard.append, text))
        results = await asyncio.gather(
            *(write(unit, text) for (write, unit), text in zip(batch, texts, strict=True)),
            return_exceptions=True,
        )
        good = [text for (_, unit), text in zip(batch, texts, strict=True) if unit is tell]
        assert [one for one in results if isinstance(one, str)] == good
        assert all(isinstance(one, ValueError) for one in results if not isinstance(one, str))
        wanted += good
        assert notes_of(path, number) == good
    assert sorted(heard) == sorted(wanted)


@endless_slices
async def test_units_that_may_be_run_again_have_no_savepoints(
    db: Database, path: Path, statements: list[str]
) -> None:
    await asyncio.gather(*(db.write_repeatable(note, str(n)) for n in range(50)))
    assert [one for one in statements if not one.startswith("INSERT")] == ["BEGIN IMMEDIATE", "COMMIT"]
    statements.clear()
    await asyncio.gather(db.write(note, "a"), *(db.write_repeatable(note, str(n)) for n in range(50, 100)))
    assert len([one for one in statements if one.startswith("SAVEPOINT")]) == 2
    assert len(kept(path)) == 101


@endless_slices
async def test_units_are_run_again_only_where_something_is_to_be_undone(db: Database) -> None:
    runs: list[str] = []

    def counted(tx: Tx) -> None:
        runs.append("run")
        tx.run("DELETE FROM notes")

    def refused(tx: Tx) -> None:
        refuse(tx, "no")

    async def beside(*units: Any) -> int:
        runs.clear()
        await asyncio.gather(
            db.write_repeatable(counted), *map(db.write_repeatable, units), return_exceptions=True
        )
        return len(runs)

    assert await beside() == await beside(refused, refused) == 1
    assert await beside(partial(fail, text="x"), partial(fail, text="y")) == 2


async def test_a_statement_that_fails_takes_its_whole_unit_with_it(db: Database, path: Path) -> None:
    def twice(tx: Tx) -> None:
        note(tx, "same")
        note(tx, "same")

    with pytest.raises(sqlite3.IntegrityError):
        await db.write(twice)
    assert kept(path) == []


@endless_slices
async def test_a_commit_that_fails_fails_the_whole_batch_and_keeps_nothing(db: Database, path: Path) -> None:
    results = await asyncio.gather(
        db.write(note, "first"), db.write(orphan), db.write(note, "last"), return_exceptions=True
    )
    assert all(isinstance(one, sqlite3.IntegrityError) for one in results)
    assert kept(path) == []
    assert await db.write(note, "later") == "later"  # and the writer goes on
    assert kept(path) == ["later"]


async def test_a_transaction_that_sqlite_gave_up_fails_the_whole_batch(db: Database, path: Path) -> None:
    """As it does when the disk is full or broken in the middle of a unit."""

    def given_up(tx: Tx) -> None:
        note(tx, "lost")
        tx.run("ROLLBACK")
        raise sqlite3.OperationalError("disk I/O error")

    results = await asyncio.gather(db.write(note, "first"), db.write(given_up), return_exceptions=True)
    assert all(isinstance(one, sqlite3.OperationalError) for one in results)
    assert kept(path) == []
    await db.write(note, "later")
    assert kept(path) == ["later"]


async def test_a_begin_that_fails_is_told_and_the_next_one_works(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: Any) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    with monkeypatch.context() as patch:
        patch.setattr(writer.Writer, "_begin", broken)
        results = await asyncio.gather(db.write(note, "a"), db.write(note, "b"), return_exceptions=True)
        assert all(isinstance(one, sqlite3.OperationalError) for one in results)
    await db.write(note, "c")
    assert kept(path) == ["c"]


async def test_the_unit_of_a_cancelled_caller_is_committed(db: Database, path: Path) -> None:
    caller = asyncio.create_task(db.write(note, "promised"))
    await asyncio.sleep(0)  # the unit is with the writer now
    caller.cancel()
    await asyncio.wait([caller])
    assert caller.cancelled()
    await db.write(note, "later")
    assert kept(path) == ["promised", "later"]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """It takes no COMMIT until it is set."""
    takes, commit = threading.Event(), writer._commit

    def stand_still(conn: sqlite3.Connection) -> None:
        takes.wait()
        commit(conn)

    monkeypatch.setattr(writer, "_commit", stand_still)
    yield takes
    takes.set()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
async def test_what_would_be_kept_in_a_file_without_a_name_is_refused(
    db: Database, path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite goes on in it, and all of it is gone when the process ends, or another process writes over it."""
    monkeypatch.setattr(db._writer.files, "_look_s", 0)
    await db.write(note, "kept")
    file = path.with_name(path.name + suffix)
    away = file.rename(path.with_name("away"))
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(StoreFailure, match="taken away"):
                await db.write(note, "taken away")
        file.write_bytes(b"")
        with pytest.raises(StoreFailure, match="put in its place"):
            await db.write(note, "another")
        assert await db.read(notes) == ["kept"]
        away.rename(file)
        await db.write(note, "back")
    assert [one["event"] for one in logs] == ["writes_fail", "writes_succeed"]
    assert kept(path) == ["kept", "back"]


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
async def test_what_lies_where_a_link_leads_is_watched(
    db: Database, path: Path, tmp_path: Path, suffix: str
) -> None:
    await db.write(note, "kept")
    link = tmp_path / "link"
    link.symlink_to(path)
    files = StoreFiles(link, look_s=0)
    files.check()
    path.with_name(path.name + suffix).unlink()
    with pytest.raises(StoreFailure, match="taken away"):
        files.check()


async def test_what_is_refused_for_a_file_that_was_taken_away_holds_up_nobody(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the file is back, a command beside the daemon need not wait for the daemon's next write."""
    monkeypatch.setattr(db._writer.files, "_look_s", 0)
    away = path.rename(path.with_name("away"))
    with pytest.raises(StoreFailure, match="taken away"):
        await db.write(note, "refused")
    away.rename(path)
    with closing(sqlite3.connect(path, timeout=0)) as command:
        command.execute("INSERT INTO notes (text) VALUES ('by a command')")
        command.commit()
    await db.write(note, "ours")
    assert kept(path) == ["by a command", "ours"]


async def test_a_store_that_keeps_nothing_is_told_until_it_keeps_something(
    db: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "BUSY_TIMEOUT_MS", 1)
    other = sqlite3.connect(path)
    other.execute("BEGIN IMMEDIATE")
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(StoreFailure):
                await db.write(note, "refused")
        assert db.fails
        other.close()
        await db.write(notes)
        with pytest.raises(ValueError, match="its own fault"):
            await db.write(fail, "its own fault")
        assert db.fails, "nothing was kept"
        await db.write(note, "kept")
        assert not db.fails
    assert [one["event"] for one in logs] == ["writes_fail", "writes_succeed"]
    assert kept(path) == ["kept"]


@no_patience
async def test_while_the_disk_stands_still_what_has_not_begun_is_refused_to_who_is_not_patient(
    db: Database, path: Path, disk: threading.Event
) -> None:
    asked = db.impatient()
    begun = asyncio.create_task(asked.write_apart(note, "in the commit"))
    own = asyncio.create_task(db.write(note, "the daemon's own"))
    await asyncio.sleep(0)  # both units are with the writer now
    with capture_logs() as logs, pytest.raises(StoreStandsStill):
        await asked.write(note, "behind it")
    assert (db.stands_still, logs[0]["event"], logs[0]["refused"]) == (True, "store_stands_still", 1)
    with pytest.raises(StoreStandsStill):
        await asked.write(note, "later")
    assert await db.read(notes) == []
    disk.set()
    await asyncio.gather(begun, own)
    await asked.write(note, "again")
    assert kept(path) == ["in the commit", "the daemon's own", "again"]


@pytest.mark.parametrize("db", [Pace(slow_s=0)], indirect=True)
async def test_a_disk_that_is_slow_is_told_once(db: Database) -> None:
    with capture_logs() as logs:
        await db.write(note, "slow")
        await db.write(note, "as slow")
    assert [(one["event"], one["log_level"]) for one in logs] == [("disk_slow", "warning")]


@no_patience
async def test_the_wait_for_the_wal_to_be_written_back_counts_as_well(db: Database, path: Path) -> None:
    takes = asyncio.Event()
    db._writer._checkpointing = asyncio.create_task(takes.wait())  # type: ignore[arg-type]
    with pytest.raises(StoreStandsStill):
        await db.impatient().write(note, "refused")
    takes.set()
    await db.write(note, "kept")
    assert kept(path) == ["kept"]


async def test_a_commit_that_ended_while_the_process_stood_still_is_heard(
    db: Database, path: Path, disk: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patient_timer, "HEARD_S", GIVES_UP_S)
    begun = asyncio.create_task(db.write_apart(note, "in the commit"))
    behind = asyncio.create_task(db.impatient().write(note, "behind it"))
    assert await db.read(notes) == []  # both units are with the writer now
    with capture_logs() as logs:
        db._writer._went_on_at -= 2 * Pace().patience_s
        assert db._writer._looking is not None
        db._writer._looking._due(db._writer._look)
        disk.set()
        await asyncio.gather(begun, behind)
    assert logs == [] and kept(path) == ["in the commit", "behind it"]


async def test_within_patience_nobody_is_refused(db: Database, path: Path, disk: threading.Event) -> None:
    begun = asyncio.create_task(db.impatient().write_apart(note, "first"))
    behind = asyncio.create_task(db.impatient().write(note, "second"))
    assert await db.read(notes) == []
    disk.set()
    await asyncio.gather(begun, behind)
    assert kept(path) == ["first", "second"]


async def test_reads_see_all_earlier_writes(db: Database) -> None:
    for number in range(20):
        await db.write(note, str(number))
        assert (
            len(await db.read(notes))
            == len(await db.lookup(notes))
            == len(await db.peek(notes))
            == number + 1
        )


async def test_a_peek_leaves_nothing_open_that_would_hide_what_comes(db: Database) -> None:
    for number in range(5):
        await db.write(note, str(number))
        # One row of several: a statement that is not read to its end.
        assert await db.peek(lambda tx: tx.value("SELECT text FROM notes ORDER BY rowid DESC")) == str(number)
        assert not db._local.raw.in_transaction
        assert len(await db.lookup(notes)) == number + 1


async def test_look_ups_of_one_round_share_a_transaction(db: Database) -> None:
    await db.write(note, "a")
    await at_rest(db)
    told: list[str] = []
    db._local.raw.set_trace_callback(told.append)
    look = "SELECT text FROM notes"
    for _ in range(2):
        for ask in (db.peek, db.lookup, db.peek):
            assert await ask(lambda tx: tx.value(look)) == "a"
        await asyncio.sleep(0)
    assert told == ["BEGIN", look, look, look, "ROLLBACK"] * 2


async def test_a_look_up_that_fails_leaves_the_others_theirs(db: Database) -> None:
    await db.write(note, "a")
    await at_rest(db)
    for ask in (db.lookup, db.peek):
        with pytest.raises(ValueError):
            await ask(lambda tx: int(tx.value("SELECT text FROM notes")))
        # As a disk that fails has it: SQLite ends the transaction by itself.
        await ask(lambda tx: tx.run("ROLLBACK"))
        assert await ask(notes) == ["a"]


async def test_a_look_up_of_the_round_in_which_the_thread_begins_has_its_own_transaction(
    db: Database,
) -> None:
    """What a look-up before it began is over, and after a COMMIT that failed the next ones share again."""
    assert await db.lookup(notes) == []
    with pytest.raises(sqlite3.OperationalError), db._local.apart():
        assert not db._local.raw.in_transaction
        assert await db.lookup(notes) == await db.peek(notes) == []
        raise sqlite3.OperationalError("disk I/O error")
    assert await db.lookup(notes) == []
    assert db._local.raw.in_transaction


async def test_a_look_up_sees_what_somebody_was_told_of_though_others_look_in_the_same_round(
    db: Database,
) -> None:
    async def look() -> None:
        while True:
            await db.lookup(notes)
            await asyncio.sleep(0)

    looking = [asyncio.create_task(look()) for _ in range(3)]
    for number in range(50):
        await db.write(note, str(number))
        assert len(await db.lookup(notes)) == len(await db.peek(notes)) == number + 1
    for one in looking:
        one.cancel()


async def test_no_look_up_is_left_open_while_the_store_is_written(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, at_it, may_go_on = writer._commit, threading.Event(), threading.Event()

    def slow(conn: sqlite3.Connection) -> None:
        at_it.set()
        may_go_on.wait()
        commit(conn)

    monkeypatch.setattr(writer, "_commit", slow)
    assert await db.lookup(notes) == []
    writing = asyncio.create_task(db.write(note, "a"))
    while not at_it.is_set():
        await asyncio.sleep(0)
    left_open = []
    for ask in (db.lookup, db.peek):
        assert await ask(notes) == []
        left_open.append(db._local.raw.in_transaction)
    may_go_on.set()
    await writing
    assert left_open == [False, False]
    assert await db.lookup(notes) == ["a"]


async def test_a_read_sees_one_state(db: Database) -> None:
    """Though the writer commits between two of its statements."""
    loop = asyncio.get_running_loop()
    begun, go_on = asyncio.Event(), threading.Event()

    def twice(tx: Tx) -> tuple[list[str], list[str]]:
        first = notes(tx)
        loop.call_soon_threadsafe(begun.set)
        assert go_on.wait(GIVES_UP_S)
        return first, notes(tx)

    reading = asyncio.create_task(db.read(twice))
    await begun.wait()
    await db.write(note, "meanwhile")
    go_on.set()
    assert await reading == ([], [])


async def test_an_organization_that_asks_much_leaves_a_reader_to_the_others(db: Database) -> None:
    """However long its line is, another's question and the daemon's own are answered before it ends."""
    loop = asyncio.get_running_loop()
    busy, go_on = asyncio.Event(), threading.Event()
    begun: list[str] = []

    def slow(tx: Tx, name: str) -> None:
        begun.append(name)
        if len(begun) == database.ORGANIZATION_READERS:
            loop.call_soon_threadsafe(busy.set)
        assert go_on.wait(GIVES_UP_S)

    greedy = [asyncio.create_task(db.read_for("org_greedy", slow, str(n))) for n in range(60)]
    try:
        async with asyncio.timeout(GIVES_UP_S):
            await busy.wait()
            assert await db.read_for("org_modest", notes) == await db.read(notes) == []
        during = sorted(begun)  # by threads, which nobody puts in order
    finally:
        go_on.set()
    assert during == [str(n) for n in range(database.ORGANIZATION_READERS)]
    await asyncio.gather(*greedy)
    assert len(begun) == 60


async def test_readers_can_not_write(db: Database) -> None:
    for read in (db.read, db.lookup, db.peek):
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            found = read(note, "no")
            if asyncio.iscoroutine(found):
                await found


async def test_a_read_that_fails_fails_alone(db: Database) -> None:
    results = await asyncio.gather(
        *(db.read(notes if n % 2 else lambda tx: tx.value("SELECT nonsense")) for n in range(6)),
        return_exceptions=True,
    )
    assert [isinstance(one, sqlite3.OperationalError) for one in results] == [True, False] * 3
    with pytest.raises(sqlite3.OperationalError):
        await db.lookup(lambda tx: tx.value("SELECT nonsense"))
    assert await db.lookup(notes) == []


async def test_a_foreign_write_lock_is_waited_for_without_holding_the_loop(db: Database, path: Path) -> None:
    """A command that runs beside the daemon (`maild org create`)."""
    foreign = sqlite3.connect(path, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    foreign.execute("INSERT INTO notes (text) VALUES ('foreign')")
    writing = asyncio.create_task(db.write(note, "ours"))
    for _ in range(50):  # the loop turns, reads are answered
        await asyncio.sleep(0)
        assert await db.lookup(notes) == []
    assert await db.read(notes) == []
    assert not writing.done()
    foreign.execute("COMMIT")
    foreign.close()
    async with asyncio.timeout(GIVES_UP_S):
        assert await writing == "ours"
    assert kept(path) == ["foreign", "ours"]


async def test_close_finishes_what_waits_and_takes_nothing_more(path: Path) -> None:
    db = await Database.open(path)
    waiting = [asyncio.create_task(db.write(note, str(n))) for n in range(10)]
    await asyncio.sleep(0)
    await db.close()
    assert [await one for one in waiting] == [str(n) for n in range(10)]
    assert kept(path) == [str(n) for n in range(10)]
    await db.close()  # idempotent
    with pytest.raises(DatabaseClosed):
        await db.write(note, "late")
    with pytest.raises(DatabaseClosed):
        await db.read(notes)
    for look in (db.lookup, db.peek):
        with pytest.raises(DatabaseClosed):
            await look(notes)


async def test_close_writes_the_wal_back(path: Path) -> None:
    db = await Database.open(path)
    await db.write(note, "one")
    await db.close()
    assert not Path(f"{path}-wal").exists()


async def test_every_connection_is_durable_and_keeps_references(db: Database) -> None:
    def pragmas(tx: Tx) -> tuple[Any, ...]:
        return tuple(tx.value(f"PRAGMA {name}") for name in ("synchronous", "foreign_keys", "journal_mode"))

    assert await db.read(pragmas) == await db.lookup(pragmas) == await db.write(pragmas) == (2, 1, "wal")


async def test_only_the_writer_makes_checkpoints(db: Database) -> None:
    def pages(tx: Tx) -> int:
        return tx.value("PRAGMA wal_autocheckpoint")

    assert await db.read(pages) == await db.lookup(pages) == 0
    assert await db.write(pages) == CHECKPOINT_PAGES_FORCED


async def test_the_wal_is_written_back_in_a_pause(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = asyncio.Event()
    loop, checkpoint = asyncio.get_running_loop(), writer._checkpoint

    def told(conn: sqlite3.Connection) -> None:
        checkpoint(conn)
        loop.call_soon_threadsafe(done.set)

    monkeypatch.setattr(writer, "_checkpoint", told)
    db = await Database.open(path, Pace(checkpoint_idle_s=0))
    await db.write(note, "one")
    async with asyncio.timeout(GIVES_UP_S):
        await done.wait()
    await db.write(note, "two")
    await db.close()
    assert kept(path) == ["one", "two"]


async def test_the_wal_gives_back_the_room_that_it_took_while_an_old_state_was_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a backup: nothing is written back until it ends, and all that comes meanwhile stands in the WAL."""
    monkeypatch.setattr(connections, "CHECKPOINT_PAGES_FORCED", 1)
    monkeypatch.setattr(connections, "WAL_KEPT_BYTES", 64 * 1024)
    db, wal = await Database.open(path), Path(f"{path}-wal")
    with closing(sqlite3.connect(path, isolation_level=None)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM notes").fetchone()
        for number in range(20):
            await db.write(note, f"{number}" + " word" * 4000)
        assert wal.stat().st_size > 5 * connections.WAL_KEPT_BYTES
    await db.write(note, "with this one the rest is written back")
    await db.write(note, "and this one begins the WAL anew")
    assert wal.stat().st_size <= connections.WAL_KEPT_BYTES
    await db.close()
    assert len(kept(path)) == 22


async def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        await Database.open(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


async def test_opening_that_failed_leaves_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would speak to a loop that may be closed by then."""
    go_on, stop = threading.Event(), StoreConnection.stop

    def stop_slowly(connection: StoreConnection) -> "asyncio.Future[None] | None":
        connection._tx.put_nowait((None, lambda: go_on.wait(GIVES_UP_S)))
        asyncio.get_running_loop().call_soon(go_on.set)
        return stop(connection)

    monkeypatch.setattr(StoreConnection, "stop", stop_slowly)
    others = set(threading.enumerate())
    with pytest.raises(sqlite3.OperationalError):
        await Database.open(tmp_path / "nowhere")
    left = set(threading.enumerate()) - others
    assert not [one for one in left if "_connection_worker_thread" in one.name]


def test_configure_waits_for_locks_instead_of_failing(path: Path) -> None:
    conn = sqlite3.connect(path)
    configure(conn)
    assert conn.execute("PRAGMA busy_timeout").fetchone() == (BUSY_TIMEOUT_MS,)
    conn.close()


async def test_a_writing_unit_is_nobodys_in_the_log(db: Database) -> None:
    """The first to wait wakes the writer, which then serves others too."""
    with bound_contextvars(session="ses_of_the_first"):
        assert await db.write(lambda tx: get_contextvars()) == {}


async def test_emptying_the_caches_reaches_every_connection_and_harms_nobody(
    db: Database, path: Path
) -> None:
    emptied: list[sqlite3.Connection] = []
    connections = [db._writer.connection.raw, *(one.raw for one in db._reading), db._local.raw]

    def watch(conn: sqlite3.Connection) -> None:
        conn.set_trace_callback(lambda sql: emptied.append(conn) if sql == "PRAGMA shrink_memory" else None)

    for conn in connections:
        watch(conn)
    busy = [db.write(note, "a"), db.read(notes), db.empty_caches(), db.write(note, "b"), db.read(notes)]
    await asyncio.gather(*busy)
    assert emptied == connections
    assert await db.read(notes) == kept(path) == ["a", "b"]
