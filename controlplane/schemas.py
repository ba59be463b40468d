"""What requests may say: strict pydantic models. Unknown fields are faults, and all faults are told at once."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from controlplane.errors import ApiError, Fault, invalid
from maild.message.address import AddressSyntaxError, validate

RECIPIENTS_MAX = 50
SUBJECT_MAX = 500
ATTACHMENTS_MAX = 20
_ID = re.compile(r"[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}")
_DOT_ATOM = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=False)


class Query(BaseModel):
    """Query strings are text: `limit=5` is the number 5 here."""

    model_config = ConfigDict(extra="forbid")


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


def _id_of(*prefixes: str) -> AfterValidator:
    def check(value: str) -> str:
        if not _ID.fullmatch(value) or value[:3] not in prefixes:
            wanted = " or ".join(f"'{prefix}_…'" for prefix in prefixes)
            raise PydanticCustomError("invalid_id", "Expected an id {wanted}", {"wanted": wanted})
        return value

    return AfterValidator(check)


def _cursor_of(prefix: str) -> AfterValidator:
    def check(value: str) -> str:
        if not _ID.fullmatch(value) or value[:3] != prefix:
            raise PydanticCustomError("invalid_cursor", "Expected the id of the last item of the page before")
        return value

    return AfterValidator(check)


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


Email = Annotated[str, AfterValidator(_email)]
DisplayName = Annotated[str, Field(max_length=100), AfterValidator(_no_controls)]
Metadata = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=40)], Annotated[str, Field(max_length=256)]],
    Field(max_length=50),
]
Moment = Annotated[int, BeforeValidator(_moment)]
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

DEFAULT_EVENTS: tuple[EventType, ...] = ("email.received", "email.sent", "email.bounced")

# Inboxes -----------------------------------------------------------------------------------------


class CreateInbox(Body):
    username: Annotated[
        str, Field(min_length=2, max_length=48, pattern=r"^[a-z0-9._-]+$"), AfterValidator(_dot_atom)
    ]
    name: DisplayName | None = None
    agentId: str | None = None
    domain: Annotated[str, Field(max_length=253)] | None = None
    metadata: Metadata = Field(default_factory=dict)


class ListInboxes(Query):
    limit: Limit = 50
    cursor: Annotated[str, _cursor_of("inb")] | None = None
    isActive: bool = True


# Messages, threads, attachments --------------------------------------------------------------------


class AttachmentInput(Body):
    filename: Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_no_controls)]
    contentType: Annotated[
        str,
        Field(max_length=127, pattern=r"^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"),
    ] = "application/octet-stream"
    content: str


class SendMessage(Body):
    inboxId: Annotated[str, Field(max_length=64)]
    to: Annotated[list[Email], Field(min_length=1, max_length=RECIPIENTS_MAX)]
    cc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    bcc: Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)] = Field(default_factory=list)
    subject: Annotated[str, Field(max_length=SUBJECT_MAX), AfterValidator(_no_controls)] | None = None
    text: str | None = None
    html: str | None = None
    inReplyTo: Annotated[str, _id_of("msg", "thd")] | None = None
    attachments: Annotated[list[AttachmentInput], Field(max_length=ATTACHMENTS_MAX)] = Field(
        default_factory=list
    )


class ListMessages(Query):
    inboxId: str | None = None
    threadId: str | None = None
    limit: Limit = 50
    direction: Literal["inbound", "outbound"] | None = None
    from_: Annotated[str | None, Field(alias="from", max_length=320)] = None
    since: Moment | None = None
    until: Moment | None = None
    before: Annotated[str, _cursor_of("msg")] | None = None
    cursor: Annotated[str, _cursor_of("msg")] | None = None


class ListThreads(Query):
    inboxId: str | None = None
    limit: Limit = 50


class GetAttachment(Query):
    inline: bool = False


# Webhooks ----------------------------------------------------------------------------------------


class CreateWebhook(Body):
    url: Annotated[str, Field(max_length=2048, pattern=r"^https://")]
    subscribedEvents: Annotated[list[EventType], Field(min_length=1)] = Field(
        default_factory=lambda: list(DEFAULT_EVENTS)
    )


class ListDeliveries(Query):
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
        return model.model_validate_json(raw)
    except ValidationError as error:
        raise faults_of(error) from error


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
