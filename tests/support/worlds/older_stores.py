"""Stores of older versions, made by the steps that led to them, with rows in every table that they had."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.engine import migrate

Rows = list[tuple[object, ...]]

# Columns that hold ids of rows, with or without a reference.
NAMED = {
    "organization_id": "organizations",
    "inbox_id": "inboxes",
    "message_id": "messages",
    "thread_id": "threads",
}
# Columns that a step reads as what they are: what its first row has, and its second.
READ = {
    ("messages", "labels"): ('["unread","urgent"]', "[]"),
    ("threads", "participants"): ('["a@x.test","b@x.test"]', "[]"),
    ("domain_reports", "shared_domain"): (None, "x.test"),
}
COUNTED_BY_TRIGGERS = "recent_recipient_counts"
OF_ONE_ROW = "replies_settled"


def make_older(path: Path, version: int) -> None:
    """An empty store of this version of the schema, in the place of the one that is there."""
    path.unlink(missing_ok=True)
    with opened(path) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        for number, sql in enumerate(migrate.steps()[:version], 1):
            migrate._take(conn, sql, number)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A plain connection, closed at the end of the block."""
    conn = sqlite3.connect(path, isolation_level=None)
    try:
        yield conn
    finally:
        conn.close()


def fill(path: Path) -> None:
    """Two rows in each table: one that has a value in every column, one with NULL wherever that may be."""
    with opened(path) as conn:
        conn.execute("BEGIN")
        for table, sql in tables(conn):
            allowed = dict(re.findall(r"CHECK \((\w+) IN \(([^)]*)\)", sql))
            for row in (1, 2) if table != OF_ONE_ROW else (1,):
                _insert(conn, table, row, allowed)
        conn.execute("COMMIT")
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


def tables(conn: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Name and SQL of each table of rows: no virtual one, nor its own."""
    found = conn.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    virtual = tuple(name for name, sql in found if sql.startswith("CREATE VIRTUAL"))
    for name, sql in found:
        if not name.startswith((*virtual, "sqlite_")) and name != COUNTED_BY_TRIGGERS:
            yield name, sql


def rows(path: Path) -> dict[str, tuple[list[str], Rows]]:
    """Table → its columns and rows."""
    with opened(path) as conn:
        return {table: _rows(conn, table, columns_of(conn, table)) for table, _ in tables(conn)}


def again(path: Path, before: dict[str, tuple[list[str], Rows]]) -> dict[str, tuple[list[str], Rows]]:
    """What the store has now in the same columns of the same tables; those that are there still."""
    with opened(path) as conn:
        there = {table for table, _ in tables(conn)}
        return {
            table: _rows(conn, table, columns) for table, (columns, _) in before.items() if table in there
        }


def columns_of(conn: sqlite3.Connection, table: str) -> list[str]:
    return [name for (name,) in conn.execute("SELECT name FROM pragma_table_xinfo(?)", (table,))]


def _rows(conn: sqlite3.Connection, table: str, columns: list[str]) -> tuple[list[str], Rows]:
    named = ", ".join(columns)
    return columns, sorted(conn.execute(f"SELECT {named} FROM {table}").fetchall(), key=repr)


def _insert(conn: sqlite3.Connection, table: str, row: int, allowed: dict[str, str]) -> None:
    parents = {name: parent for _, _, parent, name, *_ in conn.execute(f"PRAGMA foreign_key_list({table})")}
    given: dict[str, object] = {}
    for _, name, kind, is_needed, _, key, hidden in conn.execute(f"PRAGMA table_xinfo({table})"):
        if hidden:
            continue
        if (table, name) in READ:
            given[name] = READ[table, name][row - 1]
        elif name in allowed:
            words = [word.strip().strip("'") for word in allowed[name].split(",")]
            given[name] = words[row % len(words)]
        elif row == 1 or is_needed or key:
            given[name] = _value(table, name, kind, row, parents)
    if given.get("shared_domain") is not None:  # instead of a domain that is somebody's
        given.pop("domain_id", None)
    names, places = ", ".join(given), ", ".join("?" for _ in given)
    conn.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", tuple(given.values()))


def _value(table: str, name: str, kind: str, row: int, parents: dict[str, str]) -> object:
    if kind == "INTEGER":
        return row if name == "seq" or name.startswith("is_") or name in parents else 1000 * row + len(name)
    if name == "id":
        return f"{table} {row}"
    if (parent := parents.get(name) or NAMED.get(name)) is not None:
        return f"{parent} {row}"
    text = f"{table} {name} {row}"
    return text.encode() if kind == "BLOB" else text
