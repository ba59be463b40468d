"""The schemas of `/openapi.json`: what requests may hold, what answers tell, and `data` around that."""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from controlplane.contract.common import Error, Health
from controlplane.contract.telling.events import EVENTS
from controlplane.operations.operation import BYTES, Operation

NO_NUL = r"^[^\x00]*$"
_REF = "#/components/schemas/{model}"


def reference(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model, by its name."""
    return {"$ref": _REF.format(model=model.__name__)}


def envelope_name(answer: Any) -> str:
    """What `data` with such an answer is called: `InboxAnswer`, `InboxList`."""
    if get_origin(answer) is list:
        return f"{get_args(answer)[0].__name__}List"
    return f"{'Or'.join(model.__name__ for model in _models(answer))}Answer"


def schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    """Name → schema, of all that these operations take and answer, and of events."""
    answers: list[Any] = [operation.answer for operation in operations if operation.answer is not BYTES]
    told: list[type[BaseModel]] = [Error, Health]
    told += [model for answer in answers for model in _models(answer)]
    told += [model for _, model in EVENTS.values()]
    requests = [operation.body for operation in operations if operation.body is not None]
    _, validated = models_json_schema(
        [(model, "validation") for model in dict.fromkeys(requests)], ref_template=_REF
    )
    _, serialized = models_json_schema(
        [(model, "serialization") for model in dict.fromkeys(told)], ref_template=_REF
    )
    asked = {name: _left_out(one) for name, one in _without_nul(validated.get("$defs", {})).items()}
    models: dict[str, Any] = _tidy({**asked, **_open(serialized.get("$defs", {}))})
    envelopes = {envelope_name(answer): _envelope(answer) for answer in answers}
    assert not models.keys() & envelopes.keys()
    return {**models, **envelopes}


def inlined(schema: Any, whole: Mapping[str, Any]) -> Any:
    """A parameter's schema without references into its model's own definitions."""
    if isinstance(schema, list):
        return [inlined(one, whole) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return inlined(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    # Null can't be said in a query string: an optional parameter is one that is left out.
    kinds = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    if len(kinds) == 1:
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default", "title")}
        return inlined({**kinds[0], **rest}, whole)
    return {key: inlined(value, whole) for key, value in schema.items() if key != "title"}


def _envelope(answer: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["data"],
        "properties": {"data": _data(answer)},
    }


def _data(answer: Any) -> dict[str, Any]:
    if get_origin(answer) is list:
        return {"type": "array", "items": reference(get_args(answer)[0])}
    if isinstance(answer, UnionType):
        return {"oneOf": [reference(one) for one in get_args(answer)]}
    return reference(answer)


def _models(answer: Any) -> Sequence[type[BaseModel]]:
    """Those of an answer: of the elements of a list, or the one or the other."""
    return get_args(answer) if get_origin(answer) is list or isinstance(answer, UnionType) else [answer]


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


def _left_out(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A request's schema, in which each list and map that may be left out has the mark that openapi-generator reads.
    Without it its Java sends what nobody set as empty, and so a PATCH of a draft's subject took the recipients off.
    Null itself stays refused, as the schema says."""
    required = schema.get("required", ())
    members = {
        name: {**one, "x-nullable": True}
        if one.get("type") in ("array", "object") and name not in required
        else one
        for name, one in schema.get("properties", {}).items()
    }
    return {**schema, "properties": members} if members else dict(schema)


def _open(schema: Any) -> Any:
    """What is told, to which members may be added (docs/contract.md, section 9): clients that are made of a closed
    schema refuse it then."""
    if isinstance(schema, list):
        return [_open(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _open(one) for key, one in schema.items() if (key, one) != ("additionalProperties", False)}


def _tidy(schema: Any) -> Any:
    """Without defaults of null, which mean "left out", titles that only repeat a name, and patterns of what has a
    format: some clients hold the time that they made of a text to its pattern."""
    if isinstance(schema, list):
        return [_tidy(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "default" and value is None)}
    if isinstance(kept.get("title"), str):
        del kept["title"]
    if kept.get("format") == "date-time":
        kept.pop("pattern", None)
    return {key: _tidy(value) for key, value in kept.items()}
