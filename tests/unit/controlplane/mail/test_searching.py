"""A search between two of its reads (controlplane/mail/searching.py): it misses nothing, and others have their turn."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from storage.engine.database import Database
from tests.support.worlds.searched import Searched
from tests.support.worlds.store import ORGANIZATION

LONGER_THAN_A_SLICE_S = 0.01


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Searched]:
    opened = await Searched.open(tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the store takes longer than a slice."""
    time = itertools.count(step=LONGER_THAN_A_SLICE_S)
    clock = SimpleNamespace(perf_counter=lambda: next(time))
    monkeypatch.setattr("controlplane.mail.searching.time", clock)


def after_each_read(patch: pytest.MonkeyPatch, act: Callable[[], Awaitable[Any]]) -> None:
    """Do this after each read on behalf of the organization."""
    read_for = Database.read_for

    async def read(db: Database, organization_id: str, *unit: Any, **more: Any) -> Any:
        found = await read_for(db, organization_id, *unit, **more)
        if organization_id == ORGANIZATION:
            await act()
        return found

    patch.setattr(Database, "read_for", read)


@pytest.mark.usefixtures("slow")
async def test_what_the_index_takes_meanwhile_is_found(
    world: Searched, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await world.receive(1)
    await world.settle()
    ids += await world.receive(2, 3)
    after_each_read(monkeypatch, world.settle)
    assert await world.found("common words") == list(reversed(ids))


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("is_indexed", [True, False])
async def test_others_have_their_turn_after_each_slice(
    world: Searched, monkeypatch: pytest.MonkeyPatch, is_indexed: bool
) -> None:
    ids = await world.receive(*range(100))
    if is_indexed:
        await world.settle()
    turns: list[str] = []

    async def turn() -> None:
        turns.append("others")

    after_each_read(monkeypatch, turn)
    assert (
        await world.found("\u00fc", limit=1) == []
    )  # one letter, which nobody has: all of them are looked at
    assert len(turns) >= 5  # 1, 4, 16, 64 and 15 messages at a time
    del turns[:]
    assert await world.found("rare7x") == [ids[7]]
    assert len(turns) >= 2
