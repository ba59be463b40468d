"""The clock is ahead for a while, at a start or because it has jumped: what is kept for days is not removed for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from storage.clock import DAY_MS
from storage.publishing import events
from storage.upkeep import retention
from storage.upkeep.retention import Retention, ages
from tests.support.worlds.store import ORGANIZATION, ManualClock, Store

AHEAD_S = 400 * DAY_MS // 1000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    for _ in range(3):
        await publish(opened)
    yield opened
    await opened.close()


async def publish(store: Store) -> None:
    event_id, now_ms, data = store.ids.new("evt"), store.clock.now_ms(), {"subject": "x"}
    await store.db.write(
        lambda tx: events.publish(
            tx, event_id, now_ms, organization_id=ORGANIZATION, type="email.sent", data=data
        )
    )


class RetentionLook:
    """One look of a keeper that runs as in the daemon, at a time; `how_many`: events are there after it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._keeper = Retention(
            store.db, store.blobs, store.clock, ages(30, 30), lambda _: None, store.audit, 400
        )

    async def how_many(self) -> int:
        if await self._keeper._trusts_clock():
            await self._keeper.round()
        number: int = await self._store.db.read(lambda tx: tx.value("SELECT count(*) FROM events"))
        return number


def clock_of(store: Store) -> ManualClock:
    assert isinstance(store.clock, ManualClock)
    return store.clock


async def test_a_start_with_a_clock_that_is_ahead_removes_nothing(store: Store) -> None:
    clock = clock_of(store)
    clock.set_back(-AHEAD_S)
    assert await RetentionLook(store).how_many() == 3
    clock.set_back(AHEAD_S)
    assert await RetentionLook(store).how_many() == 3


async def test_nor_does_a_jump_while_it_runs(store: Store) -> None:
    clock, running = clock_of(store), RetentionLook(store)
    assert await running.how_many() == 3
    clock.set_back(-AHEAD_S)
    assert await running.how_many() == 3
    clock.forward(retention.ROUND_S)
    assert await running.how_many() == 3
    clock.set_back(AHEAD_S)
    clock.forward(retention.TRUST_S)
    assert await running.how_many() == 3


async def test_nor_where_something_happens_by_the_wrong_clock_before_it_is_looked_at(store: Store) -> None:
    clock, running = clock_of(store), RetentionLook(store)
    assert await running.how_many() == 3
    clock.set_back(-AHEAD_S)
    await publish(store)
    assert await running.how_many() == 4
    clock.forward(retention.TRUST_S - 1)
    await publish(store)
    assert await running.how_many() == 5
    assert await RetentionLook(store).how_many() == 5  # begun anew


async def test_after_an_hour_the_clock_is_believed(store: Store) -> None:
    """The host was off for so long."""
    clock = clock_of(store)
    clock.set_back(-AHEAD_S)
    running = RetentionLook(store)
    assert await running.how_many() == 3
    clock.forward(retention.TRUST_S)
    assert await running.how_many() == 1


async def test_days_that_pass_while_it_runs_are_believed_at_once(store: Store) -> None:
    running = RetentionLook(store)
    assert await running.how_many() == 3
    clock_of(store).forward(31 * DAY_MS // 1000)
    assert await running.how_many() == 1


async def test_a_start_after_a_short_while_waits_for_nothing(store: Store) -> None:
    clock_of(store).forward(31 * DAY_MS // 1000)
    await publish(store)
    clock_of(store).forward(3600)
    assert await RetentionLook(store).how_many() == 1
