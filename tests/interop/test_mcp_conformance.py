"""The official conformance suite of MCP against POST /mcp, in the newest revision of each era.

All scenarios of an era are run, also those that need a server made for them (tools named `test_…`, prompts, resources).
Every check that is not a success stands in DECLINED with its reason, so that a new version's new checks are noticed.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from tests.conftest import Start
from tests.support.clients.mcp import HANDSHAKE, MODERN
from tests.support.machine import node, tools
from tests.support.peers.serving import serving
from tests.support.running import Running

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

FOLDER = Path(__file__).parent / "mcp_conformance"
DECLINED = {
    "it calls a tool of a server that is made for it": (
        "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
        "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "tools-call-sampling",
        "tools-call-elicitation", "elicitation-sep1034-general", "elicitation-sep1330-general",
        "json-schema-2020-12-tool-found", "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400", "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    ),
    "no tool of ours asks its host for more: people decide elsewhere": (
        "sep-2322-elicitation-incomplete", "sep-2322-list-roots-incomplete", "sep-2322-sampling-incomplete",
        "sep-2322-respect-client-capabilities", "sep-2322-ignore-unexpected-params",
        "sep-2322-missing-response-rerequests", "sep-2322-multi-round-r1", "sep-2322-multiple-inputs-incomplete",
        "sep-2322-non-tool-incomplete", "sep-2322-request-state-incomplete", "sep-2322-result-type-included",
        "sep-2322-reject-tampered-state",
    ),
    "there are no prompts": (
        "prompts-list", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource",
        "prompts-get-with-image", "completion-complete", "sep-2549-prompts-list-caching-hints",
    ),
    "there are no resources": (
        "resources-list", "resources-read-text", "resources-read-binary", "resources-templates-read",
        "resources-subscribe", "resources-unsubscribe", "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints", "sep-2164-error-code", "sep-2164-data-uri",
    ),
    "nothing is logged to hosts": ("logging-set-level", "tools-call-with-logging"),
    "there are no sessions, and each answer is one of JSON": (
        "server-sse-polling-session", "server-sse-multiple-streams-session",
    ),
    "no argument is repeated in a header": (
        "sep-2243-server-no-xmcp-tool", "sep-2243-server-decode-base64", "sep-2243-server-validate-param-match",
        "sep-2243-server-reject-invalid-param-chars", "sep-2243-server-reject-param-mismatch",
    ),
}  # fmt: skip
REASONS = {check: reason for reason, checks in DECLINED.items() for check in checks}
TIME = re.compile(r"-\d{4}-\d\d-\d\dT[\d-]+Z$")  # behind the name of a scenario
FINE = ("SUCCESS", "INFO", "SKIPPED")
# Of extensions that are not served, by how their scenarios are called.
EXTENSIONS = ("tasks-", "sep-2640-skills-")
# What must have been looked at, whatever the suite calls its checks.
LOOKED_AT = {
    HANDSHAKE: {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
    MODERN: {
        "server-stateless",
        "tools-list",
        "caching",
        "http-header-validation",
        "dns-rebinding-protection",
    },
}


async def command(*arguments: str) -> list[str]:
    modules = await node.modules(FOLDER)
    suite = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [tools.path_of("node"), "--import", str(FOLDER / "older_node.mjs"), str(suite), *arguments]


@asynccontextmanager
async def with_a_key(start: Start) -> AsyncIterator[tuple[str, Running]]:
    """The address of an endpoint that needs no key, since the suite has none: requests go on as they are, with one."""
    behind: dict[str, Running] = {}

    async def forward(request: web.Request) -> web.Response:
        api = behind["maild"].api
        headers = request.headers.copy()
        headers.popall("Content-Length", None)
        headers["Authorization"] = f"Bearer {api.key}"
        async with session.request(
            request.method, f"{api.url}{request.path_qs}", headers=headers, data=await request.read() or None
        ) as answer:
            kept = {
                name: value
                for name, value in answer.headers.items()
                if name not in ("Content-Length", "Date")
            }
            return web.Response(status=answer.status, body=await answer.read(), headers=kept)

    async with aiohttp.ClientSession() as session, serving(forward) as address:
        url = address.replace("127.0.0.1", "localhost")
        behind["maild"] = await start(http={"mcp_origins": [url]})
        yield f"{url}/mcp", behind["maild"]


async def looked_at(url: str, revision: str, work: Path) -> tuple[dict[str, list[dict[str, Any]]], str]:
    """Each scenario's checks, and what the suite said."""
    folder = work / revision
    asked = ("server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", str(folder))
    _, said = await tools.ended(*await command(*asked), folder=work)
    found = {
        TIME.sub("", one.parent.name.removeprefix("server-")): json.loads(one.read_bytes())
        for one in folder.glob("*/checks.json")
    }
    return found, said


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
async def test_what_is_not_declined_conforms(start: Start, tmp_path: Path, revision: str) -> None:
    async with with_a_key(start) as (url, maild):
        await maild.inbox("bot")
        found, said = await looked_at(url, revision, tmp_path)
    assert {*found} >= LOOKED_AT[revision], said
    failed = {
        (scenario, check["id"]): check.get("errorMessage")
        for scenario, checks in found.items()
        for check in checks
        if check["status"] not in FINE and check["id"] not in REASONS
    }
    assert failed == {}
    for scenario in LOOKED_AT[revision]:
        assert any(check["status"] == "SUCCESS" for check in found[scenario]), scenario


async def test_every_scenario_is_run_in_some_era(start: Start, tmp_path: Path) -> None:
    """Or is of an extension; and no reason outlives what it was given for."""
    said = await tools.run(*await command("list", "--server"), folder=tmp_path)
    listed = dict(line.strip(" -]").split(" [") for line in said.splitlines() if line.startswith("  - "))
    assert len(listed) > 50
    extensions = {name for name, revisions in listed.items() if revisions == "extension"}
    assert {name for name in extensions if not name.startswith(EXTENSIONS)} == set()
    eras = {name: {*revisions.split(",")} for name, revisions in listed.items() if name not in extensions}
    assert {name for name, revisions in eras.items() if not revisions & {HANDSHAKE, MODERN}} == set()
    failing = set()
    async with with_a_key(start) as (url, _):
        for revision in (HANDSHAKE, MODERN):
            found, _ = await looked_at(url, revision, tmp_path)
            failing |= {one["id"] for checks in found.values() for one in checks if one["status"] not in FINE}
    assert {*REASONS} - failing == set()
