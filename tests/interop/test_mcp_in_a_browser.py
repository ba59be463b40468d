"""A page calls tools from Chromium: that of an origin which is let in, and no other (`http.mcp_origins`)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.conftest import Start
from tests.support.clients.mcp import MODERN
from tests.support.machine import tools
from tests.support.peers.serving import serving
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("chromium")]

# Both are this host; to a browser they are two origins.
LET_IN, ELSEWHERE = "127.0.0.1", "localhost"
PAGE = """<!DOCTYPE html><meta charset="utf-8"><script type="module">
const given = GIVEN;

async function asked(method, body, headers = {}) {
  try {
    const answer = await fetch(given.url, {
      method, headers: { Authorization: `Bearer ${given.key}`, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: answer.status, id: answer.headers.has("X-Request-Id"), body: await answer.text() };
  } catch (error) { return { error: error.name }; }
}

const json = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
const version = given.version;
const meta = { "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} };
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "whoami", arguments: {}, _meta: meta } };
const named = { "MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": "whoami" };
const told = {
  from: location.hostname,
  call: await asked("POST", call, { ...json, ...named }),
  stream: await asked("GET", null, { Accept: "text/event-stream" }),
  plain: await asked("POST", "text", {}),
};
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
if (location.hostname === given.first) location.hostname = given.then;
</script>"""


async def test_pages_that_are_let_in_call_and_no_others(start: Start, tmp_path: Path) -> None:
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    given: dict[str, Any] = {"version": MODERN, "first": LET_IN, "then": ELSEWHERE}

    async def serve(request: web.Request) -> web.Response:
        if request.method == "POST":
            await told.put(json.loads(await request.read()))
            return web.Response()
        return web.Response(text=PAGE.replace("GIVEN", json.dumps(given)), content_type="text/html")

    async with serving(serve) as url:
        maild = await start(http={"mcp_origins": [url]})
        await maild.inbox("bot")
        given |= {"url": f"{maild.api.url}/mcp", "key": maild.api.key}
        browser = await asyncio.create_subprocess_exec(
            tools.path_of("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={tmp_path}", "--remote-debugging-port=0", f"{url}/",
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(GIVES_UP_S):
                let_in, elsewhere = await told.get(), await told.get()
        finally:
            browser.kill()
            await browser.wait()
    assert let_in["from"] == LET_IN and let_in["call"]["status"] == 200 and let_in["call"]["id"]
    assert json.loads(let_in["call"]["body"])["result"]["structuredContent"]["scopes"] == ["*"]
    assert let_in["stream"]["status"] == 405, "what a client of the older era has to see"
    assert let_in["plain"]["status"] == 415
    assert elsewhere == {
        "from": ELSEWHERE,
        **{key: {"error": "TypeError"} for key in ("call", "stream", "plain")},
    }
