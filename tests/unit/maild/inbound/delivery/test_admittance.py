"""What an inbox does with a message: the whole table, and what holds of it whatever the rules."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.inbound.delivery.admittance import ACCEPTED, Admittance, ClaimedSender, admit, concerns_of
from storage.agents.policies import UNLISTED as LEVELS
from storage.agents.policies import InboundPolicy
from storage.agents.rules import Ruling

AUTHOR, ENVELOPE = "ada@x.test", "bounces@y.test"

# What rules say of From and of the envelope sender, is From's domain proven, and what becomes of the message where
# the unlisted are accepted, held, refused.
TABLE = """
From   envelope  proven  accept  hold    refuse
-      -         yes     accept  hold    refuse
-      -         no      accept  hold    refuse
-      allow     yes     accept  hold    refuse
-      allow     no      accept  hold    refuse
-      hold      yes     hold    hold    hold
-      hold      no      hold    hold    hold
-      block     yes     refuse  refuse  refuse
-      block     no      refuse  refuse  refuse
allow  -         yes     accept  accept  accept
allow  -         no      accept  hold    refuse
allow  allow     yes     accept  accept  accept
allow  allow     no      accept  hold    refuse
allow  hold      yes     hold    hold    hold
allow  hold      no      hold    hold    hold
allow  block     yes     refuse  refuse  refuse
allow  block     no      refuse  refuse  refuse
hold   -         yes     hold    hold    hold
hold   -         no      hold    hold    hold
hold   allow     yes     hold    hold    hold
hold   allow     no      hold    hold    hold
hold   hold      yes     hold    hold    hold
hold   hold      no      hold    hold    hold
hold   block     yes     refuse  refuse  refuse
hold   block     no      refuse  refuse  refuse
block  -         yes     refuse  refuse  refuse
block  -         no      refuse  refuse  refuse
block  allow     yes     refuse  refuse  refuse
block  allow     no      refuse  refuse  refuse
block  hold      yes     refuse  refuse  refuse
block  hold      no      refuse  refuse  refuse
block  block     yes     refuse  refuse  refuse
block  block     no      refuse  refuse  refuse
"""
ACTIONS = st.sampled_from(["-", "allow", "hold", "block"])
STERNNESS = {"accept": 0, "hold": 1, "refuse": 2}


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """(From, envelope, proven, unlisted, fate)."""
    head, *lines = TABLE.strip().splitlines()
    for line in lines:
        author, envelope, proven, *fates = line.split()
        for unlisted, fate in zip(head.split()[3:], fates, strict=True):
            yield author, envelope, proven, unlisted, fate


def sender(proven: bool = True, *authors: str) -> ClaimedSender:
    return ClaimedSender(authors or (AUTHOR,), ENVELOPE, "x.test" if proven else None)


def ruled(author: str = "-", envelope: str = "-") -> dict[str, Ruling]:
    given = {AUTHOR: author, ENVELOPE: envelope}
    return {key: Ruling(action, f"rul_{action}_{key}") for key, action in given.items() if action != "-"}


@pytest.mark.parametrize(("author", "envelope", "proven", "unlisted", "fate"), list(rows()))
def test_the_table(author: str, envelope: str, proven: str, unlisted: str, fate: str) -> None:
    found = admit(sender(proven == "yes"), ruled(author, envelope), InboundPolicy(unlisted=unlisted), ())
    assert found.fate == fate
    assert bool(found.reasons) == (fate != "accept")


def test_reasons_are_the_rules_that_decide_or_that_there_is_none() -> None:
    policy = InboundPolicy(unlisted="refuse")
    assert admit(sender(), ruled(), policy, ()).reasons == ("unlisted",)
    assert admit(sender(), ruled("allow", "block"), policy, ()).reasons == (f"rul_block_{ENVELOPE}",)
    assert admit(sender(), ruled("hold", "hold"), policy, ()).reasons == (
        f"rul_hold_{AUTHOR}",
        f"rul_hold_{ENVELOPE}",
    )


@pytest.mark.parametrize("verified", ["y.test", "test", "a.x.test", "xx.test", None])
def test_a_proof_of_another_domain_proves_nothing(verified: str | None) -> None:
    claimed = ClaimedSender((AUTHOR,), "", verified)
    found = admit(claimed, ruled("allow"), InboundPolicy(unlisted="refuse"), ())
    assert found == Admittance("refuse", ("unlisted",))


def test_of_several_authors_none_is_allowed_and_each_may_be_blocked() -> None:
    for authors in ((AUTHOR, "eve@x.test"), ("eve@x.test", AUTHOR), ()):
        claimed = ClaimedSender(authors, "", "x.test")
        assert admit(claimed, ruled("allow"), InboundPolicy(unlisted="refuse"), ()).fate == "refuse"
    assert admit(sender(False, "eve@z.test", AUTHOR), ruled("block"), InboundPolicy(), ()).fate == "refuse"


def test_what_nobody_may_refuse_is_held_at_most_and_never_unlisted() -> None:
    policy = InboundPolicy(unlisted="refuse")
    assert admit(sender(False), ruled(), policy, (), is_owed=True) == ACCEPTED
    assert admit(sender(False), ruled("block"), policy, (), is_owed=True).fate == "hold"
    assert admit(sender(False), ruled("hold"), policy, (), is_owed=True).fate == "hold"


def test_a_policy_holds_what_it_is_told_to_also_of_those_who_are_allowed() -> None:
    policy = InboundPolicy(hold=frozenset(("unverified", "high_risk")))
    assert admit(sender(), ruled("allow"), policy, ("high_risk",)) == Admittance("hold", ("high_risk",))
    assert admit(sender(False), ruled(), policy, concerns_of(sender(False))).reasons == ("unverified",)
    assert admit(sender(), ruled(), policy, concerns_of(sender())) == ACCEPTED
    assert admit(sender(False), ruled(), InboundPolicy(), concerns_of(sender(False))) == ACCEPTED
    assert admit(sender(False), ruled("block"), policy, ("unverified",)).fate == "refuse"


@given(
    ACTIONS,
    ACTIONS,
    st.booleans(),
    st.sampled_from(LEVELS),
    st.booleans(),
    st.sampled_from(["hold", "block"]),
)
def test_one_more_deny_never_opens_anything(
    author: str, envelope: str, is_proven: bool, unlisted: str, is_owed: bool, deny: str
) -> None:
    def fate(of_author: str, of_envelope: str) -> int:
        policy = InboundPolicy(unlisted=unlisted)
        return STERNNESS[
            admit(sender(is_proven), ruled(of_author, of_envelope), policy, (), is_owed=is_owed).fate
        ]

    def sterner(action: str) -> str:
        return action if action == "block" else deny

    # A hold names whom a policy would refuse as unlisted: somebody wants to see that mail, so it is held.
    before = fate(author, envelope)
    is_named = unlisted != "refuse" or deny == "block"
    if is_named:
        assert fate(sterner(author), envelope) >= before
        assert fate(author, sterner(envelope)) >= before
