"""What requests may say: strict pydantic models. Unknown fields are faults."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import (
    DEFAULT_EVENTS,
    DOT_ATOM,
    LIVE_EVENTS,
    PRINTABLE,
    Check,
    CustomHeaders,
    DailyCap,
    DisplayName,
    DomainName,
    Email,
    EventType,
    Label,
    Limit,
    Metadata,
    Moment,
    Scope,
    SendAt,
    ThreadsCursor,
    comma_separated,
    cursor_of,
    dot_atom,
    id_of,
    is_text,
    no_controls,
)
from controlplane.contract.scopes import GRANTABLE

RECIPIENTS_MAX = 50
SUBJECT_MAX = 500
ATTACHMENTS_MAX = 20
LABELS_MAX = 50
FILENAME_MAX = 200  # what a message can hold and give back whole
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"  # RFC 4648 §4


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=False)


# A field of a Change that was not given.
ABSENT: Any = None


class Change(RequestBody):
    """A PATCH: what is given changes, and something must be. Null is refused where the type has no null."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("nothing_to_change", "Give at least one field to change")
        return self


class RequestQuery(BaseModel):
    """Query strings are text: `limit=5` is the number 5 here."""

    model_config = ConfigDict(extra="forbid")


# Inboxes -----------------------------------------------------------------------------------------


class CreateInbox(RequestBody):
    username: Annotated[
        str,
        Field(min_length=2, max_length=48, pattern=r"^[a-z0-9._-]+$"),
        Check(dot_atom, {"pattern": f"^{DOT_ATOM.pattern}$"}),
    ]
    name: DisplayName | None = None
    agentId: str | None = None
    domain: Annotated[str, Field(max_length=253)] | None = None
    metadata: Metadata = Field(default_factory=dict)


class ListInboxes(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("inb")] | None = None
    isActive: bool = True


class PatchInbox(Change):
    name: DisplayName | None = None
    metadata: Metadata = Field(default_factory=dict)


# Messages, threads, attachments --------------------------------------------------------------------


class AttachmentInput(RequestBody):
    filename: Annotated[str, Field(min_length=1, max_length=FILENAME_MAX), Check(no_controls, PRINTABLE)]
    contentType: Annotated[
        str,
        Field(max_length=127, pattern=r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"),
    ] = "application/octet-stream"
    # Decoded by the pipeline, which tells of a fault there.
    content: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64", "pattern": _BASE64})]


class SendMessage(RequestBody):
    inboxId: Annotated[str, Field(max_length=64)]
    to: Annotated[list[Email], Field(min_length=1, max_length=RECIPIENTS_MAX)]
    cc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    bcc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    subject: Annotated[str, Field(max_length=SUBJECT_MAX), Check(no_controls, PRINTABLE)] | None = None
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

    @field_validator("headers")
    @classmethod
    def _has_one_unsubscribe(cls, headers: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        ours = {"list-unsubscribe", "list-unsubscribe-post"}
        if info.data.get("unsubscribe") and ours & {name.lower() for name in headers}:
            raise PydanticCustomError(
                "not_allowed", "Give either a List-Unsubscribe header or 'unsubscribe', not both"
            )
        return headers


class UnsubscribeToken(RequestQuery):
    # Not checked here: whatever is no token of ours has an error of its own.
    token: (
        Annotated[str, Field(json_schema_extra={"pattern": "^[A-Za-z0-9_-]*$", "maxLength": 500})] | None
    ) = None


class ListMessages(RequestQuery):
    inboxId: str | None = None
    threadId: str | None = None
    limit: Limit = 50
    q: Annotated[str, Field(max_length=200), AfterValidator(is_text)] | None = None
    direction: Literal["inbound", "outbound"] | None = None
    from_: Annotated[
        Annotated[str, Field(max_length=320), AfterValidator(is_text)] | None, Field(alias="from")
    ] = None
    since: Moment | None = None
    until: Moment | None = None
    before: Annotated[str, cursor_of("msg")] | None = None
    cursor: Annotated[str, cursor_of("msg")] | None = None


class GetMessage(RequestQuery):
    html: Literal["original", "sanitized"] = "original"


class PatchMessage(RequestBody):
    labels: Annotated[list[Label], Field(max_length=LABELS_MAX)]


class ListThreads(RequestQuery):
    inboxId: str | None = None
    limit: Limit = 50
    cursor: ThreadsCursor | None = None
    isArchived: bool | None = None


class GetThread(RequestQuery):
    limit: Annotated[int, Field(ge=1, le=200)] = 100
    before: Annotated[str, cursor_of("msg")] | None = None


class PatchThread(RequestBody):
    isArchived: bool


class GetAttachment(RequestQuery):
    inline: bool = False


# Drafts ------------------------------------------------------------------------------------------

DraftAddresses = Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)]
DraftSubject = Annotated[str, Field(max_length=SUBJECT_MAX), Check(no_controls, PRINTABLE)]


class CreateDraft(RequestBody):
    inboxId: Annotated[str, Field(max_length=64)]
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, id_of("msg", "thd")] | None = None


class PatchDraft(Change):
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, id_of("msg", "thd")] | None = None


class ListDrafts(RequestQuery):
    status: Literal["draft", "sent", "discarded"] | None = None
    inboxId: str | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("drf")] | None = None


# Webhooks ----------------------------------------------------------------------------------------


WebhookUrl = Annotated[str, Field(max_length=2048, pattern=r"^https://")]
Subscription = Annotated[list[EventType], Field(min_length=1)]


class CreateWebhook(RequestBody):
    url: WebhookUrl
    subscribedEvents: Subscription = Field(default_factory=lambda: list(DEFAULT_EVENTS))


class UpdateWebhook(Change):
    url: WebhookUrl = ABSENT
    subscribedEvents: Subscription = ABSENT
    isActive: bool = ABSENT


class ListDeliveries(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("del")] | None = None


EventTypes = Annotated[
    list[EventType],
    BeforeValidator(comma_separated),
    Field(min_length=1, description="Separated by commas; all where it is left out"),
]


class ListEvents(RequestQuery):
    after: Annotated[str, cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: list(get_args(EventType)))
    inboxId: str | None = None
    limit: Limit = 50


class StreamEvents(RequestQuery):
    after: Annotated[str, cursor_of("evt")] | None = None
    lastEventId: Annotated[str, cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: list(get_args(EventType)))
    inboxId: str | None = None


# Domains -----------------------------------------------------------------------------------------


class RegisterDomain(RequestBody):
    domainName: DomainName
    dailyCap: DailyCap | None = None


class PatchDomain(RequestBody):
    dailyCap: DailyCap | None


# Keys, agents, suppressions ------------------------------------------------------------------------


class CreateKey(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=64), Check(no_controls, PRINTABLE)]
    # None of them is refused where the key's binding is known: under two codes.
    scopes: (
        Annotated[list[Scope], Field(max_length=len(GRANTABLE), json_schema_extra={"minItems": 1})] | None
    ) = None
    inboxId: Annotated[str, Field(max_length=64)] | None = None
    mode: Literal["live", "test"] | None = None


class ListKeys(RequestQuery):
    limit: Limit | None = None
    cursor: Annotated[str, cursor_of("key")] | None = None


class CreateAgent(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=100), Check(no_controls, PRINTABLE)]


class ListAgents(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("agt")] | None = None


SuppressionReason = Literal["hard_bounce", "complaint", "unsubscribe", "manual"]


class CreateSuppression(RequestBody):
    email: Email
    reason: SuppressionReason = "manual"


class ListSuppressions(RequestQuery):
    reason: SuppressionReason | None = None
    email: Annotated[str, Field(max_length=320)] | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("sup")] | None = None


# Analytics ---------------------------------------------------------------------------------------


class AnalyticsWindow(RequestQuery):
    inboxId: str | None = None
    since: Moment | None = None
    until: Moment | None = None


class AnalyticsEvents(AnalyticsWindow):
    types: Annotated[list[EventType], BeforeValidator(comma_separated), Field(min_length=1)] = Field(
        default_factory=lambda: list(LIVE_EVENTS)
    )
    period: Annotated[int, Field(ge=60, le=31 * 86_400)] = 3600


class AnalyticsDestinations(AnalyticsWindow):
    limit: Limit = 50
