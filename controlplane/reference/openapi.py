"""`/openapi.json`: built from the operations, the schemas of requests, the models of answers and the error table.

What requests may hold and what may go wrong is said by what the code checks. Names of operations, models of answers
and examples are written beside it, and tests hold them to what the code does.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from controlplane.contract.common import Error, Health
from controlplane.contract.mail.messages import ListedMessage
from controlplane.contract.refusals import MESSAGES
from controlplane.contract.telling.events import EVENTS, EventEnvelope, ListEvents, StreamEvents
from controlplane.operations.operation import BYTES, CONFLICT, Operation
from controlplane.transport.responses import success_status
from controlplane.transport.statuses import STATUSES

API_VERSION = "1.0.0"
_REF = "#/components/schemas/{model}"
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
_HEADERS = {
    "X-Request-Id": "Names this request in the server's log",
    "X-RateLimit-Limit": "Requests allowed in any 60 seconds",
    "X-RateLimit-Remaining": "Requests left now",
    "X-RateLimit-Reset": "Unix seconds when the oldest counted request leaves the window",
}
_GAP = {
    "description": "Events behind the cursor are not kept any more: read the lists anew",
    "schema": {"type": "string", "enum": ["true"]},
}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]*[!-~][ -~]*$"},
    "description": "Makes the request safe to repeat for 48 hours: one key, one message",
}
_WEBHOOK_HEADERS = {
    "X-Svc-Signature": "`t=<unix>,v1=<hex>`: HMAC-SHA256 over `<t>.<raw body>`, keyed with the whole secret string",
    "X-Svc-Delivery": "The id of this attempt's record; a repeat of the same attempt has the same",
    "X-Svc-Event": "The event's type",
    "X-Svc-Attempt": "The number of the attempt, from 1",
    "webhook-id": "The event's id, as standardwebhooks.com has it; the key to dedupe on",
    "webhook-timestamp": "Unix seconds, signed",
    "webhook-signature": "The signature of standardwebhooks.com over the same body",
}
NO_NUL = r"^[^\x00]*$"
STREAM = "text/event-stream"
# Not that of the operations on webhooks: openapi-generator has a file for each tag, and the second would replace the
# first.
REQUESTS = "webhook requests"
RANGES = "range_not_satisfiable"  # what only an endpoint that serves ranges of bytes can answer
_RANGE_HEADERS = {
    "Range": "RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored",
    "If-Range": "The `ETag` that the range is of; the whole is sent when it is another",
}
_TAG_HEADER = {
    "If-None-Match": "The `ETag` of an answer that the client has; 304 where it would come again",
}
_STREAM_HEADER = {
    "Last-Event-ID": "The id of the last event that came: what follows it is told. Goes before the query",
}


def document(operations: Sequence[Operation], public_url: str) -> dict[str, Any]:
    """The OpenAPI 3.1.0 document of these operations."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, operations)
    paths["/health"] = {"get": _health()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "maild",
            "version": API_VERSION,
            "description": "Email for AI agents: inboxes, messages, threads, drafts, webhooks, domains.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": public_url}],
        "tags": [{"name": name} for name in sorted({_tag(operation) for operation in operations})],
        "security": [{"apiKey": []}],
        "paths": paths,
        "webhooks": {type: {"post": _webhook(type, *told)} for type, told in EVENTS.items()},
        "components": {
            "schemas": _schemas(operations),
            "headers": {name: _header(name, text) for name, text in _HEADERS.items()},
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`Authorization: Bearer svc_live_…`; the roles named are the scopes required.",
                }
            },
        },
    }


def error_codes(operation: Operation) -> list[str]:
    """Every code that the endpoint may answer, in the order of the error table."""
    mine = {
        *(OPEN_ERRORS if operation.is_public else COMMON_ERRORS),
        *operation.refusals,
        *(BODY_ERRORS if operation.body else ()),
    }
    return [code for code in MESSAGES if code in mine]


def _operation(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [_tag(operation)],
        "security": [] if operation.is_public else [{"apiKey": [operation.scope, *operation.also]}],
        "parameters": _parameters(operation),
        "responses": {**_successes(operation, operations), **_refusals(operation)},
    }
    if operation.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {
                "application/json": {
                    "schema": _reference(operation.body),
                    "examples": {operation.id: {"value": operation.body.example}},
                }
            },
        }
    if operation.form:
        described["requestBody"] = {
            "required": False,
            "content": {"application/x-www-form-urlencoded": {"schema": operation.form}},
        }
    return described


def _tag(operation: Operation) -> str:
    return operation.path.split("/")[2]


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    schema = {"type": "string", "maxLength": 64}
    in_path = [{"name": "id", "in": "path", "required": True, "schema": schema}]
    return [
        *(in_path if "{id}" in operation.path else ()),
        *_query_parameters(operation),
        *([_IDEMPOTENCY_KEY] if CONFLICT in operation.refusals else ()),
        *_headers(_RANGE_HEADERS if RANGES in operation.refusals else {}),
        *_headers(_TAG_HEADER if operation.has_tag else {}),
        *_headers(_STREAM_HEADER if STREAM in operation.media else {}),
    ]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    whole = operation.query.model_json_schema(by_alias=True)
    found = []
    for name, schema in whole.get("properties", {}).items():
        required = name in whole.get("required", [])
        told = {"name": name, "in": "query", "required": required, "schema": _inlined(schema, whole)}
        if told["schema"].get("type") == "array":  # a,b: a parameter stands in a query once
            told |= {"style": "form", "explode": False}
        found.append(told)
    return found


def _headers(told: Mapping[str, str]) -> list[dict[str, Any]]:
    schema = {"type": "string"}
    return [
        {"name": name, "in": "header", "required": False, "schema": schema, "description": text}
        for name, text in told.items()
    ]


def _inlined(schema: Any, whole: Mapping[str, Any]) -> Any:
    """A parameter's schema without references into its model's own definitions."""
    if isinstance(schema, list):
        return [_inlined(one, whole) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    # Null can't be said in a query string: an optional parameter is one that is left out.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(kinds) == 1:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default", "title")}
        return _inlined({**kinds[0], **rest}, whole)
    return {key: _inlined(value, whole) for key, value in schema.items() if key != "title"}


def _successes(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    success = _success(operation)
    links = _links(operation, operations)
    told = {str(success_status(operation)): {**success, "links": links} if links else success}
    if operation.replays:
        replayed: dict[str, Any] = {"Idempotent-Replayed": {"schema": {"type": "string", "enum": ["true"]}}}
        described = {
            "description": "What an earlier request made",
            "headers": {**success["headers"], **replayed},
        }
        told["200"] = {**success, **described}
    if operation.has_tag:
        success["headers"]["ETag"] = {"schema": {"type": "string"}}
        told["304"] = {"description": "The client has it", "headers": success["headers"]}
    if operation.query in (ListEvents, StreamEvents):
        told["200"] = {**success, "headers": {**success["headers"], "X-Events-Gap": _GAP}}
    if RANGES in operation.refusals:  # RFC 9110 §15.3.7
        headers: dict[str, Any] = {**success["headers"], "Content-Range": {"schema": {"type": "string"}}}
        told["206"] = {**success, "description": "The range that was asked for", "headers": headers}
    return told


def _links(operation: Operation, operations: Sequence[Operation]) -> dict[str, Any]:
    """Where the ids of what was made lead: it can be read, changed and deleted, and so can its thread."""
    if not operation.creates:
        return {}
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
                name = other.id
                found[name] = {"operationId": name, "parameters": {"id": at}}
    return found


def _success(operation: Operation) -> dict[str, Any]:
    told = ("X-Request-Id",) if operation.is_public else _HEADERS
    headers: dict[str, Any] = {name: {"$ref": f"#/components/headers/{name}"} for name in told}
    if operation.answer is BYTES:
        binary = {"schema": {"type": "string", "format": "binary"}}
        by_media = dict.fromkeys(operation.media, binary)
        return {"description": operation.summary, "headers": headers, "content": by_media}
    schema = {
        "type": "object",
        "required": ["data"],
        "additionalProperties": False,
        "properties": {"data": _answer(operation.answer)},
    }
    content: dict[str, Any] = {"application/json": {"schema": schema, **_example(operation)}}
    content |= {media: {"schema": {"type": "string"}} for media in operation.media if media not in content}
    return {"description": operation.summary, "headers": headers, "content": content}


def _example(operation: Operation) -> dict[str, Any]:
    """Of an answer whose model has one."""
    is_list = get_origin(operation.answer) is list
    model = get_args(operation.answer)[0] if is_list else operation.answer
    shown = getattr(model, "example", None)
    if shown is None:
        return {}
    return {"examples": {operation.id: {"value": {"data": [shown] if is_list else shown}}}}


def _answer(model: Any) -> dict[str, Any]:
    if get_origin(model) is list:
        return {"type": "array", "items": _reference(get_args(model)[0])}
    if isinstance(model, UnionType):
        return {"oneOf": [_reference(one) for one in get_args(model)]}
    return _reference(model)


def _refusals(operation: Operation) -> dict[str, Any]:
    told = _errors(error_codes(operation))
    if "text/html" in operation.media:  # a person is told on a page that the link does not work
        told["400"]["content"]["text/html"] = {"schema": {"type": "string"}}
    return told


def _errors(codes: Iterable[str]) -> dict[str, Any]:
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(STATUSES[code], []).append(code)
    return {str(status): _error(named) for status, named in sorted(by_status.items())}


def _error(codes: list[str]) -> dict[str, Any]:
    examples = {code: {"value": {"error": {"code": code, "message": MESSAGES[code]}}} for code in codes}
    return {
        "description": " · ".join(f"`{code}`: {MESSAGES[code]}" for code in codes),
        "content": {"application/json": {"schema": _reference(Error), "examples": examples}},
        # In the schema they would be a type for each status of each operation, and generators take what narrows an
        # error for all that is in it.
        "x-error-codes": codes,
    }


def _webhook(type: str, summary: str, model: type[EventEnvelope]) -> dict[str, Any]:
    """OpenAPI 3.1, §4.8.1: a request that we make."""
    return {
        "operationId": "on" + "".join(part.title() for part in type.split(".")),
        "summary": summary,
        "tags": [REQUESTS],
        "security": [],
        "parameters": [
            {
                "name": name,
                "in": "header",
                "required": True,
                "schema": {"type": "string"},
                "description": text,
            }
            for name, text in _WEBHOOK_HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _reference(model)}}},
        "responses": {
            "2XX": {"description": "Taken"},
            "4XX": {"description": "Refused for good: not sent again"},
            "default": {"description": "Anything else, and no answer within 10 s: sent again later"},
        },
    }


def _health() -> dict[str, Any]:
    content = {"application/json": {"schema": _reference(Health)}}
    return {
        "operationId": "getHealth",
        "summary": "Is the service up?",
        "tags": ["health"],
        "security": [],
        "responses": {
            "200": {"description": "It serves", "content": content},
            "503": {"description": "Its store does not answer", "content": content},
        },
    }


def _header(name: str, text: str) -> dict[str, Any]:
    return {"description": text, "schema": {"type": "string" if name == "X-Request-Id" else "integer"}}


def _reference(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": _REF.format(model=_name(model))}


def _name(model: type[BaseModel]) -> str:
    return model.__name__


def _models(answer: Any) -> Sequence[type[BaseModel]]:
    """Those of an answer: of the elements of a list, or the one or the other."""
    return get_args(answer) if get_origin(answer) is list or isinstance(answer, UnionType) else [answer]


def _schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    requests = [operation.body for operation in operations if operation.body is not None]
    told: list[type[BaseModel]] = [Error, Health]
    for operation in operations:
        answer: Any = operation.answer
        if answer is not BYTES:
            told += _models(answer)
    told += [model for _, model in EVENTS.values()]
    _, validated = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(requests)], ref_template=_REF
    )
    _, serialized = models_json_schema(
        [(model, "serialization") for model in dict.fromkeys(told)], ref_template=_REF
    )
    asked = _without_nul(validated.get("$defs", {}))
    schemas: dict[str, Any] = _tidy({**asked, **serialized.get("$defs", {})})
    return schemas


def _without_nul(schema: Any, is_name: bool = False) -> Any:
    """Every text of a request without U+0000, as controlplane.transport.reading refuses it wherever it stands."""
    if isinstance(schema, list):
        return [_without_nul(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    told = {key: _without_nul(value, key == "propertyNames") for key, value in schema.items()}
    if (is_name or schema.get("type") == "string") and not told.keys() & {
        "pattern",
        "enum",
        "const",
        "format",
    }:
        told["pattern"] = NO_NUL
    return told


def _tidy(schema: Any) -> Any:
    """Without defaults of null, which mean "left out", and titles that only repeat a name."""
    if isinstance(schema, list):
        return [_tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    if isinstance(kept.get("title"), str):
        del kept["title"]
    return {key: _tidy(value) for key, value in kept.items()}
