"""The event log is read in looks of bounded length, whatever its readers want (storage/publishing/events.py)."""

import sqlite3
from collections.abc import Iterator
from itertools import count

import pytest

from storage.engine.tx import Tx
from storage.ids import first_at
from storage.publishing import events, webhooks
from storage.publishing.events import Selection
from tests.support.worlds import memory_store

WALK = 10
TYPES = ["email.received", "email.sent"]


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    opened = memory_store.empty()
    yield opened
    opened.close()


@pytest.fixture
def tx(monkeypatch: pytest.MonkeyPatch, conn: sqlite3.Connection) -> Tx:
    monkeypatch.setattr(events, "WALK", WALK)
    return Tx(conn)


def publish(
    tx: Tx, number: int, organization_id: str = "org_1", inbox_id: str = "inb_1", type: str = "email.sent"
) -> None:
    events.publish(
        tx, event_id(number), number, organization_id=organization_id, inbox_id=inbox_id, type=type, data={}
    )  # fmt: skip


def event_id(number: int) -> str:
    return first_at("evt", number).ljust(30, "5")


def read(tx: Tx, selection: Selection, limit: int) -> tuple[list[int], int]:
    """The positions of all that the reader wants, and how many looks they took."""
    found, after, looks = [], 0, 0
    while True:
        page = events.list_events(tx, selection, after=after, limit=limit)
        looks += 1
        assert len(page.told) <= limit and page.position >= after
        found += [one.event.seq for one in page.told]
        if page.is_end:
            assert page.position == events.newest(tx)
            return found, looks
        assert page.position > after
        after = page.position


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_the_looks_find_everything_once(tx: Tx, limit: int) -> None:
    for number in range(1, 101):
        type = "email.received" if number in (1, 10, 11, 12, 35, 100) else "email.sent"
        publish(tx, number, type=type, inbox_id=f"inb_{number % 2}")
    selection = Selection("org_1", None, ["email.received"])
    assert read(tx, selection, limit)[0] == [1, 10, 11, 12, 35, 100]
    assert read(tx, selection._replace(inbox_id="inb_1"), limit)[0] == [1, 11, 35]
    assert read(tx, selection._replace(inbox_id="inb_7"), limit) == ([], 10)
    assert read(tx, selection._replace(types=TYPES), limit)[0] == list(range(1, 101))


def test_what_others_publish_is_no_walk(tx: Tx) -> None:
    for number in range(1, 101):
        publish(tx, number, "org_1" if number in (50, 99) else "org_2")
    assert read(tx, Selection("org_1", None, TYPES), 5) == ([50, 99], 2)
    assert read(tx, Selection("org_3", None, TYPES), 5) == ([], 1)


def test_the_newest_of_one_inbox_is_not_looked_for_in_the_whole_log(tx: Tx) -> None:
    quiet = Selection("org_1", "inb_quiet", TYPES)
    assert events.last(tx, quiet) == (0, None)
    for number in range(1, 6):
        publish(tx, number, inbox_id="inb_quiet")
    assert events.last(tx, quiet) == (5, event_id(5))
    for number in range(6, 40):
        publish(tx, number)
    position, known = events.last(tx, quiet)
    assert position == 39 - WALK and known is not None and len(known) == 30
    assert events.last(tx, quiet._replace(inbox_id=None)) == (39, event_id(39))
    # Whoever comes back with it misses nothing, and is told nothing again.
    publish(tx, 40, inbox_id="inb_quiet")
    again = events.position(tx, quiet, known)
    page = events.list_events(tx, quiet, after=again, limit=9)
    while not page.told and not page.is_end:
        page = events.list_events(tx, quiet, after=page.position, limit=9)
    assert [one.event.seq for one in page.told] == [40]


def test_arrivals_are_found_once_in_the_order_of_commits(tx: Tx) -> None:
    for number in range(1, 101):
        type = "email.received" if number in (1, 10, 11, 12, 35, 80) else "email.sent"
        publish(tx, number, type=type, inbox_id=f"inb_{number % 2}")

    def walk(inbox_id: str | None, limit: int) -> tuple[list[int], int]:
        found, after, looks = [], 0, 0
        while True:
            page = events.arrivals(tx, "org_1", inbox_id, after=after, limit=limit)
            found += [one.seq for one in page.arrivals]
            after, looks = page.position, looks + 1
            if page.is_end:
                return found, looks

    assert walk(None, 2)[0] == walk(None, 100)[0] == [1, 10, 11, 12, 35, 80]
    assert walk("inb_1", 1)[0] == [1, 11, 35]
    assert walk("inb_7", 100) == ([], 10)


def test_the_last_arrival_is_not_looked_for_in_the_whole_log(tx: Tx) -> None:
    assert events.last_arrival(tx, "org_1", None, 1) is None
    events.publish(
        tx, event_id(1), 1, organization_id="org_1", inbox_id="inb_1", message_id="msg_1", type="email.received",
        data={},
    )  # fmt: skip
    came = events.arrival_of(tx, "org_1", "msg_1")
    assert came is not None
    for inbox_id in (None, "inb_1"):
        assert events.last_arrival(tx, "org_1", inbox_id, WALK) == came
        assert events.last_arrival_since(tx, "org_1", inbox_id, came.created_at) == came
        assert events.last_arrival_since(tx, "org_1", inbox_id, came.created_at + 1) is None
    for organization_id, inbox_id in (("org_1", "inb_2"), ("org_2", None)):
        assert events.last_arrival(tx, organization_id, inbox_id, WALK) is None
        assert events.last_arrival_since(tx, organization_id, inbox_id, 0) is None
    assert events.last_arrival(tx, "org_1", None, WALK + 1) is None


def test_webhooks_that_hear_of_other_events_cost_little(tx: Tx, conn: sqlite3.Connection) -> None:
    """Each is looked at in the transaction of each event: parsing what it wants took two thirds of the time."""

    def steps() -> int:
        taken = count()
        conn.set_progress_handler(lambda: next(taken) < 0, 1)
        publish(tx, next(numbers))
        conn.set_progress_handler(None, 0)
        return next(taken)

    numbers = count(1)
    alone = steps()
    for number in range(100):
        webhooks.create(
            tx, f"whk_{number}", 0, organization_id="org_1", url="https://a.test/",
            subscribed_events=["email.received", "email.bounced", "email.sent.again"], secret=b"",
        )  # fmt: skip
    assert steps() - alone < 100 * 20
    assert tx.value("SELECT count(*) FROM webhook_deliveries") == 0
