"""What reads a whole table, or rows that its list does not name, is found (tests/support/laws/query_plans.py)."""

import pytest

from storage.engine.dialect import each_of, each_row_of
from storage.engine.tx import Tx
from storage.mail import messages
from tests.support.laws import query_plans
from tests.support.laws.query_plans import (
    ALLOWED,
    FILTERS,
    ROOT,
    Watch,
    compared_lists,
    scans,
    undecided_joins,
)
from tests.support.worlds import memory_store

LIST, PAIRS = each_of("?"), each_row_of("?", 2)


@pytest.mark.parametrize(
    ("sql", "table"),
    [
        ("SELECT * FROM messages WHERE created_at > ?", "messages"),
        ("SELECT 1 FROM threads t WHERE t.is_archived = :archived", "threads"),
        ("SELECT 1 FROM recipients AS r WHERE r.address = ?", "recipients"),
        ("SELECT DISTINCT organization_id FROM events WHERE seq > ?", "events"),  # by an index, all of it
        ("UPDATE blobs SET refs = 0 WHERE data IS NULL", "blobs"),
        ("DELETE FROM suppressions WHERE email = ?", "suppressions"),
        ("SELECT count(*) FROM trigrams", "trigrams"),
        ("SELECT 1 FROM organizations o LEFT JOIN usage u ON u.period = o.plan WHERE o.id = ?", "usage"),
    ],
)
def test_what_reads_a_whole_table_is_found(sql: str, table: str) -> None:
    assert table in [name for name, _ in scans(sql)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM messages WHERE id = ?",
        "SELECT max(seq) FROM events",
        "SELECT m.id FROM json_each(:ids) one JOIN messages m ON m.id = one.value",
        "SELECT rowid FROM trigrams WHERE trigrams MATCH :match AND rowid < 5",
        "SELECT f.id FROM (SELECT id FROM messages WHERE thread_id = ? ORDER BY id LIMIT 5) f",
        "INSERT INTO switched_off (name, since) VALUES (?, ?)",
        "PRAGMA user_version",
    ],
)
def test_what_reads_a_few_rows_is_not(sql: str) -> None:
    assert scans(sql) == []


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (f"SELECT * FROM suppressions WHERE organization_id = ? AND email IN {LIST} ORDER BY id", ["email"]),
        (f"SELECT * FROM claims c WHERE c.id IN {LIST} AND c.organization_id = ? ORDER BY c.id", ["id"]),
        (f"SELECT * FROM claims WHERE organization_id = ? AND id IN {LIST} ORDER BY +id", ["id"]),
        (f"SELECT * FROM claims WHERE +organization_id = ? AND id IN {LIST} ORDER BY id", []),
        (f"SELECT * FROM events WHERE organization_id = ? AND seq > ? AND +type IN {LIST}", []),
        (f"SELECT id FROM messages WHERE status = 'scheduled' AND id NOT IN {LIST}", []),
        (f"DELETE FROM events WHERE seq IN {LIST}", []),
        (f"DELETE FROM usage WHERE (organization_id, scope) IN {PAIRS}", []),
        (f"DELETE FROM usage WHERE organization_id = ? AND (metric, value) IN {PAIRS}", ["value"]),
    ],
)
def test_a_list_of_keys_that_rows_are_not_found_by_is(sql: str, columns: list[str]) -> None:
    assert compared_lists(sql) == columns


FOUND = "(SELECT id FROM threads LIMIT 9)"


@pytest.mark.parametrize(
    ("joined", "names"),
    [
        (f"{FOUND} n JOIN", ["n"]),
        (f"{FOUND} AS n\n INNER JOIN", ["n"]),
        (f"{FOUND} JOIN", [""]),
        (f"{LIST} n JOIN", ["n"]),
        ("found JOIN", ["found"]),
        ("found n JOIN", ["n"]),
        (f"{FOUND} n CROSS JOIN", []),
        (f"{FOUND} CROSS JOIN", []),
        ("found CROSS JOIN", []),
        (f"{FOUND} n LEFT JOIN", []),
        ("threads n JOIN", []),
        ("threads JOIN", []),
    ],
)
def test_a_join_whose_order_is_left_to_the_planner_is_found(joined: str, names: list[str]) -> None:
    sql = f"WITH found (id) AS {FOUND} SELECT m.id FROM {joined} messages m ON m.thread_id = n.id"
    assert undecided_joins(sql) == names


def test_it_is_told_once_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    for name in query_plans.METHODS:
        monkeypatch.setattr(Tx, name, getattr(Tx, name))
    watch.begin()
    conn = memory_store.empty()
    monkeypatch.setattr(messages, "_SELECT", messages._SELECT + " NOT INDEXED")
    tx = Tx(conn)
    tx.one("SELECT * FROM messages")  # a test's own
    messages.by_id(tx, "msg_1")
    (told,) = watch.faults()
    assert (
        told.startswith("storage/mail/messages.py: by_id (line ")
        and "reads all of messages (SCAN messages)" in told
    )
    messages.by_id(tx, "msg_1")
    assert watch.faults() == []


def test_who_is_allowed_to_is_still_there() -> None:
    for place, _ in (*ALLOWED, *FILTERS):
        file, _, function = place.partition(": ")
        assert f"def {function.rpartition('.')[2]}(" in (ROOT / file).read_text("utf-8"), place
