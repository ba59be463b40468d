"""Who listens to a topic is called after the commit of a unit that named it, and for nothing else."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.engine.writer import Pace
from tests.support.waiting import GIVES_UP_S

NEWS, OTHER = "news", "other"

endless_slices = pytest.mark.parametrize("db", [Pace(slice_s=GIVES_UP_S)], indirect=True)
empty_slices = pytest.mark.parametrize("db", [Pace(slice_s=0)], indirect=True)


@pytest.fixture
async def db(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Database]:
    path = tmp_path / "store"
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.executescript(
        """CREATE TABLE notes (text TEXT NOT NULL UNIQUE);
           CREATE TABLE parents (id INTEGER PRIMARY KEY);
           CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);"""
    )
    conn.close()
    db = await Database.open(path, getattr(request, "param", Pace()))
    yield db
    await db.close()


endless_slices = pytest.mark.parametrize("db", [Pace(slice_s=GIVES_UP_S)], indirect=True)
empty_slices = pytest.mark.parametrize("db", [Pace(slice_s=0)], indirect=True)


@pytest.fixture
def heard(db: Database, tmp_path: Path) -> list[list[str]]:
    """One entry for each call: what another process finds committed at that moment."""
    calls: list[list[str]] = []
    loop_thread = threading.get_ident()

    def listener() -> None:
        assert threading.get_ident() == loop_thread
        conn = sqlite3.connect(tmp_path / "store")
        calls.append([row[0] for row in conn.execute("SELECT text FROM notes ORDER BY rowid")])
        conn.close()

    db.listen(NEWS, listener)
    return calls


def note(tx: Tx, text: str, topic: str | None = None) -> None:
    tx.run("INSERT INTO notes (text) VALUES (?)", (text,))
    if topic is not None:
        tx.notify(topic)


def fail(tx: Tx) -> None:
    note(tx, "bad", NEWS)
    raise ValueError("bad")


async def test_a_commit_calls_who_listens(db: Database, heard: list[list[str]]) -> None:
    await db.write(note, "one", NEWS)
    assert heard == [["one"]]


async def test_a_commit_that_names_no_topic_calls_nobody(db: Database, heard: list[list[str]]) -> None:
    await db.write(note, "one", NEWS)
    await db.write(note, "two")
    await db.write(note, "three", OTHER)
    assert heard == [["one"]]


@endless_slices
async def test_a_batch_calls_each_listener_once(db: Database, heard: list[list[str]]) -> None:
    other: list[str] = []
    db.listen(OTHER, lambda: other.append("called"))
    topics = [NEWS, None, NEWS, OTHER, NEWS]
    await asyncio.gather(*(db.write(note, str(number), topic) for number, topic in enumerate(topics)))
    assert heard == [["0", "1", "2", "3", "4"]]
    assert other == ["called"]


@empty_slices
async def test_each_batch_that_names_it_calls_again(db: Database, heard: list[list[str]]) -> None:
    await asyncio.gather(*(db.write(note, text, NEWS) for text in "ab"))
    assert len(heard) == 2


async def test_a_unit_that_is_rolled_back_calls_nobody(db: Database, heard: list[list[str]]) -> None:
    for write in (db.write, db.write_apart):
        with pytest.raises(ValueError):
            await write(fail)
    assert heard == []


@endless_slices
async def test_a_unit_that_is_rolled_back_leaves_its_neighbours_topics(
    db: Database, heard: list[list[str]]
) -> None:
    for before, after in ((NEWS, None), (None, NEWS)):
        writes = (db.write(note, f"{before}", before), db.write(fail), db.write(note, f"{after} 2", after))
        await asyncio.gather(*writes, return_exceptions=True)
        await db.write(lambda tx: tx.run("DELETE FROM notes"))
    assert heard == [["news", "None 2"], ["None", "news 2"]]


async def test_a_commit_that_fails_calls_nobody(db: Database, heard: list[list[str]]) -> None:
    def orphan(tx: Tx) -> None:
        note(tx, "kept by nobody", NEWS)
        tx.run("INSERT INTO children (parent) VALUES (1)")

    for write in (db.write, db.write_apart):
        with pytest.raises(sqlite3.IntegrityError):
            await write(orphan)
    await db.write(note, "one")
    assert heard == []


async def test_a_unit_apart_calls_who_listens_on_the_loop(db: Database, heard: list[list[str]]) -> None:
    await db.write_apart(note, "apart", NEWS)
    assert heard == [["apart"]]


async def test_the_store_in_the_hands_of_a_key_calls_them_too(db: Database, heard: list[list[str]]) -> None:
    store = db.asking(lambda tx: None)
    await store.write(note, "one", NEWS)
    await store.write_apart(note, "two", NEWS)
    assert heard == [["one"], ["one", "two"]]


async def test_a_key_that_may_not_calls_nobody(db: Database, heard: list[list[str]]) -> None:
    def refuse(tx: Tx) -> None:
        raise PermissionError

    with pytest.raises(PermissionError):
        await db.asking(refuse).write(note, "one", NEWS)
    assert heard == []


async def test_a_caller_that_left_does_not_keep_others_from_hearing(
    db: Database, heard: list[list[str]]
) -> None:
    """Its unit is committed all the same, and nobody else would say so."""
    caller = asyncio.create_task(db.write(note, "left", NEWS))
    await asyncio.sleep(0)
    caller.cancel()
    await db.write(note, "after")
    assert [texts[0] for texts in heard] == ["left"]


async def test_a_listener_that_fails_is_logged_and_harms_nobody(db: Database) -> None:
    called: list[str] = []

    def broken() -> None:
        raise RuntimeError("a listener's bug")

    db.listen(NEWS, broken)
    db.listen(NEWS, lambda: called.append("the next one"))
    with capture_logs() as logged:
        await db.write(note, "one", NEWS)
        await db.write(note, "two", NEWS)
    assert called == ["the next one"] * 2
    assert [(line["event"], line["topic"]) for line in logged] == [("listener_failed", NEWS)] * 2


async def test_reading_names_nothing(db: Database, heard: list[list[str]]) -> None:
    await db.read(lambda tx: tx.notify(NEWS))
    await db.lookup(lambda tx: tx.notify(NEWS))
    await db.write(note, "one")
    assert heard == []
