"""`/openapi.json`: built from the operations, the schemas of requests, the models of answers and the error table.

What requests may hold and what may go wrong is said by what the code checks. Names of operations, models of answers
and examples are written beside it, and tests hold them to what the code does. What each operation, parameter and member
is comes from docs/contract.md (`contract_words.py`, `member_words.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.contract.common import Health
from controlplane.contract.telling.events import EVENTS, EventEnvelope
from controlplane.operations.operation import CONFLICT, JSON, Operation
from controlplane.reference.contract_words import ContractWords, read_contract
from controlplane.reference.member_words import described, parameter_words
from controlplane.reference.openapi_answers import RANGES, answers, examples, headers, name_of, of_health
from controlplane.reference.openapi_schemas import inlined, reference, schemas
from controlplane.reference.said_once import said_once

API_VERSION = "1.0.0"
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
# status → what it is called, what it means to us
_WEBHOOK_ANSWERS = {
    "2XX": ("Taken", "Taken"),
    "4XX": ("RefusedForGood", "Refused for good: not sent again"),
    "default": ("SentAgainLater", "Anything else, and no answer within 10 s: sent again later"),
}
STREAM = "text/event-stream"
# Not that of the operations on webhooks: openapi-generator has a file for each tag, and the second would replace the
# first.
REQUESTS = "webhook requests"
HEALTH = "health"
TAGS = {
    "agents": "Names for what works behind inboxes",
    "analytics": "What was sent, what became of it, and what came in, by time and by recipient domain",
    "attachments": "The bytes of attachments",
    "audit": "Who did what in the organization, in a chain of hashes",
    "claims": "Messages as work: taken for a time, finished or given back",
    "domains": "Custom domains: the DNS records that they need, checks, DKIM keys, reports of other hosts",
    "drafts": "Messages that are written, and sent later",
    "events": "What happens, as a log to read and as a stream",
    HEALTH: "Whether the service is up",
    "inboxes": "Addresses that mail is received at and sent from",
    "keys": "API keys with their scopes",
    "messages": "Sending, answering, reading and searching mail",
    "operator": "The queue of the whole host, for who runs it",
    "organization": "The organization of the key, its members, usage and policy",
    "reviews": "What is held until a person decides",
    "rules": "Who may be written to, and who may write",
    "suppressions": "Addresses that nothing is sent to: they bounced, complained, unsubscribed or were added",
    "threads": "Conversations",
    "unsubscribe": "What stands behind the links in `List-Unsubscribe`; needs no key",
    REQUESTS: "What maild sends to the URLs of webhooks",
    "webhooks": "URLs that events are sent to, and what became of each delivery",
}
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


def document(operations: Sequence[Operation], public_url: str, contract: str) -> dict[str, Any]:
    """The OpenAPI 3.1.0 document of these operations. `contract`: docs/contract.md, which says what each does."""
    return said_once(_whole(operations, public_url, contract), name_of)


def _whole(operations: Sequence[Operation], public_url: str, contract: str) -> dict[str, Any]:
    words = read_contract(contract, f"{public_url.rstrip('/')}/docs")
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = paths.setdefault(operation.path, {})
        path[operation.method.lower()] = _operation(operation, operations, words)
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
        "tags": [
            {"name": name, "description": TAGS[name]}
            for name in sorted({HEALTH, REQUESTS, *map(_tag, operations)})
        ],
        "security": [{"apiKey": []}],
        "paths": paths,
        "webhooks": {type: {"post": _webhook(type, *told)} for type, told in EVENTS.items()},
        "components": {
            "schemas": described(schemas(operations), words),
            "responses": {name: {"description": text} for name, text in _WEBHOOK_ANSWERS.values()},
            "examples": examples(operations),
            "headers": headers(),
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "`Authorization: Bearer svc_live_…`; the roles named are the scopes required.",
                }
            },
        },
    }


def _operation(operation: Operation, operations: Sequence[Operation], words: ContractWords) -> dict[str, Any]:
    told = words.operations[operation.endpoint]
    row: dict[str, Any] = {
        "operationId": operation.id,
        "summary": operation.summary,
        "description": told.text,
        "externalDocs": {"description": told.section, "url": told.url},
        "tags": [_tag(operation)],
        "security": [] if operation.is_public else [{"apiKey": [operation.scope, *operation.also]}],
        "parameters": _parameters(operation, words),
        "responses": answers(operation, operations),
    }
    if operation.body is not None:
        row["requestBody"] = {
            "required": not operation.body.may_be_absent,
            "content": {
                JSON: {
                    "schema": reference(operation.body),
                    "examples": {operation.id: {"value": operation.body.example}},
                }
            },
        }
    if operation.form:
        row["requestBody"] = {
            "required": False,
            "content": {"application/x-www-form-urlencoded": {"schema": operation.form}},
        }
    return row


def _tag(operation: Operation) -> str:
    return operation.path.split("/")[2]


def _parameters(operation: Operation, words: ContractWords) -> list[dict[str, Any]]:
    schema = {"type": "string", "maxLength": 64}
    in_path = [{"name": "id", "in": "path", "required": True, "schema": schema}]
    return [
        *(in_path if "{id}" in operation.path else ()),
        *_query_parameters(operation, words),
        *([_IDEMPOTENCY_KEY] if CONFLICT in operation.refusals else ()),
        *_headers(_RANGE_HEADERS if RANGES in operation.refusals else {}),
        *_headers(_TAG_HEADER if operation.has_tag else {}),
        *_headers(_STREAM_HEADER if STREAM in operation.media else {}),
    ]


def _query_parameters(operation: Operation, words: ContractWords) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    whole = operation.query.model_json_schema(by_alias=True)
    found = []
    for name, schema in whole.get("properties", {}).items():
        required = name in whole.get("required", [])
        told = {
            "name": name,
            "in": "query",
            "required": required,
            **parameter_words(operation, name, words),
            "schema": inlined(schema, whole),
        }
        if told["schema"].get("type") == "array":  # a,b; in parts it is taken, too
            told |= {"style": "form", "explode": False}
        found.append(told)
    return found


def _headers(told: Mapping[str, str], required: bool = False) -> list[dict[str, Any]]:
    schema = {"type": "string"}
    return [
        {"name": name, "in": "header", "required": required, "schema": schema, "description": text}
        for name, text in told.items()
    ]


def _webhook(type: str, summary: str, model: type[EventEnvelope]) -> dict[str, Any]:
    """OpenAPI 3.1, §4.8.1: a request that we make."""
    return {
        "operationId": "on" + "".join(part.title() for part in type.split(".")),
        "summary": summary,
        "tags": [REQUESTS],
        "security": [],
        "parameters": _headers(_WEBHOOK_HEADERS, required=True),
        "requestBody": {"required": True, "content": {JSON: {"schema": reference(model)}}},
        "responses": {
            status: {"$ref": f"#/components/responses/{name}"}
            for status, (name, _) in _WEBHOOK_ANSWERS.items()
        },
    }


def _health() -> dict[str, Any]:
    content = {JSON: {"schema": reference(Health)}}
    return {
        "operationId": "getHealth",
        "summary": "Is the service up?",
        "tags": [HEALTH],
        "security": [],
        "parameters": [],
        "responses": of_health(content),
    }
