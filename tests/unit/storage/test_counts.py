"""How many inboxes and open drafts an organization has is known without a look at them, and is right."""

from typing import Any

import pytest

from storage import counts
from storage.counts import OrganizationCounts
from storage.engine.tx import Tx
from storage.mail import drafts, inboxes
from storage.records import DraftRow
from storage.tenants import allowances, organizations
from storage.upkeep import integrity
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store

FEW, MANY = 30, 300


def draft(number: int) -> DraftRow:
    given: dict[str, Any] = dict.fromkeys(DraftRow._fields)
    given |= {
        "to_addresses": "[]",
        "cc_addresses": "[]",
        "bcc_addresses": "[]",
        "subject": "",
        "status": "draft",
    }
    given |= {"created_at": 1, "updated_at": 1, "complete_claim": 0, "mode": "live"}
    return DraftRow(**{**given, "id": f"drf_{number}", "organization_id": "org_1", "inbox_id": "inb_0"})


class Owned:
    """An organization with so many inboxes and drafts, beside another with none."""

    def __init__(self, size: int) -> None:
        self.conn = memory_store.empty()
        self.tx = Tx(self.conn)
        for one in ("org_1", "org_2"):
            organizations.create(self.tx, one, "Acme", "selfhost", 0)
        for number in range(size):
            inboxes.create(
                self.tx, f"inb_{number}", 1, organization_id="org_1", username=f"u{number}", domain="d.test", name=None,
                agent_id=None, metadata="{}",
            )  # fmt: skip
            drafts.create(self.tx, draft(number))

    def used(self) -> tuple[int, int]:
        used = organizations.used(self.tx, "org_1", 1)
        return used.inboxes, used.open_drafts


def test_they_are_right_as_inboxes_and_drafts_come_and_go() -> None:
    owned = Owned(5)
    inboxes.deactivate(owned.tx, "org_1", "inb_0", lambda prefix: prefix, 1)
    drafts.discard(owned.tx, "drf_0", 1)
    drafts.mark_sent(owned.tx, "drf_1", "msg_1", 1)
    drafts.discard(owned.tx, "drf_1", 1)
    assert owned.used() == (4, 3) == (
        inboxes.count_active(owned.tx, "org_1"), drafts.count_open(owned.tx, "org_1"),
    )  # fmt: skip
    assert counts.of(owned.tx, "org_2") == OrganizationCounts(0, 0)
    assert [one for one in integrity.counters(owned.tx) if one.id == "org_1"] == []


def test_a_wrong_count_is_found() -> None:
    owned = Owned(2)
    owned.conn.execute("UPDATE organization_counts SET amount = 5")
    told = [one.fault for one in integrity.counters(owned.tx)]
    assert told == [
        "active inboxes of an organization: 5 counted, 2 found", "open drafts of an organization: 5 counted, 2 found",
    ]  # fmt: skip
    owned.conn.execute("DELETE FROM organization_counts")
    assert len(integrity.counters(owned.tx)) == 2


def test_an_allowance_is_compared_with_them() -> None:
    owned = Owned(3)
    allowances.inbox(owned.tx, "org_1", 4)
    for asked in (allowances.inbox, allowances.open_draft):
        with pytest.raises(allowances.UsedUp):
            asked(owned.tx, "org_1", 3)


def test_what_is_used_costs_the_same_however_much_that_is() -> None:
    few, many = Owned(FEW), Owned(MANY)
    assert few.used() == (FEW, FEW) and many.used() == (MANY, MANY)
    assert steps_of(many.conn, many.used) <= steps_of(few.conn, few.used) + 1
