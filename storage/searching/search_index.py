"""The index of trigrams: a file of its own beside the store, with connections of its own.

It is derived from the store, so it needs no backup, and one that is missing, damaged or not this store's is made anew
(`storage.searching.indexer`). It keeps no words, only which numbers each trigram stands under, and which message a
number is. What is put in and why is the matter of `storage.searching.search_tail`; here is how SQLite says it.

How the two files know each other: each change of the index has a mark, a random text. The index names the mark that it
was made with and the one that the store named before; once the index is committed, the store takes the new one in the
transaction that clears the tail. So they belong together where the store names either, whatever was killed in between;
an index of another store, or one older or newer than a store that was restored, has neither. A change that takes
messages out names its own alone: in a store that was restored to the mark before, these are there again, and would be
missing. Both commits are fsynced, in this order, hence a power cut can't leave a store that is ahead of its index.

Who may call: what reads, any thread (`storage.searching.index_readers`); what writes, one at a time. Whoever finds the
index damaged condemns it: from then on no search is answered from it, until it was made anew. So does who finds that
the file at its path is no longer the one that was opened for writing, before anything is read of another.
"""

import secrets
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from storage.durable_files import is_there
from storage.engine.failures import is_closed_to_us, may_pass
from storage.engine.store_files import MISPLACED
from storage.engine.tx import Tx
from storage.exhaustion import is_short_of_descriptors
from storage.searching import index_batches, index_schema
from storage.searching.index_batches import Entry, Gone
from storage.searching.index_file import IndexLost, connect, is_damage
from storage.searching.index_proposals import Proposals
from storage.searching.index_readers import IndexReaders

MERGE_PAGES = 64
CHECK_STEPS = 10_000  # of SQLite's machine, between two looks whether to go on


class Walked(NamedTuple):
    """Up to which message of which organization all are indexed, in the order of both ids."""

    organization_id: str = ""
    message_id: str = ""


class SearchIndex:
    """The file at `path`, which need not be there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer: sqlite3.Connection | None = None
        self._readers = IndexReaders(path)

    # Any thread ----------------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """May it be asked?"""
        return self._readers.is_complete

    def reading(self) -> AbstractContextManager[Proposals]:
        """One state of the index, which holds what the store's tail did not at any time before. IndexLost."""
        return self._readers.reading()

    # Who writes ----------------------------------------------------------------------------------

    def open(self, mark: str | None) -> str | None:
        """Open the file for writing where it belongs to a store that names this mark; else say why not.

        StoreFailure where the machine can't open it now, so that it says nothing of the file."""
        self.close()
        if not is_there(self.path):
            return "missing"
        try:
            self._writer = connect(self.path, "rw")
            self._readers.begin()
            is_complete = index_schema.is_complete_for(Tx(self._writer), mark)
        except sqlite3.DatabaseError as error:
            if _is_of_the_moment(error):
                raise
            return str(error)
        except IndexLost as error:
            return str(error)
        if is_complete:
            self._readers.allow()
        return None

    def make(self) -> str:
        """Begin an empty one in the place of what is there; its mark."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self.path.touch(mode=0o600)
        self._writer = connect(self.path, "rw")
        self._readers.begin()
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
            index_batches.take_out(tx, gone)
            index_batches.put(tx, entries)
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
            tx.run("UPDATE index_state SET is_complete = 1, organization_id = '', message_id = ''")
        self._readers.allow()

    def merge(self, pages: int = MERGE_PAGES) -> bool:
        """One bounded step of tidying up; False when there is nothing to do."""
        with self._changing() as tx:
            before: int = tx.value("SELECT total_changes()")
            tx.run("INSERT INTO trigrams (trigrams, rank) VALUES ('merge', ?)", (pages,))
            after: int = tx.value("SELECT total_changes()")
        return after - before >= 2  # the statement itself is one

    def shrink(self) -> None:
        """Give the memory back that pages are kept in."""
        self._readers.shrink()
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
            self._readers.condemn(str(rows[0][0]))
        return True

    def close(self) -> None:
        """Whoever reads at the moment reads to the end."""
        self._readers.end()
        if self._writer is not None:  # the last: it writes back what is in the log
            self._writer.close()
            self._writer = None

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """The writing connection; damage that it meets condemns the index. IndexLost."""
        if self._writer is None:
            raise IndexLost("not open")
        if not self._readers.is_in_place():
            self._readers.condemn(MISPLACED)
            raise IndexLost(MISPLACED)
        try:
            yield self._writer
        except sqlite3.Error as error:
            if is_damage(error):
                self._readers.condemn(str(error))
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


def _is_of_the_moment(error: sqlite3.Error) -> bool:
    """Would the same file open at another time? To make it anew takes hours of work in a large store."""
    if is_damage(error):
        return False
    return may_pass(error) or (is_closed_to_us(error) and is_short_of_descriptors())
