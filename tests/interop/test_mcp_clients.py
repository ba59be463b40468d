"""The official clients of MCP, of both languages and both eras, call every tool: of POST /mcp, and over stdio through
the bridge `maildc mcp`."""

import base64
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.clients import maildc
from tests.support.clients.mcp import HANDSHAKE, MODERN, PNG
from tests.support.clients.mcp_calls import arranged, every_call
from tests.support.machine import node, other_python
from tests.support.running import Running

pytestmark = pytest.mark.interop

CLIENTS = Path(__file__).parent / "mcp_clients"
# client, what it is told of eras, the revision that it then speaks (None: it does not tell)
STRANGERS = [
    ("mcp_2", "auto", MODERN),
    ("mcp_2", MODERN, MODERN),
    ("mcp_2", "legacy", HANDSHAKE),
    ("mcp_1", "", HANDSHAKE),
    ("client", "auto", MODERN),
    ("client", "legacy", HANDSHAKE),
    ("sdk", "", None),
]
DOORS = ("http", "bridge")


async def talk(
    client: str, mode: str, door: str, maild: Running, calls: list[Any], work: Path
) -> dict[str, Any]:
    """What the stranger got for these calls."""
    asked: dict[str, Any] = {"client": client, "mode": mode, "calls": calls}
    if door == "bridge":
        program, *arguments = maildc.command("mcp")
        environ = maildc.environment(MAILD_URL=maild.api.url, MAILD_API_KEY=maild.api.key)
        asked |= {"bridge": {"command": program, "args": arguments, "env": environ}}
    else:
        asked |= {"url": f"{maild.api.url}/mcp", "key": maild.api.key}
    if client.startswith("mcp_"):
        told: dict[str, Any] = await other_python.run_json(CLIENTS, client, asked)
    else:
        told = await node.run_json(CLIENTS, "call_tools.mjs", asked, work)
    assert len(told["answers"]) == len(calls)
    return told


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("client", "mode", "revision"), STRANGERS)
async def test_every_tool_is_called(
    maild: Running, tmp_path: Path, client: str, mode: str, revision: str | None, door: str
) -> None:
    bot, text, image = await arranged(maild)
    calls = every_call(bot, text, image)
    told = await talk(client, mode, door, maild, [*calls.items(), ("nope", {})], tmp_path)
    assert told["tools"] == list(calls)
    assert revision is None or told["version"] == revision
    if mode != MODERN:  # a client that is told the revision asks for no introduction
        assert told["server"] == "maild" and "written by strangers" in told["instructions"]
    answers = dict(zip(calls, told["answers"], strict=False))
    assert told["answers"][-1]["rpcError"] == -32602
    refused = {name for name, answer in answers.items() if answer.get("isError")}
    assert refused == {"cancel_message", "finish_work"}
    assert "< < <mail hello" in answers["read_message"]["content"][0]["text"]
    (shown,) = [one for one in answers["get_attachment"]["content"] if one["type"] == "image"]
    assert base64.b64decode(shown["data"]) == PNG
    assert answers["get_verification_code"]["structuredContent"]["value"] == "482913"
    assert answers["send_message"]["structuredContent"]["status"] == "queued"
    assert answers["cancel_message"]["structuredContent"]["error"]["code"] == "message_not_found"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("client", "mode", "revision"), STRANGERS)
async def test_a_wrong_key_is_told(
    maild: Running, tmp_path: Path, client: str, mode: str, revision: str | None, door: str
) -> None:
    """And no client goes looking for an authorization server, or for another era, and hangs."""
    maild.api = maild.api.with_key("svc_live_nobody")
    with pytest.raises(AssertionError, match=r"unknown or revoked|401|Unauthorized"):
        await talk(client, mode, door, maild, [], tmp_path)


@pytest.mark.parametrize(("client", "mode", "revision"), STRANGERS)
async def test_a_session_outlives_the_rate(
    start: Start, tmp_path: Path, client: str, mode: str, revision: str | None
) -> None:
    """At a 429 release 1 of the client in Python raises out of its session, which is dead for good."""
    maild = await start(limits={"requests_per_minute": 15})
    answers = (await talk(client, mode, "http", maild, [("whoami", {})] * 20, tmp_path))["answers"]
    assert not answers[0].get("isError")
    for told in answers[15:]:
        assert told["isError"] and "retryAfterSeconds: " in told["content"][0]["text"]
