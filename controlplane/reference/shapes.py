"""Models of JSON in few words, as a reader wants them who pays for each: `to*: [string], kind: code|link, subject`."""

from collections.abc import Collection, Mapping
from typing import Any, get_args

from pydantic import BaseModel

VALUES_MAX = 12  # of a longer list of values the type is told alone
_BRIEF = {"boolean": "bool", "integer": "int"}


def request_fields(model: type[BaseModel]) -> str:
    """The members of a request, whole; what must be given has a star, what says no type is a string."""
    return _members(model.model_json_schema(by_alias=True), is_request=True)


def answer_fields(model: type[BaseModel], told: Collection[type[BaseModel]]) -> str:
    """The members of an answer; models in it stand there by name, and so does one of `told` that this one adds to."""
    whole = model.model_json_schema(by_alias=True, mode="serialization")
    base = next((one for one in model.__mro__[1:] if one in told), None)
    added = _members(whole, apart=() if base is None else _names(base))
    return added if base is None else f"{base.__name__}, {added}"


def models_in(shape: Any) -> list[type[BaseModel]]:
    """The models that a type names: it, or its parts; not what those consist of."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return [shape]
    return [model for part in get_args(shape) for model in models_in(part)]


def parts_of(model: type[BaseModel]) -> list[type[BaseModel]]:
    """The models that its members are of."""
    return [part for member in model.model_fields.values() for part in models_in(member.annotation)]


def _names(model: type[BaseModel]) -> set[str]:
    return {one.alias or name for name, one in model.model_fields.items()}


def _members(
    schema: Mapping[str, Any],
    definitions: Mapping[str, Any] | None = None,
    *,
    is_request: bool = False,
    apart: Collection[str] = (),
) -> str:
    known = definitions or schema.get("$defs", {})
    required = schema.get("required", ()) if is_request else ()
    told = []
    for name, one in schema.get("properties", {}).items():
        if name not in apart:
            kind = _type(one, known, is_request)
            told.append(f"{name}{'*' if name in required else ''}{'' if kind == 'string' else f': {kind}'}")
    return ", ".join(told)


def _type(schema: Mapping[str, Any], definitions: Mapping[str, Any], is_request: bool) -> str:
    """A request's null is told nowhere: it is what may be left out."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        inner = definitions[name]
        return _type(inner, definitions, is_request) if is_request or "enum" in inner else name
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [_type(one, definitions, is_request) for one in schema.get("anyOf") or schema["oneOf"]]
        return "|".join(one for one in dict.fromkeys(kinds) if not is_request or one != "null")
    values = [schema["const"]] if "const" in schema else schema.get("enum", ())
    if 0 < len(values) <= VALUES_MAX:
        return "|".join("true" if one is True else str(one) for one in values)
    kind = schema.get("type", "any")
    if kind == "array":
        return f"[{_type(schema.get('items', {}), definitions, is_request)}]"
    if kind == "object" and schema.get("properties"):
        return f"{{{_members(schema, definitions, is_request=is_request)}}}"
    return _BRIEF.get(kind, str(kind))
