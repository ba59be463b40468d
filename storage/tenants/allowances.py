"""What a plan allows an organization: every comparison of what there is with what there may be.

The functions are called in the transaction that takes one more, so that of two requests one gets the last place.
Limits are those of the plan (conf.settings.Plan); None: unlimited. Each plane tells its own peers of `UsedUp` in
their terms. What a plan says beside numbers (one recipient a message) is a guard of sending.
"""

from collections.abc import Callable, Collection

from storage import usage
from storage.agents import rules
from storage.clock import DAY_MS, day_of, month_of, next_day_ms, next_month_ms
from storage.domains import domains
from storage.engine.tx import Tx
from storage.mail import correspondents, drafts, inboxes
from storage.publishing import webhooks

LimitOf = Callable[[str], int | None]  # a plan's name → its limit


class UsedUp(Exception):
    """The plan allows no more. `resets_at`: when it does again by itself, in Unix milliseconds; None: never."""

    def __init__(self, resource: str, limit: int, used: int, resets_at: int | None = None) -> None:
        super().__init__(f"{used} of {limit} {resource}")
        self.resource = resource
        self.limit = limit
        self.used = used
        self.resets_at = resets_at


def inbox(tx: Tx, organization_id: str, limit: int | None) -> None:
    """UsedUp when the organization may not have one more active inbox."""
    if limit is not None:
        _compare("inboxes", limit, inboxes.count_active(tx, organization_id))


def open_draft(tx: Tx, organization_id: str, limit: int | None) -> None:
    """UsedUp when the organization may not have one more open draft."""
    if limit is not None:
        _compare("openDrafts", limit, drafts.count_open(tx, organization_id))


def webhook(tx: Tx, organization_id: str, limit: int | None) -> None:
    """UsedUp when the organization may not have one more webhook."""
    if limit is not None:
        _compare("webhooks", limit, webhooks.count(tx, organization_id))


def domain(tx: Tx, organization_id: str, limit: int | None) -> None:
    """UsedUp when the organization may not have one more domain, whatever the status of those it has."""
    if limit is not None:
        _compare("domains", limit, domains.count(tx, organization_id))


def rule(tx: Tx, organization_id: str) -> None:
    """UsedUp when the organization may not have one more rule, whatever its plan."""
    _compare("rules", rules.RULES_MAX, rules.count(tx, organization_id))


def message(tx: Tx, organization_id: str, daily: int | None, monthly: int | None, at_ms: int) -> None:
    """UsedUp when one more message may not leave at `at_ms`, by the allowances of that UTC month and day. Of two that
    are used up the one that lasts longer is told."""
    if monthly is not None:
        _compare("messagesMonthly", monthly, _sent_in_month(tx, organization_id, at_ms), next_month_ms(at_ms))
    if daily is not None:
        used = usage.get(tx, organization_id, day_of(at_ms), "messages")
        _compare("messagesDaily", daily, used, next_day_ms(at_ms))


def spend(tx: Tx, organization_id: str, threshold: int | None, at_ms: int) -> None:
    """UsedUp when the UTC month of `at_ms` has as many messages as the plan pauses sending at."""
    if threshold is not None:
        _compare("spend", threshold, _sent_in_month(tx, organization_id, at_ms), next_month_ms(at_ms))


def first_time_recipients(tx: Tx, inbox_id: str, keys: Collection[str], limit: int, at_ms: int) -> None:
    """UsedUp when the inbox may not write to all of these at `at_ms`: on that UTC day it would write to more than
    `limit` for the first time."""
    new = len(correspondents.unknown(tx, inbox_id, keys))
    if not new:
        return
    resets_at = next_day_ms(at_ms)
    used = correspondents.count_between(tx, inbox_id, resets_at - DAY_MS, resets_at)
    if used + new > limit:
        raise UsedUp("firstTimeRecipientsDaily", limit, used, resets_at if new <= limit else None)


def stored_bytes(tx: Tx, organization_id: str, limit: int | None) -> None:
    """UsedUp when the raw messages of the organization take `limit` bytes or more."""
    if limit is not None:
        _compare("storageBytes", limit, usage.kept_bytes(tx, organization_id))


def is_full(tx: Tx, organization_id: str, limit_of: LimitOf) -> bool:
    """Do the raw messages take all that the plan allows? One statement, for a caller without the plan, at each RCPT."""
    plan, kept = usage.plan_and_bytes(tx, organization_id)
    limit = limit_of(plan)
    return limit is not None and kept >= limit


def _sent_in_month(tx: Tx, organization_id: str, at_ms: int) -> int:
    return usage.get(tx, organization_id, month_of(at_ms), "messages")


def _compare(resource: str, limit: int, used: int, resets_at: int | None = None) -> None:
    if used >= limit:
        raise UsedUp(resource, limit, used, resets_at if limit else None)
