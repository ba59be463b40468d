"""A store that several processes have open: each knows of the others by SQLite's locks."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from storage.engine import migrate
from storage.upkeep import integrity
from tests.support.worlds.store import Store

COMMAND = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM agents'); c.close()"
)


async def look_at_its_pages(path: Path) -> None:
    assert await integrity.pages_within(path, 60) == []


async def write_apart(path: Path) -> None:
    with migrate.transaction(path, checks_references=False) as tx:
        tx.run("DELETE FROM agents")


@pytest.mark.parametrize("open_it_again", [look_at_its_pages, write_apart])
async def test_a_daemon_that_opens_its_store_once_more_keeps_its_locks(
    tmp_path: Path, open_it_again: Callable[[Path], Awaitable[None]]
) -> None:
    """Without them a command that ends takes itself for the last one, and removes the log that the daemon writes on."""
    store = await Store.open(tmp_path)
    await store.send("you@there.test")
    await open_it_again(store.db.path)
    command = [sys.executable, "-c", COMMAND, str(store.db.path)]
    await asyncio.to_thread(subprocess.run, command, check=True)
    assert store.db.path.with_name(f"{store.db.path.name}-wal").exists()
    await store.close()
