"""What waits in an inbox that goes: all of it is found, and nobody waits while others' is passed over."""

from itertools import count
from typing import Any

import pytest

from storage.agents import reviews
from storage.engine.tx import Tx
from storage.mail import inboxes, messages, withdrawal
from storage.mail.withdrawal import WithdrawnMail
from storage.records import ReviewRow
from storage.sending import outbound
from storage.tenants import keys
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row

NOBODY = WithdrawnMail([])
FEW, MANY = 100, 1000


def new_id(prefix: str) -> str:
    return f"{prefix}_{next(NUMBERS)}"


NUMBERS = count()


class Inboxes:
    """inb_1, which goes, and inb_2 of the same organization."""

    def __init__(self) -> None:
        self.conn = memory_store.with_inboxes()
        self.tx = Tx(self.conn)

    def message(self, status: str, *recipients: str, inbox_id: str = "inb_1", **fields: Any) -> str:
        row = message_row(
            **{"id": new_id("msg"), "inbox_id": inbox_id, "direction": "outbound", "status": status, **fields}
        )
        messages.insert(self.tx, row)
        to = [("to", f"{number}@there.test") for number in range(len(recipients))]
        outbound.enqueue(self.tx, row.id, "org_1", to, 0, 1)
        for position, one in enumerate(recipients):
            self.set_recipient(row.id, position, one)
        return row.id

    def held(self) -> str:
        message_id = self.message("held")
        self.review(message_id)
        return message_id

    def review(self, message_id: str) -> None:
        row = ReviewRow(
            id=new_id("rev"), organization_id="org_1", inbox_id="inb_1", message_id=message_id, direction="outbound",
            mode="live", status="pending", reasons="[]", warnings="[]", submitted_by=None, is_told=1, expires_at=1,
            resolved_by=None, resolved_at=None, note=None, created_at=0,
        )  # fmt: skip
        reviews.open_(self.tx, row, new_id("evt"))

    def set_recipient(self, message_id: str, position: int, status: str) -> None:
        self.tx.run(
            "UPDATE recipients SET status = ? WHERE message_id = ? AND position = ?",
            (status, message_id, position),
        )

    def status(self, message_id: str) -> tuple[str, list[str]]:
        stored = self.tx.value("SELECT status FROM messages WHERE id = ?", (message_id,))
        return stored, [one.status for one in outbound.recipients(self.tx, message_id)]

    def withdraw(self, waiting: WithdrawnMail) -> None:
        withdrawal.withdraw(self.tx, waiting, new_id, 1)

    def withdraw_few(self) -> None:
        withdrawal.withdraw_few(self.tx, "org_1", "inb_1", new_id, 1)


def found_in(store: Inboxes, *inbox_ids: str) -> WithdrawnMail:
    return withdrawal.INBOXES.find_waiting(store.tx, "org_1", inbox_ids, MANY)


@pytest.fixture
def store() -> Inboxes:
    return Inboxes()


def test_all_that_waits_is_found(store: Inboxes) -> None:
    queued, partly = store.message("queued", "deferred"), store.message("sent", "delivered", "deferred")
    leased = store.message("queued", "queued")
    store.tx.run("UPDATE recipients SET lease = 'run_1' WHERE message_id = ?", (leased,))
    later = store.message("scheduled", scheduled_at=1)
    for settled in ("delivered", "failed"):
        store.message(settled, settled)
    store.message("queued", "queued", inbox_id="inb_2")
    store.message("scheduled", inbox_id="inb_2", scheduled_at=1)
    found = found_in(store, "inb_1")
    assert sorted(found.message_ids) == sorted([queued, partly, leased, later])
    store.withdraw(found)
    assert store.status(queued) == ("failed", ["failed"])
    assert store.status(partly) == ("delivered", ["delivered", "failed"])
    assert found_in(store, "inb_1") == NOBODY


def test_what_has_begun_to_leave_since_it_was_found_is_withdrawn_with_its_slice(store: Inboxes) -> None:
    later = store.message("scheduled", scheduled_at=1)
    found = found_in(store, "inb_1")
    store.tx.run("UPDATE messages SET status = 'sent' WHERE id = ?", (later,))
    outbound.enqueue(store.tx, later, "org_1", [("to", "a@there.test"), ("to", "b@there.test")], 0, 1)
    store.set_recipient(later, 0, "delivered")
    store.withdraw(found)
    assert store.status(later) == ("delivered", ["delivered", "failed"])


def test_what_was_held_again_since_it_was_found_is_withdrawn_with_its_slice(store: Inboxes) -> None:
    """Nobody looks for it again, and whoever approves it would have it sent."""
    later = store.message("scheduled", scheduled_at=1)
    found = found_in(store, "inb_1")
    assert messages.hold_scheduled(store.tx, later)
    store.review(later)
    store.withdraw(found)
    assert store.status(later) == ("failed", [])
    assert store.tx.all("SELECT status FROM reviews") == [("withdrawn",)]


def test_what_was_approved_for_later_since_it_was_found_is_withdrawn_with_its_slice(store: Inboxes) -> None:
    held = store.held()
    found = found_in(store, "inb_1")
    store.tx.run("UPDATE reviews SET status = 'approved'")
    assert messages.let_go(store.tx, held, "scheduled", 0, None)
    store.withdraw(found)
    assert store.status(held) == ("failed", [])
    assert store.tx.all("SELECT status FROM reviews") == [("approved",)]


def test_what_is_little_goes_with_the_inbox(store: Inboxes) -> None:
    old, partly = store.message("sent", "sent"), store.message("sent", "delivered", "queued")
    queued, later, held = (
        store.message("queued", "queued"),
        store.message("scheduled", scheduled_at=1),
        store.held(),
    )
    elsewhere = store.message("queued", "queued", inbox_id="inb_2")
    store.withdraw_few()
    assert store.status(queued) == ("failed", ["failed"])
    assert store.status(later) == store.status(held) == ("failed", [])
    assert store.status(old) == ("sent", ["sent"])
    assert store.status(elsewhere) == ("queued", ["queued"])
    assert found_in(store, "inb_1") == WithdrawnMail([partly])  # its recipients are not looked for here


def test_much_mail_is_left_to_who_withdraws_behind_the_commit(store: Inboxes) -> None:
    sent = [store.message("queued", "queued") for _ in range(withdrawal.FEW)]
    sent.append(store.message("scheduled", scheduled_at=1))
    store.withdraw_few()
    assert {store.status(one)[0] for one in sent} == {"queued", "scheduled"}
    store.tx.run("UPDATE messages SET status = 'cancelled' WHERE status = 'scheduled'")
    store.withdraw_few()
    assert {store.status(one)[0] for one in sent} == {"failed", "cancelled"}


def test_so_is_mail_to_many_recipients(store: Inboxes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty messages to 150 each held up all others for 57 ms."""
    monkeypatch.setattr(withdrawal, "FEW_RECIPIENTS", 3)
    sent = [store.message("queued", "queued", "queued") for _ in range(2)]
    store.withdraw_few()
    assert {store.status(one)[0] for one in sent} == {"queued"}
    store.tx.run("DELETE FROM recipients WHERE position = 1 AND message_id = ?", (sent[0],))
    store.withdraw_few()
    assert {store.status(one)[0] for one in sent} == {"failed"}


def test_no_more_is_found_than_is_asked_for(store: Inboxes) -> None:
    for _ in range(3):
        store.message("queued", "queued")
        store.message("scheduled", scheduled_at=1)
        store.held()
    found = withdrawal.INBOXES.find_waiting(store.tx, "org_1", ["inb_1"], 2)
    statuses = [store.status(one)[0] for one in found.message_ids]
    assert statuses == ["queued"] * 2 + ["scheduled"] * 2 + ["held"] * 2


def test_what_stood_in_line_was_not_tried(store: Inboxes) -> None:
    sent = store.message("queued", "deferred", "queued")
    store.tx.run(
        "UPDATE recipients SET lease = 'run_1', attempts = 1, last_attempt_at = 9 WHERE position = 1"
    )
    store.tx.run("UPDATE recipients SET attempts = 1, last_attempt_at = 5 WHERE position = 0")
    store.withdraw(found_in(store, "inb_1"))
    shown = [(one.attempts, one.last_attempt_at) for one in outbound.recipients(store.tx, sent)]
    assert shown == [(1, 5), (0, None)]


def test_closed_inboxes_are_named_until_nothing_waits_in_them(store: Inboxes) -> None:
    assert withdrawal.owners(store.tx) == []
    inboxes.deactivate(store.tx, "org_1", "inb_1", new_id, 1)
    assert withdrawal.owners(store.tx) == ["org_1"]
    assert withdrawal.INBOXES.closed(store.tx, "org_1") == ["inb_1"]
    store.tx.run("UPDATE organizations SET deleted_at = 1")
    assert withdrawal.owners(store.tx) == []  # all that it has goes
    store.tx.run("UPDATE organizations SET deleted_at = NULL")
    withdrawal.INBOXES.end(store.tx, ["inb_1"])
    assert withdrawal.owners(store.tx) == withdrawal.INBOXES.closed(store.tx, "org_1") == []


def test_keys_that_are_closed_are_named_until_nothing_of_them_waits(store: Inboxes) -> None:
    keys.create(
        store.tx, "key_1", "svc_live_1", 0, organization_id="org_1", name="k", scopes=["*"], mode="live"
    )
    withdrawal.close_keys(store.tx, "org_2", ["key_1"])  # not that one's
    assert withdrawal.owners(store.tx) == []
    withdrawal.close_keys(store.tx, "org_1", ["key_1"])
    assert withdrawal.owners(store.tx) == ["org_1"]
    assert withdrawal.KEYS.closed(store.tx, "org_1") == ["key_1"]
    withdrawal.KEYS.end(store.tx, ["key_1"])
    assert withdrawal.owners(store.tx) == withdrawal.KEYS.closed(store.tx, "org_1") == []


def test_who_has_some_closed_is_found_however_much_each_has() -> None:
    """A hundred thousand keys of one that leaked held the event loop for 9 ms, two hundred times."""

    def steps(size: int) -> int:
        store = Inboxes()
        closed = [new_id("closed") for _ in range(size)]
        for number, one in enumerate(closed):
            store.conn.execute(
                """INSERT INTO inboxes (id, organization_id, address, username, domain, is_active, created_at,
                     updated_at, withdraws_mail) VALUES (?, ?, ?, '', '', 0, 0, 0, 1)""",
                (one, f"org_{number % 2}", one),
            )
            owner = f"org_{1 + number % 2}"
            keys.create(store.tx, one, one, 0, organization_id=owner, name="", scopes=[], mode="live")
            withdrawal.close_keys(store.tx, owner, [one])
        assert sorted(withdrawal.owners(store.tx)) == ["org_0", "org_1", "org_2"]
        return steps_of(store.conn, lambda: withdrawal.owners(store.tx))

    assert steps(MANY) <= steps(FEW) + 1


@pytest.mark.parametrize("settled", [("delivered", "delivered"), ("sent", "sent")])
def test_an_inbox_goes_at_once_however_much_others_have_waiting(settled: tuple[str, str]) -> None:
    def steps(size: int) -> int:
        store = Inboxes()
        for _ in range(size):
            store.message("queued", "queued", inbox_id="inb_2")
            store.message("scheduled", inbox_id="inb_2", scheduled_at=1)
            store.message(*settled)

        def close() -> None:
            assert not withdrawal.may_have_live_mail(store.tx, "org_1", "inb_1")
            inboxes.deactivate(store.tx, "org_1", "inb_1", new_id, 1)

        return steps_of(store.conn, close)

    assert steps(MANY) <= steps(FEW) + 2


def test_live_mail_is_looked_for_among_so_many_messages_alone() -> None:
    """Test keys may schedule any number, and ask as often as they like."""

    def looked(size: int) -> tuple[bool, int]:
        store, found = Inboxes(), list[bool]()
        for _ in range(size):
            store.message("scheduled", scheduled_at=1, mode="test")

        def look() -> None:
            found.append(withdrawal.may_have_live_mail(store.tx, "org_1", "inb_1"))

        steps = steps_of(store.conn, look)
        return found[0], steps

    (is_few_live, few), (may_be_live, many) = (
        looked(withdrawal.LIVE_LOOK - 1),
        looked(withdrawal.LIVE_LOOK + 500),
    )
    assert (is_few_live, may_be_live) == (False, True)
    assert many <= few + 5


def test_a_slice_ends_when_its_time_is_over_whatever_its_messages_wait_for(store: Inboxes) -> None:
    sent = [store.message("queued", "queued"), store.message("scheduled", scheduled_at=1), store.held()]
    left = found_in(store, "inb_1")
    looks = iter([False, True, True])
    slices: list[int] = []
    while left.message_ids:
        waiting = left.messages
        left = withdrawal.withdraw_slice(store.tx, left, new_id, 1, lambda: next(looks))
        slices.append(waiting - left.messages)
    assert slices == [2, 1]
    assert {store.status(one)[0] for one in sent} == {"failed"}
    told = store.tx.all("SELECT message_id FROM events WHERE type = 'email.failed' ORDER BY seq")
    assert told == [(one,) for one in sent]


def test_what_waits_in_several_inboxes_is_found_in_all_of_them(store: Inboxes) -> None:
    waiting = {inbox: store.message("queued", "queued", inbox_id=inbox) for inbox in ("inb_1", "inb_2")}
    later = {
        inbox: store.message("scheduled", inbox_id=inbox, scheduled_at=1) for inbox in ("inb_1", "inb_2")
    }
    found = found_in(store, "inb_1", "inb_2")
    assert set(found.message_ids) == {*waiting.values(), *later.values()}


def test_of_many_inboxes_a_long_queue_is_passed_over_once() -> None:
    store = Inboxes()
    for _ in range(MANY):
        store.message("queued", "queued", inbox_id="inb_2")
    gone = [f"inb_gone{number}" for number in range(FEW)]
    one = steps_of(store.conn, lambda: found_in(store, gone[0]))
    assert steps_of(store.conn, lambda: found_in(store, *gone)) < 2 * one
