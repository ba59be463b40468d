"""The owner takes the records away (or never publishes them): hourly checks, and 72 hours of patience."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from controlplane.domains import rechecks
from controlplane.domains.rechecks import Rechecks
from controlplane.domains.registry import Registry
from storage.domains.domains import DomainRow
from tests.support.peers.doh_server import publish
from tests.support.running import Running
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]
HOUR_S = 3600
YEAR_S = 365 * 24 * HOUR_S


class Aging:
    """A world in which hours pass."""

    def __init__(self, world: DomainWorld, clock: ManualClock) -> None:
        self.world = world
        self.clock = clock
        services = world.maild.daemon._supervisor._services
        (self._rechecks,) = (one for one in services if isinstance(one, Rechecks))

    async def pass_hours(self, hours: int) -> None:
        for _ in range(hours):
            self.clock.forward(HOUR_S)
            await self._rechecks.round()

    async def status(self, domain: dict[str, Any]) -> str:
        return str((await self.world.shown(domain))["status"])

    def events(self) -> list[str]:
        """The domain's; what its end does to queued mail comes when the queue gets to it."""
        sql = "SELECT type FROM events WHERE type LIKE 'domain.%' ORDER BY seq"
        return [row[0] for row in self.world.maild.sql(sql)]

    def forget(self, rdtype: str) -> None:
        for key in [key for key in self.world.zone.records if key[1] == rdtype]:
            del self.world.zone.records[key]


@pytest.fixture
async def aging(start: Start, tmp_path: Path) -> AsyncIterator[Aging]:
    clock = ManualClock()
    async with domain_world(start, tmp_path, clock=clock) as world:
        yield Aging(world, clock)


async def test_a_verified_domain_fails_after_72_hours(aging: Aging) -> None:
    domain = await aging.world.verified()
    inbox = await aging.world.maild.inbox("bot", domain=NAME)
    await aging.pass_hours(2)
    aging.forget("MX")
    await aging.pass_hours(72)  # the first of them sees it, the last sees that it lasts for 71 hours
    shown = await aging.world.shown(domain)
    assert (shown["status"], shown["mxStatus"], shown["spfStatus"]) == ("verified", False, True)
    assert (await aging.world.api.send(inbox)).status == 201
    await aging.pass_hours(1)
    shown = await aging.world.shown(domain)
    assert (shown["status"], shown["verifiedAt"]) == ("failed", None)
    assert (await aging.world.api.send(inbox)).code == "domain_not_verified"
    assert aging.events() == ["domain.verified", "domain.failed"]
    asked = aging.world.doh[0].requests
    await aging.pass_hours(5)
    assert aging.world.doh[0].requests == asked  # failed ones are left alone

    # The owner mends it and asks again.
    assert (await aging.world.verify(domain))["status"] == "pending"
    aging.world.zone.add(NAME, "MX", "10 mx.agents.test.")
    assert (await aging.world.verify(domain))["status"] == "active"
    assert (await aging.world.api.send(inbox)).status == 201


async def test_one_good_hour_is_enough(aging: Aging) -> None:
    domain = await aging.world.verified()
    records = dict(aging.world.zone.records)
    aging.forget("MX")
    await aging.pass_hours(72)
    aging.world.zone.records.update(records)
    await aging.pass_hours(1)
    aging.forget("MX")
    await aging.pass_hours(72)
    assert await aging.status(domain) == "verified"


async def test_dead_resolvers_take_no_domain_away(aging: Aging) -> None:
    domain = await aging.world.verified()
    for resolver in aging.world.doh:
        resolver.fault = "servfail"
    await aging.pass_hours(100)
    assert await aging.status(domain) == "verified"


async def test_a_pending_domain_fails_after_72_hours_and_can_be_re_opened(aging: Aging) -> None:
    domain = await aging.world.register()
    await aging.pass_hours(71)
    assert await aging.status(domain) == "pending"
    await aging.pass_hours(1)
    assert await aging.status(domain) == "failed"
    assert aging.events() == ["domain.failed"]
    assert (await aging.world.verify(domain))["status"] == "pending"
    await aging.pass_hours(71)
    assert await aging.status(domain) == "pending"
    await aging.pass_hours(1)
    assert await aging.status(domain) == "failed"
    publish(aging.world.zone, domain["records"])
    assert (await aging.world.verify(domain))["status"] == "active"


async def test_checks_are_hourly(aging: Aging) -> None:
    await aging.world.verified()
    asked = aging.world.doh[0].requests
    aging.clock.forward(HOUR_S - 1)
    await aging._rechecks.round()
    assert aging.world.doh[0].requests == asked
    aging.clock.forward(1)
    await aging._rechecks.round()
    assert aging.world.doh[0].requests == asked + 5


async def test_a_clock_that_was_ahead_ends_no_checks(aging: Aging) -> None:
    """It was set back: the last check lies years ahead, and so does the first that failed."""
    domain = await aging.world.verified()
    aging.clock.forward(YEAR_S)
    aging.forget("MX")
    await aging._rechecks.round()
    aging.clock.set_back(YEAR_S)
    await aging.pass_hours(72)
    assert await aging.status(domain) == "verified"
    await aging.pass_hours(1)
    assert await aging.status(domain) == "failed"


async def test_a_domain_that_can_not_be_checked_holds_up_no_other(
    aging: Aging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rechecks, "BATCH", 1)
    checked: list[str] = []
    broken = await aging.world.verified()
    await aging.world.verified("other.test")

    async def check(self: Registry, row: DomainRow) -> None:
        checked.append(row.domain_name)
        if row.id == broken["id"]:
            raise ValueError("a fault of the program")

    monkeypatch.setattr(Registry, "recheck", check)
    await aging.pass_hours(1)
    await aging._rechecks.round()
    assert checked == [NAME, "other.test"]
