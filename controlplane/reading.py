"""From the octets of a request to its model: all faults are told at once, under stable codes."""

import json
from typing import Any

from pydantic import ValidationError

from controlplane.errors import ApiError, Fault, invalid
from controlplane.schemas import Body, Query

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
    json.loads(raw, object_pairs_hook=lambda pairs: _refuse_repeats(pairs, "field"))
    return body


def read_query(model: type[Query], pairs: list[tuple[str, str]]) -> Query:
    _refuse_repeats(pairs, "parameter")
    try:
        return model.model_validate(dict(pairs))
    except ValidationError as error:
        raise faults_of(error) from error


def _refuse_repeats(pairs: list[tuple[str, Any]], kind: str) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise invalid([Fault(name, "given_twice", f"Give this {kind} once") for name in twice])


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
