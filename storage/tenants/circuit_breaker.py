"""Pauses the sending of an organization whose bounces or complaints would spoil the reputation of all others.

Called in the transaction that counted the bounce or the complaint, so that the send after it is refused. Where the
messages are too few to judge, the organization is watched from then on: each message that it sends is followed by
another look, and the one that makes them enough trips it. So nobody else's sends cost a look.

It trips once; an operator's approval starts the count anew, else the old numbers would trip it again.
"""

from storage.audit.acts import Act, system
from storage.audit.trail import Records
from storage.engine.tx import Tx
from storage.tenants import organizations
from storage.usage import ReputationRates

# docs/contract.md, section 8, "Circuit breaker".
SENT_MIN = 100
HARD_BOUNCE_CEILING = 0.05
COMPLAINT_CEILING = 0.003
ACTION = "contact_operator"
BREAKER = system("circuit_breaker")


def check(tx: Tx, event_id: str, audit: Records, organization_id: str, now_ms: int) -> None:
    """Pause the organization if its reputation asks for it."""
    organization = organizations.get(tx, organization_id)
    if organization is None or organization.sending_status != "approved":
        return
    standing = organizations.standing(tx, organization_id, now_ms)
    reason = judge(standing)
    if reason is not None:
        organizations.pause(tx, event_id, organization_id, reason, ACTION, now_ms)
        audit.record(tx, organization_id, Act.ORGANIZATION_PAUSED, BREAKER, None, {"reason": reason})
    is_watched = judge(standing._replace(sent=max(standing.sent, SENT_MIN))) is not None and reason is None
    if is_watched != bool(organization.is_watched):
        organizations.watch(tx, organization_id, is_watched)


def judge(standing: ReputationRates) -> str | None:
    """Why it must not go on; None when it may."""
    if standing.sent < SENT_MIN:
        return None
    if standing.hard_bounce_rate >= HARD_BOUNCE_CEILING:
        return "hard_bounce_rate"
    if standing.complaint_rate >= COMPLAINT_CEILING:
        return "complaint_rate"
    return None
