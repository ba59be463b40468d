"""The file of the search index is lost, damaged, or another store's: searches are exact, and it is made anew."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from storage.engine.failures import StoreFailure
from tests.support.daemon import ROOT
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.searched import Searched

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from storage.searching import index_batches, search_tail
from storage.clock import Clock
from storage.engine.database import Database
from storage.searching.indexer import IndexingPace, SearchIndexer
from storage.searching.search_index import SearchIndex

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

async def main(folder, module, name, apart_bytes):
    setattr(eval(module), name, die)
    pace = IndexingPace(apart_bytes=int(apart_bytes))
    index = SearchIndex(folder / "search.sqlite3")
    indexer = SearchIndexer(await Database.open(folder / "maild.db"), index, Clock(), pace)
    while True:
        await indexer.round()

asyncio.run(main(Path(sys.argv[1]), *sys.argv[2].split()))
"""


def half(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // 4096 * 4096)


def torn(path: Path) -> None:
    """All but the first page is what a disk shows that lost its writes."""
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(path.stat().st_size - 4096))


async def filled(folder: Path) -> list[str]:
    """A store with messages, an index and a tail, and nobody at it; the ids."""
    folder.mkdir(exist_ok=True)
    world = await Searched.open(folder)
    ids = await world.receive(1, 2, 3)
    await world.settle()
    await world.close()
    return ids


async def goes_on(folder: Path) -> list[str]:
    """More comes, something goes, all of it is indexed; what was logged."""
    world = await Searched.open(folder)
    with capture_logs() as lines:
        ids = await world.receive(13, 14)
        await world.assert_exact()
        await world.settle()
        await world.assert_exact()
        await world.delete(ids[0])
        await world.assert_exact()
        await world.settle()
        await world.assert_exact()
    assert world.index.is_complete
    await world.close()
    return [line["event"] for line in lines if line["event"].startswith("search_")]


REBUILT = ["search_rebuild_begun", "search_rebuilt"]


async def test_an_index_that_fits_is_used_after_a_restart(tmp_path: Path) -> None:
    await filled(tmp_path)
    assert await goes_on(tmp_path) == []


@pytest.mark.parametrize("harm", [Path.unlink, half, torn, lambda path: path.write_bytes(b"")])
async def test_a_damaged_file_is_made_anew(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    await filled(tmp_path)
    harm(tmp_path / "search.sqlite3")
    assert await goes_on(tmp_path) == REBUILT


async def test_an_older_file_is_made_anew(tmp_path: Path) -> None:
    await filled(tmp_path)
    shutil.copy(tmp_path / "search.sqlite3", tmp_path / "older")
    await goes_on(tmp_path)
    shutil.copy(tmp_path / "older", tmp_path / "search.sqlite3")
    assert await goes_on(tmp_path) == REBUILT


async def test_a_file_newer_than_a_store_that_was_restored_is_made_anew(tmp_path: Path) -> None:
    """What was deleted since is back, and neither in the index nor in the tail."""
    ids = await filled(tmp_path)
    shutil.copy(tmp_path / "maild.db", tmp_path / "backup")
    world = await Searched.open(tmp_path)
    await world.delete(ids[1])
    await world.settle()
    await world.close()
    shutil.copy(tmp_path / "backup", tmp_path / "maild.db")
    assert await goes_on(tmp_path) == REBUILT


async def test_a_file_of_another_store_is_made_anew(tmp_path: Path) -> None:
    await filled(tmp_path / "one")
    await filled(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "search.sqlite3", tmp_path / "one" / "search.sqlite3")
    assert await goes_on(tmp_path / "one") == REBUILT


async def test_none_is_made_in_a_folder_that_took_the_place_of_the_store_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who moves the data folder away, and puts another in its place, would find an index of the old store in it."""
    folder = tmp_path / "data"
    await filled(folder)
    world = await Searched.open(folder)
    await world.settle()
    await world.receive(4)
    monkeypatch.setattr(world.store.db._writer.files, "_look_s", 0)
    folder.rename(tmp_path / "away")
    folder.mkdir()
    with pytest.raises(StoreFailure, match="taken away"):
        await world.settle()
    assert list(folder.iterdir()) == []
    folder.rmdir()
    (tmp_path / "away").rename(folder)
    await world.settle()
    await world.assert_exact()
    await world.close()


async def test_damage_that_is_met_later_ends_the_index_and_no_search(tmp_path: Path) -> None:
    await filled(tmp_path)
    world = await Searched.open(tmp_path)
    await world.settle()
    world.index.shrink()
    torn(tmp_path / "search.sqlite3")
    await world.assert_exact()
    assert not await world.indexer.check(timeout_s=60) or not world.index.is_complete
    await world.settle()
    await world.assert_exact()
    await world.close()


async def test_the_daily_look_notices_damage_that_no_search_met(tmp_path: Path) -> None:
    await filled(tmp_path)
    world = await Searched.open(tmp_path)
    await world.settle()
    world.index.shrink()
    assert await world.indexer.check(timeout_s=60) and world.index.is_complete
    assert not await world.indexer.check(timeout_s=-1) or world.index.is_complete
    await world.close()
    world = await Searched.open(tmp_path)
    await world.indexer.round()
    torn(tmp_path / "search.sqlite3")
    with capture_logs() as lines:
        assert await world.indexer.check(timeout_s=60)
    assert [line["event"] for line in lines] == ["search_index_damaged"]
    assert not world.index.is_complete
    await world.settle()
    await world.assert_exact()
    await world.close()


@pytest.mark.parametrize(
    "point",
    [
        "search_tail settle 1000000",  # the index has what is still in the tail
        "search_tail settle 1",  # told by the other process
        "index_batches put 1000000",  # within its transaction
        "search_tail name 1000000",  # a new one is begun, and the store does not name it yet
        "SearchIndex complete 1000000",  # all is walked through
    ],
)
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "used"])
async def test_it_is_killed(tmp_path: Path, point: str, is_new: bool) -> None:
    ids = await filled(tmp_path)
    if is_new:
        (tmp_path / "search.sqlite3").unlink()
    world = await Searched.open(tmp_path)
    await world.receive(11, 12)
    await world.delete(ids[0])
    await world.close()
    if not is_new and point.startswith(("search_tail name", "SearchIndex complete")):
        (tmp_path / "search.sqlite3").write_bytes(b"no database")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), point],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    await goes_on(tmp_path)
