"""The table of `maildc`'s commands, out of `/openapi.json`: `_commands.json`, and `_schemas.json` with what they answer.

One row for each operation. What is given to it is flat: the `{id}` of its path is an argument, each parameter and each
member of its body an option. A command's names are those of the Python client, with `-` for `_`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts import client_names

COMMANDS, SCHEMAS = "_commands.json", "_schemas.json"
_REF = "#/components/schemas/"
# What takes something away that nothing brings back, besides whatever is DELETE; and what does where a member is true.
_DESTROYS = frozenset(("dropQueue", "revokeKeyWithMail"))
_DESTROYS_IF = {"changeMessages": "delete"}
# How a reader of a stream goes on; to begin, it says `after`.
_OF_STREAMS = ("lastEventId", "Last-Event-ID")


def write(document: Mapping[str, Any], folder: Path) -> None:
    """Both files, from a document read through JSON."""
    client_names.check(document)
    rows = [_row(document, path, method, one) for path, method, one in _operations(document)]
    schemas = dict(sorted(_needed(document, rows).items()))
    folder.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    (folder / COMMANDS).write_text(f"[\n{lines}\n]\n", "utf-8")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in schemas.items())
    (folder / SCHEMAS).write_text(f"{{\n{lines}\n}}\n", "utf-8")


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in document["paths"].items():
        for method, one in item.items():
            yield path, method.upper(), one


def _row(document: Mapping[str, Any], path: str, method: str, one: Mapping[str, Any]) -> dict[str, Any]:
    id = one["operationId"]
    name = client_names.NAMES[id]
    takes = [*_parameters(path, one), *_members(document, one)]
    answer = _answer(one)
    row: dict[str, Any] = {
        "operation": id,
        "resource": name.resource,
        "verb": name.verb,
        "method": method,
        "path": path,
        "summary": one["summary"],
        "scopes": [scope for each in one.get("security", []) for scope in each.get("apiKey", [])],
        "isPublic": one.get("security") == [],
        "takes": takes,
        "answers": answer,
    }
    given = {each["name"] for each in takes if each["in"] == "query"}
    cursor = next((one for one in client_names.CURSORS if one in given), None)
    if answer["kind"] == "list" and cursor is not None:
        row["pages"] = {
            "cursor": cursor,
            "of": client_names.position(row["operation"], _resolved(document, answer["schema"]["items"])),
        }
    waits = [each["name"] for each in takes if each["name"] in client_names.WAITS]
    if waits:
        row["waits"] = waits[0]
    form = _form(one)
    if form:
        row["form"] = form
    if method == "DELETE" or id in _DESTROYS or id in _DESTROYS_IF:
        row["destroys"] = True
    if id in _DESTROYS_IF:
        row["destroysIf"] = _DESTROYS_IF[id]
    return row


# What is given -----------------------------------------------------------------------------------


def _parameters(path: str, one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for each in one.get("parameters", []):
        if each["name"] in _OF_STREAMS:
            continue
        schema = each["schema"]
        told = _told(each["name"], each["in"], schema, each["required"], each.get("description"))
        if each["in"] == "path":
            told["option"] = client_names.id_name(path)
        yield told


def _members(document: Mapping[str, Any], one: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    content = one.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return
    schema = _resolved(document, content["schema"])
    for name, member in schema["properties"].items():
        told = _resolved(document, member)
        is_required = name in schema.get("required", [])
        yield _told(name, "body", told, is_required, member.get("description"), document)


def _form(one: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a form, which have one value each."""
    content = one.get("requestBody", {}).get("content", {}).get("application/x-www-form-urlencoded")
    fields = {} if content is None else content["schema"]["properties"]
    return {name: each["enum"][0] for name, each in fields.items()}


def _told(
    name: str,
    place: str,
    schema: Mapping[str, Any],
    is_required: bool,
    text: str | None,
    document: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    kinds: list[Any] = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    inner: Mapping[str, Any] = kinds[0] if len(kinds) == 1 else schema
    items: Mapping[str, Any] = inner.get("items", {})
    if "$ref" in items and document is not None:
        items = _resolved(document, items)
    kind = _kind(inner, items)
    told: dict[str, Any] = {"name": name, "option": _snake(name), "in": place, "kind": kind}
    if is_required:
        told["required"] = True
    choices = (items if kind == "strings" else inner).get("enum")
    if choices:
        told["choices"] = choices
    limits = {key: inner[key] for key in ("minimum", "maximum", "default") if inner.get(key) is not None}
    if limits:
        told["limits"] = limits
    said = text or schema.get("description") or inner.get("description")
    if said:
        told["help"] = said
    return told


def _kind(schema: Mapping[str, Any], items: Mapping[str, Any]) -> str:
    """How a person gives it: one word, several, a number, a yes, `key=value`, or JSON."""
    type = schema.get("type")
    if type == "array":
        return "strings" if items.get("type") == "string" else "json"
    if type == "object" and isinstance(schema.get("additionalProperties"), dict):
        return "map"
    if type in ("integer", "boolean", "string"):
        return str(type)
    return "string" if type is None and ("anyOf" in schema or "enum" in schema) else "json"


# What is answered --------------------------------------------------------------------------------


def _answer(one: Mapping[str, Any]) -> dict[str, Any]:
    success = next(told for status, told in one["responses"].items() if status.startswith("2"))
    contents: Mapping[str, Any] = success["content"]
    media, content = next(iter(contents.items()))
    if media == "text/event-stream":
        return {"kind": "stream"}
    if media != "application/json":
        return {"kind": "bytes", "media": media}
    schema = content["schema"]
    data = schema.get("properties", {}).get("data", schema)
    return {"kind": "list" if data.get("type") == "array" else "object", "schema": data}


def _needed(document: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The schemas that answers name, and those that these name."""
    found: dict[str, Any] = {}
    waiting = [name for row in rows for name in _named(row["answers"])]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = document["components"]["schemas"][name]
            waiting += _named(found[name])
    return found


def _named(value: Any) -> list[str]:
    return [one.removeprefix(_REF) for one in re.findall(r'"\$ref": "([^"]+)"', json.dumps(value))]


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" not in schema:
        return schema
    found: Mapping[str, Any] = document["components"]["schemas"][schema["$ref"].removeprefix(_REF)]
    return found


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("-", "_")).lower()
