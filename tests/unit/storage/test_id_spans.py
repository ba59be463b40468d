"""What a window of time finds, however its ids and times go together (storage/id_spans.py)."""

import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from storage import id_spans
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.mail import messages
from storage.searching import search, search_tail
from storage.searching.needle import IN_EVERYTHING, Needle
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row

DAY_MS = 86_400_000
NOW_MS = 1_795_000_000_000
NEAR = st.integers(-3, 3)
FAR = st.sampled_from([0, id_spans.MARGIN_MS, id_spans.MARGIN_MS + 1, DAY_MS, 40 * DAY_MS])
MOMENT = st.builds(lambda near, far, sign: NOW_MS + near + sign * far, NEAR, FAR, st.sampled_from([-1, 1]))
WINDOW = st.none() | MOMENT


@pytest.fixture(scope="module")
def conn() -> Iterator[sqlite3.Connection]:
    conn = memory_store.empty()
    yield conn
    conn.close()


@pytest.fixture
def tx(conn: sqlite3.Connection) -> Iterator[Tx]:
    conn.execute("BEGIN")
    yield Tx(conn)
    conn.execute("ROLLBACK")


def insert(tx: Tx, id_ms: int, created_at: int, number: int = 0, organization_id: str = "org_1") -> str:
    """A message whose id was made at the one time and that bears the other."""
    message_id = f"{first_at('msg', id_ms)}{number:016}"
    messages.insert(
        tx,
        message_row(id=message_id, organization_id=organization_id, created_at=created_at, text_body="hello"),
    )
    return message_id


def drifts(tx: Tx) -> dict[str, int]:
    return dict(tx.all("SELECT organization_id, drift_ms FROM id_drifts"))


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(MOMENT, MOMENT), max_size=6), WINDOW, WINDOW, st.booleans())
@example([(NOW_MS + 40 * DAY_MS, NOW_MS)], NOW_MS, NOW_MS + 1, True)  # the clock was set back
@example([(NOW_MS, NOW_MS)], NOW_MS, NOW_MS + 1, True)
@example([(NOW_MS, NOW_MS)], NOW_MS + 1, None, True)
@example([(NOW_MS, NOW_MS)], None, NOW_MS, True)
def test_a_window_finds_what_was_created_in_it(
    tx: Tx,
    tmp_path: Path,
    made: list[tuple[int, int]],
    since: int | None,
    until: int | None,
    is_indexed: bool,
) -> None:
    tx.run("SAVEPOINT example")
    try:
        ids = [insert(tx, *times, number) for number, times in enumerate(made)]
        index = SearchIndex(tmp_path / "search.sqlite3")
        index.make()
        index.complete()
        if is_indexed:
            some = search_tail.waiting(tx, 10)
            search_tail.settle(tx, some, search_tail.tell(index, some, search_tail.said(tx, some)))
        scope, before = search.bounded(tx, Scope("org_1", since_ms=since, until_ms=until), None)
        found = search.scan(tx, scope, IN_EVERYTHING, before, None, 10).message_ids
        needle = Needle("hello", None)
        by_word = [
            message_id
            for place in (search.tail, partial(search.indexed, index))
            for message_id in place(tx, scope, needle, before, None, 10).message_ids
        ]
    finally:
        index.close()
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")
    inside = {
        message_id
        for message_id, (_, created_at) in zip(ids, made, strict=True)
        if (since is None or since <= created_at) and (until is None or created_at < until)
    }
    assert found == sorted(inside, reverse=True)
    assert sorted(by_word, reverse=True) == found


def test_only_what_lies_far_apart_is_noted_and_the_farthest_counts(tx: Tx) -> None:
    insert(tx, NOW_MS + id_spans.MARGIN_MS - 1, NOW_MS)
    insert(tx, NOW_MS - id_spans.MARGIN_MS + 1, NOW_MS)
    assert drifts(tx) == {}
    for number, apart_ms in enumerate((DAY_MS, -3 * DAY_MS, 2 * DAY_MS)):
        insert(tx, NOW_MS + apart_ms, NOW_MS, number)
    assert drifts(tx) == {"org_1": 3 * DAY_MS}


def test_a_window_is_as_much_wider_as_the_organization_needs(tx: Tx) -> None:
    margin = id_spans.MARGIN_MS
    insert(tx, NOW_MS + DAY_MS, NOW_MS)
    assert id_spans.between(tx, "org_1", None, None) == (None, None)
    assert id_spans.between(tx, "org_2", NOW_MS, None) == (first_at("msg", NOW_MS - margin), None)
    assert id_spans.between(tx, "org_1", NOW_MS, NOW_MS) == (
        first_at("msg", NOW_MS - margin - DAY_MS),
        first_at("msg", NOW_MS + margin + DAY_MS),
    )
