"""Reviews in the store: each is decided once, and lists say what there is (storage/agents/reviews.py,
storage/states.py)."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage import states
from storage.agents import reviews
from storage.agents.reviews import ReviewFilter
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import conversation, exchanges, messages
from storage.records import ReviewRow
from storage.tenants import keys
from tests.support.worlds.memory_store import message_row, with_inboxes
from tests.support.worlds.store import ManualClock

DECIDED = sorted(states.REVIEW["pending"])
INBOXES = st.sampled_from(["inb_1", "inb_2"])
SOME = st.integers(0, 1000)


class Desk:
    """A store in memory, and what holds something in it."""

    def __init__(self) -> None:
        self.conn: sqlite3.Connection = with_inboxes()
        self.tx = Tx(self.conn)
        self.clock = ManualClock()
        self.ids = Ids(self.clock)

    def hold(self, inbox_id: str = "inb_1", direction: str = "outbound", lasts_ms: int = 1000) -> ReviewRow:
        self.clock.forward(0.001)
        now_ms, message_id = self.clock.now_ms(), self.ids.new("msg")
        is_sent = direction == "outbound"
        held = message_row(
            id=message_id, inbox_id=inbox_id, direction=direction, status="held" if is_sent else "received",
            created_at=now_ms,
        )  # fmt: skip
        self.conn.execute("PRAGMA foreign_keys = OFF")
        messages.insert(self.tx, held)
        review = ReviewRow(
            id=self.ids.new("rev"),
            organization_id="org_1",
            inbox_id=inbox_id,
            message_id=message_id,
            direction=direction,
            mode="live",
            status="pending",
            reasons='["all"]',
            warnings="[]",
            submitted_by="key_1",
            is_told=1,
            expires_at=now_ms + lasts_ms,
            resolved_by=None,
            resolved_at=None,
            note=None,
            created_at=now_ms,
        )
        reviews.open_(self.tx, review, self.ids.new("evt"))
        return review

    def decide(self, review: ReviewRow, status: str) -> ReviewRow | None:
        now_ms = self.clock.now_ms()
        return reviews.resolve(self.tx, review, status, "key_2", "note", self.ids.new("evt"), now_ms)

    def key(self, name: str, minted_by: str | None = None) -> None:
        keys.create(
            self.tx, name, f"svc_live_{name}", 1, organization_id="org_1", name=name, scopes=["*"], mode="live",
            minted_by=minted_by,
        )  # fmt: skip


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.conn.close()


@pytest.mark.parametrize("first", DECIDED)
@pytest.mark.parametrize("second", DECIDED)
def test_a_review_is_decided_once(desk: Desk, first: str, second: str) -> None:
    review = desk.hold()
    decided = desk.decide(review, first)
    assert decided is not None and (decided.status, decided.resolved_by) == (first, "key_2")
    assert desk.decide(review, second) is None
    assert reviews.get(desk.tx, "org_1", review.id) == decided
    told = desk.conn.execute("SELECT type FROM events ORDER BY seq").fetchall()
    assert told == [("review.requested",), ("review.resolved",)]


@pytest.mark.parametrize("status", sorted(states.MESSAGE))
def test_only_what_is_held_is_let_go_or_ended(desk: Desk, status: str) -> None:
    changes: list[Callable[[str], bool]] = [
        lambda message_id: messages.let_go(desk.tx, message_id, "queued", 5, None),
        lambda message_id: messages.let_go(desk.tx, message_id, "scheduled", 5, None),
        lambda message_id: messages.end_held(desk.tx, message_id, "failed", states.REVIEW_REJECTED),
        lambda message_id: messages.end_held(desk.tx, message_id, "cancelled", None),
    ]
    for change in changes:
        message_id = desk.hold().message_id
        desk.conn.execute("UPDATE messages SET status = ? WHERE id = ?", (status, message_id))
        assert change(message_id) is (status == "held")
        ((now,),) = desk.conn.execute("SELECT status FROM messages WHERE id = ?", (message_id,)).fetchall()
        assert (now == status) is (status != "held")
        assert now == status or now in states.MESSAGE["held"]


def test_the_store_itself_holds_one_review_a_message(desk: Desk) -> None:
    review = desk.hold()
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        reviews.open_(desk.tx, review._replace(id="rev_2"), desk.ids.new("evt"))


def test_retention_leaves_the_bytes_of_what_is_held(desk: Desk) -> None:
    review = desk.hold()
    desk.conn.execute("INSERT INTO blobs VALUES ('blb_1', 1, x'00', x'00', 1, 1, NULL)")
    desk.conn.execute("UPDATE messages SET blob_id = 'blb_1' WHERE id = ?", (review.message_id,))
    assert messages.drop_bytes(desk.tx, "org_1", [review.message_id]) == (0, [])
    messages.end_held(desk.tx, review.message_id, "failed", states.REVIEW_REJECTED)
    assert messages.drop_bytes(desk.tx, "org_1", [review.message_id]) == (1, [])


@pytest.mark.parametrize("status", ["held", "queued"])
def test_what_is_held_is_no_line_of_a_conversation(desk: Desk, status: str) -> None:
    """Neither the loop brake nor whoever asks what is newest sees it before it is let go."""
    review = desk.hold()
    desk.conn.execute("UPDATE messages SET status = ? WHERE id = ?", (status, review.message_id))
    lines = exchanges.newest(desk.tx, "org_1", "thd_1", "live", 0, at_least=1)
    assert len(lines) == (status != "held")
    assert conversation.newest(desk.tx, "org_1", "thd_1", "live") == (
        None if status == "held" else review.message_id
    )


def test_another_organization_finds_nothing(desk: Desk) -> None:
    review = desk.hold()
    assert reviews.get(desk.tx, "org_2", review.id) is None
    assert reviews.of_message(desk.tx, "org_2", review.message_id) is None
    assert reviews.list_reviews(desk.tx, ReviewFilter("org_2"), limit=9) == []
    assert reviews.list_reviews(desk.tx, ReviewFilter("org_2", review.inbox_id), limit=9) == []


def test_what_is_held_of_an_inbox_is_its_own_mail_that_waits(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, decided = desk.hold(), desk.hold(), desk.hold()
    desk.decide(decided, "approved")
    desk.hold(direction="inbound")
    elsewhere = desk.hold("inb_2")
    assert reviews.pending_of_inbox(desk.tx, "inb_1", 10) == [first, second]
    assert reviews.pending_of_inbox(desk.tx, "inb_2", 10) == [elsewhere]
    assert (reviews.count_pending(desk.tx, "inb_1"), reviews.count_pending(desk.tx, "inb_2")) == (2, 1)
    monkeypatch.setattr(reviews, "COUNTED_MAX", 1)
    assert (reviews.count_pending(desk.tx, "inb_1"), reviews.count_pending(desk.tx, "inb_3")) == (1, 0)
    assert reviews.by_id(desk.tx, second.id) == second


def test_the_longest_over_is_first_and_some_may_be_left_out(desk: Desk) -> None:
    later, sooner = desk.hold(lasts_ms=20), desk.hold(lasts_ms=10)
    desk.clock.forward(1)
    now_ms = desk.clock.now_ms()
    assert reviews.over(desk.tx, now_ms, 9) == [("org_1", sooner.id), ("org_1", later.id)]
    assert reviews.over(desk.tx, now_ms, 1) == [("org_1", sooner.id)]
    assert reviews.over(desk.tx, now_ms, 9, [sooner.id]) == [("org_1", later.id)]
    assert reviews.next_end(desk.tx, [sooner.id]) == later.expires_at


def test_who_descends_from_whom(desk: Desk) -> None:
    chain = ["key_root", *(f"key_{number}" for number in range(50))]
    desk.key(chain[0])
    for parent, child in pairwise(chain):
        desk.key(child, parent)
    desk.key("key_other")
    for place, one in enumerate(chain):
        for other_place, other in enumerate(chain):
            assert keys.descends_from(desk.tx, "org_1", one, other) is (other_place < place)
    assert not keys.descends_from(desk.tx, "org_1", "key_other", "key_root")
    assert not keys.descends_from(desk.tx, "org_2", chain[-1], chain[0])
    desk.conn.execute("UPDATE api_keys SET minted_by = ? WHERE id = ?", (chain[-1], chain[0]))  # damaged
    assert not keys.descends_from(desk.tx, "org_1", chain[3], "key_other")


class ReviewMachine(RuleBasedStateMachine):
    """Mail is held, decided about and forgotten; lists are compared with a naive reader's."""

    @initialize()
    def begin(self) -> None:
        self.desk = Desk()
        self.known: dict[str, ReviewRow] = {}

    @rule(inbox_id=INBOXES, direction=st.sampled_from(["inbound", "outbound"]), lasts_ms=st.integers(1, 20))
    def hold(self, inbox_id: str, direction: str, lasts_ms: int) -> None:
        review = self.desk.hold(inbox_id, direction, lasts_ms)
        self.known[review.id] = review

    @rule(which=SOME, status=st.sampled_from(DECIDED))
    def decide(self, which: int, status: str) -> None:
        if not self.known:
            return
        review = sorted(self.known.values())[which % len(self.known)]
        decided = self.desk.decide(review, status)
        assert (decided is not None) is (review.status == "pending")
        if decided is not None:
            self.known[review.id] = decided

    @rule(steps=st.integers(1, 10))
    def pass_time(self, steps: int) -> None:
        self.desk.clock.forward(steps / 1000)

    @invariant()
    def time_is_over_for_whom_it_is(self) -> None:
        if not hasattr(self, "desk"):
            return
        now_ms = self.desk.clock.now_ms()
        pending = [one for one in self.known.values() if one.status == "pending"]
        over = reviews.over(self.desk.tx, now_ms, 100)
        assert {review_id for _, review_id in over} == {one.id for one in pending if one.expires_at <= now_ms}
        assert reviews.next_end(self.desk.tx) == min((one.expires_at for one in pending), default=None)

    @rule(
        inbox_id=st.none() | INBOXES,
        direction=st.none() | st.sampled_from(["inbound", "outbound"]),
        status=st.none() | st.sampled_from(sorted(states.REVIEW)),
        limit=st.integers(1, 4),
    )
    def look(self, inbox_id: str | None, direction: str | None, status: str | None, limit: int) -> None:
        wanted = ReviewFilter("org_1", inbox_id, direction, status)
        expected = [
            one
            for one in sorted(self.known.values(), key=lambda one: one.id, reverse=True)
            if inbox_id in (None, one.inbox_id)
            and direction in (None, one.direction)
            and status in (None, one.status)
        ]
        found: list[ReviewRow] = []
        while page := reviews.list_reviews(
            self.desk.tx, wanted, limit=limit, before=found[-1].id if found else None
        ):
            assert len(page) <= limit
            found += page
        assert found == expected

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.desk.conn.close()


TestReviewMachine = ReviewMachine.TestCase
TestReviewMachine.settings = settings(
    max_examples=50, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
