"""The methods of MCP: what this server is, which tools a key sees, and a call of one."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
import structlog
from mcp_types import (
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    CallToolResult,
    DiscoverResult,
    ImageContent,
    Implementation,
    InitializeResult,
    ServerCapabilities,
    TextContent,
    ToolsCapability,
)
from mcp_types.methods import serialize_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.contract.validation import validated
from controlplane.mcp import catalog, eras
from controlplane.mcp.eras import Asked
from controlplane.mcp.instructions import instructions
from controlplane.mcp.refused import ToolError, refused
from controlplane.mcp.tool import NOTE, Arguments, Facts, ToldWords, Tool, ToolCall
from controlplane.mcp.tools import BY_NAME, TOOLS
from controlplane.operations.invoke import Operations
from controlplane.operations.results import Result
from controlplane.operations.table import WHO_AM_I
from controlplane.webhooks.waits import OnLeave
from storage.mail.blobs import BlobMissing

log = structlog.get_logger("maild.api")

ONCE_MS = 600_000  # for how long an equal call sends nothing
_ANEW_MS = -1  # nothing that was kept until now counts; what is made takes its place
SERVER_NAME = "maild"
_NOT_OF_TOOLS = frozenset(("invalid_api_key",))  # the key was revoked while it waited


class McpCaller(NamedTuple):
    """Who calls. `request_id`: what the log knows the request by."""

    principal: Principal
    on_leave: OnLeave
    request_id: str


class Done(NamedTuple):
    """The result of a method, of its revision. `tool`: its name where one was called. `refused`: the code of what it
    refused; else None."""

    result: Mapping[str, Any]
    tool: Tool | None = None
    refused: str | None = None


class Methods:
    """`fence_key`: makes the nonces of fences. `version`: of the server, as it tells it."""

    def __init__(self, operations: Operations, fence_key: bytes, version: str) -> None:
        self._operations = operations
        self._fence_key = fence_key
        self._server = Implementation(name=SERVER_NAME, title="maild", version=version)
        catalog.listed(TOOLS)  # describes them here, in a thread: the first list would hold the loop for it

    async def answer(self, asked: Asked, caller: McpCaller) -> Done:
        """The result of what was asked; Rejection for what is none of its tools, Refusal for a key that is revoked."""
        if asked.method == eras.CALL_TOOL:
            tool = await self._tool(asked, caller)
            done = await self._call(tool, asked.params.get("arguments") or {}, caller)
        elif asked.method == eras.LIST_TOOLS:
            done = Done(await self._list(asked, caller))
        elif asked.method == eras.PING:
            done = Done({})
        else:
            done = Done(await self._introduce(asked, caller))
        return done._replace(result=self._of_version(asked, done.result))

    def not_begun(self, asked: Asked, refusal: Refusal, caller: McpCaller) -> Done | None:
        """What a tool answers to a call that is refused before it begins; None where no tool is called."""
        tool = BY_NAME.get(str(asked.params.get("name"))) if asked.method == eras.CALL_TOOL else None
        if tool is None:
            return None
        done = self._refused(tool, refusal, caller, is_once=tool.sends)
        return done._replace(result=self._of_version(asked, done.result))

    def _of_version(self, asked: Asked, result: Mapping[str, Any]) -> dict[str, Any]:
        """As the revision has it, checked by the official models."""
        if asked.is_modern:
            stamp = {SERVER_INFO_META_KEY: self._server.model_dump(mode="json", exclude_none=True)}
            result = {**result, "resultType": "complete", "_meta": stamp}
        return serialize_server_result(asked.method, asked.version, result)

    # What this server is ---------------------------------------------------------------------------

    async def _introduce(self, asked: Asked, caller: McpCaller) -> dict[str, Any]:
        told = instructions(caller.principal, (await self._known(caller))["policy"])
        capabilities = ServerCapabilities(tools=ToolsCapability())
        if asked.method == eras.DISCOVER:
            return _dumped(
                DiscoverResult(
                    supported_versions=list(MODERN_PROTOCOL_VERSIONS),
                    capabilities=capabilities,
                    instructions=told,
                    ttl_ms=catalog.TTL_MS,
                    cache_scope="private",
                )
            )
        return _dumped(
            InitializeResult(
                protocol_version=eras.agreed_version(str(asked.params["protocolVersion"])),
                capabilities=capabilities,
                server_info=self._server,
                instructions=told,
            )
        )

    async def _list(self, asked: Asked, caller: McpCaller) -> Mapping[str, Any]:
        if asked.params.get("cursor") is not None:
            raise eras.rejection(asked, INVALID_PARAMS, "The list has one page; leave out the cursor")
        has_work = (await self._known(caller))["hasWork"]
        return catalog.listed(catalog.visible(caller.principal, has_work))

    async def _known(self, caller: McpCaller) -> Mapping[str, Any]:
        """What the key is, and what holds for its inbox."""
        nothing = self._operations.values(WHO_AM_I, caller.principal, None)
        answered = await self._operations.invoke(WHO_AM_I, caller.principal, nothing)
        assert isinstance(answered, Result)
        known: Mapping[str, Any] = answered.data
        return known

    # Tools -----------------------------------------------------------------------------------------

    async def _tool(self, asked: Asked, caller: McpCaller) -> Tool:
        """One that the key sees; what it does not see there is not. Models hear of that, and can't ask for the list."""
        tool = BY_NAME.get(asked.params["name"])
        if tool is not None and not tool.is_of_work and catalog.is_visible(tool, caller.principal, False):
            return tool
        tools = catalog.visible(caller.principal, (await self._known(caller))["hasWork"])
        if tool is not None and tool in tools:
            return tool
        names = ", ".join(one.name for one in tools)
        raise eras.rejection(asked, INVALID_PARAMS, f"There is no such tool; there are: {names}")

    async def _call(self, tool: Tool, given: Mapping[str, Any], caller: McpCaller) -> Done:
        is_once = tool.sends
        try:
            arguments: Any = validated(tool.arguments, given)
            is_once = tool.sends and not arguments.again
            call = ToolCall(
                self._operations,
                caller.principal._replace(tool=tool.name),
                arguments,
                self._fence_key,
                caller.on_leave,
                once_key=_once_key(caller.principal, tool, arguments) if tool.sends else "",
                once_ms=ONCE_MS if is_once else _ANEW_MS,
            )
            return Done(_shown(await tool.run(call)), tool)
        except Refusal as refusal:
            if refusal.code in _NOT_OF_TOOLS:
                raise
            return self._refused(tool, refusal, caller, is_once=is_once)
        except BlobMissing:
            told = Refusal("attachment_bytes_missing")
        except Exception:
            log.exception("mcp_tool_failed", tool=tool.name, request_id=caller.request_id)
            told = Refusal(
                "internal_error", "Something failed on our side.", {"requestId": caller.request_id}
            )
        return self._refused(tool, told, caller, is_once=is_once)

    def _refused(self, tool: Tool, refusal: Refusal, caller: McpCaller, *, is_once: bool) -> Done:
        error = refused(refusal, tool, caller.principal, self._fence_key, is_once=is_once)
        return Done(_shown_error(error, tool), tool, refusal.code)


def _once_key(principal: Principal, tool: Tool, arguments: Arguments) -> str:
    """Equal for equal calls of one key, in whatever order its arguments stand, and whether or not it says what holds
    anyway: false, and the inbox that the key is bound to."""
    inbox = {"inboxId": principal.inbox_id} if "inboxId" in type(arguments).model_fields else {}
    given = {name: value for name, value in arguments.model_dump(exclude={"again"}).items() if value}
    asked = msgspec.json.encode(inbox | given, order="deterministic")
    told = f"{principal.key_id}\n{tool.name}\n".encode() + asked
    return "mcp-" + hashlib.sha256(told).hexdigest()


def _shown(answer: ToldWords | Facts) -> dict[str, Any]:
    if isinstance(answer, ToldWords):
        blocks: list[TextContent | ImageContent] = [TextContent(text=answer.text)]
        if answer.image is not None:
            blocks.append(ImageContent(mime_type=answer.image[0], data=answer.image[1]))
        return _dumped(CallToolResult(content=list(blocks)))
    facts = msgspec.json.encode(answer.facts).decode()
    text = f"{answer.said}\n{facts}" if answer.said else facts
    # A host may show its model one of the two.
    structure = {NOTE: answer.said, **answer.facts} if answer.said else dict(answer.facts)
    return _dumped(CallToolResult(content=[TextContent(text=text)], structured_content=structure))


def _shown_error(error: ToolError, tool: Tool) -> dict[str, Any]:
    """A tool that answers in words has no structure, whatever it answers."""
    facts = None if tool.facts is None else error.facts
    result = CallToolResult(content=[TextContent(text=error.text)], structured_content=facts, is_error=True)
    return _dumped(result)


def _dumped(result: BaseModel) -> dict[str, Any]:
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
