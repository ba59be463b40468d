"""Who decides about what is held, whichever door they come by; no scope that a door asks for is asked here."""

from collections.abc import Sequence

import pytest

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.sending.reviews.reviewing import APPROVER_CHECKS, DECIDER_CHECKS, Decider, DeciderCheck
from storage.agents import reviews
from storage.engine.tx import Tx
from storage.records import ReviewRow
from tests.support.worlds.memory_store import with_inboxes

SENT = ReviewRow(
    "rev_1", "org_1", "inb_1", "msg_1", "outbound", "live", "pending", "[]", "[]", "key_1", 0, 1, None, None, None, 1
)  # fmt: skip
ARRIVED = SENT._replace(direction="inbound", submitted_by=None)
BY_SOMEBODY = SENT._replace(submitted_by=None)
DECIDED = SENT._replace(status="approved", resolved_by="key_2")

AUTHOR = Principal("key_1", "org_1", None, ("*",), "live")
OTHER = AUTHOR._replace(key_id="key_2")
BOUND = OTHER._replace(inbox_id="inb_1")
TEST = OTHER._replace(mode="test")
MEMBER = Principal("mem_1", "org_1", None, ("*",), "live", session_id="ses_1")


def refused(checks: Sequence[DeciderCheck], review: ReviewRow, decider: Decider) -> str | None:
    tx = Tx(with_inboxes())
    try:
        for check in checks:
            check(tx, review, decider)
    except Refusal as refusal:
        return refusal.code
    return None


@pytest.mark.parametrize(
    ("review", "who", "approves", "rejects"),
    [
        (SENT, OTHER, None, None),
        (SENT, AUTHOR, "self_approval", None),
        (SENT, BOUND, "self_approval", "self_approval"),
        (SENT, TEST, "insufficient_scope", "insufficient_scope"),
        (SENT, MEMBER, None, None),
        (SENT._replace(submitted_by="mem_1"), MEMBER, None, None),
        (BY_SOMEBODY, OTHER, "self_approval", None),
        (BY_SOMEBODY, MEMBER, None, None),
        (ARRIVED, OTHER, None, None),
        (ARRIVED, BOUND, "self_approval", "self_approval"),
        (DECIDED, OTHER, "review_resolved", "review_resolved"),
        (DECIDED, MEMBER, "review_resolved", "review_resolved"),
    ],
)
def test_who_approves_and_who_rejects(
    review: ReviewRow, who: Principal, approves: str | None, rejects: str | None
) -> None:
    decider = Decider.of(who)._replace(is_descendant=False)
    assert (refused(APPROVER_CHECKS, review, decider), refused(DECIDER_CHECKS, review, decider)) == (
        approves,
        rejects,
    )


@pytest.mark.parametrize("is_descendant", [True, None])
def test_a_descendant_and_whom_nobody_asked_about_approve_nothing_that_was_sent(
    is_descendant: bool | None,
) -> None:
    decider = Decider.of(OTHER)._replace(is_descendant=is_descendant)
    assert refused(APPROVER_CHECKS, SENT, decider) == "self_approval"
    assert refused(APPROVER_CHECKS, ARRIVED, decider) is None
    assert refused(DECIDER_CHECKS, SENT, decider) is None


def test_the_operator_decides_about_all() -> None:
    operator = Decider(reviews.OPERATOR)
    for review in (SENT, ARRIVED, BY_SOMEBODY):
        assert refused(APPROVER_CHECKS, review, operator) is None
