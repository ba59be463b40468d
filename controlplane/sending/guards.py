"""May this organization send this, now? Named checks in the order of decisions.md.

They run inside the transaction that stores the message, so that what they saw is still true when it
commits. A guard that refuses raises; nothing was written then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conf.settings import Plan
from controlplane.errors import ApiError
from storage import domains, inboxes, suppressions, usage
from storage.clock import day_of, iso, month_of, next_day_ms, next_month_ms
from storage.database import Tx
from storage.records import Inbox, Organization


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the guards judge. `recipients`: (kind, address) pairs; `keys`: their comparison keys."""

    organization: Organization
    plan: Plan
    inbox_id: str
    shared_domains: frozenset[str]
    recipients: Sequence[tuple[str, str]]
    keys: Sequence[str]
    mode: str
    now_ms: int


def check(tx: Tx, attempt: Attempt) -> Inbox:
    """Run every guard; the inbox that sends."""
    inbox = inbox_is_active(tx, attempt)
    domain_is_verified(tx, attempt, inbox)
    for guard in GUARDS if attempt.mode == "live" else TEST_GUARDS:
        guard(tx, attempt)
    return inbox


def inbox_is_active(tx: Tx, attempt: Attempt) -> Inbox:
    inbox = inboxes.get_active(tx, attempt.organization.id, attempt.inbox_id)
    if inbox is None:
        raise ApiError("inbox_not_found")
    return inbox


def domain_is_verified(tx: Tx, attempt: Attempt, inbox: Inbox) -> None:
    if inbox.domain in attempt.shared_domains:
        return
    if domains.status_for(tx, attempt.organization.id, inbox.domain) != "verified":
        raise ApiError("domain_not_verified")


def sending_is_approved(tx: Tx, attempt: Attempt) -> None:
    organization = attempt.organization
    if organization.sending_status == "approved":
        return
    tripped_at = organization.sending_tripped_at
    raise ApiError(
        "sending_not_approved",
        details={
            "status": organization.sending_status,
            "reason": organization.sending_reason,
            "action": organization.sending_action,
            "trippedAt": iso(tripped_at) if tripped_at is not None else None,
        },
    )


def plan_allows_recipients(tx: Tx, attempt: Attempt) -> None:
    if attempt.plan.single_recipient and len(attempt.recipients) > 1:
        raise ApiError("sandbox_bulk_not_allowed")


def recipients_are_not_suppressed(tx: Tx, attempt: Attempt) -> None:
    found = suppressions.find(tx, attempt.organization.id, attempt.keys)
    if found:
        first = found[0]
        raise ApiError(
            "recipient_suppressed",
            details={"email": first.email, "reason": first.reason, "source": first.source},
        )


def domain_is_below_its_ceiling(tx: Tx, attempt: Attempt) -> None:
    ceiling = domains.ceiling(tx, attempt.organization.id, attempt.inbox_id)
    if ceiling is None:
        return
    name, limit = ceiling
    used = usage.get(tx, attempt.organization.id, day_of(attempt.now_ms), "messages", scope=name)
    if used < limit:
        return
    resets_at = next_day_ms(attempt.now_ms)
    raise ApiError(
        "domain_daily_cap_reached",
        details={"domainName": name, "limit": limit, "used": used, "resetsAt": iso(resets_at)},
        headers={
            "Retry-After": str(-(-(resets_at - attempt.now_ms) // 1000)),
            "X-Domain-Limit": str(limit),
            "X-Domain-Used": str(used),
        },
    )


def spend_is_below_threshold(tx: Tx, attempt: Attempt) -> None:
    threshold = attempt.plan.spend_pause_threshold
    if threshold is None:
        return
    used = usage.get(tx, attempt.organization.id, month_of(attempt.now_ms), "messages")
    if used >= threshold:
        resets_at = iso(next_month_ms(attempt.now_ms))
        raise ApiError("spend_cap_reached", details={"limit": threshold, "used": used, "resetsAt": resets_at})


def allowance_is_left(tx: Tx, attempt: Attempt) -> None:
    now_ms, plan = attempt.now_ms, attempt.plan
    for resource, limit, period, resets_at in (
        ("messagesDaily", plan.messages_daily, day_of(now_ms), next_day_ms(now_ms)),
        ("messagesMonthly", plan.messages_monthly, month_of(now_ms), next_month_ms(now_ms)),
    ):
        if limit is None:
            continue
        used = usage.get(tx, attempt.organization.id, period, "messages")
        if used >= limit:
            raise limit_reached(resource, limit, used, resets_at)


def limit_reached(resource: str, limit: int, used: int, resets_at: int | None) -> ApiError:
    """decisions.md, Organization: what is used up, and when it starts anew (null: never by itself)."""
    return ApiError(
        "limit_reached",
        details={
            "resource": resource,
            "limit": limit,
            "used": used,
            "resetsAt": iso(resets_at) if resets_at is not None else None,
        },
    )


Guard = Callable[[Tx, Attempt], None]
GUARDS: Sequence[Guard] = (
    sending_is_approved,
    plan_allows_recipients,
    recipients_are_not_suppressed,
    domain_is_below_its_ceiling,
    spend_is_below_threshold,
    allowance_is_left,
)
# A test key reaches nobody, so it can neither harm a reputation nor use up an allowance.
TEST_GUARDS: Sequence[Guard] = (sending_is_approved, plan_allows_recipients)
