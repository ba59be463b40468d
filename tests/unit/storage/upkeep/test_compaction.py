"""The database written anew without its free pages (storage/upkeep/compaction.py, maild compact)."""

import errno
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from maild.cli.program import main
from storage.data_folder import DataFolder
from storage.durable_files import building_beside
from storage.engine import migrate
from storage.engine.free_pages import FreePages, free_pages
from storage.engine.migrate import StoreError
from storage.engine.tx import Tx
from storage.upkeep import compaction
from storage.upkeep.compaction import Compacted, compact

ROWS = 300


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """As they were made before files could become smaller; most of what was in it is deleted."""
    path = tmp_path / "maild.sqlite3"
    migrate.prepare(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = DELETE")
        conn.execute("PRAGMA auto_vacuum = NONE")
        conn.execute("VACUUM")
        conn.execute("CREATE TABLE left_by_an_upgrade (id TEXT)")
        conn.execute("CREATE TABLE filler (id TEXT PRIMARY KEY, octets BLOB NOT NULL)")
        conn.executemany("INSERT INTO filler VALUES (?, ?)", [(f"{one}", bytes(3500)) for one in range(ROWS)])
        conn.execute("DELETE FROM filler WHERE rowid % 10")
        conn.execute("DROP TABLE left_by_an_upgrade")  # a gap in the numbers of the schema's own rows
    return path


def numbers(database: Path) -> list[tuple[int, str]]:
    with migrate.look(database) as tx:
        return [(number, name) for number, name in tx.all("SELECT rowid, id FROM filler ORDER BY rowid")]


def pages(database: Path) -> FreePages:
    with migrate.look(database) as tx:
        return free_pages(tx)


def test_the_file_has_what_was_in_it_and_can_become_smaller(database: Path) -> None:
    was, there = pages(database), numbers(database)
    done = compact(database)
    now = pages(database)
    assert done == Compacted(was.pages * was.page_bytes, now.pages * was.page_bytes)
    assert (was.can_move, was.free > was.pages // 2) == (False, True)
    assert (now.can_move, now.free) == (True, 0)
    assert numbers(database) == there and len(there) == ROWS // 10
    assert database.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in database.parent.iterdir()] == [database.name]
    migrate.prepare(database)  # as at the next start


def test_a_store_whose_file_is_a_link_lies_where_it_lay(database: Path, tmp_path: Path) -> None:
    """On another disk, say: it was put where the link had been, and the old one stayed."""
    link = tmp_path / "data" / "maild.sqlite3"
    link.parent.mkdir()
    link.symlink_to(database)
    compact(link)
    assert [one.name for one in link.parent.iterdir()] == [link.name] and link.is_symlink()
    assert pages(database).free == 0


def test_what_a_run_that_was_killed_has_left_is_thrown_away(database: Path) -> None:
    building_beside(database).write_bytes(b"half of it")
    there = numbers(database)
    compact(database)
    assert numbers(database) == there
    assert [path.name for path in database.parent.iterdir()] == [database.name]


def refused(database: Path, text: str) -> None:
    """And the store is as it was."""
    there, size = numbers(database), database.stat().st_size
    with pytest.raises(StoreError, match=text):
        compact(database)
    assert (numbers(database), database.stat().st_size) == (there, size)
    assert [path.name for path in database.parent.iterdir() if ".building" in path.name] == []


def test_other_numbers_of_rows_are_refused(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_anew: Callable[..., Any] = compaction._write_anew

    def numbered_anew(database: Path, fresh: Path) -> None:
        write_anew(database, fresh)
        with closing(sqlite3.connect(fresh, isolation_level=None)) as conn:
            conn.execute("UPDATE filler SET rowid = 1 WHERE rowid = 10")

    monkeypatch.setattr(compaction, "_write_anew", numbered_anew)
    refused(database, "rows of filler have other numbers")


def test_the_room_that_it_takes_is_told_before_it_begins(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = pages(database)
    needed = (found.pages - found.free) * found.page_bytes
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=needed - 1, f_frsize=1))
    refused(database, f"takes {needed} bytes; {needed - 1} are free")


def test_a_disk_that_is_full_all_the_same_is_told(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(compaction, "_write_anew", full)
    refused(database, r"the disk is full \(No space left on device\); make room on it")


def test_who_writes_at_that_moment_is_refused_and_not_lost(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("SELECT 1 FROM filler").fetchone()
        compact(database)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            other.execute("DELETE FROM filler")


def test_a_command_that_reads_the_log_of_changes_is_let_end(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate.prepare(database)  # with a log of changes
    monkeypatch.setattr("storage.engine.connections.BUSY_TIMEOUT_MS", 1)
    with closing(migrate.connect(database)) as other:
        other.execute("BEGIN")
        Tx(other).value("SELECT count(*) FROM filler")
        refused(database, "locked")


def test_the_command(tmp_path: Path) -> None:
    config = tmp_path / "maild.toml"
    config.write_text(f'data_dir = "{tmp_path / "data"}"\n')
    run = CliRunner().invoke
    assert "run 'maild init' first" in run(main, ["compact", "--config", str(config)]).output
    assert run(main, ["init", "--config", str(config), "--json"]).exit_code == 0
    daemon = DataFolder(tmp_path / "data")
    daemon.lock()
    assert "another maild is running" in run(main, ["compact", "--config", str(config)]).output
    daemon.unlock()
    done = run(main, ["compact", "--config", str(config), "--json"])
    assert (done.exit_code, '"bytesAfter": ' in done.output) == (0, True), done.output
