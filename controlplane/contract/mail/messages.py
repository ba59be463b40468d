"""Messages: sending, listing, reading, labels; what became of each recipient."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from controlplane.contract.fields import (
    NO_CONTROLS,
    ClaimId,
    CompleteClaim,
    CustomHeaders,
    DomainName,
    Email,
    GivenLabel,
    InboxId,
    LabelFilter,
    Limit,
    Moment,
    Position,
    SendAt,
    SenderDomain,
    TakenLabel,
    ThreadId,
    cursor_of,
    id_of,
    shaped,
    with_plus,
    without_name,
)
from controlplane.contract.model import (
    ABSENT,
    INBOX_ID,
    MESSAGE_ID,
    PDF,
    Mode,
    RequestBody,
    RequestQuery,
    ResponseModel,
    Timestamp,
    an_id,
)
from maild.message.context.thread_context import BUDGET_MIN
from maild.message.fields.address import with_ascii_domain

MessageStatus = Literal["received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"]

RECIPIENTS_MAX = 50
SUBJECT_MAX = 500
ATTACHMENTS_MAX = 20
LABELS_MAX = 50
BATCH_MESSAGES_MAX = 100
WAIT_S = 25
WAIT_S_MAX = 55  # proxies and clients give up after a minute
BATCH_THREADS_MAX = 20
READ_TOKENS_MAX = 20_000
FILENAME_MAX = 200  # what a message can hold and give back whole
_WORD = "[A-Za-z0-9!#$&^_.+-]+"
# RFC 2045 §5.1, as `file.type` of a browser and answers of servers have it: `text/csv; charset=utf-8`.
_MEDIA_TYPE = shaped(
    f'{_WORD}/{_WORD}( *; *{_WORD}=({_WORD}|"[ !#-\\[\\]-~]*"))*',
    "a media type such as text/plain or application/pdf",
)
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"  # RFC 4648 §4


class AttachmentInput(RequestBody):
    filename: Annotated[str, Field(min_length=1, max_length=FILENAME_MAX), NO_CONTROLS]
    contentType: Annotated[str, Field(max_length=127), _MEDIA_TYPE] = "application/octet-stream"
    # Decoded by the pipeline, which tells of a fault there.
    content: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64", "pattern": _BASE64})]


class SendMessage(RequestBody):
    inboxId: Annotated[str, Field(max_length=64)]
    to: Annotated[list[Email], Field(min_length=1, max_length=RECIPIENTS_MAX)]
    cc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    bcc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    subject: Annotated[str, Field(max_length=SUBJECT_MAX), NO_CONTROLS] | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, id_of("msg", "thd")] | None = None
    sendAt: SendAt | None = None
    attachments: Annotated[list[AttachmentInput], Field(max_length=ATTACHMENTS_MAX)] = Field(
        default_factory=list
    )
    # A factory, since a documented default makes the field a required one to some generated clients.
    unsubscribe: bool = Field(default_factory=bool)
    headers: CustomHeaders = Field(default_factory=dict)
    ifLastMessageId: Annotated[str, id_of("msg")] | None = None
    claimId: ClaimId | None = None
    completeClaim: CompleteClaim = Field(default_factory=bool)

    @field_validator("ifLastMessageId", "claimId")
    @classmethod
    def _names_its_conversation(cls, if_last: str | None, info: ValidationInfo) -> str | None:
        if if_last is not None and "inReplyTo" in info.data and info.data["inReplyTo"] is None:
            raise PydanticCustomError("not_allowed", "Give 'inReplyTo' too: it names the conversation")
        return if_last

    @field_validator("headers")
    @classmethod
    def _has_one_unsubscribe(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        ours = {"list-unsubscribe", "list-unsubscribe-post"}
        if info.data.get("unsubscribe") and ours & {name.lower() for name in headers}:
            raise PydanticCustomError(
                "not_allowed", "Give either a List-Unsubscribe header or 'unsubscribe', not both"
            )
        return headers

    example: ClassVar[dict[str, Any]] = {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "cc": ["accounts@example.com"],
        "subject": "Your invoice for November",
        "text": "Dear Ada,\n\nthe invoice is attached.\n",
        "attachments": [{"filename": "invoice.pdf", "contentType": "application/pdf", "content": PDF}],
    }


# `fromAddress` has A-labels, whatever its author wrote, and whoever looks for it has read U-labels.
SenderPart = Annotated[
    str,
    Field(max_length=320),
    AfterValidator(without_name),
    AfterValidator(with_plus),
    AfterValidator(with_ascii_domain),
]


class ListMessages(RequestQuery):
    inboxId: InboxId | None = None
    threadId: ThreadId | None = None
    limit: Limit = 50
    q: Annotated[str, Field(max_length=200)] | None = None
    direction: Literal["inbound", "outbound"] | None = None
    from_: Annotated[SenderPart | None, Field(alias="from")] = None
    fromDomain: SenderDomain | None = None
    verified: bool | None = None
    labels: LabelFilter | None = None
    unread: bool | None = None
    status: MessageStatus | None = None
    isAutoReply: bool | None = None
    isSpam: bool | None = None
    hasAttachments: bool | None = None
    held: bool | None = None
    since: Moment | None = None
    until: Moment | None = None
    before: Annotated[str, cursor_of("msg")] | None = None
    cursor: Annotated[str, cursor_of("msg")] | None = None


class WaitMessage(RequestQuery):
    """`after`: a message, an event or a time; two minutes ago where it is left out."""

    inboxId: InboxId | None = None
    threadId: ThreadId | None = None
    from_: Annotated[SenderPart | None, Field(alias="from")] = None
    fromDomain: DomainName | None = None
    verified: bool | None = None
    subject: Annotated[str, Field(max_length=SUBJECT_MAX)] | None = None
    q: Annotated[str, Field(max_length=200)] | None = None
    hasCode: bool | None = None
    after: Position | None = None
    timeoutSeconds: Annotated[int, Field(ge=0, le=WAIT_S_MAX)] = WAIT_S


class GetMessage(RequestQuery):
    html: Literal["original", "sanitized"] = "original"


class ReadMessage(RequestQuery):
    """A message as text for a model; no route of HTTP."""

    maxTokens: Annotated[int, Field(ge=BUDGET_MIN, le=READ_TOKENS_MAX)] = 4000


GivenLabels = Annotated[list[GivenLabel], Field(max_length=LABELS_MAX)]
TakenLabels = Annotated[list[TakenLabel], Field(max_length=LABELS_MAX)]


def labels_apart(removed: list[str], added: Iterable[str]) -> list[str]:
    """The labels to be removed; a fault where one of them is to be added."""
    if not set(removed).isdisjoint(added):
        raise PydanticCustomError("not_allowed", "A label can't be both added and removed")
    return removed


class LabelChange(RequestBody):
    """Labels that are added to those that are there, and taken away from them."""

    addLabels: GivenLabels = Field(default_factory=list)
    removeLabels: TakenLabels = Field(default_factory=list)

    @field_validator("removeLabels")
    @classmethod
    def _are_others(cls, labels: list[str], info: ValidationInfo) -> list[str]:
        return labels_apart(labels, info.data.get("addLabels", ()))


class PatchMessage(LabelChange):
    """Either `labels`, which replaces all of them, or a change."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    labels: GivenLabels = ABSENT

    example: ClassVar[dict[str, Any]] = {"addLabels": ["invoice"], "removeLabels": ["unread"]}

    @model_validator(mode="after")
    def _is_either(self) -> Self:
        given = self.model_fields_set
        if not given:
            raise _fault_at("labels", "missing")
        if "labels" in given and len(given) > 1:
            told = PydanticCustomError(
                "not_allowed", "Give either 'labels' or 'addLabels' and 'removeLabels'"
            )
            raise _fault_at(next(one for one in ("addLabels", "removeLabels") if one in given), told)
        return self


class ChangeMessages(LabelChange):
    """The same for many messages, or their end. `threadIds`: all messages of these threads."""

    ids: Annotated[
        list[Annotated[str, id_of("msg", is_one_of_many=True)]], Field(max_length=BATCH_MESSAGES_MAX)
    ] = Field(default_factory=list)
    threadIds: Annotated[
        list[Annotated[str, id_of("thd", is_one_of_many=True)]], Field(max_length=BATCH_THREADS_MAX)
    ] = Field(default_factory=list)
    # A factory, since a documented default makes the field a required one to some generated clients.
    delete: bool = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {"ids": [MESSAGE_ID], "removeLabels": ["unread"]}

    @model_validator(mode="after")
    def _says_what_of_which(self) -> Self:
        if not self.ids and not self.threadIds:
            raise _fault_at("ids", "missing")
        is_labelling = bool(self.addLabels or self.removeLabels)
        if self.delete and is_labelling:
            raise _fault_at(
                "delete", PydanticCustomError("not_allowed", "Delete messages, or change their labels")
            )
        if not self.delete and not is_labelling:
            text = "Give 'addLabels', 'removeLabels' or 'delete': true"
            raise _fault_at("", PydanticCustomError("nothing_to_change", text))
        return self


def _fault_at(name: str, told: str | PydanticCustomError) -> ValidationError:
    """A fault that shows when the fields are looked at together, told at one of them."""
    where = (name,) if name else ()
    return ValidationError.from_exception_data("", [InitErrorDetails(type=told, loc=where, input=None)])


# What evidence comes to; null until the message was looked at.
Risk = Literal["none", "low", "medium", "high"]
RecipientStatus = Literal["queued", "deferred", "sent", "delivered", "bounced", "failed", "suppressed"]


class Attachment(ResponseModel):
    id: Annotated[str, an_id("att")]
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
    lastAttemptAt: Timestamp | None
    nextAttemptAt: Timestamp | None
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


class HeldFor(ResponseModel):
    """The review that a held message waits for."""

    id: Annotated[str, an_id("rev")]
    reasons: list[str]
    expiresAt: Timestamp


class MailingListShown(ResponseModel):
    id: str | None
    post: str | None
    unsubscribe: list[str]
    oneClick: bool


class ListedMessage(ResponseModel):
    id: Annotated[str, an_id("msg")]
    inboxId: str
    threadId: str
    direction: Literal["inbound", "outbound"]
    mode: Mode
    status: MessageStatus
    review: HeldFor | None
    fromAddress: str
    fromDomain: str | None
    fromDomainUnicode: str | None
    fromName: str | None
    toAddresses: list[str]
    ccAddresses: list[str]
    bccAddresses: list[str]
    replyTo: str | None
    replyToAddresses: list[str]
    subject: str
    snippet: str
    extractedText: str | None
    messageIdHeader: str | None
    inReplyTo: str | None
    references: list[str]
    labels: list[str]
    isAutoReply: bool
    isSpam: bool
    risk: Risk | None
    auth: Auth | None
    forwardOf: str | None
    deliveredTo: str | None
    mailingList: MailingListShown | None
    recipients: list[Recipient]
    attachments: list[Attachment]
    failureReason: str | None
    scheduledAt: Timestamp | None
    sentAt: Timestamp | None
    heldAt: Timestamp | None
    createdAt: Timestamp


class Message(ListedMessage):
    textBody: str | None
    htmlBody: str | None


class ChangedMessage(ResponseModel):
    """What became of a message, or of all messages of a thread."""

    id: str
    result: Literal["changed", "unchanged", "not_found", "inbox_access_denied"]


class AwaitedMessage(ResponseModel):
    """`cursor`: the `after` that goes on behind it."""

    message: Message | None
    timedOut: bool
    cursor: Annotated[str, an_id("msg")]


class DeletedMessage(ResponseModel):
    id: str
    deleted: Literal[True]


class CancelledMessage(ResponseModel):
    id: str
    status: Literal["cancelled"]
