"""The index of trigrams: a file of its own beside the store, with connections of its own.

It is derived from the store, so it needs no backup, and one that is missing, damaged or not this store's is made anew
(`storage.searching.indexer`). It keeps no words, only which numbers each trigram stands under, and which message a
number is. What is put in and why is `storage.searching.search`'s matter; here is how SQLite says it.

How the two files know each other: each change of the index has a mark, a random text. The index names the mark that it
was made with and the one that the store named before; once the index is committed, the store takes the new one in the
transaction that clears the tail. So they belong together where the store names either, whatever was killed in between;
an index of another store, or one older or newer than a store that was restored, has neither. A change that takes
messages out names its own alone: in a store that was restored to the mark before, these are there again, and would be
missing. Both commits are fsynced, in this order, hence a power cut can't leave a store that is ahead of its index.

Who may call: what reads, any thread; what writes, one at a time. A search that finds the index damaged condemns it:
from then on none is answered from it, until it was made anew. So does who finds that the file at its path is no longer
the one that was opened for writing, before anything is read of another.
"""

import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import structlog

from storage.engine.dialect import THEN_JOIN, array, array_of, each_of, elements, item
from storage.engine.tx import Tx
from storage.recent import Recent
from storage.records import dump
from storage.searching import index_schema
from storage.searching.index_file import MISPLACED, FileIdentity, IndexLost, connect, file_at, is_damage
from storage.searching.index_schema import DOCUMENTS_BITS, inbox_term
from storage.searching.trigram_terms import terms_of_texts, terms_of_trigrams

MERGE_PAGES = 64
SHARES_BYTES = 1024 * 1024
SHARE_BYTES = 400
CHECK_STEPS = 10_000  # of SQLite's machine, between two looks whether to go on

log = structlog.get_logger("maild.search")

_MATCHING = "trigrams MATCH :match AND rowid >= :low AND rowid < :below"
# The candidates: the highest numbers; or, where numbers don't sort by age, the newest messages. What was taken out
# may still be proposed, without a message.
_BY_NUMBER = array_of(
    array("found", "message_id"),
    f"""(SELECT found, message_id FROM
          (SELECT rowid AS found FROM trigrams WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)
        LEFT JOIN documents ON document = found ORDER BY found DESC)""",
)
_BY_AGE = array_of(
    array("message_id", "message_id"),
    f"""(SELECT message_id FROM (SELECT rowid AS found FROM trigrams WHERE {_MATCHING})
        {THEN_JOIN} documents ON document = found
        WHERE message_id >= :first AND message_id < :last ORDER BY message_id DESC LIMIT :rows)""",
)


# How far the newest of what matches reach back.
_REACH = f"""SELECT count(*), min(found) FROM
    (SELECT rowid AS found FROM trigrams WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)"""
_REACH_ROWS = 32


class Walked(NamedTuple):
    """Up to which message of which organization all are indexed, in the order of both ids."""

    organization_id: str = ""
    message_id: str = ""


class Entry(NamedTuple):
    """A message and its folded words."""

    organization_id: str
    message_id: str
    inbox_id: str
    words: str


class Gone(NamedTuple):
    """A message that was deleted, and the words that were put in."""

    message_id: str
    inbox_id: str
    words: str


class Span(NamedTuple):
    """Whose numbers begin at `low` and end before `end`."""

    low: int
    end: int
    is_ordered: bool


class SearchIndex:
    """The file at `path`, which need not be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: sqlite3.Connection | None = None
        self._file: FileIdentity | None = None  # what it writes
        self._lock = threading.Lock()  # around the four below
        self._idle: list[sqlite3.Connection] = []
        self._shares: Recent[_Share] = Recent(SHARES_BYTES)
        self._life = 0  # goes up when what was opened before is of no use any more
        self._is_complete = False

    # Any thread ----------------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """May it be asked?"""
        return self._is_complete

    @contextmanager
    def reading(self) -> Iterator["Proposals"]:
        """One state of the index, which holds what the store's tail did not at any time before. IndexLost."""
        conn, life = self._take()
        try:
            conn.execute("BEGIN")
            yield Proposals(Tx(conn), self._shares)
            conn.execute("ROLLBACK")
        except sqlite3.Error as error:
            conn.close()
            self._failed(error, life)
            raise IndexLost(str(error)) from error
        except BaseException:
            conn.close()
            raise
        self._give_back(conn, life)

    def condemn(self, fault: str, life: int | None = None) -> None:
        """Nothing is read from it from now on, and it is to be made anew. `life`: unless that was done since."""
        with self._lock:
            if not self._is_complete or life not in (None, self._life):
                return
            self._is_complete = False
        log.error("search_index_damaged", fault=fault)

    def _take(self) -> tuple[sqlite3.Connection, int]:
        with self._lock:
            if not self._is_complete:
                raise IndexLost("not complete")
            life = self._life
            if self._idle:
                return self._idle.pop(), life
        try:
            conn = connect(self.path, "ro")
        except sqlite3.Error as error:
            self._failed(error, life)
            raise IndexLost(str(error)) from error
        if self._is_in_place():
            return conn, life
        conn.close()
        self.condemn(MISPLACED, life)
        raise IndexLost(MISPLACED)

    def _is_in_place(self) -> bool:
        return file_at(self.path) == self._file

    def _failed(self, error: sqlite3.Error, life: int) -> None:
        if is_damage(error):
            self.condemn(str(error), life)
        elif not self._is_in_place():
            self.condemn(MISPLACED, life)
        else:  # of the moment: no memory, a disk that refuses
            log.warning("search_index_refused", error=str(error))

    def _give_back(self, conn: sqlite3.Connection, life: int) -> None:
        with self._lock:
            if life == self._life:
                self._idle.append(conn)
                return
        conn.close()

    # Who writes ----------------------------------------------------------------------------------

    def open(self, mark: str | None) -> str | None:
        """Open the file for writing where it belongs to a store that names this mark; else say why not."""
        self.close()
        if not self.path.exists():
            return "missing"
        try:
            self._writer = connect(self.path, "rw")
            self._file = file_at(self.path)
            is_complete = index_schema.is_complete_for(Tx(self._writer), mark)
        except (IndexLost, sqlite3.DatabaseError) as error:
            return str(error)
        with self._lock:
            self._is_complete = is_complete
        return None

    def make(self) -> str:
        """Begin an empty one in the place of what is there; its mark."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self.path.touch(mode=0o600)
        self._writer = connect(self.path, "rw")
        self._file = file_at(self.path)
        self._writer.execute("PRAGMA journal_mode = WAL")
        return index_schema.create(self._writer)

    def change(
        self, previous: str | None, entries: Sequence[Entry], gone: Sequence[Gone], walked: Walked | None
    ) -> str:
        """Put the messages in that are not there yet, take out those that are gone; the mark of it, once durable.

        `walked`: how far, where they are of the walk through all messages.
        """
        mark = secrets.token_hex(16)
        with self._changing() as tx:
            _take_out(tx, gone)
            _put(tx, entries)
            tx.run("UPDATE index_state SET mark = ?, previous = ?", (mark, None if gone else previous))
            if walked is not None:
                tx.run("UPDATE index_state SET organization_id = ?, message_id = ?", walked)
        return mark

    def walked(self) -> Walked | None:
        """How far the walk through all messages has come; None when it was finished."""
        with self._guarded() as conn:
            row = Tx(conn).one("SELECT organization_id, message_id, is_complete FROM index_state")
        assert row is not None
        return None if row[2] else Walked(row[0], row[1])

    def complete(self) -> None:
        """The walk was finished: what is not in the tail is here."""
        with self._changing() as tx:
            tx.run("UPDATE index_state SET is_complete = 1")
        with self._lock:
            self._is_complete = True

    def merge(self, pages: int = MERGE_PAGES) -> bool:
        """One bounded step of tidying up; False when there is nothing to do."""
        with self._changing() as tx:
            before: int = tx.value("SELECT total_changes()")
            tx.run("INSERT INTO trigrams (trigrams, rank) VALUES ('merge', ?)", (pages,))
            after: int = tx.value("SELECT total_changes()")
        return after - before >= 2  # the statement itself is one

    def shrink(self) -> None:
        """Give the memory back that pages are kept in."""
        with self._lock:
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()
        if self._writer is not None:
            self._writer.execute("PRAGMA shrink_memory")

    def check(self, interrupted: Callable[[], bool]) -> bool:
        """Look at all its pages, and condemn it where one is damaged; False when it was interrupted before."""
        with self._guarded() as conn:
            conn.set_progress_handler(interrupted, CHECK_STEPS)
            try:
                rows = conn.execute("PRAGMA quick_check(1)").fetchall()
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                    return False
                raise
            finally:
                conn.set_progress_handler(None, 0)
        if rows != [("ok",)]:
            self.condemn(str(rows[0][0]))
        return True

    def close(self) -> None:
        """Whoever reads at the moment reads to the end."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._shares = Recent(SHARES_BYTES)
            self._life += 1
            self._is_complete = False
        for conn in idle:
            conn.close()
        if self._writer is not None:  # the last: it writes back what is in the log
            self._writer.close()
            self._writer = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """The writing connection; damage that it meets condemns the index. IndexLost."""
        if self._writer is None:
            raise IndexLost("not open")
        if not self._is_in_place():
            self.condemn(MISPLACED)
            raise IndexLost(MISPLACED)
        try:
            yield self._writer
        except sqlite3.Error as error:
            if is_damage(error):
                self.condemn(str(error))
                raise IndexLost(str(error)) from error
            raise

    @contextmanager
    def _changing(self) -> Iterator[Tx]:
        with self._guarded() as conn:
            try:
                conn.execute("BEGIN IMMEDIATE")
                yield Tx(conn)
                conn.execute("COMMIT")
            except BaseException:
                if conn.in_transaction:
                    conn.execute("ROLLBACK")
                raise


class _Share(NamedTuple):
    """The share of a trigram when the organization's numbers were these."""

    share: float
    low: int
    end: int


class Proposals:
    """Questions to one state of the index. `shares`: what was told of any state (`share`)."""

    def __init__(self, tx: Tx, shares: Recent[_Share]) -> None:
        self._tx = tx
        self._shares = shares

    def span(self, organization_id: str) -> Span | None:
        """None when nothing of the organization is indexed."""
        row = self._tx.one(
            "SELECT number, documents, is_ordered FROM indexed_organizations WHERE organization_id = ?",
            (organization_id,),
        )
        if row is None:
            return None
        number, documents, is_ordered = row
        low = number << DOCUMENTS_BITS
        return Span(low, low + documents + 1, bool(is_ordered))

    def number_from(self, span: Span, message_id: str) -> int:
        """The number from which on messages are as new as this id, where numbers go by age; `end` when none is."""
        low, end = span.low, span.end
        while message_id and low < end:
            middle = (low + end) // 2
            row = self._tx.one(
                """SELECT document, message_id FROM documents WHERE document >= ? AND document < ?
                   ORDER BY document LIMIT 1""",
                (middle, end),
            )
            if row is None or row[1] >= message_id:
                end = middle
            else:
                low = row[0] + 1
        return low

    def share(self, trigram: str, span: Span) -> float:
        """About how many of the span's numbers hold the trigram, told by the newest that do: 0 none, 1 all.

        FTS5 reads lists from their beginning to tell their end, so a common trigram costs 0.2 ms. They are the same few
        in most searches: what was told is remembered until the organization has an eighth more messages.
        """
        known = self._shares.get((span.low, trigram))
        if known is not None and span.end - known.end <= (known.end - known.low) // 8:
            return known.share
        share = self._share(trigram, span)
        self._shares.put((span.low, trigram), _Share(share, span.low, span.end), SHARE_BYTES)
        return share

    def _share(self, trigram: str, span: Span) -> float:
        given = {
            "match": _all_of(terms_of_trigrams([trigram])),
            "low": span.low,
            "below": span.end,
            "rows": _REACH_ROWS,
        }
        row = self._tx.one(_REACH, given)
        assert row is not None
        count: int = row[0]
        since: int = row[1] if count == _REACH_ROWS else span.low
        return count / (span.end - since)

    def match(self, trigrams: Sequence[str], inbox_id: str | None) -> str | None:
        """The question for what holds all of them, in the inbox if one is given; None when that has nothing."""
        wanted = terms_of_trigrams(trigrams)
        if inbox_id is not None:
            number = self._tx.value("SELECT number FROM indexed_inboxes WHERE inbox_id = ?", (inbox_id,))
            if number is None:
                return None
            wanted.append(inbox_term(number))
        return _all_of(wanted)

    def by_number(self, match: str, low: int, below: int, rows: int) -> str:
        """JSON: [number, message's id or null] of the highest numbers from `low` on, below the other."""
        parameters = {"match": match, "low": low, "below": below, "rows": rows}
        return str(self._tx.value(f"SELECT {_BY_NUMBER}", parameters))

    def by_age(self, match: str, span: Span, first: str, last: str, rows: int) -> str:
        """JSON: [message's id, the same] of the newest messages from `first` on, older than `last`."""
        parameters = {
            "match": match,
            "low": span.low,
            "below": span.end,
            "first": first,
            "last": last,
            "rows": rows,
        }
        return str(self._tx.value(f"SELECT {_BY_AGE}", parameters))


def _all_of(terms: Iterable[str]) -> str:
    return " AND ".join(f'"{one}"' for one in terms)


def _take_out(tx: Tx, gone: Sequence[Gone]) -> None:
    for one, terms in zip(gone, terms_of_texts([one.words for one in gone]), strict=True):
        document = tx.value(
            "DELETE FROM documents WHERE message_id = ? RETURNING document", (one.message_id,)
        )
        number = tx.value("SELECT number FROM indexed_inboxes WHERE inbox_id = ?", (one.inbox_id,))
        if document is not None:
            tx.run(
                "INSERT INTO trigrams (trigrams, rowid, terms) VALUES ('delete', ?, CAST(? AS TEXT))",
                (document, _said(number, terms)),
            )


def _put(tx: Tx, entries: Sequence[Entry]) -> None:
    """In few statements: the interpreter's lock is taken once for each, and a busy loop gives it up late."""
    ids = dump([one.message_id for one in entries])
    rows = tx.all(f"SELECT message_id FROM documents WHERE message_id IN {each_of('?')}", (ids,))
    known = {message_id for (message_id,) in rows}
    fresh = sorted(one for one in entries if one.message_id not in known)
    if not fresh:
        return
    inboxes = _numbers(tx, "indexed_inboxes", "inbox_id", {one.inbox_id for one in fresh})
    documents = _documents(tx, fresh)
    numbered = [(document, one.message_id) for document, one in zip(documents, fresh, strict=True)]
    said = [
        _said(inboxes[one.inbox_id], terms)
        for one, terms in zip(fresh, terms_of_texts([one.words for one in fresh]), strict=True)
    ]
    rows_of = f"SELECT {item('value', 0)}, {item('value', 1)} FROM {elements('?')}"
    tx.run(f"INSERT INTO documents (document, message_id) {rows_of}", (dump(numbered),))
    starts = accumulate(map(len, said), initial=1)
    slices = list(zip(documents, starts, map(len, said), strict=False))
    tx.run(
        f"""INSERT INTO trigrams (rowid, terms)
            SELECT {item("value", 0)}, CAST(substr(:said, {item("value", 1)}, {item("value", 2)}) AS TEXT)
            FROM {elements(":slices")}""",
        {"said": b"".join(said), "slices": dump(slices)},
    )


def _documents(tx: Tx, fresh: Sequence[Entry]) -> list[int]:
    """A number for each: the next ones of its organization."""
    _numbers(tx, "indexed_organizations", "organization_id", {one.organization_id for one in fresh})
    rows = tx.all(
        f"""SELECT organization_id, number, documents, newest_id, is_ordered FROM indexed_organizations
            WHERE organization_id IN {each_of("?")}""",
        (dump(sorted({one.organization_id for one in fresh})),),
    )
    standing = {row[0]: list(row[1:]) for row in rows}
    documents = []
    for one in fresh:
        mine = standing[one.organization_id]
        mine[1] += 1
        mine[3] = int(mine[3] and mine[2] < one.message_id)
        mine[2] = max(mine[2], one.message_id)
        documents.append((mine[0] << DOCUMENTS_BITS) + mine[1])
    for number, count, newest_id, is_ordered in standing.values():
        tx.run(
            "UPDATE indexed_organizations SET documents = ?, newest_id = ?, is_ordered = ? WHERE number = ?",
            (count, newest_id, is_ordered, number),
        )
    return documents


def _numbers(tx: Tx, table: str, column: str, ids: set[str]) -> dict[str, int]:
    """The number of each, given to those that have none."""
    given = dump(sorted(ids))
    tx.run(
        f"INSERT INTO {table} ({column}) SELECT value FROM {elements('?')} WHERE 1 ON CONFLICT DO NOTHING",
        (given,),
    )
    return dict(tx.all(f"SELECT {column}, number FROM {table} WHERE {column} IN {each_of('?')}", (given,)))


def _said(inbox_number: int, terms: bytes) -> bytes:
    return inbox_term(inbox_number).encode() + b" " + terms
