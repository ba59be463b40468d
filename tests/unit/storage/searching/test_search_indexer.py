"""When and how the indexer moves messages (storage/searching/indexer.py); what is found is tested through the API."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from storage.engine.tx import Tx
from storage.mail import messages
from storage.searching import index_child, search_tail
from storage.searching.index_schema import inbox_term
from storage.searching.indexer import IndexingPace, SearchIndexer
from storage.searching.search_index import Walked
from storage.searching.search_tail import Settlement, Unsettled
from storage.searching.trigram_terms import terms_of_trigrams
from tests.support.worlds.searched import Searched
from tests.support.worlds.store import INBOX, ORGANIZATION, ManualClock, message

PACE = IndexingPace()


class Paused(SearchIndexer):
    """Goes on when the test says so; `pauses`: how long it meant to rest; `is_busy`: others write during its rounds."""

    def __init__(self, world: Searched) -> None:
        super().__init__(world.store.db, world.index, ManualClock())
        self.is_busy = False
        self.pauses: list[float | None] = []
        self._steps = asyncio.Semaphore(0)
        self._resting = asyncio.Semaphore(0)

    async def pause(self, timeout_s: float | None) -> None:
        self.pauses.append(timeout_s)
        self._resting.release()
        await self._steps.acquire()

    async def round(self) -> bool:
        worked = await super().round()
        if self.is_busy:
            await self._db.write(touch)
        return worked

    async def rest(self) -> None:
        await self._resting.acquire()

    def go_on(self) -> None:
        self._steps.release()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Searched]:
    opened = await Searched.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
async def indexer(world: Searched) -> AsyncIterator[Paused]:
    await world.settle()
    running = Paused(world)
    await running.start()
    yield running
    await running.stop()


def touch(tx: Tx) -> None:
    tx.run("UPDATE organizations SET name = name WHERE id = ?", (ORGANIZATION,))


async def test_it_rests_when_there_is_nothing_to_index_though_others_write(
    world: Searched, indexer: Paused
) -> None:
    indexer.is_busy = True
    for _ in range(20):
        await indexer.rest()
        await world.store.db.write(touch)
        indexer.go_on()
    await indexer.rest()
    assert set(indexer.pauses) == {PACE.look_s}


async def test_nothing_is_done_when_nobody_wrote(world: Searched, indexer: Paused) -> None:
    await indexer.rest()
    indexer.go_on()
    await indexer.rest()
    written = world.store.db.units_written
    for _ in range(5):
        indexer.go_on()
        await indexer.rest()
    assert world.store.db.units_written == written


async def test_a_round_that_fails_is_told_and_tried_again(
    world: Searched, indexer: Paused, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> None:
        raise OSError("no room")

    await indexer.rest()
    await world.receive(1)
    with monkeypatch.context() as patch, capture_logs() as lines:
        patch.setattr(search_tail, "settle", refuses)
        for _ in range(3):
            indexer.go_on()
            await indexer.rest()
    (line,) = lines
    assert (line["event"], line["error"], "exc_info" in line) == ("indexing_failed", "no room", False)
    assert indexer.pauses[-1] == PACE.retry_s
    await world.assert_exact()
    indexer.go_on()
    await indexer.rest()
    assert await world.waits() == 0
    await world.assert_exact()


async def test_a_round_takes_so_many_and_the_next_one_begins_with_another_organization(
    world: Searched,
) -> None:
    first = await world.receive(*range(5))
    await world.store.db.write(lambda tx: tx.run("INSERT INTO search_tail VALUES ('org_2', 'msg_gone', 1)"))
    some = await world.store.db.read(search_tail.waiting, 3)
    assert some.keys == [(ORGANIZATION, one) for one in first[:3]]
    assert some.message_ids == first[:3]
    rest = await world.store.db.read(search_tail.waiting, 3, ORGANIZATION)
    assert rest.keys == [("org_2", "msg_gone"), *some.keys[:2]]
    large = await world.store.db.read(search_tail.waiting, 3, "", 1)
    assert large.keys == some.keys[:1]
    assert [one.has_more for one in (some, rest, large)] == [True, True, True]
    assert not (await world.store.db.read(search_tail.waiting, 7)).has_more


async def test_large_messages_are_indexed_without_a_rest_between_them(world: Searched) -> None:
    await world.settle()
    await world.receive(1, 2, 3)
    await world.store.db.write(
        lambda tx: tx.run("UPDATE search_tail SET body_bytes = ?", (search_tail.BATCH_BYTES,))
    )
    assert [await world.indexer.round() for _ in range(3)] == [True, True, False]
    assert await world.waits() == 0


async def test_what_is_attached_does_not_count_for_a_round(world: Searched) -> None:
    await world.settle()
    ids = [world.store.ids.new("msg") for _ in range(3)]
    now_ms = world.store.clock.now_ms()

    def receive(tx: Tx, message_id: str) -> None:
        one = message(message_id, now_ms, ["you@there.test"], "", b"raw")
        one = one._replace(blob_id=None, size_bytes=one.size_bytes + search_tail.BATCH_BYTES)
        part = ("a.pdf", "application/pdf", 1, None, False, 0, search_tail.BATCH_BYTES, "identity")
        messages.insert(tx, one, messages.attachment_rows(world.store.ids, message_id, [part]))

    for message_id in ids:
        await world.store.db.write(receive, message_id)
    some = await world.store.db.read(search_tail.waiting, 10)
    assert [message_id for _, message_id in some.keys] == ids
    walked = await world.store.db.read(search_tail.walk, Walked(), 10)
    assert walked.message_ids == ids


async def test_a_walk_comes_to_every_message_in_its_order(world: Searched) -> None:
    ids = await world.receive(*range(5))
    walked, seen = Walked(), []
    while not (some := await world.store.db.read(search_tail.walk, walked, 2)).is_empty:
        seen += some.message_ids
        assert some.walked is not None and some.keys == []
        walked = some.walked
    assert seen == ids and walked == Walked(ORGANIZATION, ids[-1])


async def test_mail_that_comes_and_goes_while_the_index_is_made(world: Searched) -> None:
    first = await world.receive(1, 2, 3)
    await world.indexer.round()  # which begins it
    assert not world.index.is_complete
    await world.indexer.round()  # which walks
    await world.delete(first[1])
    await world.receive(4)
    await world.assert_exact()
    await world.settle()
    assert world.index.is_complete
    await world.assert_exact()


async def test_a_message_that_is_deleted_while_it_is_put_in_is_taken_out(world: Searched) -> None:
    await world.settle()
    gone, kept = await world.receive(1, 2)
    some = await world.store.db.read(search_tail.waiting, 10)
    said = await world.store.db.read(search_tail.said, some)
    await world.delete(gone)
    await world.store.db.write(search_tail.settle, some, search_tail.tell(world.index, some, said))
    assert await world.found("common") == [kept]
    await world.settle()
    with closing(sqlite3.connect(world.path)) as conn:
        assert conn.execute("SELECT message_id FROM documents").fetchall() == [(kept,)]
        assert conn.execute(
            "SELECT count(*) FROM trigrams WHERE trigrams MATCH ?",
            (" AND ".join(terms_of_trigrams(["com", "mon"])),),
        ).fetchone() == (1,)


async def test_words_of_what_is_gone_are_read_in_parts_and_without_a_rest_between_them(
    world: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await world.receive(*range(4))
    await world.settle()
    for message_id in ids[:3]:
        await world.delete(message_id)
    some = await world.store.db.read(search_tail.waiting, 10)
    said = await world.store.db.read(search_tail.said, some, 1)
    assert [one.message_id for one in said.gone] == ids[:1] and said.has_more
    monkeypatch.setattr(search_tail, "GONE_AT_ONCE", 2)
    assert await world.indexer.round() and await world.waits() == 1
    assert not await world.indexer.round() and await world.waits() == 0
    await world.assert_exact()


async def test_an_inbox_keeps_its_number_until_its_last_message_is_taken_out(
    world: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it the terms of a message are not those that were put in. Nothing of a deleted organization stays."""
    ids = await world.receive(*range(5))
    await world.settle()
    with closing(sqlite3.connect(world.index.path)) as conn:
        numbers = conn.execute("SELECT number FROM indexed_inboxes").fetchall()
        for message_id in ids:
            await world.delete(message_id)
        await world.store.db.write(search_tail.forget_inboxes, [INBOX])
        await world.store.db.write(search_tail.forget_organization, ORGANIZATION)
        monkeypatch.setattr(search_tail, "GONE_AT_ONCE", 2)
        while not await world.store.db.read(search_tail.is_gone, ORGANIZATION):
            await world.indexer.round()
        for table in ("indexed_inboxes", "indexed_organizations", "documents"):
            assert conn.execute(f"SELECT * FROM {table}").fetchall() == []
        for (number,) in numbers:
            term = inbox_term(number)
            found = conn.execute("SELECT rowid FROM trigrams WHERE trigrams MATCH ?", (term,)).fetchall()
            assert found == []


# Told by the process ------------------------------------------------------------------------------

APART = IndexingPace(apart_bytes=1)


@pytest.fixture
async def apart(tmp_path: Path) -> AsyncIterator[Searched]:
    world = await Searched.open(tmp_path, APART)
    await world.settle()
    yield world
    await world.close()


def tells_and_dies_once(store: Path, path: Path, some: Unsettled) -> Settlement:
    told = index_child.tell_apart(store, path, some)
    mark = path.with_name("died")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return told


def breaks(store: Path, path: Path, some: Unsettled) -> Settlement:
    raise OSError("no room")


async def test_much_is_told_by_the_process_alone(apart: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await apart.receive(1, 2, 3)
    with monkeypatch.context() as patch:
        patch.setattr(index_child, "tell", breaks)  # the thread's
        await apart.settle()
    await apart.assert_exact()
    await apart.delete(ids[1])
    await apart.receive(4)
    await apart.settle()
    assert await apart.waits() == 0
    await apart.assert_exact()


async def test_little_is_told_without_a_process(world: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_child, "tell_apart", breaks)
    await world.receive(1, 2, 3)
    with capture_logs() as lines:
        await world.settle()
    assert [line for line in lines if line["event"] == "indexing_process_failed"] == []


async def test_a_process_that_dies_behind_its_commit_is_followed_by_another_and_nothing_is_in_twice(
    apart: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_child, "tell_apart", tells_and_dies_once)
    ids = await apart.receive(1, 2, 3)
    await apart.settle()
    assert apart.path.with_name("died").exists()
    await apart.assert_exact()
    with closing(sqlite3.connect(apart.path)) as conn:
        assert conn.execute("SELECT message_id FROM documents ORDER BY document").fetchall() == [
            (one,) for one in ids
        ]


async def test_what_the_process_can_not_tell_the_thread_does(
    apart: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture_logs() as lines:
        with monkeypatch.context() as patch:
            patch.setattr(index_child, "tell_apart", breaks)
            for number in (1, 2, 3):  # the fault stays, and is told once
                await apart.receive(number)
                await apart.settle()
        assert [line["event"] for line in lines] == ["indexing_process_failed"]
        assert "no room" in lines[0]["error"]
        await apart.receive(4)
        await apart.settle()
        monkeypatch.setattr(index_child, "tell_apart", breaks)
        await apart.receive(5)
        await apart.settle()
    assert [line["event"] for line in lines] == ["indexing_process_failed"] * 2
    assert await apart.waits() == 0
    await apart.assert_exact()


async def test_damage_that_the_process_meets_ends_the_index_and_no_search(apart: Searched) -> None:
    await apart.receive(1, 2, 3)
    await apart.settle()
    with closing(sqlite3.connect(apart.path)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()
    with apart.path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(bytes(4096))
    await apart.receive(4)
    with capture_logs() as lines:
        await apart.settle()
    assert [line["event"] for line in lines] == [
        "indexing_process_failed",
        "search_index_damaged",
        "search_rebuild_begun",
        "search_rebuilt",
    ]
    await apart.assert_exact()
