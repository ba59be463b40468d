"""Events: the same in webhooks, in the event log and in the stream; how the log is read."""

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, RootModel

from controlplane.contract.accounts.domains import DomainChecks
from controlplane.contract.fields import (
    LISTED_EVENTS,
    AskedEvent,
    EventType,
    InboxId,
    Limit,
    ReviewStatus,
    comma_separated,
    cursor_of,
    every_type,
)
from controlplane.contract.mail.messages import Auth, Recipient
from controlplane.contract.model import RequestQuery, ResponseModel, Timestamp, an_id
from maild.message.reports.bounce_classes import Advice, BounceClass

EventTypes = Annotated[
    list[AskedEvent],
    BeforeValidator(comma_separated),
    AfterValidator(every_type),
    Field(
        min_length=1,
        description="Separated by commas; `*`: all; those of mail, domains and sending by default",
    ),
]


class ListEvents(RequestQuery):
    after: Annotated[str, cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: [*LISTED_EVENTS])
    inboxId: InboxId | None = None
    limit: Limit = 50


class BrowseEvents(RequestQuery):
    """For people: newest first, those before the event `before`, or from `at` on."""

    before: Annotated[str, cursor_of("evt")] | None = None
    at: Annotated[str, cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: [*get_args(EventType)])
    inboxId: InboxId | None = None
    limit: Limit = 50


class StreamEvents(RequestQuery):
    after: Annotated[str, cursor_of("evt")] | None = None
    lastEventId: Annotated[str, cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: [*LISTED_EVENTS])
    inboxId: InboxId | None = None


def _without_default(schema: dict[str, Any]) -> None:
    del schema["default"]


class EventEnvelope(ResponseModel):
    """`id` is the key to dedupe events on. `mode` is there for what a test key did, and only then."""

    id: Annotated[str, an_id("evt")]
    type: str
    apiVersion: Literal["v1"]
    createdAt: Timestamp
    organizationId: Annotated[str, an_id("org")]
    data: Any
    mode: Literal["test"] = Field(default="test", json_schema_extra=_without_default)


class EventAttachment(ResponseModel):
    id: Annotated[str, an_id("att")]
    filename: str
    contentType: str
    sizeBytes: int


class ReceivedData(ResponseModel):
    """`text` and `extractedText`: up to 64 KiB; null, with the other words empty, once the message is deleted."""

    messageId: Annotated[str, an_id("msg")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: Annotated[str, an_id("thd")]
    direction: Literal["inbound"]
    fromAddress: str
    fromName: str | None
    toAddresses: list[str]
    subject: str
    snippet: str
    text: str | None
    textTruncated: bool
    extractedText: str | None
    hasHtml: bool
    auth: Auth | None
    attachments: list[EventAttachment]
    receivedAt: Timestamp


class SentData(ResponseModel):
    messageId: Annotated[str, an_id("msg")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: Annotated[str, an_id("thd")]
    fromAddress: str
    toAddresses: list[str]
    subject: str
    sentAt: Timestamp | None
    recipients: list[Recipient]


class BouncedData(SentData):
    """Of one recipient. `suppressed`: it is on the suppression list."""

    recipient: str
    bounceType: Literal["permanent", "transient", "undetermined"]
    class_: Annotated[BounceClass, Field(alias="class")]
    advice: Advice
    smtpCode: int | None
    enhancedCode: str | None
    diagnostic: str | None
    suppressed: bool


class ComplainedData(SentData):
    """Of one recipient."""

    recipient: str
    feedbackType: str | None
    suppressed: bool


class UnsubscribedData(ResponseModel):
    email: str
    messageId: str | None
    inboxId: str
    source: Literal["one_click", "link"]
    suppressionId: str


class DelayedData(SentData):
    """Of one recipient."""

    recipient: str
    attempts: int
    nextAttemptAt: Timestamp | None
    class_: Annotated[BounceClass, Field(alias="class")]
    advice: Advice
    smtpCode: int | None
    enhancedCode: str | None
    diagnostic: str | None


class FailedData(SentData):
    failureReason: str | None


class DomainChanged(ResponseModel):
    domainId: Annotated[str, an_id("dom")]
    domainName: str
    status: str
    checks: DomainChecks
    verifiedAt: Timestamp | None


class VerifiedData(DomainChanged):
    status: Literal["verified"]


class UnverifiedData(DomainChanged):
    status: Literal["failed"]


class PausedData(ResponseModel):
    status: Literal["paused", "pending"]
    reason: str | None
    action: str | None
    trippedAt: Timestamp | None


class ChangedMessageData(ResponseModel):
    """Ids and labels, never words."""

    messageId: Annotated[str, an_id("msg")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: Annotated[str, an_id("thd")]
    labelsBefore: list[str]


class LabelledData(ChangedMessageData):
    labels: list[str]


class ChangedThreadData(ResponseModel):
    threadId: Annotated[str, an_id("thd")]
    inboxId: Annotated[str, an_id("inb")]
    isArchived: bool


class ChangedDraftData(ResponseModel):
    """`messageId`: what it was sent as."""

    draftId: Annotated[str, an_id("drf")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: str | None
    status: Literal["draft", "sent", "discarded"]
    messageId: str | None


class EndedClaimData(ResponseModel):
    """`attempt`: which claim of the message it was."""

    claimId: Annotated[str, an_id("clm")]
    messageId: Annotated[str, an_id("msg")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: Annotated[str, an_id("thd")]
    attempt: int
    holder: str | None


class RequestedReviewData(ResponseModel):
    """Ids and reasons, never words."""

    reviewId: Annotated[str, an_id("rev")]
    messageId: Annotated[str, an_id("msg")]
    inboxId: Annotated[str, an_id("inb")]
    direction: Literal["inbound", "outbound"]
    status: ReviewStatus
    reasons: list[str]
    expiresAt: Timestamp


class ResolvedReviewData(RequestedReviewData):
    """`resolvedBy`: a key, a member or `operator`; null: its time was over."""

    resolvedBy: str | None


class AuditHeadData(ResponseModel):
    """The end of the audit log at that moment."""

    seq: int
    hash: str
    at: Timestamp


class PingedData(ResponseModel):
    webhookId: Annotated[str, an_id("whk")]


class EmailReceivedEvent(EventEnvelope):
    type: Literal["email.received"]
    data: ReceivedData


class EmailSentEvent(EventEnvelope):
    type: Literal["email.sent"]
    data: SentData


class EmailBouncedEvent(EventEnvelope):
    type: Literal["email.bounced"]
    data: BouncedData


class EmailComplainedEvent(EventEnvelope):
    type: Literal["email.complained"]
    data: ComplainedData


class EmailUnsubscribedEvent(EventEnvelope):
    type: Literal["email.unsubscribed"]
    data: UnsubscribedData


class EmailDelayedEvent(EventEnvelope):
    type: Literal["email.delayed"]
    data: DelayedData


class EmailFailedEvent(EventEnvelope):
    type: Literal["email.failed"]
    data: FailedData


class DomainVerifiedEvent(EventEnvelope):
    type: Literal["domain.verified"]
    data: VerifiedData


class DomainFailedEvent(EventEnvelope):
    type: Literal["domain.failed"]
    data: UnverifiedData


class SendingPausedEvent(EventEnvelope):
    type: Literal["sending.paused"]
    data: PausedData


class MessageUpdatedEvent(EventEnvelope):
    type: Literal["message.updated"]
    data: LabelledData


class MessageDeletedEvent(EventEnvelope):
    type: Literal["message.deleted"]
    data: ChangedMessageData


class ThreadUpdatedEvent(EventEnvelope):
    type: Literal["thread.updated"]
    data: ChangedThreadData


class DraftCreatedEvent(EventEnvelope):
    type: Literal["draft.created"]
    data: ChangedDraftData


class DraftUpdatedEvent(EventEnvelope):
    type: Literal["draft.updated"]
    data: ChangedDraftData


class DraftDiscardedEvent(EventEnvelope):
    type: Literal["draft.discarded"]
    data: ChangedDraftData


class ClaimExpiredEvent(EventEnvelope):
    type: Literal["claim.expired"]
    data: EndedClaimData


class ClaimDeadEvent(EventEnvelope):
    type: Literal["claim.dead"]
    data: EndedClaimData


class ReviewRequestedEvent(EventEnvelope):
    type: Literal["review.requested"]
    data: RequestedReviewData


class ReviewResolvedEvent(EventEnvelope):
    type: Literal["review.resolved"]
    data: ResolvedReviewData


class AuditHeadEvent(EventEnvelope):
    type: Literal["audit.head"]
    data: AuditHeadData


class WebhookTestEvent(EventEnvelope):
    """The test ping, which stands in no log."""

    type: Literal["webhook.test"]
    data: PingedData


class Event(
    RootModel[
        Annotated[
            EmailReceivedEvent
            | EmailSentEvent
            | EmailBouncedEvent
            | EmailComplainedEvent
            | EmailUnsubscribedEvent
            | EmailDelayedEvent
            | EmailFailedEvent
            | DomainVerifiedEvent
            | DomainFailedEvent
            | SendingPausedEvent
            | MessageUpdatedEvent
            | MessageDeletedEvent
            | ThreadUpdatedEvent
            | DraftCreatedEvent
            | DraftUpdatedEvent
            | DraftDiscardedEvent
            | ClaimExpiredEvent
            | ClaimDeadEvent
            | ReviewRequestedEvent
            | ReviewResolvedEvent
            | AuditHeadEvent,
            Field(discriminator="type"),
        ]
    ]
):
    pass


# type → (what has happened, its model): the webhooks of the document.
EVENTS: dict[str, tuple[str, type[EventEnvelope]]] = {
    "email.received": ("A message came in", EmailReceivedEvent),
    "email.sent": ("The first recipient of a message was accepted by the next hop", EmailSentEvent),
    "email.bounced": ("A recipient was refused for good, or given up", EmailBouncedEvent),
    "email.complained": ("A recipient called a message spam", EmailComplainedEvent),
    "email.unsubscribed": ("A recipient wants no more mail", EmailUnsubscribedEvent),
    "email.delayed": ("A recipient was put off for now; it is tried again (opt-in)", EmailDelayedEvent),
    "email.failed": ("A message reaches nobody (opt-in)", EmailFailedEvent),
    "domain.verified": ("A domain may be used (opt-in)", DomainVerifiedEvent),
    "domain.failed": ("A domain may not be used any more (opt-in)", DomainFailedEvent),
    "sending.paused": ("The organization may not send at the moment (opt-in)", SendingPausedEvent),
    "message.updated": ("The labels of a message changed (opt-in)", MessageUpdatedEvent),
    "message.deleted": ("A message was deleted (opt-in)", MessageDeletedEvent),
    "thread.updated": ("A thread was archived or brought back (opt-in)", ThreadUpdatedEvent),
    "draft.created": ("A draft was written (opt-in)", DraftCreatedEvent),
    "draft.updated": ("A draft was changed or sent (opt-in)", DraftUpdatedEvent),
    "draft.discarded": ("A draft was discarded (opt-in)", DraftDiscardedEvent),
    "claim.expired": ("The lease of a claim ended before its message was done (opt-in)", ClaimExpiredEvent),
    "claim.dead": ("A message was claimed in vain for the last time (opt-in)", ClaimDeadEvent),
    "review.requested": ("A message is held until somebody has decided (opt-in)", ReviewRequestedEvent),
    "review.resolved": ("It was decided about a message that was held (opt-in)", ReviewResolvedEvent),
    "audit.head": ("How far the audit log has come, once an hour (opt-in)", AuditHeadEvent),
    "webhook.test": ("Somebody asked for a test ping", WebhookTestEvent),
}
