"""Is the store whole? What `maild check` asks in full, and the running daemon bit by bit (storage.self_check).

Nothing here changes anything. Each question is a reading unit, or takes a connection of its own where it may last.
"""

import sqlite3
from typing import NamedTuple

from storage.blobs import Blob
from storage.database import Tx
from storage.ids import first_at, made_at
from storage.records import columns

FAULTS_MAX = 100  # told of each kind


class Damage(NamedTuple):
    """`kind`: page, reference, counter, blob. `id`: the row, where there is one."""

    kind: str
    id: str | None
    fault: str


class _Counter(NamedTuple):
    """What is counted as it changes, and the rows (id, counted, recounted) where counting anew says otherwise."""

    name: str
    differing: str


_UNREAD = "EXISTS (SELECT 1 FROM json_each(m.labels) WHERE value = 'unread')"
_COUNTERS = (
    _Counter(
        "messages of a thread",
        """SELECT t.id, t.message_count, count(m.id) AS found FROM threads t
           LEFT JOIN messages m ON m.thread_id = t.id GROUP BY t.id HAVING found <> t.message_count""",
    ),
    _Counter(
        "unread messages of a thread",
        f"""SELECT t.id, t.unread_count, count(m.id) AS found FROM threads t
            LEFT JOIN messages m ON m.thread_id = t.id AND {_UNREAD}
            GROUP BY t.id HAVING found <> t.unread_count""",
    ),
    _Counter(
        "unread messages of an inbox",
        f"""SELECT i.id, i.unread_count, count(m.id) AS found FROM inboxes i
            LEFT JOIN messages m ON m.inbox_id = i.id AND {_UNREAD}
            GROUP BY i.id HAVING found <> i.unread_count""",
    ),
    _Counter(
        "stored bytes of an organization",
        """SELECT o.id, coalesce(s.bytes, 0) AS bytes, coalesce(sum(m.size_bytes), 0) AS found FROM organizations o
           LEFT JOIN stored_bytes s ON s.organization_id = o.id
           LEFT JOIN messages m ON m.organization_id = o.id AND m.blob_id IS NOT NULL
           GROUP BY o.id HAVING found <> coalesce(s.bytes, 0)""",
    ),
    _Counter(
        "messages that show a blob",
        """SELECT b.id, b.refs, count(m.id) AS found FROM blobs b
           LEFT JOIN messages m ON m.blob_id = b.id GROUP BY b.id HAVING found <> b.refs""",
    ),
)


def pages(conn: sqlite3.Connection) -> list[Damage]:
    """Damaged pages; sqlite3.OperationalError when the connection was interrupted."""
    try:
        rows = conn.execute(f"PRAGMA quick_check({FAULTS_MAX})").fetchall()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise
        rows = [(str(error),)]
    # The first of several lines says which database it is, of the one that there is.
    lines = [line for (text,) in rows for line in text.splitlines() if not line.startswith("***")]
    return [Damage("page", None, line) for line in lines if line != "ok"]


def references(tx: Tx) -> list[Damage]:
    """Rows that refer to one that is not there."""
    found: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in tx.all("PRAGMA foreign_key_check"):
        found[table, parent] = found.get((table, parent), 0) + 1
    return [
        Damage("reference", None, f"{count} rows of {table} refer to {parent} that are not there")
        for (table, parent), count in found.items()
    ]


def counters(tx: Tx) -> list[Damage]:
    return [
        Damage("counter", row[0], f"{counter.name}: {row[1]} counted, {row[2]} found")
        for counter in _COUNTERS
        for row in tx.all(f"{counter.differing} LIMIT {FAULTS_MAX}")
    ]


def blobs_after(tx: Tx, after: str, limit: int) -> list[Blob]:
    """In the order of their ids, which is that of their ages."""
    rows = tx.all(f"SELECT {columns(Blob)} FROM blobs WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
    return [Blob(*row) for row in rows]


def somewhere(tx: Tx, share: float) -> str:
    """The place in the order of blobs that this share of the time between the oldest and the newest leads to."""
    oldest, newest = tx.value("SELECT min(id) FROM blobs"), tx.value("SELECT max(id) FROM blobs")
    if oldest is None:
        return ""
    begin = made_at(oldest)
    return first_at("blb", begin + int((made_at(newest) - begin) * share))
