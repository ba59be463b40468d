"""Look-ups on the event loop: those of one round of it see one state of the store.

To begin and to end a transaction costs as much as finding a row by an index, and a round has up to twenty look-ups. So
the first of a round begins a transaction, and it ends with the round.

While the writer's thread is at work (`apart`), each look-up has one of its own. So none is older than a commit of this
process; and none is open for long while the WAL is written back, whose pages it would keep from being used again.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from storage.engine.tx import Tx

T = TypeVar("T")

AGAIN_S = 0.1


class LocalReads:
    """Runs units on a reading connection of the event loop's own; called on the loop alone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.raw = connection
        self._tx = Tx(connection)
        self._are_shared = True
        self._is_closed = False

    def run(self, unit: Callable[[Tx], T]) -> T:
        """What `unit(tx)` returns or raises; StoreFailure."""
        if self._are_shared:
            self._begin()
            return unit(self._tx)
        self._end()
        self.raw.execute("BEGIN")
        try:
            return unit(self._tx)
        finally:
            self._end()

    def peek(self, unit: Callable[[Tx], T]) -> T:
        """The same for a unit of one statement, which sees one state without a transaction."""
        if self._are_shared:
            self._begin()
        return unit(self._tx)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """While the store is written to by another thread."""
        self._end()
        self._are_shared = False
        try:
            yield
        finally:
            self._are_shared = True

    def close(self) -> None:
        """Nothing is looked up any more; the writer may still be at work."""
        self._is_closed = True
        self.raw.close()

    def _begin(self) -> None:
        if not self.raw.in_transaction:
            self.raw.execute("BEGIN")
            asyncio.get_running_loop().call_soon(self._end_round)

    def _end_round(self) -> None:
        try:
            self._end()
        except MemoryError:  # until then it sees what it has seen
            asyncio.get_running_loop().call_later(AGAIN_S, self._end_round)

    def _end(self) -> None:
        if not self._is_closed and self.raw.in_transaction:  # a failure of the disk may have ended it
            self.raw.execute("ROLLBACK")
