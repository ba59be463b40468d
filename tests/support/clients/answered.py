"""What the API answers, held to what its document promises: every client of the tests asks here.

An error must be one that its endpoint documents; a success must have the documented status and, as JSON, the shape
of its model. So no test can pass that sees an answer which `/openapi.json` does not know.
"""

import json
import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from controlplane.contract.common import Error
from controlplane.operations.operation import BYTES, Operation
from controlplane.operations.table import OPERATIONS
from controlplane.reference.openapi_answers import BODY_ERRORS, COMMON_ERRORS, error_codes
from controlplane.transport.responses import success_status
from controlplane.transport.statuses import STATUSES

# What a path or a method answers that no endpoint has.
STRAY_ERRORS = {"not_found", "method_not_allowed", *COMMON_ERRORS, *BODY_ERRORS}
PREFIX = "/v1/"
REPLAYED = 200
PARTIAL = 206  # RFC 9110 §15.3.7: bytes of a range that was asked for
NOT_MODIFIED = 304


class Undocumented(AssertionError):
    """The answer is none that the document allows."""


def check(method: str, url: str, status: int, body: bytes) -> None:
    """Undocumented unless `/openapi.json` allows this answer."""
    path = urlsplit(url).path
    if method == "HEAD" or not path.startswith(PREFIX):
        return
    route = route_of(method, path)
    if status >= 400 and route is not None and _is_page(route, body):
        return  # the same error, in words for a person
    if status >= 400:
        _check_error(route, f"{method} {path}", status, body)
    elif route is None:
        raise Undocumented(f"{method} {path} answers {status} and is no endpoint")
    else:
        _check_success(route, status, body)


def route_of(method: str, path: str) -> Operation | None:
    """The endpoint that serves it; where two paths match, the first in OPERATIONS, as in the router."""
    for route, pattern in _patterns():
        if route.method == method and pattern.fullmatch(path):
            return route
    return None


@cache
def _patterns() -> list[tuple[Operation, re.Pattern[str]]]:
    return [(route, re.compile(re.escape(route.path).replace(r"\{id\}", "[^/]+"))) for route in OPERATIONS]


def _check_error(route: Operation | None, asked: str, status: int, body: bytes) -> None:
    error = _model(Error).validate_json(body).error
    allowed = STRAY_ERRORS if route is None else set(error_codes(route))
    if error.code not in allowed:
        raise Undocumented(f"{asked}: '{error.code}' ({status}) is not among the operation's refusals")
    if STATUSES[error.code] != status:
        raise Undocumented(f"{asked}: '{error.code}' with status {status}")


def _check_success(operation: Operation, status: int, body: bytes) -> None:
    if operation.answer is BYTES and status == PARTIAL:
        return
    if operation.has_tag and status == NOT_MODIFIED and not body:
        return
    expected = success_status(operation)
    if status != expected and not (operation.replays and status == REPLAYED):
        raise Undocumented(f"{operation.id}: {status}, documented is {expected}")
    if operation.answer is not BYTES and not _is_page(operation, body):
        answer = json.loads(body)
        if set(answer) != {"data"}:
            raise Undocumented(f"{operation.id}: not just 'data' but {sorted(answer)}")
        try:
            _model(operation.answer).validate_json(json.dumps(answer["data"]), strict=True)
        except ValidationError as error:
            raise Undocumented(f"{operation.id}: {error}") from error


def _is_page(operation: Operation, body: bytes) -> bool:
    return "text/html" in operation.media and body.startswith(b"<!doctype html>")


@cache
def _model(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
