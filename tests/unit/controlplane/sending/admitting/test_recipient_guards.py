"""Whom a send may go to, by rules and the policies of both levels: the whole table, and what holds whatever is said.

RECIPIENT_CASES says how many cases are made up (10,000 take five minutes).
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conf.settings import Plan
from controlplane.contract.refusals import Refusal
from controlplane.sending.admitting import guards
from controlplane.sending.admitting.guards import (
    Attempt,
    Terms,
    recipients_are_allowed,
    recipients_may_be_answered,
    rules_that_hold,
    thread_has_not_advanced,
)
from controlplane.sending.admitting.participants import REPLY_ONLY
from maild.message.fields.address import normalize, split, strip_plus
from maild.message.writing.reply_recipients import Correspondence, TooManyRecipients, resolve
from storage.agents import rules
from storage.agents.policies import Levels, OutboundPolicy, Policy
from storage.agents.rules import RuleRow
from storage.engine.tx import Tx
from storage.mail import messages, threads
from storage.records import dump
from storage.sending import outbound
from storage.tenants import organizations
from tests.support.worlds.memory_store import message_row, with_inboxes

CASES = int(os.environ.get("RECIPIENT_CASES", "300"))
OWN = "inb_1@d"
PART, STRANGER = "ada@part.test", "eve@far.test"

# What a rule says of the recipient; does he take part in the thread, not so, or is there none yet; and what becomes of
# the send under no policy, an allow list, participants alone, and one of both at each level.
TABLE = """
rule   part  any   allowlist  participants  both
-      yes   sent  allowlist  sent          allowlist
-      no    sent  allowlist  participants  allowlist
-      new   sent  allowlist  participants  allowlist
allow  yes   sent  sent       sent          sent
allow  no    sent  sent       sent          sent
allow  new   sent  sent       participants  participants
hold   yes   sent  sent       sent          sent
hold   no    sent  sent       participants  participants
hold   new   sent  sent       participants  participants
block  yes   rule  rule       rule          rule
block  no    rule  rule       rule          rule
block  new   rule  rule       rule          rule
"""
POLICIES: dict[str, list[tuple[str | None, str | None]]] = {
    "any": [("any", "any"), (None, None), ("any", None)],
    "allowlist": [
        ("allowlist", "any"),
        ("any", "allowlist"),
        ("allowlist", "allowlist"),
        (None, "allowlist"),
    ],
    "participants": [("participants", "any"), ("any", "participants"), ("participants", None)],
    "both": [("allowlist", "participants"), ("participants", "allowlist")],
}


def cells() -> Iterator[tuple[str, str, str, str]]:
    """(rule, part, policy, outcome)."""
    head, *lines = TABLE.strip().splitlines()
    for line in lines:
        rule, part, *outcomes = line.split()
        for policy, outcome in zip(head.split()[2:], outcomes, strict=True):
            yield rule, part, policy, outcome


class Office:
    """An inbox with a thread in which PART has written, proven, and rules as they are told."""

    def __init__(self) -> None:
        self.tx = Tx(with_inboxes())
        told: dict[str, Any] = {"snippet": "", "participants": [], "is_unread": True}
        told |= {"organization_id": "org_1", "inbox_id": "inb_1", "subject": "", "base_subject": ""}
        threads.begin(self.tx, "thd_1", 1, **told)
        self._number = 0
        self.comes_in(PART)

    def comes_in(self, author: str, *, proven: bool = True, **fields: str) -> None:
        self._number += 1
        auth = {"verifiedDomain": split(author)[1] if proven else None}
        messages.insert(
            self.tx,
            message_row(self._number, from_address=author, auth=dump(auth), envelope_from=author, **fields),
        )

    def goes_out(self, to: str, *, queued: bool, authority: str | None = None, status: str = "sent") -> None:
        self._number += 1
        made = message_row(
            self._number,
            direction="outbound",
            status=status,
            to_addresses=dump([to]),
            authority=authority,
            bounce_token=str(self._number),
        )
        messages.insert(self.tx, made)
        if queued:
            outbound.enqueue(self.tx, made.id, "org_1", [("to", to)], 1, 2)

    def rule(self, action: str, value: str) -> None:
        self._number += 1
        made = RuleRow(f"rul_{self._number:03}", "org_1", None, "outbound", action, value, None, 1)
        rules.add(self.tx, made)

    def attempt(
        self,
        *recipients: str,
        levels: Levels,
        in_thread: bool = True,
        authority: str | None = None,
        answers_to: Sequence[str] = (),
    ) -> Attempt:
        organization = organizations.get(self.tx, "org_1")
        assert organization is not None
        keys = [normalize(one) for one in recipients]
        return Attempt(
            organization=organization,
            plan=Plan(),
            inbox_id="inb_1",
            inbox=None,
            shared_domains=frozenset(),
            recipients=[("to", one) for one in recipients],
            keys=keys,
            mode="live",
            thread_id="thd_1" if in_thread else None,
            strangers=frozenset(),
            bulk_recipients=50,
            now_ms=1,
            goes_at_ms=1,
            terms=Terms(authority=authority),
            policies=levels,
            rulings=rules.decide(self.tx, "org_1", "inb_1", "outbound", [*keys, *map(normalize, answers_to)]),
            answers_to=answers_to,
        )

    def outcome(self, attempt: Attempt) -> str:
        try:
            recipients_may_be_answered(self.tx, attempt)
            recipients_are_allowed(self.tx, attempt)
        except Refusal as refusal:
            assert refusal.code == "recipient_not_allowed" and refusal.details is not None
            reason: str = refusal.details["reason"]
            assert (refusal.details["ruleId"] is not None) == (reason == "rule")
            return reason
        return "sent"


def said(recipients: str | None) -> Policy | None:
    return None if recipients is None else Policy(outbound=OutboundPolicy(recipients))


def levels_of(organization: str | None = None, inbox: str | None = None) -> Levels:
    return Levels(said(organization), said(inbox))


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.mark.parametrize(("rule", "part", "policy", "outcome"), list(cells()))
def test_the_table(office: Office, rule: str, part: str, policy: str, outcome: str) -> None:
    recipient = PART if part == "yes" else STRANGER
    if rule != "-":
        office.rule(rule, split(recipient)[1])
    for organization, inbox in POLICIES[policy]:
        attempt = office.attempt(recipient, levels=levels_of(organization, inbox), in_thread=part != "new")
        assert office.outcome(attempt) == outcome, (organization, inbox)
        assert bool(rules_that_hold(attempt)) == (rule == "hold")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_recipient_who_may_not_be_written_to_is_enough(office: Office, place: int) -> None:
    office.rule("allow", "part.test")
    recipients = [PART, "bob@part.test", "cyd@part.test"]
    recipients[place] = STRANGER
    for policy in ("allowlist", "participants"):
        assert office.outcome(office.attempt(*recipients, levels=levels_of(policy))) == policy
    office.rule("block", STRANGER)
    assert office.outcome(office.attempt(*recipients, levels=levels_of())) == "rule"


def test_a_key_that_only_answers_may_answer_whom_a_rule_allows(office: Office) -> None:
    levels = levels_of()
    assert office.outcome(office.attempt(STRANGER, levels=levels, authority=REPLY_ONLY)) == "participants"
    office.rule("allow", "far.test")
    assert office.outcome(office.attempt(STRANGER, levels=levels, authority=REPLY_ONLY)) == "sent"
    office.rule("hold", STRANGER)
    assert office.outcome(office.attempt(STRANGER, levels=levels, authority=REPLY_ONLY)) == "participants"


@pytest.mark.parametrize(
    ("status", "queued", "authority", "outcome"),
    [
        ("sent", True, None, "sent"),
        ("delivered", True, None, "sent"),
        ("failed", True, None, "sent"),  # it left, and came back
        ("sent", True, REPLY_ONLY, "participants"),
        ("scheduled", False, None, "participants"),
        ("cancelled", False, None, "participants"),
        ("failed", False, None, "participants"),  # a guard refused it when its time came
    ],
)
def test_nobody_takes_part_by_what_has_not_left(
    office: Office, status: str, queued: bool, authority: str | None, outcome: str
) -> None:
    office.goes_out(STRANGER, status=status, queued=queued, authority=authority)
    for attempt in (
        office.attempt(STRANGER, levels=levels_of("participants")),
        office.attempt(STRANGER, levels=levels_of(), authority=REPLY_ONLY),
    ):
        assert office.outcome(attempt) == outcome


@pytest.mark.parametrize(
    ("address", "outcome"),
    [
        (STRANGER, "participants"),
        (PART, "sent"),
        (OWN, "sent"),
        ("INB_1+x@d", "sent"),
        ("b@allowed.test", "sent"),
    ],
)
def test_an_answer_goes_to_nobody_else_either(office: Office, address: str, outcome: str) -> None:
    office.rule("allow", "allowed.test")
    attempt = office.attempt(PART, levels=levels_of("participants"), answers_to=[address])
    assert office.outcome(attempt) == outcome
    assert office.outcome(office.attempt(PART, levels=levels_of(), answers_to=[STRANGER])) == "sent"


def test_a_draft_without_recipients_goes_to_nobody_who_is_not_allowed(office: Office) -> None:
    for in_thread in (True, False):
        attempt = office.attempt(levels=levels_of("participants"), in_thread=in_thread)
        assert office.outcome(attempt) == "sent"


@pytest.mark.parametrize("terms", [Terms(if_last="msg_1"), Terms(authority=REPLY_ONLY)])
def test_nothing_is_answered_in_a_conversation_that_was_deleted_meanwhile(
    office: Office, terms: Terms
) -> None:
    office.rule("allow", PART)
    attempt = replace(office.attempt(PART, levels=levels_of()), terms=terms)
    office.tx.run("DELETE FROM messages")
    office.tx.run("DELETE FROM threads")
    with pytest.raises(Refusal) as refused:
        thread_has_not_advanced(office.tx, attempt)
        recipients_may_be_answered(office.tx, attempt)
    assert refused.value.code == "message_not_found"


def test_nothing_is_sent_from_an_inbox_that_is_gone(office: Office) -> None:
    attempt = office.attempt(PART, levels=levels_of())
    with pytest.raises(Refusal) as refused:
        guards.check(office.tx, attempt)
    told = guards.every_refusal(office.tx, attempt)
    assert [one.code for one in (refused.value, *told)] == ["inbox_not_found"] * 2


# Whatever is said --------------------------------------------------------------------------------

NAMES = ["ada", "ADA", "ada+x", "eve", "eve+x+y", "bob"]
DOMAINS = ["part.test", "a.part.test", "far.test", "PART.test", "xn--bcher-kva.test", "bücher.test"]
ADDRESSES = st.builds("{}@{}".format, st.sampled_from(NAMES), st.sampled_from(DOMAINS))
VALUES = st.one_of(
    st.builds("{}@{}".format, st.sampled_from(["ada", "eve"]), st.sampled_from(["part.test", "far.test"])),
    st.sampled_from(["part.test", "*.part.test", "far.test", "xn--bcher-kva.test", "*.test"]),
)


class Happened(NamedTuple):
    """Mail of the thread: (author, proven, Reply-To, To, Cc) came in, (recipient, queued, authority) was sent."""

    came: list[tuple[str, bool, list[str], list[str], list[str]]]
    sent: list[tuple[str, bool, str | None]]
    rules: list[tuple[str, str]]


LISTS = st.lists(ADDRESSES, max_size=3)
HAPPENED = st.builds(
    Happened,
    st.lists(st.tuples(ADDRESSES, st.booleans(), LISTS, LISTS, LISTS), max_size=3),
    st.lists(st.tuples(ADDRESSES, st.booleans(), st.sampled_from([None, REPLY_ONLY])), max_size=2),
    st.lists(st.tuples(st.sampled_from(rules.STERNEST_FIRST), VALUES), max_size=4),
)
WORDS = st.sampled_from([None, "any", "allowlist", "participants"])


def naively_ruled(key: str, made: Sequence[tuple[str, str]]) -> str | None:
    """What the sternest of the rules says, as a person would read them."""
    local, domain = split(key)

    def names(value: str) -> bool:
        if "@" in value:
            return value == f"{strip_plus(local)}@{domain}"
        return domain.endswith(value[1:]) if value.startswith("*") else domain == value

    named = {action for action, value in made if names(value)}
    return next((action for action in rules.STERNEST_FIRST if action in named), None)


def naively_answerable(happened: Happened) -> set[str]:
    """A to C of docs/contract.md, "Keys that only answer"."""
    found = set()
    for author, proven, replies, _, _ in happened.came:
        domain = split(normalize(author))[1]
        if proven:
            found |= {normalize(author)}
            found |= {
                key
                for one in replies
                if (key := normalize(one))
                and (split(key)[1] == domain or split(key)[1].endswith(f".{domain}"))
            }
    return found | {normalize(to) for to, queued, authority in happened.sent if queued and authority is None}


def office_of(happened: Happened) -> Office:
    office = Office()
    office.tx.run("DELETE FROM messages")
    for author, proven, replies, to, cc in happened.came:
        office.comes_in(
            normalize(author),
            proven=proven,
            reply_to_addresses=dump(replies),
            to_addresses=dump(to),
            cc_addresses=dump(cc),
        )
    for recipient, queued, authority in happened.sent:
        office.goes_out(
            recipient, queued=queued, authority=authority, status="sent" if queued else "scheduled"
        )
    for action, value in happened.rules:
        office.rule(action, value)
    return office


@settings(max_examples=CASES, deadline=None)
@given(HAPPENED, st.lists(ADDRESSES, min_size=1, max_size=4), WORDS, WORDS, st.booleans(), st.booleans())
def test_no_send_has_a_recipient_outside_of_what_is_allowed(
    happened: Happened,
    recipients: list[str],
    organization: str | None,
    inbox: str | None,
    only_answers: bool,
    in_thread: bool,
) -> None:
    office = office_of(happened)
    attempt = office.attempt(
        *recipients,
        levels=levels_of(organization, inbox),
        in_thread=in_thread or only_answers,
        authority=REPLY_ONLY if only_answers else None,
    )
    ruled = {key: naively_ruled(key, happened.rules) for key in attempt.keys}
    takes_part = naively_answerable(happened)
    may = all(ruling != "block" for ruling in ruled.values())
    if "allowlist" in (organization, inbox):
        may &= all(ruled.values())
    if only_answers or "participants" in (organization, inbox):
        may &= attempt.thread_id is not None
        may &= all(key in takes_part or ruled[key] == "allow" for key in attempt.keys)
    assert (office.outcome(attempt) == "sent") == may


@settings(max_examples=CASES, deadline=None)
@given(HAPPENED, st.booleans(), st.integers(0, 2))
def test_an_answer_that_is_found_is_one_that_may_be_sent(
    happened: Happened, reply_all: bool, which: int
) -> None:
    """What finds the recipients of an answer and what guards them agree, but for what a rule blocks."""
    if not happened.came:
        return
    office = office_of(happened)
    author, proven, replies, to, cc = happened.came[which % len(happened.came)]
    verified = split(normalize(author))[1] if proven else None
    people = Correspondence(True, [normalize(author)], replies, to, cc, verified)
    keys = {normalize(one) for one in (author, *replies, *to, *cc)}
    allowed = naively_answerable(happened) | {
        key for key in keys if naively_ruled(key, happened.rules) == "allow"
    }
    try:
        found = resolve(
            people, OWN, reply_all=reply_all, honors_foreign=False, may_answer=allowed.__contains__
        )
    except TooManyRecipients:
        return
    chosen = [*found.to, *found.cc]
    if not chosen:
        return
    for attempt in (
        office.attempt(*chosen, levels=levels_of("participants")),
        office.attempt(*chosen, levels=levels_of(), authority=REPLY_ONLY),
    ):
        assert office.outcome(attempt) in ("sent", "rule")
