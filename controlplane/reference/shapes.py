"""Models of JSON in few words, as a reader wants them who pays for each: `to*: [string], kind: code|link, name?`.

What says no type is a string. `*`: must be given, in a request; there null is told nowhere, for it may be left out.
`?`: may be null, in an answer; there every member is.
"""

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import BaseModel

from controlplane.contract.model import models_in

# Of a longer list of values the type is told alone.
REQUEST_VALUES_MAX = 12
ANSWER_VALUES_MAX = 8
_BRIEF = {"boolean": "bool", "integer": "int"}


def request_fields(model: type[BaseModel], told: Mapping[type[BaseModel], str]) -> str:
    """The members of a request, and of what is in it. `told`: model → where its members stand already, which then
    stands in their place, also for a model that adds to it."""
    base = next((one for one in model.__mro__ if one in told), None)
    said = [] if base is None else [f"as {told[base]}"]
    return ", ".join(said + _without(_requested(model), [] if base is None else _requested(base)))


def answer_fields(model: type[BaseModel], told: Collection[type[BaseModel]]) -> str:
    """The members of an answer; models in it stand there by name, and so does one of `told` that this one adds to."""
    base = next((one for one in model.__mro__[1:] if one in told), None)
    said = [] if base is None else [base.__name__]
    return ", ".join(said + _without(_answered(model), [] if base is None else _answered(base)))


def parts_of(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that its members are of."""
    return [part for member in model.model_fields.values() for part in models_in(member.annotation)]


def _requested(model: type[BaseModel]) -> list[str]:
    return _members(model.model_json_schema(by_alias=True), is_request=True)


def _answered(model: type[BaseModel]) -> list[str]:
    return _members(model.model_json_schema(by_alias=True, mode="serialization"), is_request=False)


def _without(members: list[str], others: list[str]) -> list[str]:
    return [one for one in members if one not in others]


def _members(
    schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None, *, is_request: bool
) -> list[str]:
    known = definitions or schema.get("$defs", {})
    required = schema.get("required", ()) if is_request else ()
    told = []
    for name, one in schema.get("properties", {}).items():
        mark = "*" if name in required else "?" if not is_request and _may_be_null(one) else ""
        kind = _type(one, known, is_request)
        told.append(f"{name}{mark}{'' if kind == 'string' else f': {kind}'}")
    return told


def _may_be_null(schema: Mapping[str, Any]) -> bool:
    return {"type": "null"} in schema.get("anyOf", ())


def _type(schema: Mapping[str, Any], definitions: Mapping[str, Any], is_request: bool) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        inner = definitions[name]
        return _type(inner, definitions, is_request) if is_request or "enum" in inner else name
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [_type(one, definitions, is_request) for one in schema.get("anyOf") or schema["oneOf"]]
        return "|".join(one for one in dict.fromkeys(kinds) if one != "null")
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if 0 < len(values) <= (REQUEST_VALUES_MAX if is_request else ANSWER_VALUES_MAX):
        return "|".join("true" if one is True else str(one) for one in values)
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_type(schema.get('items', {}), definitions, is_request)}]"
    if kind == "object" and schema.get("properties"):
        return f"{{{', '.join(_members(schema, definitions, is_request=is_request))}}}"
    return _BRIEF.get(kind, str(kind))
