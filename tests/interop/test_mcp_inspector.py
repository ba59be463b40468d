"""The official inspector of MCP, by its command line: it lists the tools and finds their schemas portable, calls every
one, meets errors, waits; of POST /mcp in both eras, and over stdio."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.clients import maildc
from tests.support.clients.mcp import mail
from tests.support.clients.mcp_calls import arranged, every_call
from tests.support.daemon import environment
from tests.support.machine import node, tools
from tests.support.running import Running, until

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

FOLDER = Path(__file__).parent / "mcp_inspector"
AT_A_TIME = 2
TOOL_REFUSED = 5  # its exit status


class Told(NamedTuple):
    """`result`: what stands on stdout; None: nothing does."""

    status: int
    result: dict[str, Any] | None
    error: str


class Inspector:
    """Its command line, which begins anew for each question. `target`: the program behind stdio, or none."""

    def __init__(self, modules: Path, home: Path, options: Sequence[str], target: Sequence[str] = ()) -> None:
        index = modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
        quiet = ("--stored-auth-only", "--format", "json", "--quiet")
        self._command = (tools.path_of("node"), str(index), "--cli", *quiet, *options)
        self._target = ("--", *target) if target else ()
        self._environ = {**environment(), "HOME": str(home)}

    @classmethod
    async def of(cls, maild: Running, home: Path, era: str) -> "Inspector":
        place = ("--server-url", f"{maild.api.url}/mcp", "--transport", "http", "--protocol-era", era)
        header = ("--header", f"Authorization: Bearer {maild.api.key}")
        return cls(await node.modules(FOLDER), home, (*place, *header))

    async def ask(self, method: str, *options: str) -> Told:
        process = await asyncio.create_subprocess_exec(
            *self._command, "--method", method, *options, *self._target, env=self._environ,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, error = await process.communicate()
        result = json.loads(out)["result"] if out else None
        return Told(process.returncode or 0, result, error.decode())

    async def call(self, tool: str, arguments: dict[str, Any]) -> Told:
        return await self.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))


def text_of(told: Told) -> str:
    assert told.result is not None, told.error
    text: str = told.result["content"][0]["text"]
    return text


# The few calls are those whose results differ most: facts, words, an image, a refusal.
@pytest.mark.parametrize(
    ("era", "some"),
    [("auto", None), ("legacy", ("whoami", "read_message", "get_attachment", "cancel_message"))],
)
async def test_it_calls_tools(maild: Running, tmp_path: Path, era: str, some: tuple[str, ...] | None) -> None:
    bot, text, image = await arranged(maild)
    calls = every_call(bot, text, image)
    inspector = await Inspector.of(maild, tmp_path, era)
    listed = await inspector.ask("tools/list", "--strict")
    assert listed.status == 0 and listed.result is not None, listed.error
    assert [one["name"] for one in listed.result["tools"]] == list(calls)
    places = asyncio.Semaphore(AT_A_TIME)

    async def called(name: str) -> Told:
        async with places:
            return await inspector.call(name, calls[name])

    names = some or tuple(calls)
    answers = dict(zip(names, await asyncio.gather(*map(called, names)), strict=True))
    refused = {name for name, told in answers.items() if told.status}
    assert refused == {"cancel_message", "finish_work"} & {*names}
    assert {answers[name].status for name in refused} == {TOOL_REFUSED}
    assert "message_not_found" in text_of(answers["cancel_message"])
    assert "< < <mail hello" in text_of(answers["read_message"])
    if some is None:
        assert "482913" in text_of(answers["get_verification_code"])
        assert "queued" in text_of(answers["send_message"])


async def test_it_waits(maild: Running, tmp_path: Path) -> None:
    bot = await maild.inbox("bot")
    inspector = await Inspector.of(maild, tmp_path, "auto")
    waiting = asyncio.create_task(
        inspector.call("wait_for_message", {"inboxId": bot["id"], "timeoutSeconds": 40})
    )

    async def waits() -> bool | None:
        return bool(maild.daemon.operations._services.streams._waits) or None

    await until(waits)
    await maild.received(bot, mail(words="at last"))
    assert "at last" in text_of(await waiting)


async def test_it_meets_errors(maild: Running, tmp_path: Path) -> None:
    """A tool that is not there, and a key that is not known: it says so, and asks nobody to sign in."""
    inspector = await Inspector.of(maild, tmp_path, "auto")
    unknown = await inspector.call("nope", {})
    assert unknown.status == TOOL_REFUSED and "not found" in unknown.error
    maild.api = maild.api.with_key("svc_live_nobody")
    for era in ("legacy", "modern"):
        refused = await (await Inspector.of(maild, tmp_path, era)).ask("tools/list")
        assert refused.status and refused.result is None, refused
        assert "401" in refused.error or "unknown or revoked" in refused.error


async def test_it_speaks_with_the_bridge(maild: Running, tmp_path: Path) -> None:
    given = ("-e", f"MAILD_URL={maild.api.url}", "-e", f"MAILD_API_KEY={maild.api.key}")
    path = ("-e", f"PYTHONPATH={maildc.SOURCE}")
    inspector = Inspector(await node.modules(FOLDER), tmp_path, (*given, *path), maildc.command("mcp"))
    listed = await inspector.ask("tools/list")
    assert listed.result is not None and len(listed.result["tools"]) == 15, listed.error
    assert "scopes" in text_of(await inspector.call("whoami", {}))
