"""Damage is noticed before somebody needs what is damaged (`storage/upkeep`)."""

import asyncio
import os
import random
import resource
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from storage.engine import migrate
from storage.mail.blobs import Blob
from storage.upkeep import integrity
from storage.upkeep.integrity import Damage
from storage.upkeep.self_check import Portions, SelfCheck
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import RAW, ManualClock, Store

LARGE = RAW + b"x" * 200_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path)
    yield store
    await store.close()


def looking(store: Store, tmp_path: Path, seed: int = 7, **portions: Any) -> SelfCheck:
    path, chance = tmp_path / "maild.db", random.Random(seed)
    return SelfCheck(store.db, store.blobs, path, store.clock, chance, whole, Portions(**portions))


async def whole(timeout_s: float) -> bool:
    """The search index: tests/scenarios/store/test_search_index_lost.py."""
    return True


async def blob_ids(store: Store) -> list[str]:
    return [row[0] for row in await store.db.read(lambda tx: tx.all("SELECT id FROM blobs ORDER BY id"))]


def change(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100_000)
        file.write(b"y")


async def found_in(one: SelfCheck) -> list[str]:
    """The error lines of a round."""
    with capture_logs() as logged:
        await one.round()
    return [line["event"] for line in logged if line["log_level"] == "error"]


async def test_a_store_that_is_whole_is_silent(store: Store, tmp_path: Path) -> None:
    await store.send("you@there.test")
    await store.send("you@there.test", raw=LARGE)
    one = looking(store, tmp_path)
    assert await found_in(one) == [] and one.is_damaged is False


async def test_changed_and_lost_files_are_noticed(store: Store, tmp_path: Path) -> None:
    await store.send("you@there.test", raw=LARGE)
    await store.send("you@there.test", raw=LARGE)
    first, second = await blob_ids(store)
    one = looking(store, tmp_path)
    await one.round()
    change(store.blobs.path(first))
    assert await found_in(one) == ["store_damaged"] and one.is_damaged is True
    store.blobs.remove(second)
    damage = [found for each in (first, second) for found in await one._blob(await blob(store, each))]
    assert [(found.kind, found.id) for found in damage] == [("blob", first), ("blob", second)]


async def blob(store: Store, blob_id: str) -> Blob:
    (found,) = [one for one in await store.db.read(integrity.blobs_after, "", 99) if one.id == blob_id]
    return found


async def test_a_file_that_was_removed_with_its_row_is_no_damage(store: Store, tmp_path: Path) -> None:
    await store.send("you@there.test", raw=LARGE)
    (blob_id,) = await blob_ids(store)
    removed = (await blob(store, blob_id))._replace(id="blb_01m7yg00000000000000000000")
    assert await looking(store, tmp_path)._blob(removed) == []


async def test_every_message_has_its_turn(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the first round begins, and however few are looked at in each."""
    assert isinstance(store.clock, ManualClock)
    for _ in range(9):
        await store.send("you@there.test")
        store.clock.forward(60)
    everything = await blob_ids(store)
    seen: list[str] = []
    monkeypatch.setattr(store.blobs, "check", lambda blob: seen.append(blob.id))
    for seed in range(3):
        one = looking(store, tmp_path, seed, blobs_slice=2, blobs_bytes=1)
        seen.clear()
        for _ in range(6):
            before = len(seen)
            await one.round()
            assert len(seen) - before <= 2
        assert set(seen) == set(everything)


async def test_pages_are_looked_at_once_a_day(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(store.clock, ManualClock)
    looked: list[int] = []

    def look(_conn: sqlite3.Connection) -> list[Damage]:
        looked.append(1)
        return []

    monkeypatch.setattr(integrity, "pages", look)
    one = looking(store, tmp_path)
    for hours, times in ((0, 1), (1, 1), (22, 1), (1, 2), (-72, 3), (1, 3)):
        store.clock.forward(hours * 3600)
        await one.round()
        assert len(looked) == times


BEHIND_SCHEMA = 300  # without its schema a store can't even be opened


def damaged_copy(tmp_path: Path, harm: int | None) -> Path:
    """A store of some pages, one of which is zeroed, or 30 of which are random."""
    path = tmp_path / "copy"
    migrate.prepare(path)
    conn = sqlite3.connect(path)
    for number in range(3000):
        conn.execute(
            "INSERT INTO events (id, organization_id, type, mode, data, created_at) VALUES (?, 'o', 't', 'live', ?, ?)",
            (f"evt_{number:026}", "x" * 500, number),
        )
    conn.commit()
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    conn.close()
    pages = path.stat().st_size // 4096
    with path.open("r+b") as file:
        for page in [harm] if harm is not None else random.Random(1).sample(range(BEHIND_SCHEMA, pages), 30):
            file.seek(page * 4096)
            file.write(bytes(4096) if harm is not None else os.urandom(4096))
    return path


@pytest.mark.parametrize("harm", [None, BEHIND_SCHEMA])
def test_zeroed_and_random_pages_are_noticed(tmp_path: Path, harm: int | None) -> None:
    conn = migrate.connect(damaged_copy(tmp_path, harm), read_only=True)
    damage = integrity.pages(conn)
    conn.close()
    assert damage and {one.kind for one in damage} == {"page"}


async def test_the_pages_of_a_large_store_are_looked_at_for_a_while(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[bool] = []

    def endless(conn: sqlite3.Connection) -> list[integrity.Damage]:
        """As `quick_check` of a store of many gigabytes: it ends when it is interrupted."""
        looked.append(True)
        counting = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        conn.execute(counting).fetchone()
        return []

    monkeypatch.setattr(integrity, "pages", endless)
    one = looking(store, tmp_path, pages_s=0)
    async with asyncio.timeout(GIVES_UP_S):
        assert await found_in(one) == []
    later = looking(store, tmp_path, pages_s=3600, first_s=0)
    await later.start()
    async with asyncio.timeout(GIVES_UP_S):
        while len(looked) < 2:
            await asyncio.sleep(0)
        await later.stop()  # which does not wait for it


async def test_a_store_that_can_not_be_opened_now_is_not_damaged(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says the same of a want of descriptors as of a file that is not there."""
    one = looking(store, tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        with pytest.raises(migrate.StoreError, match="unable to open"):
            await one.round()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert not one.is_damaged
    monkeypatch.setattr(integrity, "pages", pages := Mock(return_value=[]))
    assert await found_in(one) == []
    assert pages.call_count == 1, "the look that failed was counted as done"


async def test_a_store_whose_file_is_gone_is_damaged(store: Store, tmp_path: Path) -> None:
    one = looking(store, tmp_path)
    (tmp_path / "maild.db").rename(tmp_path / "elsewhere")
    assert await found_in(one) == ["store_damaged"] and one.is_damaged
