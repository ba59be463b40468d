"""Drafts."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from controlplane.contract.fields import (
    NO_CONTROLS,
    ClaimId,
    CompleteClaim,
    Email,
    InboxId,
    Limit,
    cursor_of,
    id_of,
)
from controlplane.contract.mail.messages import RECIPIENTS_MAX, SUBJECT_MAX
from controlplane.contract.model import (
    INBOX_ID,
    MESSAGE_ID,
    Change,
    RequestBody,
    RequestQuery,
    ResponseModel,
    Timestamp,
    an_id,
)

DraftAddresses = Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)]
DraftSubject = Annotated[str, Field(max_length=SUBJECT_MAX), NO_CONTROLS]


class CreateDraft(RequestBody):
    inboxId: Annotated[str, Field(max_length=64)]
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, id_of("msg", "thd")] | None = None
    ifLastMessageId: Annotated[str, id_of("msg")] | None = None
    claimId: ClaimId | None = None
    completeClaim: CompleteClaim = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "subject": "Re: Your invoice",
        "text": "It is paid.",
        "inReplyTo": MESSAGE_ID,
    }


class PatchDraft(Change):
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, id_of("msg", "thd")] | None = None
    ifLastMessageId: Annotated[str, id_of("msg")] | None = None
    claimId: ClaimId | None = None
    completeClaim: CompleteClaim = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {"text": "It was paid yesterday."}


class SaveDraft(PatchDraft):
    """For people: `updatedAt` of the draft as they were shown it, which nobody may have changed since."""

    updatedAt: Annotated[str, Field(max_length=40)] | None = None


class SeenDraft(RequestBody):
    """For people: `updatedAt` of the draft as they saved it, or were shown it."""

    updatedAt: Annotated[str, Field(max_length=40)]


class ListDrafts(RequestQuery):
    status: Literal["draft", "sent", "discarded"] | None = None
    inboxId: InboxId | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("drf")] | None = None


class Draft(ResponseModel):
    id: Annotated[str, an_id("drf")]
    inboxId: str
    threadId: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    subject: str
    textBody: str | None
    htmlBody: str | None
    inReplyTo: str | None
    ifLastMessageId: str | None
    claimId: str | None
    completeClaim: bool
    status: Literal["draft", "sent", "discarded"]
    messageId: str | None
    createdAt: Timestamp
    updatedAt: Timestamp
    sentAt: Timestamp | None
    discardedAt: Timestamp | None
