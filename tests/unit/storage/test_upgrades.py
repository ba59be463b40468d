"""A store of any older version, with rows in every table, becomes one of this version and keeps them."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from storage.engine import migrate
from storage.engine.connections import configure
from storage.engine.failures import may_pass
from tests.support.worlds.older_stores import again, fill, make_older, opened, rows

STEPS = migrate.steps()
NEWEST = len(STEPS)
TAKE = migrate._take
OLDER = range(1, NEWEST)
# The index of searches became a file of its own, which is made anew from the messages.
DROPPED = {12: {"search_documents", "search_inboxes", "search_organizations"}}


def schema(path: Path) -> set[tuple[str, str]]:
    with opened(path) as conn:
        return set(conn.execute("SELECT type, name FROM sqlite_schema").fetchall())


def version(path: Path) -> int:
    with opened(path) as conn:
        (number,) = conn.execute("PRAGMA user_version").fetchone()
        return int(number)


def faults(path: Path) -> list[object]:
    """What SQLite finds: pages, indexes that miss a row or have one too many, references that lead nowhere."""
    with opened(path) as conn:
        found = conn.execute("PRAGMA integrity_check").fetchall()
        return [*(one for one in found if one != ("ok",)), *conn.execute("PRAGMA foreign_key_check")]


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    path = tmp_path / "newest"
    migrate.prepare(path)
    return path


@pytest.mark.parametrize("older", OLDER)
def test_what_an_older_store_held_is_there_after_the_upgrade(
    older: int, newest: Path, tmp_path: Path
) -> None:
    path = tmp_path / "store"
    make_older(path, older)
    fill(path)
    before = rows(path)
    assert all(found for _, found in before.values())
    migrate.prepare(path)
    dropped = {name for step, names in DROPPED.items() if older < step for name in names}
    assert again(path, before) == {name: what for name, what in before.items() if name not in dropped}
    assert schema(path) == schema(newest)
    assert faults(path) == []


class Work:
    """Takes a step, counting how often SQLite looks whether it is to go on; at look `ends_at` it is not."""

    def __init__(self, ends_at: int = 0) -> None:
        self.looks = 0
        self._ends_at = ends_at

    def take(self, conn: sqlite3.Connection, sql: str, number: int) -> None:
        conn.set_progress_handler(self._look, 1)
        TAKE(conn, sql, number)
        conn.set_progress_handler(None, 1)

    def _look(self) -> bool:
        self.looks += 1
        return self.looks == self._ends_at


def looks_of_next_step(path: Path, copy: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    shutil.copy(path, copy)
    work = Work()
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "_take", work.take)
        patch.setattr(migrate, "steps", lambda: STEPS[: version(path) + 1])
        patch.setattr(migrate, "_schema", lambda: "")
        migrate.prepare(copy)
    return work.looks


@pytest.mark.parametrize("older", OLDER)
def test_a_step_that_is_cut_short_leaves_the_store_as_it_was(
    older: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the begin of its work, in the middle or at the end. The next start goes on."""
    path = tmp_path / "store"
    make_older(path, older)
    fill(path)
    before, was = rows(path), schema(path)
    looks = looks_of_next_step(path, tmp_path / "copy", monkeypatch)
    for ends_at in (1, looks // 2, looks - 1):  # the last one comes when it is committed
        with monkeypatch.context() as patch:
            patch.setattr(migrate, "_take", Work(ends_at).take)
            with pytest.raises(migrate.StoreError, match="interrupted"):
                migrate.prepare(path)
        assert (version(path), schema(path), rows(path)) == (older, was, before)
    migrate.prepare(path)
    assert (version(path), faults(path)) == (NEWEST, [])


@pytest.mark.parametrize("older", [2, 22, 28])  # what comes next makes tables
def test_where_the_disk_is_full_the_store_stays_as_it_was(
    older: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    make_older(path, older)
    fill(path)
    before = rows(path)

    def configured(conn: sqlite3.Connection) -> None:
        configure(conn)
        (pages,) = conn.execute("PRAGMA page_count").fetchone()
        conn.execute(f"PRAGMA max_page_count = {pages}")

    with monkeypatch.context() as patch:
        patch.setattr(migrate, "configure", configured)
        with pytest.raises(migrate.StoreError, match=r"the disk is full .*; make room on it") as caught:
            migrate.prepare(path)
    assert caught.value.__cause__ is not None and may_pass(caught.value.__cause__)
    assert (version(path), rows(path)) == (older, before)
    migrate.prepare(path)
    assert version(path) == NEWEST
