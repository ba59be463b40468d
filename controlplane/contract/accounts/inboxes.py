"""Inboxes."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from controlplane.contract.fields import (
    DOT_ATOM,
    Check,
    DisplayName,
    EmailInQuery,
    Limit,
    Metadata,
    cursor_of,
    dot_atom,
    shaped,
)
from controlplane.contract.model import Change, RequestBody, RequestQuery, ResponseModel, Timestamp, an_id
from controlplane.contract.work.policies import EffectivePolicy


class CreateInbox(RequestBody):
    username: Annotated[
        str,
        Field(min_length=2, max_length=48),
        shaped("[a-z0-9._-]+", "a-z, 0-9, '.', '_' and '-' alone"),
        Check(dot_atom, {"pattern": f"^{DOT_ATOM.pattern}$"}),
    ]
    name: DisplayName | None = None
    agentId: str | None = None
    domain: Annotated[str, Field(max_length=253)] | None = None
    metadata: Metadata = Field(default_factory=dict)

    example: ClassVar[dict[str, Any]] = {
        "username": "billing-bot",
        "name": "Billing",
        "metadata": {"team": "finance"},
    }


class ListInboxes(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("inb")] | None = None
    isActive: bool = True
    address: EmailInQuery | None = None


class PatchInbox(Change):
    name: DisplayName | None = None
    metadata: Metadata = Field(default_factory=dict)

    example: ClassVar[dict[str, Any]] = {"name": "Billing and invoices"}


class Inbox(ResponseModel):
    id: Annotated[str, an_id("inb")]
    organizationId: str
    address: str
    username: str
    domain: str
    name: str | None
    agentId: str | None
    metadata: dict[str, str]
    isActive: bool
    unreadCount: int
    lastMessageAt: Timestamp | None
    createdAt: Timestamp
    updatedAt: Timestamp
    deactivatedAt: Timestamp | None


class GovernedInbox(Inbox):
    """With the policy that holds for it."""

    policy: EffectivePolicy


class DeactivatedInbox(ResponseModel):
    id: str
    status: Literal["deactivated"]
    cooldownUntil: Timestamp
