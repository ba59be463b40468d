"""The answers in `/openapi.json`: what an operation answers that did what it is for, and what it may refuse.

An error has one example, a header one description, `data` one schema: they stand in the components, and answers name
them.
"""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, get_args, get_origin

from controlplane.contract.common import Error
from controlplane.contract.mail.messages import ListedMessage
from controlplane.contract.refusals import MESSAGES
from controlplane.contract.telling.events import ListEvents, StreamEvents
from controlplane.operations.operation import BYTES, JSON, Operation
from controlplane.reference.openapi_schemas import envelope_name, reference
from controlplane.transport.statuses import STATUSES

# What any endpoint with a key can answer besides its own codes.
COMMON_ERRORS = (
    "unauthorized",
    "invalid_api_key_format",
    "invalid_api_key",
    "insufficient_scope",
    "rate_limit_exceeded",
    "validation_failed",
    "expectation_failed",
    "provider_unavailable",
    "internal_error",
)
# where no key is asked for
OPEN_ERRORS = ("validation_failed", "expectation_failed", "provider_unavailable", "internal_error")
BODY_ERRORS = ("unsupported_media_type", "payload_too_large")
NAMED_CODES_MAX = 2
RANGES = "range_not_satisfiable"  # what only an endpoint that serves ranges of bytes can answer
_REQUEST_ID = "X-Request-Id"
_LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
_HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    _REQUEST_ID: ("Names this request in the server's log", {"type": "string"}),
    "X-RateLimit-Limit": ("Requests allowed in any 60 seconds", {"type": "integer"}),
    "X-RateLimit-Remaining": ("Requests left now", {"type": "integer"}),
    "X-RateLimit-Reset": (
        "Unix seconds when the oldest counted request leaves the window",
        {"type": "integer"},
    ),
    "Retry-After": ("Seconds after which asking again may help", {"type": "integer"}),
    "WWW-Authenticate": ("RFC 6750 §3: what a request has to bring", {"type": "string"}),
    "X-Domain-Limit": ("Messages that the domain may send in a day of UTC", {"type": "integer"}),
    "X-Domain-Used": ("Messages that it sent in this one", {"type": "integer"}),
    "Idempotent-Replayed": ("Nothing was done again", {"type": "string", "enum": ["true"]}),
    "ETag": ("Names these very bytes, for `If-None-Match` and `If-Range`", {"type": "string"}),
    "Content-Range": ("RFC 9110 §14.4: which bytes these are, of how many", {"type": "string"}),
    "X-Events-Gap": (
        "Events behind the cursor are not kept any more: read the lists anew",
        {"type": "string", "enum": ["true"]},
    ),
}
# Of errors, besides what every answer has. A client asks again by them.
_ERROR_HEADERS: Mapping[str, tuple[str, ...]] = {
    "unauthorized": ("WWW-Authenticate",),
    "invalid_api_key_format": ("WWW-Authenticate",),
    "invalid_api_key": ("WWW-Authenticate",),
    "rate_limit_exceeded": ("Retry-After",),
    "too_many_streams": ("Retry-After",),
    "provider_unavailable": ("Retry-After",),
    "loop_suspected": ("Retry-After",),
    "domain_daily_cap_reached": ("Retry-After", "X-Domain-Limit", "X-Domain-Used"),
    RANGES: ("Content-Range",),
}


def of_health(content: Mapping[str, Any]) -> dict[str, Any]:
    """Status → answer, of `/health`."""
    shown = {**_headers(_REQUEST_ID), "content": content}
    return {
        "200": {"description": "It serves", **shown},
        "503": {"description": "Its store does not answer", **shown},
    }


def headers() -> dict[str, Any]:
    """The component of each header that an answer names."""
    return {name: {"description": text, "schema": schema} for name, (text, schema) in _HEADERS.items()}


def examples(operations: Iterable[Operation]) -> dict[str, Any]:
    """The component of each error that an operation may answer, by its code."""
    told = {code for operation in operations for code in error_codes(operation)}
    return {
        code: {"value": {"error": {"code": code, "message": text}}}
        for code, text in MESSAGES.items()
        if code in told
    }


def error_codes(operation: Operation) -> list[str]:
    """Every code that the endpoint may answer, in the order of the error table."""
    mine = {
        *(OPEN_ERRORS if operation.is_public else COMMON_ERRORS),
        *operation.refusals,
        *(BODY_ERRORS if operation.body else ()),
    }
    return [code for code in MESSAGES if code in mine]


def answers(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    """Status → answer, of all that this one of the operations may answer."""
    return {**_successes(operation, operations), **_refusals(operation)}


def name_of(answer: Mapping[str, Any]) -> str | None:
    """What an answer is called that several operations have: by the codes that it adds to those of every operation, or
    by its schema. None: these are too many, or there is none."""
    codes = answer.get("x-error-codes")
    if codes:
        added = [code for code in codes if code not in (*COMMON_ERRORS, *BODY_ERRORS)] or codes[:1]
        return "Or".join(map(_pascal, added)) if len(added) <= NAMED_CODES_MAX else None
    schema = answer.get("content", {}).get(JSON, {}).get("schema", {})
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


def _pascal(code: str) -> str:
    return code.title().replace("_", "")


# What was asked for ------------------------------------------------------------------------------


def _usual(operation: Operation) -> tuple[str, ...]:
    """The header fields of every answer to somebody who is known by a key, or need not be."""
    return (_REQUEST_ID,) if operation.is_public else (_REQUEST_ID, *_LIMITS)


def _successes(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    usual = _usual(operation)
    content = {"content": _content(operation)}
    replayed = ("Idempotent-Replayed",) if operation.replays else ()
    tag = ("ETag",) if operation.has_tag else ()
    gap = ("X-Events-Gap",) if operation.query in (ListEvents, StreamEvents) else ()
    answer = {**_headers(*usual, *replayed, *tag, *gap), **content}
    told: dict[str, Any] = {}
    if operation.creates:
        links = _links(operation, operations)
        made = {"description": "Created", **_headers(*usual), **content}
        told["201"] = {**made, "links": links} if links else made
    if operation.replays or not operation.creates:
        told["200"] = {"description": "What an earlier request made" if operation.creates else "OK", **answer}
    if operation.has_tag:
        told["304"] = {"description": "The client has it", **_headers(*usual, *tag)}
    if RANGES in operation.refusals:  # RFC 9110 §15.3.7
        ranged = _headers(*usual, *tag, "Content-Range")
        told["206"] = {"description": "The range that was asked for", **ranged, **content}
    return told


def _links(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    """Where the ids of what was made lead: it can be read, changed and deleted, and so can its thread."""
    leads = {operation.path + "/{id}": "$response.body#/data/id"}
    if operation.answer is ListedMessage:
        leads = {
            "/v1/messages/{id}": "$response.body#/data/id",
            "/v1/threads/{id}": "$response.body#/data/threadId",
        }
    found = {}
    for other in operations:
        for path, at in leads.items():
            if other.path == path or other.path.startswith(path + "/"):
                found[other.id] = {"operationId": other.id, "parameters": {"id": at}}
    return found


def _content(operation: Operation) -> dict[str, Any]:
    if operation.answer is BYTES:
        binary = {"schema": {"type": "string", "format": "binary"}}
        return dict.fromkeys(operation.media, binary)
    schema = {"$ref": f"#/components/schemas/{envelope_name(operation.answer)}"}
    told: dict[str, Any] = {JSON: {"schema": schema, **_example(operation)}}
    return told | {media: {"schema": {"type": "string"}} for media in operation.media if media not in told}


def _example(operation: Operation) -> dict[str, Any]:
    """Of an answer whose model has one."""
    is_list = get_origin(operation.answer) is list
    model = get_args(operation.answer)[0] if is_list else operation.answer
    shown = getattr(model, "example", None)
    if shown is None:
        return {}
    return {"examples": {operation.id: {"value": {"data": [shown] if is_list else shown}}}}


# What is refused ---------------------------------------------------------------------------------


def _refusals(operation: Operation) -> dict[str, Any]:
    told = _errors(error_codes(operation), _usual(operation))
    if "text/html" in operation.media:  # a person is told on a page that the link does not work
        told["400"]["content"]["text/html"] = {"schema": {"type": "string"}}
    return told


def _errors(codes: Iterable[str], usual: Sequence[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUSES[code], []).append(code)
    return {
        str(status): _error(named, (_REQUEST_ID,) if status == HTTPStatus.UNAUTHORIZED else usual)
        for status, named in sorted(by_status.items())
    }


def _error(codes: list[str], usual: Sequence[str]) -> dict[str, Any]:
    told = (header for code in codes for header in _ERROR_HEADERS.get(code, ()))
    shown = {code: {"$ref": f"#/components/examples/{code}"} for code in codes}
    return {
        "description": " · ".join(f"`{code}`" for code in codes),
        **_headers(*usual, *told),
        "content": {JSON: {"schema": reference(Error), "examples": shown}},
        # In the schema they would be a type for each status of each operation, and generators take what narrows an
        # error for all that is in it.
        "x-error-codes": codes,
    }


def _headers(*names: str) -> dict[str, Any]:
    return {"headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names}}
