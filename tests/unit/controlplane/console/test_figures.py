"""Figures that cost much are counted beside the pages: once for all who look, and never in the way of a page."""

import asyncio
from typing import Any

import pytest

from controlplane.access.principal import Principal
from controlplane.console import figures
from controlplane.console.figures import FRESH_S, KEPT_MAX, KeptFigures
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock


class Counting:
    """Counts when it is let to."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.go = asyncio.Event()
        self.go.set()
        self.fails = False

    async def __call__(self, principal: Principal) -> dict[str, Any]:
        await self.go.wait()
        self.done.append(principal.organization_id)
        if self.fails:
            raise OSError("no store")
        return {"of": principal.organization_id, "number": len(self.done)}


def member(organization_id: str = "org_a") -> Principal:
    return Principal("mem_1", organization_id, None, ("*",), "live", None, "ses_1")


async def test_what_was_counted_is_shown_until_it_is_old_and_then_once_more() -> None:
    clock, count = ManualClock(), Counting()
    kept = KeptFigures(clock, count)
    await kept.start()
    assert await kept.of(member()) == {"of": "org_a", "number": 1}
    assert await kept.of(member()) == {"of": "org_a", "number": 1}
    clock.forward(FRESH_S)
    assert await kept.of(member()) == {"of": "org_a", "number": 1}, "the page does not wait"
    async with asyncio.timeout(GIVES_UP_S):
        while await kept.of(member()) != {"of": "org_a", "number": 2}:
            await asyncio.sleep(0)
    assert count.done == ["org_a", "org_a"]
    await kept.stop()


async def test_an_organization_sees_its_own() -> None:
    kept = KeptFigures(ManualClock(), Counting())
    await kept.start()
    found = await asyncio.gather(*(kept.of(member(f"org_{number}")) for number in range(5)))
    assert [one and one["of"] for one in found] == [f"org_{number}" for number in range(5)]
    await kept.stop()


async def test_a_page_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "WAIT_S", 0.01)
    count = Counting()
    count.go.clear()
    kept = KeptFigures(ManualClock(), count)
    await kept.start()
    assert await kept.of(member()) is None
    assert await kept.of(member()) is None
    count.go.set()
    async with asyncio.timeout(GIVES_UP_S):
        while await kept.of(member()) is None:
            await asyncio.sleep(0)
    await kept.stop()


async def test_a_count_that_fails_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "WAIT_S", 0.05)
    count = Counting()
    count.fails = True
    kept = KeptFigures(ManualClock(), count)
    await kept.start()
    assert await kept.of(member()) is None
    count.fails = False
    assert (await kept.of(member()) or {})["of"] == "org_a"
    await kept.stop()


async def test_there_is_room_for_so_many_organizations() -> None:
    kept = KeptFigures(ManualClock(), Counting())
    await kept.start()
    for number in range(KEPT_MAX + 3):
        assert await kept.of(member(f"org_{number}")) is not None
    assert len(kept._kept) == KEPT_MAX
    await kept.stop()
