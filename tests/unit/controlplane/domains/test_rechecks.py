"""Checks of many domains that are due at once, as after an outage, leave others their turns."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest

from controlplane.domains import rechecks
from controlplane.domains.rechecks import Rechecks
from controlplane.domains.registry import Registry
from storage.domains import domains
from storage.domains.domains import DomainRow
from storage.engine.tx import Tx
from tests.support.worlds.store import ORGANIZATION, Store

DUE = 3 * rechecks.AT_ONCE


def verified(tx: Tx, number: int) -> None:
    row = domains.register(
        tx, f"dom_{number:02}", 0, organization_id=ORGANIZATION, domain_name=f"d{number:02}.test", challenge="c",
        daily_cap=None,
    )  # fmt: skip
    domains.update(tx, row, row._replace(status="verified", last_checked_at=number))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path)
    for number in range(DUE):
        await store.db.write(verified, number)
    yield store
    await store.close()


class Slow:
    """A registry whose resolvers answer when `go` is set. `begun` and `rounds`: each domain, and the pass of the event
    loop in which its check began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.rounds: list[int] = []
        self.now = self.most = self.round = 0
        self.full, self.go = asyncio.Event(), asyncio.Event()

    def count(self) -> None:
        self.round += 1
        asyncio.get_running_loop().call_soon(self.count)

    async def expire(self, row: DomainRow) -> None:
        raise AssertionError(row)

    async def recheck(self, row: DomainRow) -> None:
        self.begun.append(row.domain_name)
        self.rounds.append(self.round)
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == rechecks.AT_ONCE:
            self.full.set()
        await self.go.wait()
        self.now -= 1


async def test_few_are_checked_at_a_time_the_longest_unchecked_first(store: Store) -> None:
    registry = Slow()
    checks = Rechecks(store.db, store.clock, cast(Registry, registry))
    at_work = asyncio.create_task(checks.round())
    await registry.full.wait()
    registry.go.set()
    await at_work
    assert registry.begun == [f"d{number:02}.test" for number in range(DUE)]
    assert registry.most == rechecks.AT_ONCE


async def test_no_two_begin_in_one_pass_of_the_event_loop(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty did, with five questions each: 74 ms in which nobody else was served. Nor do those whose time has come
    while something held the loop: here it has for all."""
    monkeypatch.setattr(rechecks, "BETWEEN_S", 0)
    registry = Slow()
    registry.go.set()
    registry.count()
    await Rechecks(store.db, store.clock, cast(Registry, registry)).round()
    assert len(registry.begun) == len(set(registry.rounds)) == DUE


async def test_many_that_are_due_at_once_are_spread(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five thousand were checked in the first minute of each hour, a hundred a second with five questions each."""
    rests: list[float] = []
    sleep = asyncio.sleep

    async def noted(delay: float) -> None:
        rests.append(delay)
        await sleep(0)

    async def checked_before(hours: float) -> None:
        at_ms = store.clock.now_ms() - int(hours * 3_600_000)
        await store.db.write(lambda tx: tx.run("UPDATE domains SET last_checked_at = ?", (at_ms,)))

    registry = Slow()
    registry.go.set()
    checks = Rechecks(store.db, store.clock, cast(Registry, registry))
    monkeypatch.setattr(asyncio, "sleep", noted)
    for batch, hours, between_s in (
        (DUE, 1, rechecks.BETWEEN_MANY_S),
        (DUE + 1, 1, rechecks.BETWEEN_S),  # few
        (DUE, 1.5, rechecks.BETWEEN_S),  # for long, as after an outage
    ):
        monkeypatch.setattr(rechecks, "BATCH", batch)
        rests.clear()
        await checked_before(hours)
        await checks.round()
        assert rests == [between_s] * DUE
