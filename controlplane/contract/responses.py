"""What answers look like, as models: the OpenAPI document is made of them, and tests hold the answers to them.

Answers are rendered by `render.py`, those about messages and threads by SQLite (`storage/row_json.py`), never
through these: they describe, and cost a request nothing.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Moment = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
        json_schema_extra={"format": "date-time"},
        examples=["2026-11-02T00:00:00.000Z"],
    ),
]
MessageStatus = Literal["received", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"]
RecipientStatus = Literal["queued", "deferred", "sent", "delivered", "bounced", "failed", "suppressed"]
Mode = Literal["live", "test"]


def id_of(prefix: str) -> Any:
    return Field(pattern=rf"^{prefix}_", examples=[f"{prefix}_01m7yfag7w45tyj0v8xnjg5z6z"])


class ResponseModel(BaseModel):
    """Every key is always there; what is absent is null."""

    model_config = ConfigDict(extra="forbid")


class Limits(ResponseModel):
    messagesMonthly: int | None
    messagesDaily: int | None
    inboxes: int | None
    openDrafts: int | None
    webhooks: int | None
    storageBytes: int | None


class Usage(ResponseModel):
    messagesMonthly: int
    messagesDaily: int
    inboxes: int
    openDrafts: int
    webhooks: int
    storageBytes: int


class Resets(ResponseModel):
    daily: Moment
    monthly: Moment


class SendingApproval(ResponseModel):
    status: Literal["approved", "pending", "paused"]
    reason: str | None
    action: str | None
    trippedAt: Moment | None


class Reputation(ResponseModel):
    windowDays: int
    sent: int
    hardBounceRate: float
    complaintRate: float


class Organization(ResponseModel):
    id: Annotated[str, id_of("org")]
    name: str
    plan: str
    limits: Limits
    usage: Usage
    resetsAt: Resets
    sendingApproval: SendingApproval
    reputation: Reputation
    createdAt: Moment


class Member(ResponseModel):
    id: Annotated[str, id_of("mem")]
    email: str
    name: str | None
    role: Literal["owner", "admin", "member"]
    joinedAt: Moment


class Key(ResponseModel):
    id: Annotated[str, id_of("key")]
    name: str
    keyPrefix: str
    mode: Mode
    scopes: list[str]
    inboxId: str | None
    isActive: bool
    lastUsedAt: Moment | None
    createdAt: Moment


class MintedKey(Key):
    apiKey: Annotated[str, Field(pattern=r"^svc_(live|test)_[0-9a-f]{48}$")]
    warning: str


class Agent(ResponseModel):
    id: Annotated[str, id_of("agt")]
    organizationId: str
    name: str
    createdAt: Moment


class Inbox(ResponseModel):
    id: Annotated[str, id_of("inb")]
    organizationId: str
    address: str
    username: str
    domain: str
    name: str | None
    agentId: str | None
    metadata: dict[str, str]
    isActive: bool
    unreadCount: int
    lastMessageAt: Moment | None
    createdAt: Moment
    updatedAt: Moment
    deactivatedAt: Moment | None


class DeactivatedInbox(ResponseModel):
    id: str
    status: Literal["deactivated"]
    cooldownUntil: Moment


class Attachment(ResponseModel):
    id: Annotated[str, id_of("att")]
    filename: str
    contentType: str
    sizeBytes: int
    contentId: str | None
    isInline: bool


class Recipient(ResponseModel):
    address: str
    kind: Literal["to", "cc", "bcc"]
    status: RecipientStatus
    attempts: int
    lastAttemptAt: Moment | None
    nextAttemptAt: Moment | None
    remoteHost: str | None
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None
    tls: str | None


class Auth(ResponseModel):
    """`verifiedDomain` is the only sender identity that a program should trust."""

    spf: str | None
    dkim: str | None
    dmarc: str | None
    arc: str | None
    verifiedDomain: str | None


class ListedMessage(ResponseModel):
    id: Annotated[str, id_of("msg")]
    inboxId: str
    threadId: str
    direction: Literal["inbound", "outbound"]
    mode: Mode
    status: MessageStatus
    fromAddress: str
    fromName: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    replyTo: str | None
    subject: str
    snippet: str
    extractedText: str | None
    messageIdHeader: str | None
    inReplyTo: str | None
    references: list[str]
    labels: list[str]
    isAutoReply: bool
    isSpam: bool
    auth: Auth | None
    recipients: list[Recipient]
    attachments: list[Attachment]
    failureReason: str | None
    scheduledAt: Moment | None
    sentAt: Moment | None
    createdAt: Moment


class Message(ListedMessage):
    textBody: str | None
    htmlBody: str | None


class ThreadMessage(Message):
    """The whole message, and the short names beside the long ones."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    from_: Annotated[str, Field(alias="from")]
    to: list[str]
    text: str | None
    html: str | None


class DeliveryAttempt(ResponseModel):
    address: str
    kind: Literal["to", "cc", "bcc"]
    attempt: int
    outcome: str
    remoteHost: str | None
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None
    tls: str | None
    durationMs: int
    createdAt: Moment


class DeletedMessage(ResponseModel):
    id: str
    deleted: Literal[True]


class Unsubscribed(ResponseModel):
    email: str
    status: Literal["unsubscribed"]


class CancelledMessage(ResponseModel):
    id: str
    status: Literal["cancelled"]


class Thread(ResponseModel):
    id: Annotated[str, id_of("thd")]
    organizationId: str
    inboxId: str
    subject: str
    snippet: str
    participants: list[str]
    labels: list[str]
    messageCount: int
    unreadCount: int
    lastMessageAt: Moment
    isArchived: bool
    createdAt: Moment


class WholeThread(Thread):
    hasMore: bool
    messages: list[ThreadMessage]


class Draft(ResponseModel):
    id: Annotated[str, id_of("drf")]
    inboxId: str
    threadId: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    subject: str
    textBody: str | None
    htmlBody: str | None
    inReplyTo: str | None
    status: Literal["draft", "sent", "discarded"]
    messageId: str | None
    createdAt: Moment
    updatedAt: Moment
    sentAt: Moment | None
    discardedAt: Moment | None


class DomainRecord(ResponseModel):
    purpose: Literal["ownership", "mx", "spf", "dkim", "dmarc"]
    type: Literal["TXT", "MX"]
    name: str
    value: str
    priority: int | None
    required: bool
    status: str
    observed: list[str]


class Domain(ResponseModel):
    id: Annotated[str, id_of("dom")]
    domainName: str
    status: Literal["pending", "verified", "failed"]
    mxStatus: bool
    spfStatus: bool
    dkimStatus: bool
    dmarcStatus: bool
    records: list[DomainRecord]
    dailyCap: int | None
    todayUsed: int
    resetsAt: Moment
    note: str | None
    verifiedAt: Moment | None
    createdAt: Moment


class DomainChecks(ResponseModel):
    ownership: bool
    mx: bool
    spf: bool
    dkim: bool


class DomainVerification(ResponseModel):
    id: str
    domainName: str
    status: Literal["active", "pending", "failed"]
    checks: DomainChecks
    verifiedAt: Moment | None


class DomainCeiling(ResponseModel):
    id: str
    domainName: str
    dailyCap: int | None
    todayUsed: int
    resetsAt: Moment
    note: str | None


class Suppression(ResponseModel):
    id: Annotated[str, id_of("sup")]
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    source: Literal["api", "bounce", "feedback_loop", "list_unsubscribe"]
    createdAt: Moment


class Webhook(ResponseModel):
    id: Annotated[str, id_of("whk")]
    url: str
    subscribedEvents: list[str]
    isActive: bool
    createdAt: Moment
    updatedAt: Moment


class WebhookWithSecret(Webhook):
    secret: Annotated[str, Field(pattern=r"^whsec_")]


class WebhookDelivery(ResponseModel):
    id: Annotated[str, id_of("del")]
    webhookId: str
    eventId: str | None
    eventType: str
    attempt: int
    requestHeaders: dict[str, str]
    responseStatus: int | None
    responseBody: str | None
    isSuccessful: bool
    error: str | None
    durationMs: int
    nextAttemptAt: Moment | None
    createdAt: Moment


class Deleted(ResponseModel):
    id: str
    status: Literal["deleted"]


class Revoked(ResponseModel):
    id: str
    status: Literal["revoked"]


class AnalyticsSummary(ResponseModel):
    sent: int
    delivered: int
    bounced: int
    complained: int
    received: int
    hardBounceRate: float
    complaintRate: float
    medianDeliverySeconds: float | None


class AnalyticsPoint(ResponseModel):
    at: Moment
    count: int


class AnalyticsLine(ResponseModel):
    type: str
    total: int
    points: list[AnalyticsPoint]


class AnalyticsSeries(ResponseModel):
    period: int
    since: Moment
    until: Moment
    series: list[AnalyticsLine]


class AnalyticsDestination(ResponseModel):
    domain: str
    sent: int
    delivered: int
    deferred: int
    bounced: int
    lastResponse: str | None
    lastResponseAt: Moment | None


class ErrorBody(ResponseModel):
    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Error(ResponseModel):
    """Branch on `code`; show `message` to people; `details` are data to act on."""

    error: ErrorBody


class Health(BaseModel):
    status: Literal["healthy", "unhealthy"]
    service: str
    store: Literal["ok", "damaged"]
