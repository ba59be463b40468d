"""Who reads the index: connections that are kept for the next search, on any thread.

A search has one state of the index, whatever is written meanwhile. Nothing is read before the index is complete
(`allow`), nor once it is condemned, until it was made anew. `end` ends a life of the index: a connection that is given
back later is closed, and a fault that is found by it condemns nothing any more. Nor is another file read that was put
in its place: whoever opens a connection looks whether it is the one that is written.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from storage.engine.store_files import MISPLACED, FileIdentity, file_at
from storage.engine.tx import Tx
from storage.recent import Recent
from storage.searching.index_file import IndexLost, connect, is_damage
from storage.searching.index_proposals import Proposals, TrigramShare

SHARES_BYTES = 1024 * 1024

log = structlog.get_logger("maild.search")


class IndexReaders:
    """Of the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: FileIdentity | None = None
        self._lock = threading.Lock()  # around the four below
        self._idle: list[sqlite3.Connection] = []
        self._shares: Recent[TrigramShare] = Recent(SHARES_BYTES)
        self._life = 0  # goes up when what was opened before is of no use any more
        self._is_complete = False

    @property
    def is_complete(self) -> bool:
        """May it be asked?"""
        return self._is_complete

    @contextmanager
    def reading(self) -> Iterator[Proposals]:
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

    def begin(self) -> None:
        """The file that lies at the path by now is the one that is written."""
        self._file = file_at(self._path)

    def is_in_place(self) -> bool:
        """Does the file that is written lie at its path?"""
        return file_at(self._path) == self._file

    def allow(self) -> None:
        """All that is not in the store's tail is in the index from now on."""
        with self._lock:
            self._is_complete = True

    def condemn(self, fault: str, life: int | None = None) -> None:
        """Nothing is read from it from now on, and it is to be made anew. `life`: unless that was done since."""
        with self._lock:
            if not self._is_complete or life not in (None, self._life):
                return
            self._is_complete = False
        log.error("search_index_damaged", fault=fault)

    def shrink(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for conn in idle:
            conn.close()

    def end(self) -> None:
        """Whoever reads at the moment reads to the end."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._shares = Recent(SHARES_BYTES)
            self._life += 1
            self._is_complete = False
        for conn in idle:
            conn.close()

    def _take(self) -> tuple[sqlite3.Connection, int]:
        with self._lock:
            if not self._is_complete:
                raise IndexLost("not complete")
            life = self._life
            if self._idle:
                return self._idle.pop(), life
        try:
            conn = connect(self._path, "ro")
        except sqlite3.Error as error:
            self._failed(error, life)
            raise IndexLost(str(error)) from error
        if self.is_in_place():
            return conn, life
        conn.close()
        self.condemn(MISPLACED, life)
        raise IndexLost(MISPLACED)

    def _failed(self, error: sqlite3.Error, life: int) -> None:
        if is_damage(error):
            self.condemn(str(error), life)
        elif not self.is_in_place():
            self.condemn(MISPLACED, life)
        else:  # of the moment: no memory, a disk that refuses
            log.warning("search_index_refused", error=str(error))

    def _give_back(self, conn: sqlite3.Connection, life: int) -> None:
        with self._lock:
            if life == self._life:
                self._idle.append(conn)
                return
        conn.close()
