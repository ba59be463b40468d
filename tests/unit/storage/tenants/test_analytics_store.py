"""Counting reads the rows of one organization, through an index (threat A3)."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from storage import usage
from storage.agents import agents
from storage.engine.tx import Tx
from storage.sending import suppressions
from storage.tenants import analytics, keys, organizations
from storage.tenants.analytics import AnalyticsSpan, MessageSlice
from tests.support.worlds import memory_store

SPANS = [AnalyticsSpan("org_1", None, 0, 10**12), AnalyticsSpan("org_1", "inb_1", 0, 10**12)]
PART = MessageSlice("msg_0", "msg_z", 0)

Unit = Callable[[Tx], Any]
UNITS: dict[str, Unit] = {
    "profile": lambda tx: organizations.used(tx, "org_1", 0),
    "reputation": lambda tx: usage.reputation(tx, "org_1", 10**12),
    "keys": lambda tx: keys.list_keys(tx, "org_1", limit=5, before="key_1"),
    "agents": lambda tx: agents.list_agents(tx, "org_1", limit=5, inbox_id="inb_1"),
    "agent deleted": lambda tx: agents.remove(tx, "org_1", "agt_1", 0),
    "suppressions": lambda tx: suppressions.list_suppressions(tx, "org_1", limit=5, before="sup_1"),
    "suppressions by email": lambda tx: suppressions.list_suppressions(
        tx, "org_1", limit=5, email="a@b.test"
    ),
}
for _span in SPANS:
    for _name, _unit in {
        "slice": lambda tx, span=_span: analytics.next_slice(tx, span, "msg_0"),
        "deliveries": lambda tx, span=_span: analytics.deliveries(tx, span, PART),
        "destined": lambda tx, span=_span: analytics.destined(tx, span, PART),
        "complaints": lambda tx, span=_span: analytics.complaints(tx, span),
        "events": lambda tx, span=_span: analytics.events(tx, span, ["email.sent"], 1000),
    }.items():
        UNITS[f"{_name} of {_span.inbox_id or 'all'}"] = _unit


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    conn = memory_store.empty()
    yield conn
    conn.close()


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_no_table_is_scanned(conn: sqlite3.Connection, unit: Unit) -> None:
    statements: list[str] = []
    conn.set_trace_callback(statements.append)
    unit(Tx(conn))
    conn.set_trace_callback(None)
    tables = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert statements
    for statement in statements:
        if statement.startswith(("BEGIN", "--")):
            continue
        for row in conn.execute(f"EXPLAIN QUERY PLAN {statement}"):
            words = row[3].split()
            assert not (words[0] == "SCAN" and words[1] in {*tables, "m", "r", "a"}), (statement, row[3])
