"""The database written anew without its free pages, so that from then on it can become smaller by itself
(storage.upkeep.reclaiming); for a store from before stores could, or for room at once.

The new file is built beside the old one, which nobody can write to meanwhile, and takes its name by one rename: killed
at any instant, the store is one of the two, and a new file that is left is thrown away by the next run, or the daemon.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from storage.durable_files import building_beside, fsync_folder, unfinished
from storage.engine import migrate
from storage.engine.failures import in_words
from storage.engine.free_pages import MOVABLE_PAGES, free_pages
from storage.engine.migrate import StoreError
from storage.engine.tx import Tx


class Compacted(NamedTuple):
    """How large the database's file was, and is."""

    bytes_before: int
    bytes_after: int


def compact(database: Path) -> Compacted:
    """The caller keeps daemons away. StoreError: the store is as it was."""
    database = database.resolve()  # a link stays one
    before = database.stat().st_size
    fresh = building_beside(database)
    try:
        with _kept_from_writers(database) as old:
            for left in unfinished(database.parent, database.name):
                left.unlink()
            _require_room(old, database)
            _write_anew(database, fresh)
            _require_same(old, fresh)
            fresh.rename(database)
            fsync_folder(database.parent)
    except (OSError, sqlite3.DatabaseError) as error:
        raise StoreError(f"{database}: {in_words(error)}") from error
    finally:
        fresh.unlink(missing_ok=True)
    return Compacted(before, database.stat().st_size)


@contextmanager
def _kept_from_writers(database: Path) -> Iterator[sqlite3.Connection]:
    """Without a write-ahead log, which would be that of another file afterwards; who then waits to write to the file
    that was replaced is refused by SQLite. The daemon's start sets it again."""
    with closing(migrate.connect(database)) as conn:
        conn.execute("PRAGMA journal_mode = DELETE")
        conn.execute("BEGIN IMMEDIATE")
        yield conn


def _require_room(old: sqlite3.Connection, database: Path) -> None:
    found, place = free_pages(Tx(old)), os.statvfs(database.parent)
    needed, free = (found.pages - found.free) * found.page_bytes, place.f_bavail * place.f_frsize
    if free < needed:
        raise StoreError(
            f"{database}: what is in it is written once more beside it, which takes {needed} bytes; {free} are free"
        )


def _write_anew(database: Path, fresh: Path) -> None:
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with closing(migrate.connect(database)) as conn:
        if not free_pages(Tx(conn)).can_move:
            conn.execute(MOVABLE_PAGES)
        conn.execute("VACUUM INTO ?", (str(fresh),))
    with fresh.open("rb") as file:
        os.fsync(file.fileno())


def _require_same(old: sqlite3.Connection, fresh: Path) -> None:
    """SQLite promises the rows, but not that the number of each stays, by which lists go and the search index finds."""
    with closing(migrate.connect(fresh, read_only=True)) as new:
        for name in _numbered_tables(old):
            counted = f'SELECT count(*), total(rowid), max(rowid) FROM "{name}"'
            if old.execute(counted).fetchone() != new.execute(counted).fetchone():
                raise StoreError(
                    f"{fresh}: rows of {name} have other numbers than before; the store is as it was"
                )


def _numbered_tables(conn: sqlite3.Connection) -> list[str]:
    """But SQLite's own, the schema among them, whose rows are numbered anew."""
    rows = conn.execute("SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main'")
    return [
        name
        for name, kind, is_unnumbered in rows
        if kind == "table" and not is_unnumbered and not name.startswith("sqlite_")
    ]
