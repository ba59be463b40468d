"""The audit log: who did what."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from controlplane.contract.fields import NO_CONTROLS, Limit, comma_separated
from controlplane.contract.model import RequestQuery, ResponseModel, Timestamp, an_id

AUDIT_PAGE_MAX = 1000  # rows are small, and an export is many
SEQ_MAX = 2**53 - 1  # what every reader of JSON takes for a whole number

ActName = Literal[
    "key.minted",
    "key.revoked",
    "agent.created",
    "agent.deleted",
    "inbox.created",
    "inbox.updated",
    "inbox.deactivated",
    "domain.registered",
    "domain.updated",
    "domain.key_rotated",
    "domain.verified",
    "domain.failed",
    "domain.deleted",
    "webhook.created",
    "webhook.updated",
    "webhook.secret_rotated",
    "webhook.deleted",
    "suppression.added",
    "suppression.removed",
    "policy.replaced",
    "rule.created",
    "rule.deleted",
    "review.approved",
    "review.rejected",
    "review.withdrawn",
    "review.expired",
    "organization.reviewers_changed",
    "message.held",
    "message.queued",
    "message.scheduled",
    "message.dispatched",
    "message.refused",
    "message.cancelled",
    "message.deleted",
    "member.added",
    "member.changed",
    "member.removed",
    "login.link_made",
    "login.accepted",
    "login.refused",
    "session.ended",
    "organization.created",
    "organization.plan_changed",
    "organization.approved",
    "organization.paused",
    "organization.closed",
    "organization.deleted",
    "organization.tripwire_tripped",
    "organization.tripwire_reset",
    "queue.paused",
    "queue.resumed",
    "queue.changed",
    "queue.dropped",
    "master_key.rotated",
    "audit.key_shown",
    "audit.key_lost",
    "audit.sealed",
]
ActTypes = Annotated[
    list[ActName],
    BeforeValidator(comma_separated),
    Field(min_length=1, description="Separated by commas; all by default"),
]
ChainHash = Annotated[str, Field(pattern="^[0-9a-f]{64}$", examples=["9f" * 32])]


class ListAudit(RequestQuery):
    after: Annotated[int, Field(ge=0, le=SEQ_MAX)] = 0
    types: ActTypes | None = None
    actor: Annotated[str, Field(max_length=100), NO_CONTROLS] | None = None
    limit: Annotated[int, Field(ge=1, le=AUDIT_PAGE_MAX)] = 50


class BrowseAudit(RequestQuery):
    """For people: newest first, those in front of number `before`."""

    before: Annotated[int, Field(ge=0, le=SEQ_MAX)] = SEQ_MAX
    types: ActTypes | None = None
    actor: Annotated[str, Field(max_length=100), NO_CONTROLS] | None = None
    limit: Limit = 50


class AuditEntry(ResponseModel):
    """`hash` covers this row, and all rows before it. Without words of mail: contents and addresses are hashes."""

    seq: int
    at: Timestamp
    organizationId: Annotated[str, an_id("org")]
    type: str
    actor: str
    subject: str | None
    requestId: str | None
    details: dict[str, Any]
    hash: ChainHash


class AuditHead(ResponseModel):
    """The newest row; number 0, 64 zeros and null where there is none yet."""

    seq: int
    hash: ChainHash
    at: Timestamp | None
