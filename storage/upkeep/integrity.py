"""Is the store whole? What `maild check` asks in full, and the running daemon bit by bit (storage.upkeep.self_check).

Nothing here changes anything. Each question is a reading unit, or takes a connection of its own where it may take
long. What can happen to a file of pages, and how to ask for it, is SQLite's: its PRAGMAs stand here as they are.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from storage.durable_files import is_there
from storage.engine import migrate
from storage.engine.dialect import elements, holds
from storage.engine.failures import is_closed_to_us, is_momentary
from storage.engine.tx import Tx
from storage.ids import first_at, made_at
from storage.mail.blobs import Blob
from storage.records import columns
from storage.searching.labels import UNREAD, has_label
from storage.visibility import HELD, VISIBLE

FAULTS_MAX = 100  # told of each kind
INTERRUPT_AGAIN_S = 0.02


class Damage(NamedTuple):
    """`kind`: page, reference, counter, blob. `id`: the row, where there is one."""

    kind: str
    id: str | None
    fault: str


class _Counter(NamedTuple):
    """A counter that is kept as rows change, and SQL for the rows (id, counter, new count) where the two differ."""

    name: str
    differing: str


_UNREAD = holds("m.labels", f"'{UNREAD}'")
_COUNTERS = (
    _Counter(
        "messages of a thread",
        f"""SELECT t.id, t.message_count, count(m.id) AS found FROM threads t
           LEFT JOIN messages m ON m.thread_id = t.id AND m.{VISIBLE} GROUP BY t.id HAVING found <> t.message_count""",
    ),
    _Counter(
        "unread messages of a thread",
        f"""SELECT t.id, t.unread_count, count(m.id) AS found FROM threads t
            LEFT JOIN messages m ON m.thread_id = t.id AND m.{VISIBLE} AND {_UNREAD}
            GROUP BY t.id HAVING found <> t.unread_count""",
    ),
    _Counter(
        "unread messages of an inbox",
        f"""SELECT i.id, i.unread_count, count(m.id) AS found FROM inboxes i
            LEFT JOIN messages m ON m.inbox_id = i.id AND m.{VISIBLE} AND {_UNREAD}
            GROUP BY i.id HAVING found <> i.unread_count""",
    ),
    _Counter(
        "labels of a message in the index of labels",
        f"""SELECT * FROM
              (SELECT m.id, (SELECT count(*) FROM {elements("m.labels")} WHERE value <> '{UNREAD}') AS kept,
                (SELECT count(*) FROM {elements("m.labels")} one WHERE {has_label("m", "one.value")}) AS found
               FROM messages m WHERE m.labels NOT IN ('[]', '["{UNREAD}"]')) WHERE found <> kept""",
    ),
    _Counter(
        "messages of a label in the index of labels",
        f"""SELECT k.message_id, 1, count(m.id) AS found FROM message_labels k
            LEFT JOIN messages m ON m.id = k.message_id AND {holds("m.labels", "k.label")}
            GROUP BY k.inbox_id, k.label, k.message_id HAVING found <> 1""",
    ),
    _Counter(
        "stored bytes of an organization",
        f"""SELECT o.id, coalesce(s.bytes, 0) AS bytes, coalesce(sum(m.size_bytes), 0) +
             coalesce((SELECT sum(h.size_bytes) FROM messages h
                       WHERE h.organization_id = o.id AND h.{HELD} AND h.blob_id IS NOT NULL), 0) AS found
           FROM organizations o LEFT JOIN stored_bytes s ON s.organization_id = o.id
           LEFT JOIN messages m ON m.organization_id = o.id AND m.{VISIBLE} AND m.blob_id IS NOT NULL
           GROUP BY o.id HAVING found <> coalesce(s.bytes, 0)""",
    ),
    _Counter(
        "held bytes of an organization",
        f"""SELECT o.id, coalesce(s.held, 0) AS held, coalesce(sum(m.size_bytes), 0) AS found FROM organizations o
            LEFT JOIN stored_bytes s ON s.organization_id = o.id
            LEFT JOIN messages m ON m.organization_id = o.id AND m.{HELD} AND m.blob_id IS NOT NULL
            GROUP BY o.id HAVING found <> coalesce(s.held, 0)""",
    ),
    _Counter(
        "addresses that an organization wrote to lately",
        """SELECT o.id, coalesce(c.addresses, 0) AS counted,
             (SELECT count(*) FROM recent_recipients r WHERE r.organization_id = o.id) AS found
           FROM organizations o LEFT JOIN recent_recipient_counts c ON c.organization_id = o.id
           WHERE found <> counted""",
    ),
    _Counter(
        "active inboxes of an organization",
        """SELECT o.id, coalesce(c.amount, 0) AS counted,
             (SELECT count(*) FROM inboxes i WHERE i.organization_id = o.id AND i.is_active = 1) AS found
           FROM organizations o
             LEFT JOIN organization_counts c ON c.organization_id = o.id AND c.counted = 'inboxes'
           WHERE found <> coalesce(c.amount, 0)""",
    ),
    _Counter(
        "open drafts of an organization",
        """SELECT o.id, coalesce(c.amount, 0) AS counted,
             (SELECT count(*) FROM drafts d WHERE d.organization_id = o.id AND d.status = 'draft') AS found
           FROM organizations o
             LEFT JOIN organization_counts c ON c.organization_id = o.id AND c.counted = 'open_drafts'
           WHERE found <> coalesce(c.amount, 0)""",
    ),
    _Counter(
        "messages that show a blob",
        """SELECT b.id, b.refs, count(m.id) AS found FROM blobs b
           LEFT JOIN messages m ON m.blob_id = b.id GROUP BY b.id HAVING found <> b.refs""",
    ),
    _Counter(
        "what shows a held message",
        f"""SELECT m.id, 0, (m.thread_id IS NOT NULL) + (m.labels <> '[]')
              + EXISTS (SELECT 1 FROM work_items w WHERE w.message_id = m.id)
              + EXISTS (SELECT 1 FROM events e WHERE e.message_id = m.id AND e.type = 'email.received') AS found
            FROM messages m WHERE m.{HELD} AND found <> 0""",
    ),
    _Counter(
        "what a held message is released by",
        f"""SELECT m.id, 1, count(h.message_id) AS found FROM messages m
            LEFT JOIN held_mail h ON h.message_id = m.id WHERE m.{HELD} GROUP BY m.id HAVING found <> 1""",
    ),
    _Counter(
        "messages without a thread that are not held",
        f"SELECT m.id, 0, 1 FROM messages m WHERE m.thread_id IS NULL AND m.{VISIBLE}",
    ),
)


class OpenedStore:
    """A store opened for questions alone. Each statement of `tx` sees the state of its own moment."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self.tx = Tx(conn)

    def pages(self) -> list[Damage]:
        """Damaged pages of the file. It reads the whole file, which takes long for a large store."""
        return pages(self._conn)

    def rows(self) -> list[Damage]:
        """Damaged references and counters, of one state of the store."""
        self._conn.execute("BEGIN")  # one state, whatever the daemon writes meanwhile
        try:
            return [*references(self.tx), *counters(self.tx)]
        finally:
            self._conn.execute("ROLLBACK")


@contextmanager
def opened(path: Path) -> Iterator[OpenedStore]:
    """Open the store on a connection of its own, also beside a daemon. migrate.StoreError."""
    conn = migrate.connect(path, read_only=True)
    try:
        yield OpenedStore(conn)
    finally:
        conn.close()


async def pages_within(path: Path, timeout_s: float) -> list[Damage] | None:
    """Look at the pages for so long at most, on a thread; None when that was not long enough. StoreError where the file
    is there and can't be opened now, as for want of descriptors."""
    try:
        conn = await asyncio.to_thread(migrate.connect, path, read_only=True)
    except migrate.StoreError as error:  # it was opened at the start, so it was damaged since then
        if is_there(path) and _says_nothing(error.__cause__):
            raise
        return [Damage("page", None, str(error))]
    looking = asyncio.ensure_future(asyncio.to_thread(pages, conn))
    try:
        await asyncio.wait([looking], timeout=timeout_s)
        is_unfinished = not looking.done()
    finally:  # the process may be ending, and would wait for the thread
        await _interrupt(conn, looking)
        conn.close()
    return None if is_unfinished else looking.result()


async def _interrupt(conn: sqlite3.Connection, looking: "asyncio.Future[list[Damage]]") -> None:
    while not looking.done():
        conn.interrupt()  # does nothing to a statement that has not begun yet
        await asyncio.wait([looking], timeout=INTERRUPT_AGAIN_S)
    looking.exception()


def pages(conn: sqlite3.Connection) -> list[Damage]:
    """Damaged pages; sqlite3.OperationalError when the connection was interrupted, or files can't be opened now."""
    try:
        rows = conn.execute(f"PRAGMA quick_check({FAULTS_MAX})").fetchall()
    except sqlite3.DatabaseError as error:
        if _says_nothing(error):
            raise
        rows = [(str(error),)]
    # The first of several lines only names the database.
    lines = [line for (text,) in rows for line in text.splitlines() if not line.startswith("***")]
    return [Damage("page", None, line) for line in lines if line != "ok"]


def _says_nothing(error: BaseException | None) -> bool:
    """Is the error about this process or this moment, and not about what the file holds?"""
    return error is not None and (is_closed_to_us(error) or is_momentary(error))


def references(tx: Tx) -> list[Damage]:
    """How many rows of each table refer to rows that do not exist; one Damage for each pair of tables."""
    found: dict[tuple[str, str], int] = {}
    for table, _, parent, _ in tx.all("PRAGMA foreign_key_check"):
        found[table, parent] = found.get((table, parent), 0) + 1
    return [
        Damage("reference", None, f"{count} rows of {table} refer to {parent} that are not there")
        for (table, parent), count in found.items()
    ]


def counters(tx: Tx) -> list[Damage]:
    """Counters of rows that a new count contradicts, FAULTS_MAX of each kind at most."""
    return [
        Damage("counter", row[0], f"{counter.name}: {row[1]} counted, {row[2]} found")
        for counter in _COUNTERS
        for row in tx.all(f"{counter.differing} LIMIT {FAULTS_MAX}")
    ]


def blobs_after(tx: Tx, after: str, limit: int) -> list[Blob]:
    """Up to `limit` blobs behind the id `after`, in the order of their ids, which is that of their ages."""
    rows = tx.all(f"SELECT {columns(Blob)} FROM blobs WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
    return [Blob(*row) for row in rows]


def somewhere(tx: Tx, share: float) -> str:
    """An id to begin at: `share` (0 to 1) of the time between the oldest and the newest blob; "" without blobs."""
    oldest, newest = tx.value("SELECT min(id) FROM blobs"), tx.value("SELECT max(id) FROM blobs")
    if oldest is None:
        return ""
    begin = made_at(oldest)
    return first_at("blb", begin + int((made_at(newest) - begin) * share))
