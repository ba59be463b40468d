"""What the audit log records: the types of its rows, and who may have acted.

An actor is a key (`key_…`), a member (`mem_…`), OPERATOR (a command on the host), RECIPIENT (somebody who followed a
link in a mail), or a part of this server (`system:…`).
"""

from enum import StrEnum
from typing import NamedTuple


class Act(StrEnum):
    """What was done; docs/audit.md has what `subject` and `details` say of each."""

    KEY_MINTED = "key.minted"
    KEY_REVOKED = "key.revoked"
    AGENT_CREATED = "agent.created"
    AGENT_DELETED = "agent.deleted"
    INBOX_CREATED = "inbox.created"
    INBOX_UPDATED = "inbox.updated"
    INBOX_DEACTIVATED = "inbox.deactivated"
    DOMAIN_REGISTERED = "domain.registered"
    DOMAIN_UPDATED = "domain.updated"
    DOMAIN_KEY_ROTATED = "domain.key_rotated"
    DOMAIN_VERIFIED = "domain.verified"
    DOMAIN_FAILED = "domain.failed"
    DOMAIN_DELETED = "domain.deleted"
    WEBHOOK_CREATED = "webhook.created"
    WEBHOOK_UPDATED = "webhook.updated"
    WEBHOOK_SECRET_ROTATED = "webhook.secret_rotated"  # noqa: S105 (no secret)
    WEBHOOK_DELETED = "webhook.deleted"
    SUPPRESSION_ADDED = "suppression.added"
    SUPPRESSION_REMOVED = "suppression.removed"
    POLICY_REPLACED = "policy.replaced"
    RULE_CREATED = "rule.created"
    RULE_DELETED = "rule.deleted"
    REVIEW_APPROVED = "review.approved"
    REVIEW_REJECTED = "review.rejected"
    REVIEW_WITHDRAWN = "review.withdrawn"
    REVIEW_EXPIRED = "review.expired"
    REVIEWERS_CHANGED = "organization.reviewers_changed"
    MESSAGE_HELD = "message.held"
    MESSAGE_QUEUED = "message.queued"
    MESSAGE_SCHEDULED = "message.scheduled"
    MESSAGE_DISPATCHED = "message.dispatched"
    MESSAGE_REFUSED = "message.refused"
    MESSAGE_CANCELLED = "message.cancelled"
    MESSAGE_DELETED = "message.deleted"
    MEMBER_ADDED = "member.added"
    MEMBER_CHANGED = "member.changed"
    MEMBER_REMOVED = "member.removed"
    LOGIN_LINK_MADE = "login.link_made"
    LOGIN_ACCEPTED = "login.accepted"
    LOGIN_REFUSED = "login.refused"
    SESSION_ENDED = "session.ended"
    ORGANIZATION_CREATED = "organization.created"
    ORGANIZATION_PLAN_CHANGED = "organization.plan_changed"
    ORGANIZATION_APPROVED = "organization.approved"
    ORGANIZATION_PAUSED = "organization.paused"
    ORGANIZATION_CLOSED = "organization.closed"
    ORGANIZATION_DELETED = "organization.deleted"
    TRIPWIRE_TRIPPED = "organization.tripwire_tripped"
    TRIPWIRE_RESET = "organization.tripwire_reset"
    QUEUE_PAUSED = "queue.paused"
    QUEUE_RESUMED = "queue.resumed"
    QUEUE_CHANGED = "queue.changed"
    QUEUE_DROPPED = "queue.dropped"
    MASTER_KEY_ROTATED = "master_key.rotated"
    AUDIT_KEY_SHOWN = "audit.key_shown"
    AUDIT_KEY_LOST = "audit.key_lost"
    AUDIT_SEALED = "audit.sealed"


class Actor(NamedTuple):
    """Who acts, and the id of the API request that it did so by, where there is one. `tool`: that of MCP which a model
    called."""

    name: str
    request_id: str | None = None
    tool: str | None = None


OPERATOR = Actor("operator")
RECIPIENT = Actor("recipient")


def system(part: str) -> Actor:
    """A part of this server that acts by itself, such as `scheduler`."""
    return Actor(f"system:{part}")


RETENTION = system("retention")
