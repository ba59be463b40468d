"""Whom an inbox has written to: noted once, told apart by inbox and mode, and known of a store from before."""

import sqlite3

import pytest

from storage.engine import migrate
from storage.engine.tx import Tx
from storage.mail import correspondents
from storage.sending import outbound
from tests.support.worlds.memory_store import with_inboxes

STEP = 29  # storage/migrations/


@pytest.fixture
def tx() -> Tx:
    return Tx(with_inboxes())


def test_who_was_written_to_is_known_from_then_on(tx: Tx) -> None:
    keys = ["ada@x.test", "bob@x.test"]
    assert correspondents.unknown(tx, "inb_1", keys) == set(keys)
    correspondents.note(tx, "inb_1", keys[:1], 5)
    assert correspondents.unknown(tx, "inb_1", keys) == {"bob@x.test"}
    assert correspondents.unknown(tx, "inb_2", keys) == set(keys)


def test_the_first_time_stays_the_first(tx: Tx) -> None:
    correspondents.note(tx, "inb_1", ["ada@x.test"], 5)
    correspondents.note(tx, "inb_1", ["ada@x.test", "bob@x.test"], 9)
    windows = ((5, 10), (6, 10), (5, 9))
    assert [correspondents.count_between(tx, "inb_1", *window) for window in windows] == [2, 1, 1]


def test_what_test_keys_send_makes_nobody_known_to_live_ones(tx: Tx) -> None:
    correspondents.note(tx, "inb_1", ["ada@x.test"], 5, mode="test")
    correspondents.note(tx, "inb_1", ["bob@x.test"], 5)
    assert correspondents.unknown(tx, "inb_1", ["ada@x.test", "bob@x.test"]) == {"ada@x.test"}
    assert correspondents.unknown(tx, "inb_1", ["ada@x.test", "bob@x.test"], "test") == frozenset()
    assert correspondents.count_between(tx, "inb_1", 0, 6) == 1


def store_from_before() -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    for number, sql in enumerate(migrate.steps()[: STEP - 1], 1):
        migrate._take(conn, sql, number)
    return conn


def send_as_before(conn: sqlite3.Connection, message_id: str, mode: str, direction: str) -> None:
    conn.execute(
        """INSERT INTO messages (id, organization_id, inbox_id, thread_id, direction, mode, status, from_address,
             to_addresses, cc_addresses, bcc_addresses, subject, snippet, size_bytes, header_length, envelope_from,
             created_at)
           VALUES (?, 'org_1', 'inb_1', 'thd_1', ?, ?, 'sent', '', '[]', '[]', '[]', '', '', 1, 1, '', 1)""",
        (message_id, direction, mode),
    )


def test_a_store_from_before_knows_whom_it_has_written_to() -> None:
    conn = store_from_before()
    for number, mode in enumerate(("live", "live", "test")):
        send_as_before(conn, f"msg_{number}", mode, "outbound")
        recipients = [("to", "Ada@x.test"), ("cc", "bob@x.test")]
        outbound.enqueue(Tx(conn), f"msg_{number}", "org_1", recipients, 7, 99)
    conn.execute("UPDATE recipients SET last_attempt_at = 40 + substr(message_id, 5) WHERE kind = 'to'")
    send_as_before(conn, "msg_9", "live", "inbound")
    migrate._take(conn, migrate.steps()[STEP - 1], STEP)
    assert conn.execute("SELECT * FROM correspondents ORDER BY address, mode").fetchall() == [
        ("inb_1", "ada@x.test", "live", 40),
        ("inb_1", "ada@x.test", "test", 42),
        ("inb_1", "bob@x.test", "live", 0),
        ("inb_1", "bob@x.test", "test", 0),
    ]
    conn.close()


def test_the_upgrade_reads_no_message() -> None:
    """Only the index has all that it asks: a million messages are some gigabytes."""
    conn = store_from_before()
    step = migrate.steps()[STEP - 1]
    tables, backfill = step.split("-- Of each message", 1)
    conn.executescript(tables)
    select = backfill[backfill.index("INSERT") :].partition(";")[0]
    plan = [line[3] for line in conn.execute(f"EXPLAIN QUERY PLAN {select}")]
    assert any("m USING COVERING INDEX messages_by_organization" in line for line in plan), plan
    assert any("SEARCH r USING PRIMARY KEY" in line for line in plan), plan
    conn.close()
