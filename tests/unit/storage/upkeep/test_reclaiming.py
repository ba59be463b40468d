"""Room that deleting has made in the database (storage/upkeep/reclaiming.py), with files that are really cut."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from storage.disk import Disk
from storage.engine import migrate
from storage.engine.free_pages import FreePages, free_pages
from storage.engine.tx import Tx
from storage.upkeep.reclaiming import Reclaim, Reclaimer
from tests.support.worlds.store import Store

PAGE_BYTES = 4096
PAGES = 400
SMALL = Reclaim(slice_pages=16, least_bytes=PAGES // 4 * PAGE_BYTES, least_bytes_when_short=8 * PAGE_BYTES)
WITH_ROOM, FULL = 1, 100  # percent that are reserved


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await Store.open(tmp_path)
    await opened.db.write(fill)
    yield opened
    await opened.close()


def fill(tx: Tx) -> None:
    """Rows of a page each, so that every other one may go."""
    tx.run("CREATE TABLE filler (number INTEGER PRIMARY KEY, octets BLOB NOT NULL)")
    tx.run_many(
        "INSERT INTO filler VALUES (?, ?)",
        [(number, bytes([number % 256]) * 3500) for number in range(PAGES)],
    )


def delete(tx: Tx, share: int) -> None:
    """One in `share` stays."""
    tx.run("DELETE FROM filler WHERE number % ?", (share,))


def reclaimer(store: Store, folder: Path, reserve_percent: int = WITH_ROOM) -> Reclaimer:
    return Reclaimer(store.db, Disk(folder, reserve_percent), store.clock, SMALL)


async def pages(store: Store) -> FreePages:
    return await store.db.read(free_pages)


async def test_what_was_deleted_is_given_back_to_the_file_system(store: Store, tmp_path: Path) -> None:
    await store.db.write(delete, 10)
    before = await pages(store)
    with capture_logs() as logs:
        await reclaimer(store, tmp_path).round()
    after = await pages(store)
    assert before.free > before.pages // 4
    assert after.free == before.pages // 8  # what is written soon finds room
    (told,) = logs
    assert (told["event"], told["bytes"]) == ("space_given_back", (before.pages - after.pages) * PAGE_BYTES)
    file = store.db.path
    await store.close()  # writes the log of changes back
    assert file.stat().st_size == after.pages * PAGE_BYTES


async def test_what_stays_is_as_it_was_wherever_it_lies_now(store: Store, tmp_path: Path) -> None:
    await store.db.write(delete, 10)
    await reclaimer(store, tmp_path, FULL).round()
    rows = await store.db.read(lambda tx: tx.all("SELECT number, octets FROM filler"))
    assert rows == [(number, bytes([number % 256]) * 3500) for number in range(0, PAGES, 10)]
    assert await store.db.read(lambda tx: tx.value("PRAGMA integrity_check")) == "ok"


async def test_of_many_free_pages_a_slice_cuts_few(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite looks for each of them in the list of all, and whoever writes waits for the slice."""
    looks = 2000
    slices: list[tuple[int, int]] = []
    run_script = store.db.run_script

    async def run(sql: str) -> None:
        before = await pages(store)
        await run_script(sql)
        slices.append((before.free, before.pages - (await pages(store)).pages))

    monkeypatch.setattr(store.db, "run_script", run)
    await store.db.write(delete, 10)
    reclaim = SMALL._replace(slice_looks=looks)
    await Reclaimer(store.db, Disk(tmp_path, WITH_ROOM), store.clock, reclaim).round()
    assert len(slices) > 30
    assert all(cut == 1 or free * cut <= looks for free, cut in slices)
    assert slices[0][1] < slices[-2][1] <= SMALL.slice_pages  # the last one cuts what is left


async def test_some_pages_stay_for_what_is_written_next(store: Store, tmp_path: Path) -> None:
    await store.db.write(lambda tx: tx.run("DELETE FROM filler WHERE number < 60"))
    before = await pages(store)
    with capture_logs() as logs:
        await reclaimer(store, tmp_path).round()
    assert before.free > 0
    assert (await pages(store), logs) == (before, [])


async def test_where_room_is_short_all_of_them_go(store: Store, tmp_path: Path) -> None:
    await store.db.write(lambda tx: tx.run("DELETE FROM filler WHERE number < 60"))
    await reclaimer(store, tmp_path, FULL).round()
    assert (await pages(store)).free == 0


async def test_a_few_pages_are_not_worth_it(store: Store, tmp_path: Path) -> None:
    await store.db.write(lambda tx: tx.run("DELETE FROM filler WHERE number < 5"))
    before = await pages(store)
    await reclaimer(store, tmp_path, FULL).round()
    assert before.free > 0
    assert await pages(store) == before


async def test_others_write_between_two_slices(store: Store, tmp_path: Path) -> None:
    await store.db.write(delete, 10)
    giving_back = asyncio.create_task(reclaimer(store, tmp_path).round())
    seen = set()
    while not giving_back.done():
        seen.add((await store.db.write(free_pages)).pages)
    await giving_back
    assert len(seen) > 3


async def test_a_store_that_can_not_become_smaller_is_told_of_while_room_is_short(tmp_path: Path) -> None:
    migrate.prepare(tmp_path / "maild.db")
    old = sqlite3.connect(tmp_path / "maild.db", isolation_level=None)
    old.execute("PRAGMA journal_mode = DELETE")
    old.execute("PRAGMA auto_vacuum = NONE")
    old.execute("VACUUM")  # as stores were made before
    old.close()
    store = await Store.open(tmp_path)
    await store.db.write(fill)
    await store.db.write(delete, 10)
    before = await pages(store)
    short = reclaimer(store, tmp_path, FULL)
    with capture_logs() as logs:
        await reclaimer(store, tmp_path).round()
        await short.round()
        await short.round()
    assert [(one["event"], one["log_level"], one["free_bytes"]) for one in logs] == [
        ("space_not_given_back", "warning", before.free * PAGE_BYTES)
    ]
    assert await pages(store) == before
    await store.close()
