"""Figures are counted in slices, whatever happened when, and make one sum."""

import sqlite3
from collections.abc import Callable, Iterator
from importlib import resources
from itertools import count
from typing import Any

import pytest

from controlplane.mail import analytics as counted
from controlplane.mail.analytics import Analytics
from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.mail import messages
from storage.tenants.analytics import SLICE_EVENTS, SLICE_MESSAGES, AnalyticsSpan
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row

HOUR_MS = DAY_MS // 24
TYPES = ["email.received", "email.sent"]


class CountingReader:
    """The store's door for one reader at a time. `steps`: of SQLite's machine, in tens, of each read."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self.conn = conn
        self.steps: list[int] = []

    async def read_for(self, organization_id: str, unit: Callable[..., Any], *args: Any) -> Any:
        steps = count()
        self.conn.set_progress_handler(lambda: next(steps) < 0, 10)
        try:
            return unit(Tx(self.conn), *args)
        finally:
            self.conn.set_progress_handler(None, 0)
            self.steps.append(next(steps))


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.executescript((resources.files("storage") / "schema.sql").read_text("utf-8"))
    yield conn
    conn.close()


def publish(conn: sqlite3.Connection, number: int, at_ms: Callable[[int], int]) -> None:
    """Every other one was received and the rest sent, in two inboxes by turns of four; each tenth is of a test."""
    conn.execute("BEGIN")
    conn.executemany(
        """INSERT INTO events (id, organization_id, inbox_id, type, mode, data, created_at)
           VALUES (?, 'org_1', ?, ?, ?, '', ?)""",
        (
            (
                f"evt_{one}",
                f"inb_{one // 4 % 2}",
                TYPES[one % 2],
                "test" if one % 10 == 0 else "live",
                at_ms(one),
            )
            for one in range(number)
        ),
    )
    conn.execute("COMMIT")


@pytest.mark.parametrize("inbox_id", [None, "inb_1", "inb_absent"])
async def test_a_day_of_many_events_is_no_longer_read_than_one_of_few(
    conn: sqlite3.Connection, inbox_id: str | None
) -> None:
    many = 5 * SLICE_EVENTS
    publish(conn, many, lambda one: one * HOUR_MS // many)
    reader: Any = CountingReader(conn)
    span = AnalyticsSpan("org_1", inbox_id, 0, 30 * DAY_MS)
    series = await Analytics(reader).events(span, TYPES, HOUR_MS)
    shown = [one for one in range(many) if one % 10 and inbox_id in (None, f"inb_{one // 4 % 2}")]
    assert [series.counts[type][0] for type in TYPES] == [
        sum(one % 2 == place for one in shown) for place in range(2)
    ]
    assert sum(map(sum, series.counts.values())) == len(shown)
    assert max(reader.steps) < 5 * SLICE_EVENTS


async def test_what_happened_in_one_moment_is_counted_once(conn: sqlite3.Connection) -> None:
    publish(conn, 3 * SLICE_EVENTS, lambda one: 1000 + one // (2 * SLICE_EVENTS))
    reader: Any = CountingReader(conn)
    series = await Analytics(reader).events(AnalyticsSpan("org_1", None, 0, DAY_MS), TYPES[1:], HOUR_MS)
    assert sum(series.counts["email.sent"]) == 3 * SLICE_EVENTS // 2


def receive(conn: sqlite3.Connection, number: int) -> None:
    tx = Tx(conn)
    conn.execute("BEGIN")
    for one in range(number):
        messages.insert(tx, message_row(id=f"msg_{one:026}", thread_id=None))
    conn.execute("COMMIT")


@pytest.mark.parametrize(("read_s", "reads"), [(3600, 1), (-1, 4)])
async def test_slices_are_read_together_for_a_while(
    monkeypatch: pytest.MonkeyPatch, read_s: float, reads: int
) -> None:
    """Each read waits for its turn, behind others': 400,000 messages are hundreds of slices."""
    conn = memory_store.with_inboxes()
    monkeypatch.setattr(counted, "READ_S", read_s)
    receive(conn, 3 * SLICE_MESSAGES)
    reader = CountingReader(conn)
    span = AnalyticsSpan("org_1", None, 0, DAY_MS)
    found = await Analytics(reader).summary(span)  # type: ignore[arg-type]
    assert found.received == 3 * SLICE_MESSAGES
    assert len(reader.steps) == reads + 1  # and complaints
