"""When the indexer takes the writer from others (storage/indexer.py); what it finds is tested through the API."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.clock import Clock
from storage.database import Tx
from storage.indexer import LOOK_S, SearchIndexer
from tests.support.store import ORGANIZATION, Store


class Paused(SearchIndexer):
    """Goes on when the test says so; `pauses`: how long it meant to rest; `is_busy`: others write during its steps."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.db, Clock())
        self.is_busy = False
        self.pauses: list[float | None] = []
        self._steps = asyncio.Semaphore(0)
        self._resting = asyncio.Semaphore(0)

    async def pause(self, timeout_s: float | None) -> None:
        self.pauses.append(timeout_s)
        self._resting.release()
        await self._steps.acquire()

    async def _step(self) -> bool:
        worked = await super()._step()
        if self.is_busy:
            await self._db.write(touch)
        return worked

    async def rest(self) -> None:
        await self._resting.acquire()

    def go_on(self) -> None:
        self._steps.release()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
async def indexer(store: Store) -> AsyncIterator[Paused]:
    running = Paused(store)
    await running.start()
    yield running
    await running.stop()


def touch(tx: Tx) -> None:
    tx.run("UPDATE organizations SET name = name WHERE id = ?", (ORGANIZATION,))


async def test_others_that_write_are_left_alone_when_there_is_nothing_to_index(
    store: Store, indexer: Paused
) -> None:
    indexer.is_busy = True
    for _ in range(20):
        await indexer.rest()
        await store.db.write(touch)
        indexer.go_on()
    await indexer.rest()
    assert set(indexer.pauses) == {LOOK_S}


async def test_nothing_is_done_when_nobody_wrote(store: Store, indexer: Paused) -> None:
    await indexer.rest()
    indexer.go_on()
    await indexer.rest()
    written = store.db.units_written
    for _ in range(5):
        indexer.go_on()
        await indexer.rest()
    assert store.db.units_written == written
