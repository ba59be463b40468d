"""Which tools a caller sees, and how they are described: the same for the same key, in one order."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcp_types import ListToolsResult, ToolAnnotations
from mcp_types import Tool as ToolModel

from controlplane.access.principal import Principal
from controlplane.mcp.arguments import NoArguments
from controlplane.mcp.tool import Arguments, Tool
from controlplane.mcp.tools import TOOLS

TTL_MS = 300_000
_LEAST = {"string": "minLength", "array": "minItems"}
_REMEMBERED = 64  # sets of tools: as many as there are kinds of keys


def is_visible(tool: Tool, principal: Principal, has_work: bool) -> bool:
    """May the key see the tool, and call it? `has_work`: is mail work in an inbox of its?"""
    if tool.is_of_several and principal.inbox_id is not None:
        return False
    return (has_work or not tool.is_of_work) and all(map(principal.holds, tool.scopes))


def visible(principal: Principal, has_work: bool) -> tuple[Tool, ...]:
    """The tools that the key sees."""
    return tuple(tool for tool in TOOLS if is_visible(tool, principal, has_work))


@lru_cache(_REMEMBERED)
def listed(tools: Sequence[Tool]) -> dict[str, Any]:
    """The answer to `tools/list`."""
    result = ListToolsResult(tools=[_described(tool) for tool in tools], ttl_ms=TTL_MS, cache_scope="private")
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


@lru_cache(len(TOOLS))
def _described(tool: Tool) -> ToolModel:
    hints = tool.hints
    return ToolModel(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.arguments),
        output_schema=None if tool.facts is None else _output_schema(tool),
        annotations=ToolAnnotations(
            read_only_hint=hints.reads_only,
            destructive_hint=hints.destroys,
            idempotent_hint=hints.is_idempotent,
            open_world_hint=hints.is_open_world,
        ),
    )


def input_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """The schema of a tool's input: flat, without what hosts stumble over."""
    if arguments is NoArguments:
        return {"type": "object", "properties": {}}
    schema = arguments.model_json_schema()
    needed = schema.get("required", ())
    properties = {name: _property(one, name in needed) for name, one in schema["properties"].items()}
    required = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required}


def _property(schema: dict[str, Any], is_required: bool) -> dict[str, Any]:
    told = {
        name: {"type": value["type"]} if name == "items" else value
        for name, value in schema.items()
        if name != "title" and not (name == "default" and value in (None, False))
    }
    if is_required and told["type"] in _LEAST and "enum" not in told:
        told[_LEAST[told["type"]]] = 1  # what is empty is left out (`Arguments`)
    return told


def _output_schema(tool: Tool) -> dict[str, Any]:
    """No member is required and others may come: hosts that check it must never take a success for a failure."""
    assert tool.facts is not None
    properties = {name: {"type": kind} for name, kind in {**tool.facts, "error": "object"}.items()}
    return {"type": "object", "properties": properties, "additionalProperties": True}
