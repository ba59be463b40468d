"""Looking for a loop costs the same in a long conversation as in a short one."""

import sqlite3
from itertools import count
from typing import Any

from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import exchanges, messages
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row
from tests.support.worlds.store import EPOCH_MS, ManualClock


def filled(size: int, every_s: float, **fields: Any) -> tuple[sqlite3.Connection, int]:
    """A thread of so many messages, and the time after the last."""
    conn = memory_store.empty()
    clock = ManualClock(EPOCH_MS)
    ids = Ids(clock)
    for number in range(size):
        direction = ("inbound", "outbound")[number % 2]
        made: dict[str, Any] = {"id": ids.new("msg"), "created_at": clock.now_ms(), "direction": direction}
        messages.insert(Tx(conn), message_row(**{**made, **fields}, thread_id="thd_1"))
        clock.forward(every_s)
    return conn, clock.now_ms()


def looked(conn: sqlite3.Connection, since_ms: int, at_least: int = 40) -> tuple[int, int]:
    """How many lines were found, and the steps of SQLite's machine, in tens."""
    steps = count()
    conn.set_progress_handler(lambda: next(steps) < 0, 10)
    found = exchanges.newest(Tx(conn), "org_1", "thd_1", "live", since_ms, at_least)
    conn.set_progress_handler(None, 0)
    return len(found), next(steps)


def test_an_old_conversation_is_counted_in_the_index_alone() -> None:
    work = {}
    for size in (100, 1000):
        conn, now_ms = filled(size, every_s=600)
        found, work[size] = looked(conn, now_ms - 7_200_000)
        assert found == 0
    assert work[1000] <= work[100]


def test_an_answer_to_the_id_that_a_smarthost_gave_answers_ours() -> None:
    conn, now_ms = filled(40, every_s=1, in_reply_to="<given@relay.test>", message_id_header="<ours@x.test>")
    sql = "SELECT inbox_id, '<given@relay.test>', max(id) FROM messages WHERE direction = 'outbound'"
    conn.execute(f"INSERT INTO relay_message_ids {sql}")
    lines = exchanges.newest(Tx(conn), "org_1", "thd_1", "live", now_ms - 7_200_000, 40)
    assert {line.answers for line in lines} == {"<ours@x.test>"}


def test_a_busy_conversation_is_read_no_further_than_the_bound() -> None:
    work = {}
    for size in (500, 2000):
        conn, now_ms = filled(size, every_s=1)
        found, work[size] = looked(conn, now_ms - 7_200_000)
        assert found == exchanges.LOOK
    assert work[2000] <= work[500] + 1


def test_what_waits_for_its_time_is_passed_over_no_further_than_the_bound() -> None:
    """Thirty thousand scheduled in one conversation took each send in it 11 ms, and each dispatch of them."""
    work = {}
    for size in (exchanges.PASSED + 100, exchanges.PASSED + 1000):
        conn, now_ms = filled(size, every_s=1, direction="outbound", status="scheduled", scheduled_at=1)
        found, work[size] = looked(conn, now_ms - 7_200_000)
        assert found == 0
    fewer, more = work.values()
    assert more <= fewer + 1


def test_another_organization_reads_nothing() -> None:
    conn, now_ms = filled(100, every_s=1)
    assert exchanges.newest(Tx(conn), "org_2", "thd_1", "live", now_ms - 7_200_000, 40) == []
