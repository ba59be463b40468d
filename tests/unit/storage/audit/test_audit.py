"""Rows of the audit log in a store: what removes them leaves a chain, what tells of it tells once."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from conf.tuning import AuditTuning
from maild.audit_keeper import AuditKeeper
from storage.audit import trail
from storage.audit.acts import OPERATOR, Act
from storage.audit.chain import ChainReport, chain_key, check
from storage.clock import iso
from storage.engine.tx import Tx
from storage.tenants import organizations
from storage.upkeep.retention import Retention, Slices, ages
from tests.support.worlds.store import ORGANIZATION, ManualClock, Store

HOUR_S = 3600
YEAR_S = 365 * 24 * HOUR_S
TOLD = "SELECT data, created_at FROM events WHERE type = 'audit.head' AND organization_id = ? ORDER BY seq"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    yield opened
    await opened.close()


async def act(store: Store, count: int = 1, organization_id: str = ORGANIZATION) -> None:
    def unit(tx: Tx) -> None:
        for _ in range(count):
            store.audit.record(tx, organization_id, Act.AGENT_CREATED, OPERATOR, "agt_1", {"n": 1})

    await store.db.write(unit)


async def report(store: Store, organization_id: str = ORGANIZATION) -> ChainReport:
    rows = await store.db.read(trail.as_stored, organization_id, 0, 1_000_000)
    return check(chain_key(bytes(32), organization_id), rows)


async def value(store: Store, sql: str, *parameters: Any) -> Any:
    return await store.db.read(lambda tx: tx.all(sql, parameters))


# Rows that are too old -----------------------------------------------------------------------------


def keeper(store: Store, days: int = 10, rows: int = 500) -> Retention:
    slices = Slices(rows=rows)
    return Retention(
        store.db, store.blobs, store.clock, ages(30, 30), lambda _: None, store.audit, days, slices
    )


def moved(store: Store, days: float) -> None:
    clock = store.clock
    assert isinstance(clock, ManualClock)
    clock.forward(days * 86_400)


@pytest.mark.parametrize("slice_rows", [500, 3])
async def test_what_is_removed_leaves_a_seal(store: Store, slice_rows: int) -> None:
    await act(store, 7)
    moved(store, 11)
    await act(store, 2)
    await keeper(store, rows=slice_rows).round()
    found = await report(store)
    assert found.broken is None
    assert found.first == 8
    seals = await value(store, "SELECT details FROM audit WHERE type = 'audit.sealed' ORDER BY seq")
    assert len(seals) == (1 if slice_rows == 500 else 3)
    assert await value(store, "SELECT actor FROM audit WHERE type = 'audit.sealed' LIMIT 1") == [
        ("system:retention",)
    ]
    before = found.last
    await keeper(store).round()
    assert (await report(store)).last == before  # nothing more to do, and no seal of nothing


async def test_rows_go_by_whole_days(store: Store) -> None:
    """So that a busy chain has a seal a day, not one every ten minutes."""
    await act(store)
    moved(store, 1)
    for _ in range(5):
        await act(store)
        moved(store, 0.01)
    moved(store, 10 - 0.1)
    for _ in range(20):
        await keeper(store).round()
        moved(store, 0.05)
    seals = await value(store, "SELECT count(*) FROM audit WHERE type = 'audit.sealed'")
    assert seals[0][0] <= 2
    assert (await report(store)).broken is None


async def test_a_chain_never_loses_its_end(store: Store) -> None:
    await act(store)
    moved(store, 1000)
    await keeper(store).round()
    assert await report(store) == (await report(store))._replace(rows=1, first=1, last=1, broken=None)
    await act(store)
    assert (await report(store)).last == 2


async def test_the_chain_of_a_deleted_organization_goes_with_the_last_act_in_it(store: Store) -> None:
    """It stays for its time, seal by seal, and then as a whole: nobody begins where it ended."""
    gone = "org_0gone"
    await act(store, 3, gone)
    moved(store, 8)
    await act(store, 1, gone)
    await act(store)
    moved(store, 4)
    await keeper(store).round()
    found = await report(store, gone)
    assert (found.broken, found.first, found.rows) == (None, 4, 2)
    moved(store, 8)
    await keeper(store, rows=1).round()
    assert await value(store, "SELECT count(*) FROM audit WHERE organization_id = ?", gone) == [(0,)]
    assert (await report(store)).rows == 1


async def test_a_chain_that_rests_for_years_comes_to_rest(store: Store) -> None:
    await act(store, 3)
    for _ in range(5):
        moved(store, 20)
        for _ in range(4):
            await keeper(store).round()
        found = await report(store)
        assert found.broken is None and found.rows <= 3


async def test_a_clock_that_was_set_back_removes_nothing_out_of_order(store: Store) -> None:
    moved(store, 20)
    await act(store, 2)
    clock = store.clock
    assert isinstance(clock, ManualClock)
    clock.set_back(20 * 86_400)
    await act(store, 2)
    moved(store, 15)
    await keeper(store).round()
    found = await report(store)
    assert (found.first, found.broken) == (1, None)


# Heads -----------------------------------------------------------------------------------------------


def teller(store: Store) -> AuditKeeper:
    return AuditKeeper(store.db, store.audit, store.clock, store.ids, AuditTuning())


async def told(store: Store, organization_id: str = ORGANIZATION) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = await value(store, TOLD, organization_id)
    return found


async def test_a_head_is_told_once_an_hour_while_the_chain_grows(store: Store) -> None:
    clock = store.clock
    assert isinstance(clock, ManualClock)
    one = teller(store)
    await act(store)
    await one.round()
    assert await told(store) == []  # a start has other things to do
    clock.forward(301)
    await one.round()
    head = await store.db.read(trail.head, ORGANIZATION)
    data = f'{{"seq":1,"hash":"{head.hash.hex()}","at":"{iso(head.created_at or 0)}"}}'
    assert await told(store) == [(data, clock.now_ms())]
    await act(store)
    await one.round()
    assert len(await told(store)) == 1  # within the hour
    clock.forward(HOUR_S)
    await one.round()
    assert len(await told(store)) == 2
    clock.forward(2 * HOUR_S)
    await one.round()
    assert len(await told(store)) == 2  # it has not grown
    again = teller(store)  # after a restart
    clock.forward(2 * HOUR_S)
    await again.round()
    assert len(await told(store)) == 2
    await act(store)
    clock.forward(HOUR_S)
    await again.round()
    assert len(await told(store)) == 3


async def test_a_clock_that_was_ahead_ends_no_heads(store: Store) -> None:
    """It was set back: the last one would not be an hour old before it is there again."""
    clock = store.clock
    assert isinstance(clock, ManualClock)
    clock.forward(YEAR_S)
    await act(store)
    await teller(store).tell_heads()
    clock.set_back(YEAR_S)
    await act(store)
    await teller(store).tell_heads()
    assert len(await told(store)) == 2
    await act(store)
    await teller(store).tell_heads()
    assert len(await told(store)) == 2  # within the hour


async def test_every_organization_has_a_head_of_its_own(store: Store) -> None:
    names = [f"org_n{number:03}" for number in range(120)]

    def found(tx: Tx) -> None:
        for name in names:
            organizations.create(tx, name, "x", "selfhost", 0)

    await store.db.write(found)
    for name in names[::2]:
        await act(store, organization_id=name)
    await teller(store).tell_heads()
    for name in names:
        assert len(await told(store, name)) == (name in names[::2]), name


async def test_an_organization_that_goes_meanwhile_keeps_no_head_from_the_others(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.db.write(organizations.create, "org_gone", "x", "selfhost", 0)
    for name in ("org_gone", ORGANIZATION):
        await act(store, organization_id=name)
    write = store.db.write

    async def gone_meanwhile(*unit: Any) -> Any:
        await write(lambda tx: tx.run("UPDATE organizations SET deleted_at = 1 WHERE id = 'org_gone'"))
        return await write(*unit)

    monkeypatch.setattr(store.db, "write", gone_meanwhile)
    await teller(store).tell_heads()
    assert (len(await told(store)), len(await told(store, "org_gone"))) == (1, 0)


# What is written -----------------------------------------------------------------------------------


async def test_a_row_does_not_change(store: Store) -> None:
    await act(store)
    with pytest.raises(Exception, match="the audit log does not change"):
        await store.db.write(lambda tx: tx.run("UPDATE audit SET actor = 'x'"))


async def test_what_is_rolled_back_leaves_no_row_and_no_gap(store: Store) -> None:
    def failing(tx: Tx) -> None:
        store.audit.record(tx, ORGANIZATION, Act.AGENT_DELETED, OPERATOR)
        raise RuntimeError("refused")

    await act(store)
    with pytest.raises(RuntimeError):
        await store.db.write(failing)
    await act(store)
    assert (await report(store)) == (await report(store))._replace(rows=2, last=2, broken=None)
