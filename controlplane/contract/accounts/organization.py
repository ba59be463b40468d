"""The organization of a key: its plan, what it has used, its people."""

from typing import Annotated, Literal

from pydantic import Field

from controlplane.contract.fields import Limit, cursor_of
from controlplane.contract.model import Large, RequestQuery, ResponseModel, Timestamp, an_id


class Limits(ResponseModel):
    messagesMonthly: int | None
    messagesDaily: int | None
    inboxes: int | None
    openDrafts: int | None
    webhooks: int | None
    storageBytes: Large | None


class Usage(ResponseModel):
    messagesMonthly: int
    messagesDaily: int
    inboxes: int
    openDrafts: int
    webhooks: int
    storageBytes: Large


class Resets(ResponseModel):
    daily: Timestamp
    monthly: Timestamp


class SendingApproval(ResponseModel):
    status: Literal["approved", "pending", "paused"]
    reason: str | None
    action: str | None
    trippedAt: Timestamp | None


class Reputation(ResponseModel):
    windowDays: int
    sent: int
    hardBounceRate: float
    complaintRate: float


class Organization(ResponseModel):
    id: Annotated[str, an_id("org")]
    name: str
    plan: str
    limits: Limits
    usage: Usage
    resetsAt: Resets
    sendingApproval: SendingApproval
    reputation: Reputation
    reviewers: Literal["keys", "members"]
    createdAt: Timestamp


class ListMembers(RequestQuery):
    limit: Limit | None = None
    cursor: Annotated[str, cursor_of("mem")] | None = None


class NameIds(RequestQuery):
    """For people: of which keys, members and inboxes the names are asked."""

    ids: list[str] = Field(max_length=100)


class Member(ResponseModel):
    id: Annotated[str, an_id("mem")]
    email: str
    name: str | None
    role: Literal["owner", "admin", "member"]
    joinedAt: Timestamp
