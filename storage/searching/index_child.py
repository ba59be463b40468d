"""Tells the search index what the store says, by a connection of its own, in a thread or in the process that computes.

Told apart, nothing is kept between two calls: to open the index costs a millisecond, and what was opened before might
be a file that is no more. A process that dies at it leaves the index as it was, or changed as a whole; told once more,
that puts nothing in twice.
"""

from contextlib import closing
from pathlib import Path

from storage.engine.connections import connect
from storage.engine.tx import Tx
from storage.searching import search_tail
from storage.searching.index_file import IndexLost
from storage.searching.search_index import SearchIndex
from storage.searching.search_tail import Settlement, Unsettled


def tell(store: Path, index: SearchIndex, some: Unsettled) -> Settlement:
    """`store`: its file. IndexLost, StoreFailure (storage.engine.failures)."""
    # Its state is let go of before the index is written: as long as one is read, the log behind it stays.
    with closing(connect(store, read_only=True)) as conn:
        conn.execute("BEGIN")
        said = search_tail.said(Tx(conn), some)
    return search_tail.tell(index, some, said)


def tell_apart(store: Path, path: Path, some: Unsettled) -> Settlement:
    """The same, of the index at `path`."""
    with closing(SearchIndex(path)) as index:
        fault = index.open(some.mark)
        if fault is not None:
            raise IndexLost(fault)
        return tell(store, index, some)
