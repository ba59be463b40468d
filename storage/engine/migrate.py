"""Makes a store, or brings an older one up to date. Forward only.

`PRAGMA user_version` counts the steps taken; each step is one transaction that also raises it, so
that a crash leaves either the old version or the new one. A store newer than this program is refused.

Only what is surely ours is opened. A store is marked as such (`PRAGMA application_id`); one from before the mark is
known by its tables. A new store is built under another name and appears whole under its own, so a file that is
empty or half a store is never ours in the making: it is what a restore left that was cut short, and serving from it
would refuse the mail of every inbox of the real store.
"""

import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import resources
from pathlib import Path

from storage.durable_files import building_beside, fsync_folder, give_name, is_there
from storage.engine.connections import configure
from storage.engine.failures import in_words, is_closed_to_us, may_pass
from storage.engine.free_pages import MOVABLE_PAGES
from storage.engine.store_files import beside
from storage.engine.tx import Tx

APPLICATION_ID = 0x6D61696C  # "mail"
RESTORE = "restore it from a backup"


class StoreError(Exception):
    """The store can't be used; the text says why and what to do."""


@cache
def steps() -> tuple[str, ...]:
    """The SQL of every migration, oldest first."""
    folder = resources.files("storage") / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((folder / name).read_text("utf-8") for name in names)


def _tell_nobody(_step: int, _steps: int) -> None:
    pass


def prepare(path: Path, begins: Callable[[int, int], None] = _tell_nobody) -> None:
    """Create the store at `path` where there is no file, else take the steps that it lacks. StoreError.

    `begins` hears of each step that a store lacks, before it is taken: its number, and that of the newest. One may take
    minutes where there is much mail.
    """
    if not is_there(path):
        _create(path)
    conn = connect_any_version(path, read_only=False)
    try:
        todo = steps()
        version = _version_of(conn, path, len(todo))
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute(
            "PRAGMA secure_delete = OFF"
        )  # a step that drops a large table takes seconds, not minutes
        if conn.execute("PRAGMA application_id").fetchone()[0] == 0:  # made before stores were marked
            conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number in range(version, len(todo)):
            begins(number + 1, len(todo))
            _take(conn, todo[number], number + 1)
        _require(conn, path, _tables_of(_schema()))
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {in_words(error)}") from error
    finally:
        conn.close()


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A plain connection, for tools that run beside a daemon: it does not make checkpoints, and another thread may
    interrupt it. The caller closes it.

    StoreError when `path` is not a store of ours, or one of another version: what a tool asks of it is not there, which
    looks like damage.
    """
    conn = connect_any_version(path, read_only)
    try:
        newest = len(steps())
        version = _version_of(conn, path, newest)
        if version < newest:
            raise StoreError(
                f"{path} has schema version {version}, older than this program's {newest}:"
                " 'maild init', or the start of the daemon, brings it up to date"
            )
    except StoreError:
        conn.close()
        raise
    return conn


def is_behind(path: Path) -> bool:
    """Are there steps that the store at `path` lacks? StoreError."""
    conn = connect_any_version(path, read_only=True)
    try:
        newest = len(steps())
        return _version_of(conn, path, newest) < newest
    finally:
        conn.close()


def connect_any_version(path: Path, read_only: bool) -> sqlite3.Connection:
    """`connect` for what every version of the store can answer."""
    _refuse_foreign_log(path)
    try:
        return _opened(path, read_only)
    except sqlite3.Error as error:
        if not (read_only and is_closed_to_us(error) and _is_at_rest(path)):
            raise StoreError(f"{path}: {in_words(error)}{_advice(error, path)}") from error
    return _opened(path, read_only, can_change=False)


def _is_at_rest(path: Path) -> bool:
    """Can it be read, and is all that was committed in it? Where nothing can be made in its folder, as in a read-only
    snapshot, SQLite then reads it all the same if it is told so (https://www.sqlite.org/wal.html#readonly)."""
    return os.access(path, os.R_OK) and not _has_octets(beside(path, "-wal"))


def _has_octets(path: Path) -> bool:
    return is_there(path) and path.stat().st_size > 0


def _opened(path: Path, read_only: bool, can_change: bool = True) -> sqlite3.Connection:
    conn = _open(path, read_only, can_change)
    try:
        _recognise(conn, path)
    except BaseException:
        conn.close()
        raise
    return conn


def _advice(error: sqlite3.Error, path: Path) -> str:
    if is_closed_to_us(error):
        by_owner = "; run this as the user whom it belongs to"
        # As in a snapshot that is read-only: what SQLite knows of the log of changes stands in a file beside it.
        if is_there(beside(path, "-wal")) and os.access(path, os.R_OK):
            return f"{by_owner}, or on a copy of the folder, where its log of changes can be read"
        return by_owner
    return "" if may_pass(error) else f"; if it is damaged, {RESTORE}"


@contextmanager
def transaction(path: Path, *, overwrites: bool = False, checks_references: bool = True) -> Iterator[Tx]:
    """One transaction on a connection of its own, for tools; committed at the end of the block. StoreError.

    `overwrites`: what it replaces is zeroed in the pages that it writes; they reach the file by `write_back`.
    `checks_references`: False where what it deletes is known to be referred to by nothing.
    """
    conn = connect(path)
    try:
        if not checks_references:
            conn.execute("PRAGMA foreign_keys = OFF")
        if overwrites:
            conn.execute("PRAGMA secure_delete = ON")
        conn.execute("BEGIN IMMEDIATE")
        yield Tx(conn)
        conn.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {in_words(error)}") from error
    finally:
        conn.close()


@contextmanager
def look(path: Path) -> Iterator[Tx]:
    """One state of the store on a connection of its own, for tools that only read: nobody waits for it. StoreError."""
    conn = connect(path, read_only=True)
    try:
        tx = Tx(conn)
        with one_state(tx):
            yield tx
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {in_words(error)}") from error
    finally:
        conn.close()


@contextmanager
def one_state(tx: Tx) -> Iterator[None]:
    """What is read inside, on a connection of `connect`, is of one state of the store, whatever is committed
    meanwhile."""
    tx.run("BEGIN")
    try:
        yield
    finally:
        tx.run("ROLLBACK")


def write_back(path: Path) -> None:
    """Empty the log of what was committed into the store's own file. StoreError."""
    conn = connect(path)
    try:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {in_words(error)}") from error
    finally:
        conn.close()


def _create(path: Path) -> None:
    building = building_beside(path)
    try:
        building.touch(mode=0o600)
        conn = _open(building)
        try:
            conn.execute(MOVABLE_PAGES)
            conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _take(conn, _schema(), len(steps()))
            # Once all of it is in the file: whether a WAL could be written back is not said as the connection closes.
            conn.execute("PRAGMA journal_mode = WAL")
        finally:
            conn.close()
        with suppress(FileExistsError):  # another process was faster: its store is the one
            give_name(building, path)
        fsync_folder(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path}: {in_words(error)}") from error
    finally:
        building.unlink(missing_ok=True)


def _open(path: Path, read_only: bool = False, can_change: bool = True) -> sqlite3.Connection:
    options = ("mode=ro" if read_only else "mode=rw") + ("" if can_change else "&immutable=1")
    conn = sqlite3.connect(
        f"{path.resolve().as_uri()}?{options}", uri=True, isolation_level=None, check_same_thread=False
    )
    try:
        configure(conn)
        conn.execute("PRAGMA wal_autocheckpoint = 0")
    except BaseException:  # it reads the file, which may be none of SQLite's
        conn.close()
        raise
    return conn


@cache
def _refuse_foreign_log(path: Path) -> None:
    """StoreError for a backup that was put over a store whose log of changes was left: SQLite takes a log for that of
    the file beside it, and would write pages of the one over those of the other. Whose changes are in a log says so in
    its header, and a backup (`upkeep.snapshot`) has none.

    Looked at once, before this process has the store open: who closes a file gives up the locks of all connections of
    its process (https://www.sqlite.org/howtocorrupt.html §2.2), and the next command to end would take itself for the
    last one that has the store open, and its log away from under a daemon.
    """
    log = beside(path, "-wal")
    if not _has_octets(log) or _has_log(path):
        return
    raise StoreError(
        f"{log} is of another database than {path}, as one that a backup took the place of: move it away, with the"
        " -shm beside it; nothing was changed"
    )


def _has_log(path: Path) -> bool:
    """Does the header name a WAL (https://www.sqlite.org/fileformat2.html §1.3.3)? What can't be read is not for this
    to judge."""
    try:
        with path.open("rb") as file:
            versions = file.read(20)[18:]
    except OSError:
        return True
    return versions != b"\1\1"


def _version_of(conn: sqlite3.Connection, path: Path, newest: int) -> int:
    version: int = conn.execute("PRAGMA user_version").fetchone()[0]
    if version > newest:
        raise StoreError(
            f"{path} has schema version {version}, newer than this program's {newest}: install the version of maild"
            " that wrote it, or restore the backup from before the upgrade"
        )
    return version


def _recognise(conn: sqlite3.Connection, path: Path) -> None:
    mark = conn.execute("PRAGMA application_id").fetchone()[0]
    if mark not in (0, APPLICATION_ID):
        raise StoreError(f"{path} belongs to another program; move it away")
    if not _tables(conn):
        raise StoreError(f"{path} is empty; {RESTORE}, or remove it and run 'maild init' for a new store")
    _require(conn, path, _tables_of(steps()[0]))


def _require(conn: sqlite3.Connection, path: Path, wanted: set[str]) -> None:
    missing = sorted(wanted - _tables(conn))
    if missing:
        raise StoreError(
            f"{path} is no whole store of maild (of its tables {len(missing)} are missing: {', '.join(missing[:3])});"
            f" {RESTORE}, or move it away if it is another program's"
        )


def _tables(conn: sqlite3.Connection) -> set[str]:
    return {name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _tables_of(sql: str) -> set[str]:
    return set(re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", sql, re.MULTILINE))


def _schema() -> str:
    return (resources.files("storage") / "schema.sql").read_text("utf-8")


def _take(conn: sqlite3.Connection, sql: str, version: int) -> None:
    # executescript() commits an open transaction first, so the script brings its own.
    try:
        conn.executescript(f"BEGIN IMMEDIATE;\n{sql}\nPRAGMA user_version = {version};\nCOMMIT;")
    except sqlite3.Error:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
