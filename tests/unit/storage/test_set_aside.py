"""What failed by itself is left alone for a while (storage/set_aside.py)."""

import sqlite3
from typing import Any

import pytest

from storage.engine.writer import DatabaseClosed
from storage.set_aside import LEFT_ALONE_S, SetAside
from tests.support.worlds.store import ManualClock


class Log:
    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def exception(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))


async def failing(error: BaseException | None = None) -> None:
    if error is not None:
        raise error


def full() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def set_aside(log: Log, clock: ManualClock) -> SetAside:
    return SetAside(clock, log, "not_done", "row_id")


async def test_what_fails_is_left_alone_for_a_while(
    set_aside: SetAside, log: Log, clock: ManualClock
) -> None:
    assert await set_aside.attempt("good", failing())
    assert await set_aside.attempt("bad", failing(ValueError()))
    assert log.lines == [("not_done", {"row_id": "bad"})]
    clock.forward(LEFT_ALONE_S - 1)
    assert (set_aside.keys(), set_aside.rest_s) == (frozenset({"bad"}), 1)
    clock.forward(1)
    assert (set_aside.keys(), set_aside.rest_s) == (frozenset(), None)


async def test_a_store_that_refuses_says_nothing_of_the_row(set_aside: SetAside, log: Log) -> None:
    assert not await set_aside.attempt("row", failing(full()))
    assert log.lines == [("not_done", {"row_id": "row"})]
    assert set_aside.keys() == frozenset()


async def test_the_end_of_the_process_is_no_failure(set_aside: SetAside, log: Log) -> None:
    with pytest.raises(DatabaseClosed):
        await set_aside.attempt("row", failing(DatabaseClosed()))
    assert (log.lines, set_aside.keys()) == ([], frozenset())
