"""A copy of the database is of one moment, and leaves the disk to those who wait for it."""

import os
import sqlite3
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from storage.engine import migrate
from storage.upkeep import snapshot
from tests.support.worlds.older_stores import opened

PIECE_PAGES = 16


def words(path: Path) -> list[tuple[object, ...]]:
    with opened(path) as conn:
        return conn.execute("SELECT name FROM organizations ORDER BY id").fetchall()


def put(conn: sqlite3.Connection, number: int, name: str) -> None:
    conn.execute(
        "INSERT INTO organizations (id, name, plan, sending_status, created_at)"
        " VALUES (?, ?, 'selfhost', 'approved', 1)",
        (f"org_{number:06}", name),
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store"
    migrate.prepare(path)
    with opened(path) as conn:
        conn.execute("BEGIN")
        for number in range(200):
            put(conn, number, "before" + "e" * 3000)
        conn.execute("COMMIT")
    return path


@pytest.fixture
def at_each_sync(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Call something whenever a piece of a copy is made durable."""

    def begin(what: Callable[[], object]) -> None:
        monkeypatch.setattr(snapshot, "PIECE_PAGES", PIECE_PAGES)
        monkeypatch.setattr(os, "fdatasync", lambda _: what())

    return begin


def test_what_is_copied_reaches_the_disk_piece_by_piece(
    store: Path, tmp_path: Path, at_each_sync: Callable[[Callable[[], object]], None]
) -> None:
    """All of it at once has the fsync of a daemon on the same disk, hence its mail, wait until it is written."""
    copy, sizes = tmp_path / "copy", [0]
    at_each_sync(lambda: sizes.append(copy.stat().st_size))
    snapshot.take(store, copy)
    with opened(copy) as conn:
        pages, page_bytes = (
            conn.execute(f"PRAGMA {one}").fetchone()[0] for one in ("page_count", "page_size")
        )
    assert len(sizes) > pages // PIECE_PAGES > 5
    cache_bytes = 2000 * 1024  # SQLite keeps what it is to write, and gives all of it to the file at the end
    assert max(b - a for a, b in pairwise(sizes)) <= PIECE_PAGES * page_bytes + cache_bytes


def test_a_copy_is_of_one_moment_whatever_is_committed_between_its_pieces(
    store: Path, tmp_path: Path, at_each_sync: Callable[[Callable[[], object]], None]
) -> None:
    """Nor does it begin anew each time, as it would do without end beside a daemon that writes."""
    before, pieces = words(store), []
    with opened(store) as daemon:

        def commit() -> None:
            pieces.append(1)
            assert len(pieces) < 1000, "it begins anew each time"
            put(daemon, 1000 + len(pieces), "meanwhile")
            daemon.execute("UPDATE organizations SET name = 'changed' WHERE id = 'org_000000'")

        at_each_sync(commit)
        snapshot.take(store, tmp_path / "copy")
        (pages,) = daemon.execute("PRAGMA page_count").fetchone()
    assert words(tmp_path / "copy") == before != words(store)
    assert 5 < len(pieces) <= pages // PIECE_PAGES + 1
