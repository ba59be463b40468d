"""SQLite gets no memory, at any step of a unit of work: what was promised is kept, and the store goes on."""

import asyncio
import ctypes
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.exhaustion import is_exhaustion
from tests.support.waiting import GIVES_UP_S

# More than a unit takes here (some 130 KB), in steps that end at every statement, and in the middle of most.
LIMITS = range(0, 200_000, 997)


class Heap:
    """The memory of SQLite in this process."""

    def __init__(self, library: str) -> None:
        self._sqlite = ctypes.CDLL(library)
        self._sqlite.sqlite3_memory_used.restype = ctypes.c_int64
        self._sqlite.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]

    @contextmanager
    def has_left(self, octets: int) -> Iterator[None]:
        self._sqlite.sqlite3_hard_heap_limit64(self._sqlite.sqlite3_memory_used() + octets)
        try:
            yield
        finally:
            self._sqlite.sqlite3_hard_heap_limit64(0)


@pytest.fixture
def heap() -> Heap:
    found = re.search(r"/\S*libsqlite3\.so\S*", Path("/proc/self/maps").read_text())
    if found is None:
        pytest.skip("this Python has an SQLite of its own, which can't be limited")
    return Heap(found.group())


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Database]:
    path = tmp_path / "store"
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT)")
    conn.close()
    db = await Database.open(path)
    yield db
    await db.close()


def note(tx: Tx, number: int) -> int:
    tx.run("INSERT INTO notes VALUES (?, ?)", (number, "x" * 3000 * (number % 30)))
    return number


def numbers(tx: Tx) -> set[int]:
    return {number for (number,) in tx.all("SELECT number FROM notes")}


def sorted_texts(tx: Tx) -> list[Any]:
    return tx.all("SELECT text FROM notes ORDER BY text DESC, number LIMIT 20")


async def test_what_fails_has_not_happened_and_the_next_unit_is_served(db: Database, heap: Heap) -> None:
    taken: set[int] = set()
    refused = 0
    number = 0
    for left in LIMITS:
        with heap.has_left(left):
            writing = []
            for write in (db.write, db.write_repeatable, db.write_repeatable, db.write_apart):
                number += 1
                writing.append(write(note, number))
            reading = [db.read(sorted_texts), db.read(sorted_texts), db.lookup(sorted_texts)]
            async with asyncio.timeout(GIVES_UP_S):
                answers = await asyncio.gather(*writing, *reading, return_exceptions=True)
        failures = [one for one in answers if isinstance(one, BaseException)]
        assert all(is_exhaustion(one) for one in failures), failures
        taken |= {one for one in answers[:4] if isinstance(one, int)}
        refused += len(failures)
        number += 1
        async with asyncio.timeout(GIVES_UP_S):
            taken.add(await db.write(note, number))
            for _ in range(3):  # one for each reader
                assert await db.read(numbers) == taken
            assert await db.lookup(numbers) == taken
    assert refused > 100 and len(taken) > len(LIMITS)
