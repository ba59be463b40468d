"""The rolling window across restarts, failing stores and clocks that are set (threats A13, D5)."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from controlplane.access import rate_limit
from controlplane.access.rate_limit import RateLimit, RateVerdict
from storage import rate_windows
from storage.engine.tx import Tx
from storage.tenants import organizations
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ORGANIZATION, ManualClock, Store

OTHER = "org_2"


class SetClock(ManualClock):
    """A wall clock that can be set; monotonic time goes on as if nothing had happened."""

    set_by_ms = 0

    def now_ms(self) -> int:
        return self.at_ms + self.set_by_ms


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def store(tmp_path: Path, clock: SetClock) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path, clock)
    await store.db.write(organizations.create, OTHER, "Other", "selfhost", 0)
    yield store
    await store.close()


async def started(store: Store, limit: int = 10) -> RateLimit:
    limiter = RateLimit(store.db, store.clock, limit)
    await limiter.start()
    return limiter


async def count(limiter: RateLimit, times: int, organization_id: str = ORGANIZATION) -> RateVerdict:
    return [await limiter.count(organization_id) for _ in range(times)][-1]


async def rows(store: Store) -> list[Any]:
    return await store.db.read(lambda tx: tx.all("SELECT * FROM rate_windows ORDER BY 1, 2"))


async def test_a_restart_goes_on_where_it_stopped(store: Store, clock: SetClock) -> None:
    first = await started(store)
    await count(first, 4)
    await count(first, 1, OTHER)
    clock.forward(20)
    await count(first, 3)
    await first.stop()
    second = await started(store)
    assert (await count(second, 1)).remaining == 2
    assert (await count(second, 1, OTHER)).remaining == 8
    clock.forward(41)  # the four leave at the end of their second
    assert (await count(second, 1)).remaining == 5
    await second.stop()


async def test_time_while_nothing_runs_counts_too(store: Store, clock: SetClock) -> None:
    first = await started(store)
    await count(first, 10)
    await first.stop()
    clock.forward(61)
    second = await started(store)
    assert await rows(store) == []  # swept at start
    assert (await count(second, 1)).remaining == 9
    await second.stop()


@pytest.mark.parametrize(("after_s", "limit"), [(60.1, 10), (30, 10), (0, 4), (30, 4)])
async def test_what_is_refused_after_a_restart_may_come_when_it_was_told(
    store: Store, clock: SetClock, after_s: float, limit: int
) -> None:
    """Seconds are stored, so a minute of them may have more than fit; and an operator may have lowered the limit."""
    first = await started(store)
    await count(first, 6)
    clock.forward(after_s)
    await count(first, 6)
    await first.stop()
    second = await started(store, limit)
    refused = await count(second, limit + 1)
    assert not refused.allowed
    clock.forward(refused.retry_after_s)
    assert (await second.count(ORGANIZATION)).allowed
    await second.stop()


async def test_a_full_window_is_written_before_anybody_hears_of_it(store: Store) -> None:
    """kill -9 the moment after the answer: the next process refuses."""
    killed = RateLimit(store.db, store.clock, 10)  # never started, so nothing is written behind our back
    for _ in range(9):
        await killed.count(ORGANIZATION)
    assert await rows(store) == []
    assert (await killed.count(ORGANIZATION)).allowed
    assert [row[2] for row in await rows(store)] == [10]
    second = await started(store)
    assert not (await second.count(ORGANIZATION)).allowed
    await second.stop()


async def test_parallel_requests_are_counted_exactly_and_refused_after_the_write(store: Store) -> None:
    limiter = RateLimit(store.db, store.clock, 10)
    verdicts = await asyncio.gather(*(limiter.count(ORGANIZATION) for _ in range(30)))
    assert sum(one.allowed for one in verdicts) == 10
    assert sorted(one.remaining for one in verdicts if one.allowed) == list(range(10))
    assert [row[2] for row in await rows(store)] == [10]


async def test_counts_are_written_in_the_background(store: Store) -> None:
    limiter = await started(store)
    await count(limiter, 3)
    async with asyncio.timeout(GIVES_UP_S):
        while [row[2] for row in await rows(store)] != [3]:
            await asyncio.sleep(0.005)
    await limiter.stop()


async def test_after_a_write_the_next_one_waits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "FLUSH_EVERY_S", 3600)
    limiter = await started(store)
    await count(limiter, 1)
    async with asyncio.timeout(GIVES_UP_S):
        while not await rows(store):
            await asyncio.sleep(0)
    await count(limiter, 1)
    for _ in range(10):  # the store answers, so whoever wanted to write has written
        assert [row[2] for row in await rows(store)] == [1]
    await limiter.stop()
    assert [row[2] for row in await rows(store)] == [2]


async def test_old_seconds_are_forgotten(store: Store, clock: SetClock) -> None:
    limiter = await started(store)
    for _ in range(5):
        await count(limiter, 1)
        await limiter.flush()
        clock.forward(30)
    second = clock.now_ms() // 1000
    assert [row[1] for row in await rows(store)] == [second - 90, second - 60, second - 30]
    await limiter.stop()


class RefusingDatabase:
    """A store that takes no writes while it is broken."""

    def __init__(self, store: Store) -> None:
        self._db = store.db
        self.broken = True

    def impatient(self) -> "RefusingDatabase":
        return self

    async def write(self, unit: Any, *args: Any) -> Any:
        if self.broken:
            raise sqlite3.OperationalError("database or disk is full")
        return await self._db.write(unit, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


async def test_a_store_that_refuses_stops_nobody_and_is_tried_again(store: Store) -> None:
    db: Any = RefusingDatabase(store)
    limiter = RateLimit(db, store.clock, 10)
    assert (await count(limiter, 10)).allowed
    assert not (await limiter.count(ORGANIZATION)).allowed
    assert await rows(store) == []
    db.broken = False
    await limiter.flush()
    assert [row[2] for row in await rows(store)] == [10]


async def test_a_store_that_refuses_is_told_of_once_a_minute(store: Store, clock: SetClock) -> None:
    """A full disk lasts for hours, and a turn takes a quarter of a second."""
    db: Any = RefusingDatabase(store)
    limiter = RateLimit(db, clock, 100)
    with capture_logs() as told:
        for _ in range(61):
            await limiter.count(ORGANIZATION)
            await limiter.flush()
            clock.forward(1)
        assert [one["event"] for one in told] == ["rate_windows_not_written"] * 2
        db.broken = False
        await limiter.flush()
        db.broken = True
        await limiter.count(ORGANIZATION)
        await limiter.flush()
    assert len(told) == 2, "a disk where now and then a write fits is one fault"


@pytest.mark.parametrize("days", [40, -40])
async def test_setting_the_clock_neither_opens_nor_locks_the_window(
    store: Store, clock: SetClock, days: int
) -> None:
    limiter = await started(store)
    await count(limiter, 10)
    clock.set_by_ms = days * 86_400_000
    refused = await limiter.count(ORGANIZATION)
    assert not refused.allowed
    assert refused.reset_at == clock.now_ms() // 1000 + 60
    clock.forward(60)
    assert (await limiter.count(ORGANIZATION)).remaining == 9
    await limiter.stop()
    again = await started(store)  # counts of a time that never comes are dropped
    assert (await again.count(ORGANIZATION)).remaining == 8
    await again.stop()


async def test_idle_windows_take_no_memory(store: Store, clock: SetClock) -> None:
    limiter = await started(store)
    await count(limiter, 2, OTHER)
    await limiter.flush()
    clock.forward(61)
    async with asyncio.timeout(GIVES_UP_S):
        while OTHER in limiter._windows:
            await count(limiter, 1)
            clock.forward(61)
            await asyncio.sleep(0.005)
    await limiter.stop()


async def test_it_starts_and_stops_twice(store: Store) -> None:
    limiter = await started(store)
    await count(limiter, 5)
    await limiter.start()
    assert (await count(limiter, 1)).remaining == 4
    await limiter.stop()
    await limiter.stop()


async def test_reading_is_bounded_by_the_window(store: Store) -> None:
    def unit(tx: Tx) -> None:
        rate_windows.add(tx, {ORGANIZATION: {5: 1, 100: 2, 161: 3}, "org_gone": {100: 1}}, 0)

    await store.db.write(unit)
    found = await store.db.read(rate_windows.between, 100, 160)
    assert found == [rate_windows.Counted(ORGANIZATION, 100, 2)]
    await store.db.write(rate_windows.purge, 100, 160)
    assert await store.db.read(rate_windows.between, 0, 1000) == found
