"""May this organization send this, now? Named checks in the order of docs/contract.md, "Sending".

They run inside the transaction that stores the message, so that what they saw is still true when it
commits. A guard that refuses raises; nothing was written then.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from conf.settings import Plan
from controlplane.access.plan_limits import refusing_what_exceeds
from controlplane.contract.refusals import Refusal
from controlplane.sending.admitting import loop_brake
from controlplane.sending.admitting.participants import (
    PARTICIPANTS,
    REPLY_ONLY,
    allowed_by_rules,
    may_answer,
    not_allowed,
)
from maild.message.fields.address import normalize, suppression_keys
from maild.message.writing.reply_recipients import is_own
from storage import usage
from storage.agents import claims
from storage.agents.policies import Levels
from storage.agents.rules import Ruling
from storage.clock import DAY_MS, day_of, is_recent, iso, iso_or_none, next_day_ms
from storage.domains import domains
from storage.engine.tx import Tx
from storage.mail import conversation, exchanges, inboxes, threads, tripwire
from storage.records import InboxRow, OrganizationRow, verified_domain
from storage.sending import suppressions
from storage.tenants import allowances

BULK_WINDOW_MS = 10 * 60_000
TRIPPED_FOR_MS = DAY_MS
NEWER_SHOWN = 5


class Fence(NamedTuple):
    """Only while this claim lives, and is of the conversation; None: without one."""

    claim_id: str | None


class Terms(NamedTuple):
    """On what a message is sent. `if_last`: only while nothing came after this message of its conversation.
    `authority`: REPLY_ONLY, where the key that sends it may not write to anybody. `fence`: None where it was asked
    before: a scheduled message goes although its claim is over. `reads_mail`: a refusal may show who asks words of
    mail."""

    if_last: str | None = None
    authority: str | None = None
    fence: Fence | None = None
    reads_mail: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the guards judge. `inbox`: that of `inbox_id`; None: there is no such active one. `recipients`: (kind,
    address) pairs; `keys`: their comparison keys.

    `thread_id`: the conversation that it answers in. `strangers`: the keys of those who have not written to the sending
    inbox there. `goes_at_ms`: when it is to leave: now, or the time that it is scheduled for, whose day and month have
    allowances of their own. `terms`: its sender's. `policies`: of its inbox. `answers_to`: whom its author wants to be
    answered in his place. `rulings`: what rules say of them, and of `keys`.
    """

    organization: OrganizationRow
    plan: Plan
    inbox_id: str
    inbox: InboxRow | None
    shared_domains: frozenset[str]
    recipients: Sequence[tuple[str, str]]
    keys: Sequence[str]
    mode: str
    thread_id: str | None
    strangers: frozenset[str]
    bulk_recipients: int
    now_ms: int
    goes_at_ms: int
    terms: Terms
    policies: Levels
    rulings: Mapping[str, Ruling]
    answers_to: Sequence[str]

    @property
    def addresses(self) -> Iterator[tuple[str, str]]:
        """Each recipient with its comparison key."""
        for (_, address), key in zip(self.recipients, self.keys, strict=True):
            yield address, key

    @property
    def is_scheduled(self) -> bool:
        return self.goes_at_ms > self.now_ms


class BulkPattern(Refusal):
    """This very send tripped the wire: that is to be remembered, though the send is refused."""


def check(tx: Tx, attempt: Attempt) -> InboxRow:
    """Run every guard; the inbox that sends."""
    inbox = inbox_is_active(attempt)
    for guard in _guards_of(attempt, inbox):
        guard(tx, attempt)
    return inbox


def every_refusal(tx: Tx, attempt: Attempt) -> list[Refusal]:
    """What each guard that refuses would say, in their order; `check` raises the first."""
    try:
        inbox = inbox_is_active(attempt)
    except Refusal as refusal:
        return [refusal.to_keep()]  # without it there is nothing that the others could judge
    refusals = []
    for guard in _guards_of(attempt, inbox):
        try:
            guard(tx, attempt)
        except Refusal as refusal:
            refusals.append(refusal.to_keep())
    return refusals


def _guards_of(attempt: Attempt, inbox: InboxRow) -> "Sequence[Guard]":
    own = partial(domain_is_verified, inbox=inbox)
    return (own, *(GUARDS if attempt.mode == "live" else TEST_GUARDS))


def inbox_is_active(attempt: Attempt) -> InboxRow:
    if attempt.inbox is None:
        raise Refusal("inbox_not_found")
    return attempt.inbox


def domain_is_verified(tx: Tx, attempt: Attempt, inbox: InboxRow) -> None:
    if inbox.domain in attempt.shared_domains:
        return
    if domains.status_for(tx, attempt.organization.id, inbox.domain) != "verified":
        raise Refusal("domain_not_verified", details={"domainName": inbox.domain})


def claim_is_live(tx: Tx, attempt: Attempt) -> None:
    """docs/contract.md, "Mail as work"."""
    fence, organization_id = attempt.terms.fence, attempt.organization.id
    if fence is None:
        return
    if fence.claim_id is None:
        if attempt.thread_id is not None:
            _claim_is_not_required(attempt)
        return
    claim = claims.get(tx, organization_id, fence.claim_id)
    if claim is None or (claim.inbox_id, claim.mode) != (attempt.inbox_id, attempt.mode):
        raise Refusal("claim_not_found")
    if claim.thread_id != attempt.thread_id or not claim.is_live(attempt.now_ms):
        raise Refusal("claim_lost", details={"claimId": claim.id, "status": claim.status_at(attempt.now_ms)})


def _claim_is_not_required(attempt: Attempt) -> None:
    work = attempt.policies.effective.work
    if work.is_enabled and work.requires_claim:
        details = {"inboxId": attempt.inbox_id, "threadId": attempt.thread_id}
        raise Refusal("claim_required", details=details)


def thread_has_not_advanced(tx: Tx, attempt: Attempt) -> None:
    """docs/contract.md, "Unless the conversation went on"."""
    if_last = attempt.terms.if_last
    if if_last is None:
        return
    organization_id, thread_id = attempt.organization.id, _thread(tx, attempt)
    newer = conversation.newer(tx, organization_id, thread_id, if_last, attempt.mode)
    if not newer:
        return
    shown = reversed(newer[:NEWER_SHOWN])
    raise Refusal(
        "thread_advanced",
        details={
            "threadId": thread_id,
            "ifLastMessageId": if_last,
            "lastMessageId": newer[0].id,
            "newerCount": len(newer),
            "newer": [
                {
                    "id": one.id,
                    "direction": one.direction,
                    "fromAddress": one.from_address if attempt.terms.reads_mail else "",
                    "verifiedDomain": verified_domain(one.auth) if attempt.terms.reads_mail else None,
                    "createdAt": iso(one.created_at),
                    "snippet": one.snippet if attempt.terms.reads_mail else "",
                }
                for one in shown
            ],
            "sent": False,
        },
    )


def recipients_may_be_answered(tx: Tx, attempt: Attempt) -> None:
    """docs/contract.md, "Keys that only answer"."""
    if attempt.terms.authority == REPLY_ONLY:
        _refuse_who_takes_no_part(tx, attempt)


def _refuse_who_takes_no_part(tx: Tx, attempt: Attempt) -> frozenset[str]:
    """The comparison keys of all who may be answered."""
    thread_id = _thread(tx, attempt)
    allowed = may_answer(tx, attempt.organization.id, thread_id, attempt.mode)
    allowed |= allowed_by_rules(attempt.rulings)
    for address, key in attempt.addresses:
        if key not in allowed:
            raise not_allowed(address)
    return allowed


def _thread(tx: Tx, attempt: Attempt) -> str:
    """The conversation that it answers in, as it is now."""
    thread_id = attempt.thread_id
    if thread_id is None or threads.get(tx, attempt.organization.id, thread_id) is None:
        raise Refusal("message_not_found")  # deleted meanwhile, with all its conversation
    return thread_id


def sending_is_approved(tx: Tx, attempt: Attempt) -> None:
    organization = attempt.organization
    if organization.sending_status == "approved":
        return
    tripped_at = organization.sending_tripped_at
    raise Refusal(
        "sending_not_approved",
        details={
            "status": organization.sending_status,
            "reason": organization.sending_reason,
            "action": organization.sending_action,
            "trippedAt": iso_or_none(tripped_at),
        },
    )


def plan_allows_recipients(tx: Tx, attempt: Attempt) -> None:
    if attempt.plan.single_recipient and len(attempt.recipients) > 1:
        raise Refusal("sandbox_bulk_not_allowed")


def recipients_are_not_suppressed(tx: Tx, attempt: Attempt) -> None:
    keys = {key for address in attempt.keys for key in suppression_keys(address)}
    found = suppressions.find(tx, attempt.organization.id, keys)
    if found:
        first = found[0]
        raise Refusal(
            "recipient_suppressed",
            details={"email": first.email, "reason": first.reason, "source": first.source},
        )


def recipients_are_allowed(tx: Tx, attempt: Attempt) -> None:
    """docs/contract.md, "Rules"."""
    for address, key in attempt.addresses:
        ruling = attempt.rulings.get(key)
        if ruling is not None and ruling.action == "block":
            raise not_allowed(address, "rule", ruling.rule_id)
    asked = attempt.policies.recipients
    if "allowlist" in asked:
        for address, key in attempt.addresses:
            if key not in attempt.rulings:
                raise not_allowed(address, "allowlist")
    if PARTICIPANTS in asked:
        _answers_who_takes_part(tx, attempt)


def _answers_who_takes_part(tx: Tx, attempt: Attempt) -> None:
    if attempt.thread_id is None:  # nobody takes part in what has not begun
        for address, _ in attempt.addresses:
            raise not_allowed(address)
        return
    allowed = _refuse_who_takes_no_part(tx, attempt)
    if not attempt.answers_to:
        return
    own = inboxes.address_of(tx, attempt.organization.id, attempt.inbox_id) or ""
    for address in attempt.answers_to:  # an answer that goes elsewhere is a way out as well
        key = normalize(address)
        if key not in allowed and not is_own(key, own):
            raise not_allowed(address)


def rules_that_hold(attempt: Attempt) -> list[str]:
    """The ids of rules for which the message is to wait until somebody has decided, each once."""
    rulings = (attempt.rulings.get(key) for key in attempt.keys)
    return list(dict.fromkeys(one.rule_id for one in rulings if one is not None and one.action == "hold"))


def no_bulk_pattern(tx: Tx, attempt: Attempt) -> None:
    """docs/decisions.md, "Tripwire": many strangers in a short time. Answers in a conversation pass."""
    if not attempt.strangers:
        return
    organization_id, now_ms = attempt.organization.id, attempt.now_ms
    tripped_at = attempt.organization.tripwire_tripped_at
    if tripped_at is not None and is_recent(tripped_at, now_ms, TRIPPED_FOR_MS):
        raise Refusal("sending_paused_bulk_review", details=_tripped(attempt, tripped_at))
    if attempt.is_scheduled:  # counted when it leaves
        return
    others_max = attempt.bulk_recipients - len(attempt.strangers)
    if not tripwire.has_room(tx, organization_id, now_ms, BULK_WINDOW_MS, attempt.strangers, others_max):
        raise BulkPattern("sending_paused_bulk_review", details=_tripped(attempt, now_ms))


def _tripped(attempt: Attempt, tripped_at: int) -> dict[str, object]:
    return {
        "limit": attempt.bulk_recipients,
        "windowSeconds": BULK_WINDOW_MS // 1000,
        "trippedAt": iso(tripped_at),
        "resetsAt": iso(tripped_at + TRIPPED_FOR_MS),
    }


def no_loop(tx: Tx, attempt: Attempt) -> None:
    """docs/decisions.md, "Loop brake": a program that answers us, and that we answer, without end."""
    if attempt.thread_id is None:
        return
    since_ms = attempt.now_ms - loop_brake.WINDOW_MS - loop_brake.REST_MS
    at_least = 2 * loop_brake.EXCHANGES
    lines = exchanges.newest(tx, attempt.organization.id, attempt.thread_id, attempt.mode, since_ms, at_least)
    resets_at = loop_brake.resting_until(lines)
    if resets_at is None or resets_at <= attempt.goes_at_ms:
        return
    if not is_recent(resets_at - loop_brake.REST_MS, attempt.now_ms, loop_brake.REST_MS):
        return
    raise Refusal(
        "loop_suspected",
        details={
            "threadId": attempt.thread_id,
            "exchanges": loop_brake.EXCHANGES,
            "windowSeconds": loop_brake.WINDOW_MS // 1000,
            "resetsAt": iso(resets_at),
        },
        retry_after_s=-(-(resets_at - attempt.now_ms) // 1000),
    )


def domain_is_below_its_ceiling(tx: Tx, attempt: Attempt) -> None:
    ceiling = domains.ceiling(tx, attempt.organization.id, attempt.inbox_id)
    if ceiling is None:
        return
    name, limit = ceiling
    used = usage.get(tx, attempt.organization.id, day_of(attempt.goes_at_ms), "messages", scope=name)
    if used < limit:
        return
    resets_at = next_day_ms(attempt.goes_at_ms)
    raise Refusal(
        "domain_daily_cap_reached",
        details={"domainName": name, "limit": limit, "used": used, "resetsAt": iso(resets_at)},
        retry_after_s=-(-(resets_at - attempt.now_ms) // 1000),
    )


def spend_is_below_threshold(tx: Tx, attempt: Attempt) -> None:
    with refusing_what_exceeds():
        threshold = attempt.plan.spend_pause_threshold
        allowances.spend(tx, attempt.organization.id, threshold, attempt.goes_at_ms)


def allowance_is_left(tx: Tx, attempt: Attempt) -> None:
    organization_id, plan = attempt.organization.id, attempt.plan
    with refusing_what_exceeds():
        allowances.message(
            tx, organization_id, plan.messages_daily, plan.messages_monthly, attempt.goes_at_ms
        )
        allowances.stored_bytes(tx, organization_id, plan.storage_bytes)


def first_time_budget_is_left(tx: Tx, attempt: Attempt) -> None:
    """docs/contract.md, "Policies": how many who were never written to may be, a day."""
    limit = attempt.policies.effective.outbound.first_time_daily
    if limit is None:
        return
    with refusing_what_exceeds():
        allowances.first_time_recipients(tx, attempt.inbox_id, attempt.keys, limit, attempt.goes_at_ms)


Guard = Callable[[Tx, Attempt], None]
GUARDS: Sequence[Guard] = (
    claim_is_live,
    thread_has_not_advanced,
    recipients_may_be_answered,
    sending_is_approved,
    plan_allows_recipients,
    recipients_are_not_suppressed,
    recipients_are_allowed,
    no_bulk_pattern,
    no_loop,
    domain_is_below_its_ceiling,
    spend_is_below_threshold,
    allowance_is_left,
    first_time_budget_is_left,
)
# Mail of a test key leaves to no real recipient, so it can neither harm a reputation nor use up an allowance. But two
# programs under test answer each other as others do, and what a policy forbids is to be found in a test.
TEST_GUARDS: Sequence[Guard] = (
    claim_is_live,
    thread_has_not_advanced,
    recipients_may_be_answered,
    sending_is_approved,
    plan_allows_recipients,
    recipients_are_allowed,
    no_loop,
)
