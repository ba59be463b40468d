"""The TypeScript client in a browser: the modules as they are built, without a bundler, from the API's own origin."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.clients.test_python_webhooks import BODY, EVENT, NOW_S, SECRET, signed
from tests.clients.worlds import KEY
from tests.support.machine import tools
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("node", "npm", "chromium")]

PAGE = """<!DOCTYPE html><meta charset="utf-8"><script type="module">
import * as maild from "/client/index.js";

async function failure(act) {
  try { await act(); } catch (error) { return error.name + " " + error.message; }
}

async function seen(given) {
  const url = location.origin, client = new maild.Maild({ apiKey: given.key, url });
  const found = [];
  for await (const one of client.messages.list({ limit: 1 })) found.push(one.id);
  let first;
  for await (const event of client.events.stream()) { first = event.id; break; }
  const file = await client.attachments.download("att_1");
  const options = { nowSeconds: given.nowSeconds };
  return {
    found, first, bytes: file.length,
    event: await maild.verifyWebhook(given.headers, given.body, given.secret, options),
    forged: await failure(() => maild.verifyWebhook(given.headers, given.body + " ", given.secret, options)),
    moved: await failure(() => client.agents.get("agt_1")),
    keyless: await failure(() => new maild.Maild({ url })),
  };
}

let told;
try { told = await seen(GIVEN); } catch (error) { told = { error: String(error.stack) }; }
await fetch("/told", { method: "POST", body: JSON.stringify(told) });
</script>"""


@asynccontextmanager
async def page(modules: Path, told: asyncio.Future[Any], asked: list[tuple[str, str]]) -> AsyncIterator[str]:
    """The address of the page, and of an API of a few answers."""
    given = {"key": KEY, "headers": signed(), "body": BODY.decode(), "secret": SECRET, "nowSeconds": NOW_S}
    stream = 'id: evt_1\r\ndata: {"id": "evt_1", "type": "email.sent"}\r\n\r\n'

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append((request.path, request.headers.get("Authorization", "")))
        match request.path.rpartition("/")[2]:
            case "messages":
                behind = request.query.get("cursor", "msg_0")
                rest = [{"id": one} for one in ("msg_1", "msg_2") if one > behind][:1]
                return web.json_response({"data": rest})
            case "stream":
                return web.Response(text=stream, content_type="text/event-stream")
            case "att_1":
                return web.Response(body=b"%PDF", content_type="application/octet-stream")
            case _:
                return web.Response(status=307, headers={"Location": "/elsewhere"})

    async def hear(request: web.Request) -> web.Response:
        told.set_result(await request.json())
        return web.Response()

    async def show(request: web.Request) -> web.Response:
        return web.Response(text=PAGE.replace("GIVEN", json.dumps(given)), content_type="text/html")

    app = web.Application()
    app.router.add_get("/", show)
    app.router.add_post("/told", hear)
    app.router.add_static("/client", modules)
    app.router.add_get("/v1/{rest:.*}", answer)
    app.router.add_get("/elsewhere", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def test_it_runs_as_it_is(package: Path, tmp_path: Path) -> None:
    told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asked: list[tuple[str, str]] = []
    async with page(package / "node_modules" / "maild-client" / "dist", told, asked) as url:
        browser = await asyncio.create_subprocess_exec(
            tools.path_of("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
            f"--user-data-dir={tmp_path}", "--remote-debugging-port=0", url,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(GIVES_UP_S):
                seen = await told
        finally:
            browser.kill()
            await browser.wait()
    assert seen == {
        "found": ["msg_1", "msg_2"], "first": "evt_1", "bytes": 4, "event": EVENT,
        "forged": "InvalidSignature no signature is right: is it the secret of this webhook, and the body unchanged?",
        "moved": "ServerFailed unexpected_answer (0): redirects are not followed; is the address right? "
        "It leads to somewhere",
        "keyless": "ConfigurationError set MAILD_API_KEY, or pass apiKey",
    }  # fmt: skip
    assert {key for _, key in asked} == {f"Bearer {KEY}"}
    assert "/elsewhere" not in [path for path, _ in asked]
