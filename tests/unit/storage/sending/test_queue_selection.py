"""What the operator does to what waits: the time that a recipient has left is the same before and behind a hold."""

import pytest

from storage.engine.tx import Tx
from storage.sending import queue_selection
from storage.sending.queue_selection import QueueSelection
from tests.support.worlds import memory_store

ALL = QueueSelection()
DAY_MS = 24 * 3600 * 1000
NOW_MS = 1_000 * DAY_MS


@pytest.fixture
def tx() -> Tx:
    conn = memory_store.empty()
    conn.execute(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
             next_attempt_at, expires_at)
           VALUES ('msg_1', 0, 'org_1', 'a@one.test', 'one.test', 'to', 'deferred', ?, ?)""",
        (NOW_MS + 1, NOW_MS + 5 * DAY_MS),
    )
    return Tx(conn)


def waiting(tx: Tx) -> tuple[int | None, int]:
    (row,) = queue_selection.listed(tx, ALL, 10)
    return row.next_attempt_at, row.expires_at


def test_a_hold_lets_the_time_of_a_recipient_rest(tx: Tx) -> None:
    assert queue_selection.hold(tx, ALL, NOW_MS) == 1
    assert waiting(tx) == (None, NOW_MS + 5 * DAY_MS)
    assert queue_selection.release(tx, ALL, NOW_MS + 30 * DAY_MS) == 1
    assert waiting(tx) == (NOW_MS + 30 * DAY_MS, NOW_MS + 35 * DAY_MS)


def test_holding_what_is_held_and_releasing_what_is_not_changes_nothing(tx: Tx) -> None:
    assert queue_selection.release(tx, ALL, NOW_MS) == 0
    queue_selection.hold(tx, ALL, NOW_MS)
    assert queue_selection.hold(tx, ALL, NOW_MS + DAY_MS) == 0
    queue_selection.release(tx, ALL, NOW_MS + 2 * DAY_MS)
    assert waiting(tx) == (NOW_MS + 2 * DAY_MS, NOW_MS + 7 * DAY_MS)


def test_a_clock_that_was_set_back_takes_no_time_away(tx: Tx) -> None:
    queue_selection.hold(tx, ALL, NOW_MS)
    queue_selection.release(tx, ALL, NOW_MS - DAY_MS)
    assert waiting(tx) == (NOW_MS - DAY_MS, NOW_MS + 5 * DAY_MS)


def test_what_was_held_before_that_was_kept_goes_on_with_its_time(tx: Tx) -> None:
    queue_selection.hold(tx, ALL, NOW_MS)
    tx.run("UPDATE recipients SET held_at = NULL")
    queue_selection.release(tx, ALL, NOW_MS + DAY_MS)
    assert waiting(tx) == (NOW_MS + DAY_MS, NOW_MS + 5 * DAY_MS)
