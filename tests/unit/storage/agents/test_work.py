"""Work: whatever happens in whatever order, a conversation has one head, one live claim, and goes on in its order."""

import sqlite3
from contextlib import closing
from importlib import resources
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from controlplane.contract.work.policies import GivenWorkPolicy
from storage.agents import claims, policies, work
from storage.agents.claims import Claimant
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes, messages, threads
from storage.records import ClaimRow, dump
from tests.support.worlds.memory_store import message_row, with_inboxes
from tests.support.worlds.store import ManualClock

ATTEMPTS = 2
LEASE_MS = 60_000
THREADS = st.integers(0, 1)
MODES = st.sampled_from(["live", "test"])
SOME = st.integers(0, 1000)


class Queue:
    """An inbox with work, in memory."""

    def __init__(self) -> None:
        self.conn = with_inboxes()
        self.tx = Tx(self.conn)
        self.clock = ManualClock()
        self.ids = Ids(self.clock)
        document = dump({"work": GivenWorkPolicy(enabled=True, maxAttempts=ATTEMPTS).model_dump()})
        assert policies.replace(self.tx, "org_1", "inb_1", 0, document, True, 1)

    def arrive(self, thread: int, mode: str = "live") -> str:
        self.clock.forward(1)
        now_ms, thread_id, message_id = self.clock.now_ms(), f"thd_{thread}", self.ids.new("msg")
        told: dict[str, Any] = {"snippet": "", "participants": [], "is_unread": False}
        if threads.get(self.tx, "org_1", thread_id) is None:
            told |= {"organization_id": "org_1", "inbox_id": "inb_1", "subject": "", "base_subject": ""}
            threads.begin(self.tx, thread_id, now_ms, **told)
        else:
            threads.join(self.tx, thread_id, now_ms, **told)
        message = message_row(id=message_id, thread_id=thread_id, mode=mode, created_at=now_ms, labels="[]")
        messages.insert(self.tx, message)
        work.put(self.tx, message)
        return message_id

    def take(self, limit: int = 1, mode: str = "live") -> list[ClaimRow]:
        now_ms = self.clock.now_ms()
        claimant = Claimant("org_1", "inb_1", "key_1", mode, None, now_ms + LEASE_MS)
        return claims.take(self.tx, claimant, limit, self.ids.new, now_ms)


class Work(RuleBasedStateMachine):
    """`all`: message → conversation and mode; `done`: what was done, `requeued`: what was offered again."""

    @initialize()
    def begin(self) -> None:
        self.queue = Queue()
        self.tx = self.queue.tx
        self.all: dict[str, tuple[int, str]] = {}
        self.done: set[str] = set()
        self.requeued: set[str] = set()

    def teardown(self) -> None:
        self.queue.conn.close()

    def now_ms(self) -> int:
        return self.queue.clock.now_ms()

    def live(self) -> list[ClaimRow]:
        found = claims.list_claims(self.tx, "org_1", self.now_ms(), limit=100, status="live")
        return sorted(found, key=lambda one: one.id)

    @rule(thread=THREADS, mode=MODES)
    def arrive(self, thread: int, mode: str) -> None:
        self.all[self.queue.arrive(thread, mode)] = (thread, mode)

    @rule(limit=st.integers(1, 3), mode=MODES)
    def take(self, limit: int, mode: str) -> None:
        states = dict(self.queue.conn.execute("SELECT message_id, status FROM work_items"))
        for claim in self.queue.take(limit, mode):
            place = self.all[claim.message_id]
            older = [one for one in self.all if one < claim.message_id and self.all[one] == place]
            older = [one for one in older if one not in self.requeued]  # these wait for a head that is there
            # Whatever came before it in its conversation is done, dead or deleted.
            assert all(states.get(one) in (None, "dead") for one in older)

    @rule(at=SOME, what=st.sampled_from(["done", "release", "delay", "extend"]))
    def end(self, at: int, what: str) -> None:
        live = self.live()
        if not live:
            return
        claim, now_ms, new_id = live[at % len(live)], self.now_ms(), self.queue.ids.new
        if what == "done":
            assert claims.done(self.tx, claim).status == "done"
            assert claim.message_id not in self.done
            self.done.add(claim.message_id)
        elif what == "extend":
            claims.extend(self.tx, claim, now_ms + LEASE_MS)
        else:
            ready_at_ms = now_ms + LEASE_MS if what == "delay" else None
            ended = claims.give_up(self.tx, claim, "released", new_id, now_ms, ready_at_ms)
            assert ended.is_dead == (claim.attempt >= ATTEMPTS) == (ended.claim.status == "dead")

    @rule(seconds=st.sampled_from([1, 30, 61]))
    def pass_time(self, seconds: int) -> None:
        self.queue.clock.forward(seconds)

    @rule(limit=st.integers(1, 3))
    def settle(self, limit: int) -> None:
        work.end_delays(self.tx, self.now_ms(), limit)
        claims.expire(self.tx, self.queue.ids.new, self.now_ms(), limit)

    @rule(at=SOME)
    def requeue(self, at: int) -> None:
        message = self.some(at)
        if message is not None:
            work.put_again(self.tx, message)
            self.done.discard(message.id)
            self.requeued.add(message.id)

    @rule(at=SOME)
    def delete(self, at: int) -> None:
        message = self.some(at)
        if message is not None:
            messages.delete(self.tx, message)
            del self.all[message.id]

    def some(self, at: int) -> Any:
        ids = sorted(self.all)
        return messages.get(self.tx, "org_1", ids[at % len(ids)]) if ids else None

    @invariant()
    def rows_agree(self) -> None:
        conn = self.queue.conn
        items = conn.execute("SELECT message_id, thread_id, mode, status FROM work_items").fetchall()
        claimed = conn.execute("SELECT message_id FROM claims WHERE status = 'live'").fetchall()
        assert sorted(claimed) == sorted((one[0],) for one in items if one[3] == "claimed")
        for place in {one[1:3] for one in items}:
            states = [one[3] for one in items if one[1:3] == place]
            heads = [one for one in states if one in ("ready", "claimed", "delayed")]
            assert len(heads) == (1 if {*states} - {"dead"} else 0)  # nothing waits behind nobody
        assert {one[0] for one in items} == set(self.all) - self.done


TestWork = Work.TestCase
TestWork.settings = settings(
    max_examples=100, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("shape", ["many blocked", "one long", "many dead"])
def test_what_a_claim_costs_does_not_grow_with_what_is_blocked(shape: str) -> None:
    """Steps of SQLite's machine, at n and 10 n conversations or messages that can't be claimed."""

    def steps(count: int) -> int:
        queue = Queue()
        if shape == "one long":
            for _ in range(count):
                queue.arrive(0)
            queue.take()
        else:
            for number in range(count):
                queue.arrive(number)
                queue.arrive(number)
            taken = queue.take(count)
            assert len(taken) == count
            for _ in range(ATTEMPTS if shape == "many dead" else 0):
                for claim in taken:
                    claims.give_up(queue.tx, claim, "released", queue.ids.new, 1)
                taken = queue.take(count)
        queue.arrive(count)
        counted = 0

        def step() -> int:
            nonlocal counted
            counted += 1
            return 0

        queue.conn.set_progress_handler(step, 1)
        (claim,) = queue.take(1)
        claims.done(queue.tx, claim)
        queue.arrive(count)
        claims.list_claims(queue.tx, "org_1", queue.clock.now_ms(), limit=5, status="done")
        claims.expire(queue.tx, queue.ids.new, queue.clock.now_ms(), 10)
        queue.conn.set_progress_handler(None, 0)
        return counted

    few, many = steps(30), steps(300)
    assert many <= few * 1.3, (few, many)


def test_what_a_clock_set_back_left_behind_is_brought_back_some_at_a_time() -> None:
    """A hundred thousand claims held the event loop for 174 ms."""
    queue = Queue()
    for thread in range(6):
        queue.arrive(thread)
    made = queue.take(limit=6)
    for one in made[3:]:
        claims.give_up(queue.tx, one, "released", queue.ids.new, 0, ready_at_ms=2 * LEASE_MS)

    def changed(end: Any, *given: int) -> int:
        before = queue.conn.total_changes
        end(queue.tx, *given)
        return queue.conn.total_changes - before

    for end in (claims.end_leases_behind, work.end_delays_behind):
        assert [changed(end, 0, 0, 2) for _ in range(3)] == [2, 1, 0]


def test_an_arrival_where_nothing_is_work_costs_no_statement_more() -> None:
    conn = with_inboxes()
    asked: list[str] = []
    tx = Tx(conn)
    conn.set_trace_callback(asked.append)
    assert inboxes.received(tx, "inb_1", 1) is False
    assert len(asked) == 1
    assert inboxes.received(tx, "inb_none", 1) is None


def test_a_store_from_before_is_upgraded_without_reading_its_messages() -> None:
    sql = (resources.files("storage") / "migrations" / "0028_claims.sql").read_text("utf-8")
    assert "messages" not in sql.replace("REFERENCES messages", "")
    with closing(sqlite3.connect(":memory:")) as conn:
        conn.execute("CREATE TABLE drafts (id TEXT)")
        conn.executescript(sql)
