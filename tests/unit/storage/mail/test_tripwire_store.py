"""How many addresses were written to lately (storage/mail/tripwire.py), beside a model, and at what cost."""

import sqlite3
from itertools import count

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from storage.engine.tx import Tx
from storage.mail import tripwire
from storage.tenants import organizations
from storage.upkeep import integrity
from tests.support.worlds import memory_store

SPAN_MS = 600_000
ORGANIZATIONS = ("org_1", "org_2")
FEW, MANY, LIMIT = 300, 3000, 50

owners = st.sampled_from(ORGANIZATIONS)
addresses = st.sets(st.sampled_from([f"{name}@there.test" for name in "abcdefgh"]), min_size=1, max_size=4)


def store() -> sqlite3.Connection:
    conn = memory_store.empty()
    for one in ORGANIZATIONS:
        organizations.create(Tx(conn), one, "Acme", "selfhost", 0)
    return conn


class TripwireMachine(RuleBasedStateMachine):
    """Sends, a clock that moves both ways, retention and the operator's reset."""

    def __init__(self) -> None:
        super().__init__()
        self.conn = store()
        self.tx = Tx(self.conn)
        self.now_ms = 10 * SPAN_MS
        self.seen: dict[tuple[str, str], int] = {}

    @rule(owner=owners, keys=addresses)
    def send(self, owner: str, keys: set[str]) -> None:
        tripwire.note(self.tx, owner, keys, self.now_ms, SPAN_MS)
        self.seen = {
            one: at for one, at in self.seen.items() if one[0] != owner or abs(self.now_ms - at) < SPAN_MS
        }
        self.seen |= {(owner, key): self.now_ms for key in keys}

    @rule(
        step_ms=st.sampled_from(
            [1, SPAN_MS // 2, SPAN_MS - 1, SPAN_MS, 2 * SPAN_MS, -1, -SPAN_MS, -2 * SPAN_MS]
        )
    )
    def pass_time(self, step_ms: int) -> None:
        self.now_ms += step_ms

    @rule()
    def remove_old(self) -> None:
        self.tx.run("DELETE FROM recent_recipients WHERE seen_at < ?", (self.now_ms - SPAN_MS,))
        self.seen = {one: at for one, at in self.seen.items() if at >= self.now_ms - SPAN_MS}

    @rule(owner=owners)
    def reset(self, owner: str) -> None:
        organizations.reset_tripwire(self.tx, owner)
        self.seen = {one: at for one, at in self.seen.items() if one[0] != owner}

    @rule(owner=owners, keys=addresses)
    def ask(self, owner: str, keys: set[str]) -> None:
        others = {
            key
            for (whose, key), at in self.seen.items()
            if whose == owner and key not in keys and abs(self.now_ms - at) < SPAN_MS
        }
        for limit in (len(others) - 1, len(others), len(others) + 1, len(others) + 2):
            has_room = tripwire.has_room(self.tx, owner, self.now_ms, SPAN_MS, keys, limit)
            assert has_room == (len(others) < limit)

    @invariant()
    def the_operator_is_told_how_many_are_counted(self) -> None:
        for owner in ORGANIZATIONS:
            counted = sum(whose == owner for whose, _ in self.seen)
            assert organizations.tripwire(self.tx, owner).recipients == counted
        assert integrity.counters(self.tx) == []

    def teardown(self) -> None:
        self.conn.close()


TestTripwireMachine = TripwireMachine.TestCase
TestTripwireMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_count_that_its_rows_contradict_is_found() -> None:
    conn = store()
    tripwire.note(Tx(conn), "org_1", ["a@there.test", "b@there.test"], 0, SPAN_MS)
    conn.execute("UPDATE recent_recipient_counts SET addresses = 5")
    (found,) = integrity.counters(Tx(conn))
    conn.close()
    assert (found.id, found.fault) == (
        "org_1", "addresses that an organization wrote to lately: 5 counted, 2 found",
    )  # fmt: skip


def steps(written_to: int, ago_ms: int = 1) -> int:
    """Of SQLite's machine, in tens, for a send of an organization that wrote to so many `ago_ms` ago."""
    conn, number = store(), count()
    tx = Tx(conn)
    tripwire.note(tx, "org_1", [f"{one}@there.test" for one in range(written_to)], 0, SPAN_MS)
    conn.set_progress_handler(lambda: next(number) < 0, 10)
    has_room = tripwire.has_room(tx, "org_1", ago_ms, SPAN_MS, ["new@there.test"], LIMIT)
    assert has_room == (ago_ms >= SPAN_MS)
    tripwire.note(tx, "org_1", ["new@there.test"], ago_ms, SPAN_MS)
    conn.set_progress_handler(None, 0)
    conn.close()
    return next(number)


def test_a_send_costs_the_same_where_ten_times_as_many_were_written_to() -> None:
    assert steps(MANY) <= steps(FEW) + 2


def test_a_send_after_a_while_does_not_read_or_forget_all_of_them() -> None:
    assert steps(MANY, SPAN_MS) <= steps(FEW, SPAN_MS) + 2
