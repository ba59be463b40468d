"""What requests may say: strict pydantic models. Unknown fields are faults, and all faults are told at once."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from controlplane.errors import ApiError, Fault, invalid
from controlplane.scopes import GRANTABLE
from maild.message.address import AddressSyntaxError, validate
from maild.message.header_writer import ComposeError, write_extra
from maild.message.idn import ascii_domain

RECIPIENTS_MAX = 50
SUBJECT_MAX = 500
ATTACHMENTS_MAX = 20
LABELS_MAX = 50
LABEL_CHARS = 64
_ID_TAIL = "_[0-9a-hjkmnp-tv-z]{26}"
_ID = re.compile(f"[a-z]{{3}}{_ID_TAIL}")
_HOST_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
DOMAIN_CHARACTERS_MAX = 238  # leaves room for `_svc-challenge.` in the 253 of RFC 1035 §2.3.4
_DOT_ATOM = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"  # RFC 4648 §4
# decisions.md, Message: the server owns these.
_OWNED_HEADERS = frozenset(
    "from to cc bcc sender date message-id subject in-reply-to references received return-path"
    " authentication-results auto-submitted".split()
)
_OWNED_PREFIXES = ("resent-", "mime-", "content-", "dkim-", "arc-")
HEADERS_MAX = 50
HEADER_CHARS_MAX = 2000
_HEADER_NAME = re.compile(r"[!-9;-~]{1,76}")
_LONGEST_NAME = "X" * 76
_PRINTABLE = {"pattern": r"^[^\x00-\x1f\x7f]*$"}


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=False)


# A field of a Change that was not given.
ABSENT: Any = None


class Change(Body):
    """A PATCH: what is given changes, and something must be. Null is refused where the type has no null."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("nothing_to_change", "Give at least one field to change")
        return self


class Query(BaseModel):
    """Query strings are text: `limit=5` is the number 5 here."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Check(AfterValidator):
    """A validator that also tells the document what it looks for, as far as JSON Schema has words for it."""

    told: Mapping[str, Any] = field(hash=False)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), **self.told}


# Kinds of values ---------------------------------------------------------------------------------


def _email(value: str) -> str:
    try:
        return validate(value)
    except AddressSyntaxError as error:
        raise PydanticCustomError("invalid_email", "{reason}", {"reason": str(error)}) from error


def _no_controls(value: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise PydanticCustomError("control_character", "Control characters are not allowed here")
    return value


def _dot_atom(value: str) -> str:
    if not _DOT_ATOM.fullmatch(value):
        raise PydanticCustomError(
            "invalid_username", "Dots may neither begin nor end a username, nor follow each other"
        )
    return value


def _domain_name(value: str) -> str:
    try:
        name = ascii_domain(value)
    except ValueError:
        name = ""
    labels = name.split(".")
    if (
        len(name) > DOMAIN_CHARACTERS_MAX
        or len(labels) < 2
        or labels[-1].isdigit()
        or not all(_HOST_LABEL.fullmatch(label) for label in labels)
    ):
        raise PydanticCustomError("invalid_domain", "Expected a domain name such as mail.example.org")
    return name


def _id_of(*prefixes: str) -> Check:
    def check(value: str) -> str:
        if not _ID.fullmatch(value) or value[:3] not in prefixes:
            wanted = " or ".join(f"'{prefix}_…'" for prefix in prefixes)
            raise PydanticCustomError("invalid_id", "Expected an id {wanted}", {"wanted": wanted})
        return value

    return Check(check, {"pattern": f"^({'|'.join(prefixes)}){_ID_TAIL}$"})


def _cursor_of(prefix: str) -> Check:
    def check(value: str) -> str:
        if not _ID.fullmatch(value) or value[:3] != prefix:
            raise PydanticCustomError("invalid_cursor", "Expected the id of the last item of the page before")
        return value

    return Check(check, {"pattern": f"^{prefix}{_ID_TAIL}$"})


def _moment(value: Any) -> Any:
    """An ISO 8601 date (midnight UTC) or timestamp → milliseconds. Without an offset it is UTC."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    except (TypeError, ValueError, OverflowError) as error:
        raise PydanticCustomError(
            "invalid_date", "Expected an ISO 8601 date or timestamp, such as 2026-11-21T08:00:00Z"
        ) from error


def _instant(value: Any) -> Any:
    """An ISO 8601 timestamp that says its offset → milliseconds."""
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
        return int(moment.timestamp() * 1000)
    except (TypeError, ValueError, OverflowError) as error:
        raise PydanticCustomError(
            "invalid_date", "Expected an ISO 8601 timestamp with an offset, such as 2026-11-21T08:00:00Z"
        ) from error


def _header_name(value: str) -> str:
    if not _HEADER_NAME.fullmatch(value):
        raise PydanticCustomError(
            "invalid_format", "Expected a header name (RFC 5322): visible ASCII without ':'"
        )
    name = value.lower()
    if name in _OWNED_HEADERS or name.startswith(_OWNED_PREFIXES):
        raise PydanticCustomError("not_allowed", "The server writes this header itself")
    return value


def _header_value(value: str) -> str:
    try:
        write_extra(_LONGEST_NAME, value)
    except ComposeError as error:
        reason = str(error).replace(_LONGEST_NAME, "header value")
        raise PydanticCustomError("invalid_format", "{reason}", {"reason": reason}) from error
    return value


def _distinct_names(headers: dict[str, str]) -> dict[str, str]:
    if len({name.lower() for name in headers}) < len(headers):
        raise PydanticCustomError("given_twice", "Header names differ in more than their case")
    for name, value in headers.items():
        # RFC 8058 §3.1: URLs, which an encoded word would break
        if name.lower().startswith("list-") and not value.isascii():
            raise PydanticCustomError("invalid_format", "List headers must be ASCII; percent-encode URLs")
    return headers


def _integral(value: Any) -> Any:
    """812.0 is an integer to JSON Schema (draft 2020-12, validation, §6.1.1)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _scope(value: str) -> str:
    if value not in GRANTABLE:
        raise PydanticCustomError("not_allowed", "There is no such scope")
    return value


def _comma_separated(value: Any) -> Any:
    return value.split(",") if isinstance(value, str) else value


def _is_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeError as error:
        raise PydanticCustomError("invalid_text", "Expected UTF-8, percent-encoded") from error
    return value


class ThreadCursor(NamedTuple):
    """A thread and its `lastMessageAt` when the page before was read (None: not given)."""

    thread_id: str
    at_ms: int | None


def _thread_cursor(value: Any) -> ThreadCursor:
    """`thd_…`, or `thd_…@<lastMessageAt>`, which stays good whatever becomes of the thread."""
    thread_id, has_moment, moment = str(value).partition("@")
    if not _ID.fullmatch(thread_id) or not thread_id.startswith("thd"):
        raise PydanticCustomError(
            "invalid_cursor", "Expected the last thread of the page before: its id, or 'id@lastMessageAt'"
        )
    return ThreadCursor(thread_id, _moment(moment) if has_moment else None)


Email = Annotated[str, Check(_email, {"format": "email"})]
Label = Annotated[
    str,
    Field(min_length=1, max_length=LABEL_CHARS),
    Check(_no_controls, _PRINTABLE),
    AfterValidator(_is_text),
]
DisplayName = Annotated[str, Field(max_length=100), Check(_no_controls, _PRINTABLE)]
DomainName = Annotated[str, Check(_domain_name, {"format": "idn-hostname"})]
DailyCap = Annotated[int, Field(ge=1, le=1_000_000), BeforeValidator(_integral)]
Scope = Annotated[str, Check(_scope, {"enum": sorted(GRANTABLE)})]
Metadata = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=40)], Annotated[str, Field(max_length=256)]],
    Field(max_length=50),
]
Moment = Annotated[
    int,
    BeforeValidator(_moment),
    WithJsonSchema(
        {
            "type": "string",
            "description": "ISO 8601 date (midnight UTC) or timestamp",
            "anyOf": [{"format": "date-time"}, {"format": "date"}],
        }
    ),
]
ThreadsCursor = Annotated[
    ThreadCursor,
    BeforeValidator(_thread_cursor),
    WithJsonSchema(
        {
            "type": "string",
            "description": "The last thread of the page before: its id, or `id@lastMessageAt`, which outlives it",
            "pattern": rf"^thd{_ID_TAIL}(@\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z)?$",
        }
    ),
]
SendAt = Annotated[
    int,
    BeforeValidator(_instant),
    WithJsonSchema(
        {
            "type": "string",
            "format": "date-time",
            "description": "When to send, with an offset: 1 minute to 30 days ahead; not with attachments",
        }
    ),
]
CustomHeaders = Annotated[
    dict[
        Annotated[str, AfterValidator(_header_name)],
        Annotated[str, Field(max_length=HEADER_CHARS_MAX), AfterValidator(_header_value)],
    ],
    Field(max_length=HEADERS_MAX),
    AfterValidator(_distinct_names),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": HEADERS_MAX,
            "propertyNames": {"pattern": f"^{_HEADER_NAME.pattern}$"},
            "additionalProperties": {
                "type": "string",
                "maxLength": HEADER_CHARS_MAX,
                "pattern": r"^[^\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]*$",
            },
        }
    ),
]
Limit = Annotated[int, Field(ge=1, le=100)]
EventType = Literal[
    "email.received",
    "email.sent",
    "email.bounced",
    "email.complained",
    "email.unsubscribed",
    "email.delayed",
    "email.failed",
    "domain.verified",
    "domain.failed",
    "sending.paused",
]

LIVE_EVENTS: tuple[EventType, ...] = (
    "email.received",
    "email.sent",
    "email.bounced",
    "email.complained",
    "email.unsubscribed",
)
DEFAULT_EVENTS: tuple[EventType, ...] = ("email.received", "email.sent", "email.bounced")

# Inboxes -----------------------------------------------------------------------------------------


class CreateInbox(Body):
    username: Annotated[
        str,
        Field(min_length=2, max_length=48, pattern=r"^[a-z0-9._-]+$"),
        Check(_dot_atom, {"pattern": f"^{_DOT_ATOM.pattern}$"}),
    ]
    name: DisplayName | None = None
    agentId: str | None = None
    domain: Annotated[str, Field(max_length=253)] | None = None
    metadata: Metadata = Field(default_factory=dict)


class ListInboxes(Query):
    limit: Limit = 50
    cursor: Annotated[str, _cursor_of("inb")] | None = None
    isActive: bool = True


class PatchInbox(Change):
    name: DisplayName | None = None
    metadata: Metadata = Field(default_factory=dict)


# Messages, threads, attachments --------------------------------------------------------------------


class AttachmentInput(Body):
    filename: Annotated[str, Field(min_length=1, max_length=255), Check(_no_controls, _PRINTABLE)]
    contentType: Annotated[
        str,
        Field(max_length=127, pattern=r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"),
    ] = "application/octet-stream"
    # Decoded by the pipeline, which tells of a fault there.
    content: Annotated[str, Field(json_schema_extra={"contentEncoding": "base64", "pattern": _BASE64})]


class SendMessage(Body):
    inboxId: Annotated[str, Field(max_length=64)]
    to: Annotated[list[Email], Field(min_length=1, max_length=RECIPIENTS_MAX)]
    cc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    bcc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    subject: Annotated[str, Field(max_length=SUBJECT_MAX), Check(_no_controls, _PRINTABLE)] | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, _id_of("msg", "thd")] | None = None
    sendAt: SendAt | None = None
    attachments: Annotated[list[AttachmentInput], Field(max_length=ATTACHMENTS_MAX)] = Field(
        default_factory=list
    )
    # A factory, since a documented default makes the field a required one to some generated clients.
    unsubscribe: bool = Field(default_factory=bool)
    headers: CustomHeaders = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one_unsubscribe(self) -> Self:
        if self.unsubscribe and {"list-unsubscribe", "list-unsubscribe-post"} & {
            name.lower() for name in self.headers
        }:
            raise PydanticCustomError(
                "not_allowed", "Give either a List-Unsubscribe header or 'unsubscribe', not both"
            )
        return self


class UnsubscribeToken(Query):
    # Not checked here: whatever is no token of ours has an error of its own.
    token: (
        Annotated[str, Field(json_schema_extra={"pattern": "^[A-Za-z0-9_-]*$", "maxLength": 500})] | None
    ) = None


class ListMessages(Query):
    inboxId: str | None = None
    threadId: str | None = None
    limit: Limit = 50
    q: Annotated[str, Field(max_length=200), AfterValidator(_is_text)] | None = None
    direction: Literal["inbound", "outbound"] | None = None
    from_: Annotated[
        Annotated[str, Field(max_length=320), AfterValidator(_is_text)] | None, Field(alias="from")
    ] = None
    since: Moment | None = None
    until: Moment | None = None
    before: Annotated[str, _cursor_of("msg")] | None = None
    cursor: Annotated[str, _cursor_of("msg")] | None = None


class PatchMessage(Body):
    labels: Annotated[list[Label], Field(max_length=LABELS_MAX)]


class ListThreads(Query):
    inboxId: str | None = None
    limit: Limit = 50
    cursor: ThreadsCursor | None = None
    isArchived: bool | None = None


class PatchThread(Body):
    isArchived: bool


class GetAttachment(Query):
    inline: bool = False


# Drafts ------------------------------------------------------------------------------------------

DraftAddresses = Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)]
DraftSubject = Annotated[str, Field(max_length=SUBJECT_MAX), Check(_no_controls, _PRINTABLE)]


class CreateDraft(Body):
    inboxId: Annotated[str, Field(max_length=64)]
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, _id_of("msg", "thd")] | None = None


class PatchDraft(Change):
    to: DraftAddresses = Field(default_factory=list)
    cc: DraftAddresses = Field(default_factory=list)
    bcc: DraftAddresses = Field(default_factory=list)
    subject: DraftSubject | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, _id_of("msg", "thd")] | None = None


class ListDrafts(Query):
    status: Literal["draft", "sent", "discarded"] | None = None
    inboxId: str | None = None
    limit: Limit = 50
    cursor: Annotated[str, _cursor_of("drf")] | None = None


# Webhooks ----------------------------------------------------------------------------------------


WebhookUrl = Annotated[str, Field(max_length=2048, pattern=r"^https://")]
Subscription = Annotated[list[EventType], Field(min_length=1)]


class CreateWebhook(Body):
    url: WebhookUrl
    subscribedEvents: Subscription = Field(default_factory=lambda: list(DEFAULT_EVENTS))


class UpdateWebhook(Change):
    url: WebhookUrl = ABSENT
    subscribedEvents: Subscription = ABSENT
    isActive: bool = ABSENT


class ListDeliveries(Query):
    limit: Limit = 50


EventTypes = Annotated[
    list[EventType],
    BeforeValidator(_comma_separated),
    Field(min_length=1, description="Separated by commas; all where it is left out"),
]


class ListEvents(Query):
    after: Annotated[str, _cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: list(get_args(EventType)))
    inboxId: str | None = None
    limit: Limit = 50


class StreamEvents(Query):
    after: Annotated[str, _cursor_of("evt")] | None = None
    lastEventId: Annotated[str, _cursor_of("evt")] | None = None
    types: EventTypes = Field(default_factory=lambda: list(get_args(EventType)))
    inboxId: str | None = None


# Domains -----------------------------------------------------------------------------------------


class RegisterDomain(Body):
    domainName: DomainName
    dailyCap: DailyCap | None = None


class PatchDomain(Body):
    dailyCap: DailyCap | None


# Keys, agents, suppressions ------------------------------------------------------------------------


class CreateKey(Body):
    name: Annotated[str, Field(min_length=1, max_length=64), Check(_no_controls, _PRINTABLE)]
    # None of them is refused where the key's binding is known: under two codes.
    scopes: (
        Annotated[list[Scope], Field(max_length=len(GRANTABLE), json_schema_extra={"minItems": 1})] | None
    ) = None
    inboxId: Annotated[str, Field(max_length=64)] | None = None
    mode: Literal["live", "test"] | None = None


class ListKeys(Query):
    limit: Limit | None = None
    cursor: Annotated[str, _cursor_of("key")] | None = None


class CreateAgent(Body):
    name: Annotated[str, Field(min_length=1, max_length=100), Check(_no_controls, _PRINTABLE)]


class ListAgents(Query):
    limit: Limit = 50
    cursor: Annotated[str, _cursor_of("agt")] | None = None


SuppressionReason = Literal["hard_bounce", "complaint", "unsubscribe", "manual"]


class CreateSuppression(Body):
    email: Email
    reason: SuppressionReason = "manual"


class ListSuppressions(Query):
    reason: SuppressionReason | None = None
    email: Annotated[str, Field(max_length=320)] | None = None
    limit: Limit = 50
    cursor: Annotated[str, _cursor_of("sup")] | None = None


# Analytics ---------------------------------------------------------------------------------------


class AnalyticsWindow(Query):
    inboxId: str | None = None
    since: Moment | None = None
    until: Moment | None = None


class AnalyticsEvents(AnalyticsWindow):
    types: Annotated[list[EventType], BeforeValidator(_comma_separated), Field(min_length=1)] = Field(
        default_factory=lambda: list(LIVE_EVENTS)
    )
    period: Annotated[int, Field(ge=60, le=31 * 86_400)] = 3600


class AnalyticsDestinations(AnalyticsWindow):
    limit: Limit = 50


# Reading -----------------------------------------------------------------------------------------

# pydantic's names for faults → the stable ones that clients branch on.
_CODES = {
    "missing": "required",
    "extra_forbidden": "unknown_field",
    "json_invalid": "invalid_json",
    "string_too_short": "too_short",
    "string_too_long": "too_long",
    "too_short": "too_few",
    "too_long": "too_many",
    "string_pattern_mismatch": "invalid_format",
    "greater_than_equal": "out_of_range",
    "less_than_equal": "out_of_range",
    "literal_error": "not_allowed",
}


def read_body(model: type[Body], raw: bytes) -> Body:
    try:
        body = model.model_validate_json(raw)
    except ValidationError as error:
        raise faults_of(error) from error
    # Only what is a valid body otherwise is looked at again: a name given twice is a mistake that parsers hide.
    json.loads(raw, object_pairs_hook=_without_repeats)
    return body


def _without_repeats(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise invalid([Fault(name, "given_twice", "Give this field once") for name in twice])


def read_query(model: type[Query], pairs: list[tuple[str, str]]) -> Query:
    names = [name for name, _ in pairs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise invalid([Fault(name, "given_twice", "Give this parameter once") for name in twice])
    try:
        return model.model_validate(dict(pairs))
    except ValidationError as error:
        raise faults_of(error) from error


def faults_of(error: ValidationError) -> ApiError:
    return invalid([_fault(one) for one in error.errors(include_url=False, include_input=False)])


def _fault(error: Any) -> Fault:
    kind: str = error["type"]
    code = _CODES.get(kind) or ("wrong_type" if kind.endswith(("_type", "_parsing")) else kind)
    path = ""
    for step in error["loc"]:
        if step == "[key]":
            continue
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
    return Fault(path, code, error["msg"])
