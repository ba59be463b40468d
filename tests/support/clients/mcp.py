"""A client of POST /mcp, in either era. Every answer of a method is held to the official models of its revision.

mcp = Mcp(maild.api)                             the modern era; Mcp(maild.api, HANDSHAKE) the one before
tools = await mcp.tools()                        name → as tools/list has it
told = await mcp.call("whoami")                  a Told: text, facts, is_error
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION

from controlplane.mcp.tools import BY_NAME
from tests.support.running import Answer, Api

MODERN, HANDSHAKE = LATEST_MODERN_VERSION, LATEST_HANDSHAKE_VERSION
ERAS = (MODERN, HANDSHAKE)
PATH = "/mcp"
KINDS = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}
ACCEPT = "application/json, text/event-stream"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Told:
    """What a tool answered."""

    result: Mapping[str, Any]

    @property
    def text(self) -> str:
        """Its one block of text."""
        (block,) = [one for one in self.result["content"] if one["type"] == "text"]
        return str(block["text"])

    @property
    def facts(self) -> dict[str, Any]:
        """What it says in structure, of a success."""
        assert not self.is_error, self.text
        facts: dict[str, Any] = self.result["structuredContent"]
        return facts

    @property
    def is_error(self) -> bool:
        return bool(self.result.get("isError"))

    @property
    def code(self) -> str:
        """Of the refusal."""
        assert self.is_error, self.result
        return self.text.partition(":")[0]


class RpcError(AssertionError):
    """The server answered an error of JSON-RPC."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status, answer.body)
        self.answer = answer
        self.code: int = answer.json["error"]["code"]


class Mcp:
    """One key, in one era."""

    def __init__(self, api: Api, version: str = MODERN) -> None:
        self.api = api
        self.version = version

    def request(self, method: str, params: Mapping[str, Any] | None = None, id: Any = 1) -> dict[str, Any]:
        """The body of a request, with what its era puts into it."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
        if self.version == MODERN:
            meta = {
                PROTOCOL_VERSION_META_KEY: self.version,
                CLIENT_CAPABILITIES_META_KEY: {},
                CLIENT_INFO_META_KEY: {"name": "tests", "version": "1"},
            }
            return {**body, "params": {**(params or {}), "_meta": meta}}
        return {**body, "params": dict(params)} if params is not None else body

    def headers(self, body: Mapping[str, Any]) -> dict[str, str]:
        """Those of a request."""
        named = {"Accept": ACCEPT, "MCP-Protocol-Version": self.version}
        if self.version == MODERN:
            named["Mcp-Method"] = body["method"]
            if body["method"] == "tools/call":
                named["Mcp-Name"] = body["params"]["name"]
        return named

    async def post(self, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """One POST as it stands."""
        octets = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **(headers or {})}
        return await self.api.call("POST", PATH, data=octets, headers=sent)

    async def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """The result of a method; RpcError."""
        body = self.request(method, params)
        answer = await self.post(body, self.headers(body))
        told = answer.json
        assert told["jsonrpc"] == "2.0" and told["id"] == 1, told
        if "error" in told:
            raise RpcError(answer)
        assert answer.status == 200 and set(told) == {"jsonrpc", "id", "result"}
        validate_server_result(method, self.version, told["result"])
        return told["result"]

    async def tools(self) -> dict[str, dict[str, Any]]:
        """The tools that the key sees, in their order."""
        return {one["name"]: one for one in (await self.ask("tools/list"))["tools"]}

    async def call(self, name: str, /, **arguments: Any) -> Told:
        """What the tool answers; arguments that begin with `_` lose it (`_from`)."""
        given = {key.lstrip("_"): value for key, value in arguments.items()}
        result = await self.ask("tools/call", {"name": name, "arguments": given})
        _check_structure(name, result.get("structuredContent"))
        return Told(result)


def _check_structure(name: str, structure: Mapping[str, Any] | None) -> None:
    """It has what the tool's outputSchema declares, and nothing else: hosts make types of that, which lose the rest."""
    declared = BY_NAME[name].facts
    assert (structure is None) == (declared is None), name
    for member, value in (structure or {}).items():
        kind = {**(declared or {}), "error": "object"}.get(member)
        assert kind is not None and type(value) is KINDS[kind], (name, member, value)


def mail(
    subject: str = "topic", words: str = "words", sender: str = "Ada <ada@elsewhere.test>", **more: str
) -> str:
    """A mail to bot@agents.test. `more`: header fields."""
    named = {"From": sender, "To": "bot@agents.test", "Subject": subject, **more}
    head = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in named.items())
    return f"{head}\n{words}\n"


def with_file(name: str, kind: str, content: bytes) -> str:
    """A mail with a file."""
    return mail(
        words=f"--x\nContent-Type: text/plain\n\nsee there\n--x\nContent-Type: {kind}\n"
        f'Content-Disposition: attachment; filename="{name}"\nContent-Transfer-Encoding: base64\n\n'
        f"{base64.encodebytes(content).decode()}\n--x--",
        MIME_Version="1.0",
        Content_Type="multipart/mixed; boundary=x",
    )
