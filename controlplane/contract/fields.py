"""The kinds of values that requests have: what is checked, what the document says of it, what it becomes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from controlplane.contract.scopes import GRANTABLE, SCOPES
from maild.message.fields.address import AddressSyntaxError, validate
from maild.message.fields.idn import ascii_domain
from maild.message.writing.header_writer import ADDRESS_FIELDS, ComposeError, write_extra

LABEL_CHARS = 64
OUR_LABELS = "svc:"
_ID_TAIL = "_[0-9a-hjkmnp-tv-z]{26}"
_ID = re.compile(f"[a-z]{{3}}{_ID_TAIL}")
# What senders have besides: an address literal, a bare host name, labels with an underscore.
_ODD_DOMAIN = re.compile(r"\[[!-Z^-~]{1,253}\]|[a-z0-9_][a-z0-9_.-]{0,252}")
_HOST_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
DOMAIN_CHARACTERS_MAX = 238  # leaves room for `_svc-challenge.` in the 253 of RFC 1035 §2.3.4
DOT_ATOM = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
# docs/contract.md, "Sending": the server owns these.
_OWNED_HEADERS = frozenset(
    "from to cc bcc sender date message-id subject in-reply-to references received return-path"
    " authentication-results auto-submitted".split()
)
_OWNED_PREFIXES = ("resent-", "mime-", "content-", "dkim-", "arc-")
HEADERS_MAX = 50
HEADER_CHARS_MAX = 2000
_HEADER_NAME = re.compile(r"[!-9;-~]{1,76}")
_NAMED_ADDRESS = re.compile(r"<[^<>@]*@[^<>]*>\s*\Z")
_LONGEST_NAME = "X" * 76
_EPOCH = datetime.fromtimestamp(0, UTC)
_MILLISECOND = timedelta(milliseconds=1)
# Between a time and its offset: a + that was not encoded, which in a query is a blank.
_LOST_PLUS = re.compile(r"(:\d\d(?:[.,]\d+)?) (\d\d:?\d\d)\Z")


@dataclass(frozen=True, slots=True)
class Check(AfterValidator):
    """A validator that also tells the document what it looks for, as far as JSON Schema has words for it."""

    told: Mapping[str, Any] = field(hash=False)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), **self.told}


def email(value: str) -> str:
    """The address in the form to send to, its domain in A-labels; the message of `invalid_email` names the fault."""
    try:
        return validate(value)
    except AddressSyntaxError as error:
        raise PydanticCustomError("invalid_email", "{reason}", {"reason": str(error)}) from error


def with_plus(value: str) -> str:
    """The address, or a part of one, with each + that was not encoded, and so is a blank in a query: RFC 5321 §4.1.2
    has blanks in quotes alone."""
    local, at, domain = value.rpartition("@")
    return value if '"' in local else local.replace(" ", "+") + at + domain


def without_name(value: str) -> str:
    """A part of an address, as no list of addresses has it: `Ada <ada@x.org>` is a part of none."""
    if _NAMED_ADDRESS.search(value):
        raise PydanticCustomError(
            "invalid_email", "Give the bare address or a part of it, without a name and angle brackets"
        )
    return value


def _no_controls(value: str) -> str:
    if not value.isprintable() and any(character < " " or character == "\x7f" for character in value):
        raise PydanticCustomError("control_character", "Control characters are not allowed here")
    return value


def _no_label_of_ours(value: str) -> str:
    if value.startswith(OUR_LABELS):
        raise PydanticCustomError("not_allowed", "Labels that begin with 'svc:' are the server's own")
    return value


def _no_comma(value: str) -> str:
    if "," in value:
        raise PydanticCustomError("not_allowed", "No commas in a label: a filter has them between labels")
    return value


def dot_atom(value: str) -> str:
    """RFC 5322 §3.2.3: what the characters of a username, allowed one by one, may not be together."""
    if not DOT_ATOM.fullmatch(value):
        raise PydanticCustomError(
            "invalid_username", "Dots may neither begin nor end a username, nor follow each other"
        )
    return value


def shaped(pattern: str, expected: str) -> Check:
    """A text that is of this pattern as a whole; `expected`: says so to people."""
    whole = re.compile(pattern)

    def check(value: str) -> str:
        if not whole.fullmatch(value):
            raise PydanticCustomError("invalid_format", "Expected {expected}", {"expected": expected})
        return value

    return Check(check, {"pattern": f"^{pattern}$"})


def domain_name(value: str) -> str:
    """A domain of at least two labels, in its A-labels; `invalid_domain` for an address or a bare name."""
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


def sender_domain(value: str) -> str:
    """A domain as senders may have one: what `fromDomain` shows, address literals and bare host names too."""
    asked = value.lower()
    return asked if _ODD_DOMAIN.fullmatch(asked) else domain_name(value)


def id_of(*prefixes: str, is_one_of_many: bool = False) -> Check:
    """Whatever follows the prefix: an id that does not exist is not found, like any other. `is_one_of_many`: the others
    are taken all the same, and the document says no more than what is looked at."""
    starts = tuple(f"{prefix}_" for prefix in prefixes)

    def check(value: str) -> str:
        if not value.startswith(starts):
            wanted = " or ".join(f"'{start}…'" for start in starts)
            raise PydanticCustomError("invalid_id", "Expected an id {wanted}", {"wanted": wanted})
        return value

    tail = r"_[^\x00]*" if is_one_of_many else _ID_TAIL
    return Check(check, {"pattern": f"^({'|'.join(prefixes)}){tail}$"})


def cursor_of(prefix: str) -> Check:
    """The check of a cursor that is an id of one kind (`msg`, `evt`, …); what it stands for is not asked here."""

    def check(value: str) -> str:
        if not _ID.fullmatch(value) or value[:3] != prefix:
            raise PydanticCustomError("invalid_cursor", "Expected the id of the last item of the page before")
        return value

    return Check(check, {"pattern": f"^{prefix}{_ID_TAIL}$"})


def _moment(value: Any) -> int:
    """An ISO 8601 date (midnight UTC) or timestamp → milliseconds. Without an offset it is UTC."""
    if isinstance(value, str):
        value = _LOST_PLUS.sub(r"\1+\2", value)
    return _milliseconds(value, "date or timestamp, such as 2026-11-21T08:00:00Z", zone=UTC)


def _position(value: Any) -> str | int:
    """The id of a message or an event, or a moment in milliseconds."""
    if isinstance(value, str) and _ID.fullmatch(value) and value[:3] in ("msg", "evt"):
        return value
    try:
        return _moment(value)
    except PydanticCustomError as error:
        raise PydanticCustomError(
            "invalid_cursor", "Expected the id of a message or an event, or an ISO 8601 timestamp"
        ) from error


def _instant(value: Any) -> int:
    """An ISO 8601 timestamp that says its offset → milliseconds."""
    return _milliseconds(value, "timestamp with an offset, such as 2026-11-21T08:00:00Z", zone=None)


def _milliseconds(value: Any, expected: str, *, zone: tzinfo | None) -> int:
    """`zone`: that of a time without an offset; None: it needs one. In UTC too it lies in the years 1 to 9999, or it
    could not be shown."""
    try:
        moment = datetime.fromisoformat(str.upper(value))  # RFC 3339 §5.6: "z" is "Z"
        if moment.tzinfo is None:
            if zone is None:
                raise ValueError
            moment = moment.replace(tzinfo=zone)
        return (moment.astimezone(UTC) - _EPOCH) // _MILLISECOND
    except (TypeError, ValueError, OverflowError) as error:
        raise PydanticCustomError(
            "invalid_date", "Expected an ISO 8601 {expected}", {"expected": expected}
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
    if fault := _fault_of(_LONGEST_NAME, value):
        raise fault
    return value


def _fault_of(name: str, value: str) -> PydanticCustomError | None:
    """Why the value can't be written under this name, if it can't."""
    try:
        write_extra(name, value)
    except ComposeError as error:
        reason = str(error).replace(_LONGEST_NAME, "header value")
        return PydanticCustomError("invalid_format", "{reason}", {"reason": reason})
    return None


def _distinct_names(headers: dict[str, str]) -> dict[str, str]:
    if len({name.lower() for name in headers}) < len(headers):
        raise PydanticCustomError("given_twice", "Header names differ in more than their case")
    found = {name: _fault_under(name, value) for name, value in headers.items()}
    faults = [
        InitErrorDetails(type=fault, loc=(name,), input=headers[name])
        for name, fault in found.items()
        if fault is not None
    ]
    if faults:
        raise ValidationError.from_exception_data("headers", faults)
    return headers


def _fault_under(name: str, value: str) -> PydanticCustomError | None:
    """What a value, which is a header's, lacks to be that of this one."""
    # RFC 8058 §3.1: URLs, which an encoded word would break
    if name.lower().startswith("list-") and not value.isascii():
        return PydanticCustomError("invalid_format", "List headers must be ASCII; percent-encode URLs")
    return _fault_of(name, value) if name.lower() in ADDRESS_FIELDS else None


def _integral(value: Any) -> Any:
    """812.0 is an integer to JSON Schema (draft 2020-12, validation, §6.1.1)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _scope(value: str) -> str:
    if value not in GRANTABLE:
        raise PydanticCustomError("not_allowed", f"There is no such scope; there are {', '.join(SCOPES)}")
    return value


def every_type(asked: list[str]) -> list[str]:
    """The types that are asked for; `*` is all of them."""
    return list(get_args(EventType)) if ALL_EVENTS in asked else asked


def comma_separated(value: Any) -> Any:
    """A list as a query has it, `a,b`; a list stays as it is."""
    return value.split(",") if isinstance(value, str) else value


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


NO_CONTROLS = Check(_no_controls, {"pattern": r"^[^\x00-\x1f\x7f]*$"})
_IS_EMAIL = Check(email, {"format": "idn-email"})  # RFC 6531, and domains in U-labels
Email = Annotated[str, _IS_EMAIL]
EmailInQuery = Annotated[str, AfterValidator(with_plus), _IS_EMAIL]
Label = Annotated[
    str,
    Field(min_length=1, max_length=LABEL_CHARS),
    NO_CONTROLS,
]
# What a client may take from a message, and what it may put there.
TakenLabel = Annotated[Label, Check(_no_label_of_ours, {"not": {"pattern": f"^{OUR_LABELS}"}})]
GivenLabel = Annotated[TakenLabel, Check(_no_comma, {"not": {"pattern": f"^{OUR_LABELS}|,"}})]
DisplayName = Annotated[str, Field(max_length=100), NO_CONTROLS]
DomainName = Annotated[str, Check(domain_name, {"format": "idn-hostname"})]
SenderDomain = Annotated[str, Check(sender_domain, {"format": "idn-hostname"})]
# Of an integer in a body; behind its bounds, which the document tells.
WHOLE = BeforeValidator(_integral)
DailyCap = Annotated[int, Field(ge=1, le=1_000_000), WHOLE]
Scope = Annotated[str, Check(_scope, {"enum": sorted(GRANTABLE)})]
Metadata = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=40)], Annotated[str, Field(max_length=256)]],
    Field(max_length=50),
]
# One pattern, and no choice of formats: generators of clients make a class of a choice, and can't send it in a query.
_DAY = r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d([.,]\d+)?)?"
_OFFSET = r"(Z|[+-]([01]\d|2[0-3]):[0-5]\d)"
_TIMES = f"{_DAY}([T ]{_TIME}{_OFFSET}?)?"
Moment = Annotated[
    int,
    BeforeValidator(_moment),
    WithJsonSchema(
        {
            "type": "string",
            "description": "ISO 8601 date (midnight UTC) or timestamp",
            "pattern": f"^{_TIMES}$",
        }
    ),
]
Position = Annotated[
    str | int,
    BeforeValidator(_position),
    WithJsonSchema(
        {
            "type": "string",
            "description": "The id of a message or an event, or an ISO 8601 date (midnight UTC) or timestamp",
            "pattern": f"^((msg|evt){_ID_TAIL}|{_TIMES})$",
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
                "pattern": r"^[^\x00-\x08\x0a-\x1f\x7f-\x9f]*$",
                # Apart: hey-api writes it as the characters, which end a line of TypeScript in the midst of a pattern.
                "not": {"pattern": r"[\u2028\u2029]"},
            },
        }
    ),
]
ClaimId = Annotated[str, id_of("clm")]
InboxId = Annotated[str, id_of("inb")]
ThreadId = Annotated[str, id_of("thd")]


def _names_its_claim(completes: bool, info: ValidationInfo) -> bool:
    if completes and "claimId" in info.data and info.data["claimId"] is None:
        raise PydanticCustomError("not_allowed", "Give 'claimId' too: it names what is completed")
    return completes


# Of a model that has `claimId` before it.
CompleteClaim = Annotated[bool, AfterValidator(_names_its_claim)]
LabelFilter = Annotated[
    list[Annotated[Label, Field(json_schema_extra={"not": {"pattern": ","}})]],
    BeforeValidator(comma_separated),
    Field(min_length=1, max_length=50, description="Separated by commas; all of them"),
]
ReviewStatus = Literal["pending", "approved", "rejected", "expired", "withdrawn"]
Limit = Annotated[int, Field(ge=1, le=100)]
# What clients do, and what is told of it, heard of where they ask for it.
ChangeEvent = Literal[
    "message.updated",
    "message.deleted",
    "thread.updated",
    "draft.created",
    "draft.updated",
    "draft.discarded",
    "claim.expired",
    "claim.dead",
    "review.requested",
    "review.resolved",
    "audit.head",
]
ListedEvent = Literal[
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
EventType = Literal[ListedEvent, ChangeEvent]
ALL_EVENTS = "*"
AskedEvent = Literal[EventType, "*"]  # every type there is
LISTED_EVENTS: tuple[AskedEvent, ...] = get_args(ListedEvent)
# What tells of mail that is held: for who may see that.
REVIEW_EVENTS: tuple[EventType, ...] = ("review.requested", "review.resolved")
AUDIT_EVENTS: tuple[EventType, ...] = ("audit.head",)  # for who may read the audit log
LIVE_EVENTS: tuple[EventType, ...] = (
    "email.received",
    "email.sent",
    "email.bounced",
    "email.complained",
    "email.unsubscribed",
)
DEFAULT_EVENTS: tuple[EventType, ...] = ("email.received", "email.sent", "email.bounced")
