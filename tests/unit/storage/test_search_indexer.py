"""When and how the indexer moves messages (storage/indexer.py); what is found is tested through the API."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from storage import messages, search
from storage.database import Tx
from storage.indexer import IndexingPace, SearchIndexer
from storage.search_index import Walked
from storage.trigram_terms import terms_of_trigrams
from tests.support.searched import Searched
from tests.support.store import ORGANIZATION, ManualClock, message

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
        patch.setattr(search, "settle", refuses)
        indexer.go_on()
        await indexer.rest()
    assert [line["event"] for line in lines] == ["indexing_failed"]
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
    some = await world.store.db.read(search.waiting, 3)
    assert some.keys == [(ORGANIZATION, one) for one in first[:3]]
    assert [one.message_id for one in some.entries()] == first[:3]
    rest = await world.store.db.read(search.waiting, 3, ORGANIZATION)
    assert rest.keys == [("org_2", "msg_gone"), *some.keys[:2]]
    large = await world.store.db.read(search.waiting, 3, "", 1)
    assert large.keys == some.keys[:1]
    assert [one.has_more for one in (some, rest, large)] == [True, True, True]
    assert not (await world.store.db.read(search.waiting, 7)).has_more


async def test_large_messages_are_indexed_without_a_rest_between_them(world: Searched) -> None:
    await world.settle()
    await world.receive(1, 2, 3)
    await world.store.db.write(
        lambda tx: tx.run("UPDATE search_tail SET body_bytes = ?", (search.BATCH_BYTES,))
    )
    assert [await world.indexer.round() for _ in range(3)] == [True, True, False]
    assert await world.waits() == 0


async def test_what_is_attached_does_not_count_for_a_round(world: Searched) -> None:
    await world.settle()
    ids = [world.store.ids.new("msg") for _ in range(3)]
    now_ms = world.store.clock.now_ms()

    def receive(tx: Tx, message_id: str) -> None:
        one = message(message_id, now_ms, ["you@there.test"], "", b"raw")
        one = one._replace(blob_id=None, size_bytes=one.size_bytes + search.BATCH_BYTES)
        part = ("a.pdf", "application/pdf", 1, None, False, 0, search.BATCH_BYTES, "identity")
        messages.insert(tx, one, messages.attachment_rows(world.store.ids, message_id, [part]))

    for message_id in ids:
        await world.store.db.write(receive, message_id)
    some = await world.store.db.read(search.waiting, 10)
    assert [message_id for _, message_id in some.keys] == ids
    walked = await world.store.db.read(search.walk, Walked(), 10)
    assert [one.message_id for one in walked.entries()] == ids


async def test_a_walk_comes_to_every_message_in_its_order(world: Searched) -> None:
    ids = await world.receive(*range(5))
    walked, seen = Walked(), []
    while not (some := await world.store.db.read(search.walk, walked, 2)).is_empty:
        seen += [one.message_id for one in some.entries()]
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
    some = await world.store.db.read(search.waiting, 10)
    await world.delete(gone)
    mark = world.index.change(some.mark, some.entries(), some.gone, None)
    await world.store.db.write(search.settle, mark, some)
    assert await world.found("common") == [kept]
    await world.settle()
    with closing(sqlite3.connect(world.path)) as conn:
        assert conn.execute("SELECT message_id FROM documents").fetchall() == [(kept,)]
        assert conn.execute(
            "SELECT count(*) FROM trigrams WHERE trigrams MATCH ?",
            (" AND ".join(terms_of_trigrams(["com", "mon"])),),
        ).fetchone() == (1,)
