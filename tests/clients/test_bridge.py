"""`maildc mcp` between a host and a server that each do what they like: no request of the host is left without an
answer, and the key goes nowhere but to the server (L17 of the threats: not to arguments, logs, redirects, proxies)."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from aiohttp import web

from maild_client import bridge, stdio
from maild_client.credentials import ClientCredentials
from tests.support.clients import maildc
from tests.support.clients.mcp import HANDSHAKE, MODERN
from tests.support.peers.serving import Handle, serving
from tests.support.running import Running, until
from tests.support.waiting import GIVES_UP_S

KEY = "svc_live_abcdefghijklmnopqrstuvwxyz"


class Host:
    """The program that began the bridge."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def say(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        for one in messages:
            raw = one if isinstance(one, bytes) else json.dumps(one).encode()
            self.process.stdin.write(raw + b"\n")

    async def hear(self) -> Any:
        assert self.process.stdout is not None
        async with asyncio.timeout(GIVES_UP_S):
            return json.loads(await self.process.stdout.readline())

    async def ask(self, method: str, id: Any = 1, **params: Any) -> Any:
        self.say(request(method, id, **params))
        told = await self.hear()
        assert told["id"] == id
        return told

    async def end(self) -> tuple[int, str, str]:
        """Say no more: its exit code, the rest of what it says, and its log."""
        async with asyncio.timeout(GIVES_UP_S):
            out, said = await self.process.communicate(b"")  # and its end
        assert self.process.returncode is not None
        return self.process.returncode, out.decode(), said.decode()


@asynccontextmanager
async def bridged(url: str, *words: str, key: str | None = KEY, **more: str) -> AsyncIterator[Host]:
    process = await maildc.begin("mcp", *words, url=url, key=key, **more)
    try:
        yield Host(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def request(method: str, id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def answered(asked: web.Request, result: Any = None) -> web.Response:
    document = await asked.json()
    return web.json_response({"jsonrpc": "2.0", "id": document.get("id"), "result": result or {}})


# Both eras ---------------------------------------------------------------------------------------


async def test_headers_repeat_what_the_body_says_as_each_era_has_it() -> None:
    seen: list[dict[str, str]] = []

    async def handle(asked: web.Request) -> web.StreamResponse:
        seen.append(dict(asked.headers))
        return await answered(asked, {"protocolVersion": HANDSHAKE})

    meta = {"io.modelcontextprotocol/protocolVersion": MODERN}
    async with serving(handle) as url, bridged(url) as host:
        await host.ask("initialize", protocolVersion=HANDSHAKE)
        await host.ask("tools/list")
        await host.ask("tools/call", name="whoami", _meta=meta)
        await host.ask("tools/call", name="ünbekannt", _meta=meta)
    assert [one.get("MCP-Protocol-Version") for one in seen] == [None, HANDSHAKE, MODERN, MODERN]
    assert [one.get("Mcp-Method") for one in seen] == [None, None, "tools/call", "tools/call"]
    assert [one.get("Mcp-Name") for one in seen[2:]] == ["whoami", "=?base64?w7xuYmVrYW5udA==?="]
    assert {one["Authorization"] for one in seen} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("version", [MODERN, "a\r\nX-Injected: yes", "é", "x" * 5000, 7, {}])
async def test_no_value_of_a_body_makes_a_header_of_its_own(version: Any) -> None:
    seen: list[dict[str, str]] = []

    async def handle(asked: web.Request) -> web.StreamResponse:
        seen.append(dict(asked.headers))
        return await answered(asked)

    async with serving(handle) as url, bridged(url) as host:
        meta = {"io.modelcontextprotocol/protocolVersion": version}
        told = await host.ask("tools/call", name="a\r\nX-Injected: yes", _meta=meta)
    assert "result" in told and "X-Injected" not in seen[0]
    assert seen[0].get("MCP-Protocol-Version") == (version if version == MODERN else None)


async def test_a_tool_of_the_daemon_answers(maild: Running) -> None:
    async with bridged(f"{maild.api.url}/", key=maild.api.key) as host:
        told = await host.ask("tools/call", name="list_inboxes", arguments={})
        (inbox,) = told["result"]["structuredContent"]["inboxes"]
        assert inbox["address"] == "postmaster@agents.test"
        meta = {"io.modelcontextprotocol/protocolVersion": MODERN}
        told = await host.ask(
            "server/discover", "two", _meta=meta | {"io.modelcontextprotocol/clientCapabilities": {}}
        )
        assert told["result"]["supportedVersions"] == [MODERN]
        assert await host.end() == (0, "", "")


async def test_what_http_refuses_comes_with_the_id_of_the_request(maild: Running) -> None:
    """The server does not know it yet; the host would wait for ever."""
    async with bridged(maild.api.url, key="svc_live_nobody") as host:
        told = await host.ask("tools/list", "seven")
        assert told["error"]["data"]["code"] == "invalid_api_key"
        code, _, said = await host.end()
    assert code == 0 and "401" in said and "svc_live_nobody" not in said


# Beside each other -------------------------------------------------------------------------------


async def test_a_wait_does_not_hold_up_a_ping() -> None:
    come = asyncio.Event()

    async def handle(asked: web.Request) -> web.StreamResponse:
        if (await asked.json())["method"] == "tools/call":
            await come.wait()
        return await answered(asked)

    async with serving(handle) as url, bridged(url) as host:
        host.say(request("tools/call", "wait", name="wait_for_message"), request("ping", "ping"))
        assert (await host.hear())["id"] == "ping"
        come.set()
        assert (await host.hear())["id"] == "wait"


async def test_a_cancel_hangs_up_and_is_not_answered() -> None:
    begun, left = asyncio.Event(), asyncio.Event()
    methods: list[str] = []

    async def handle(asked: web.Request) -> web.StreamResponse:
        document = await asked.json()
        methods.append(document["method"])
        if document["method"] == "tools/call":
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                left.set()
        return await answered(asked)

    async with serving(handle) as url, bridged(url) as host, asyncio.timeout(GIVES_UP_S):
        host.say(request("tools/call", 7, name="wait_for_message"))
        await begun.wait()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        host.say({**cancel, "params": {"requestId": "7"}}, {**cancel, "params": {"requestId": [7]}}, cancel)
        assert not left.is_set(), "another id, and none"
        host.say({**cancel, "params": {"requestId": 7}})
        await left.wait()
        assert (await host.ask("ping", 8))["id"] == 8
        assert await host.end() == (0, "", "")
    assert methods == ["tools/call", "ping"]


async def test_a_wait_of_the_daemon_ends_with_its_cancel(maild: Running) -> None:
    bot = await maild.inbox("bot")

    async def waiting(count: int) -> bool | None:
        return True if len(maild.daemon.operations._services.streams._waits) == count else None

    async with bridged(maild.api.url, key=maild.api.key) as host:
        host.say(request("tools/call", 1, name="wait_for_message", arguments={"inboxId": bot["id"]}))
        await until(lambda: waiting(1))
        host.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        await until(lambda: waiting(0))


async def test_more_at_once_than_it_takes_is_told() -> None:
    come = asyncio.Event()

    async def handle(asked: web.Request) -> web.StreamResponse:
        await come.wait()
        return await answered(asked)

    async with serving(handle) as url, bridged(url) as host:
        host.say(*(request("ping", number) for number in range(bridge.AT_ONCE_MAX + 1)))
        refused = await host.hear()
        assert refused["id"] == bridge.AT_ONCE_MAX and "at once" in refused["error"]["message"]
        come.set()
        assert {(await host.hear())["id"] for _ in range(bridge.AT_ONCE_MAX)} == {*range(bridge.AT_ONCE_MAX)}


async def test_a_host_that_does_not_read_is_not_read_without_end() -> None:
    held = asyncio.Event()
    written: list[bytes] = []
    read = 0

    async def write(line: bytes) -> None:
        await held.wait()
        written.append(line)

    async def lines() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(10 * bridge.AT_ONCE_MAX):
            read += 1
            yield b"{"
            await asyncio.sleep(0)

    async with httpx2.AsyncClient() as client:
        one = bridge.Bridge(ClientCredentials("http://127.0.0.1:9", KEY), client, write, print)
        running = asyncio.ensure_future(one.run(lines()))
        while read < 2 * bridge.AT_ONCE_MAX:
            await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        assert read == 2 * bridge.AT_ONCE_MAX
        held.set()
        async with asyncio.timeout(GIVES_UP_S):
            await running
    assert len(written) == 10 * bridge.AT_ONCE_MAX


async def test_what_runs_when_the_host_says_no_more_is_answered() -> None:
    come = asyncio.Event()

    async def handle(asked: web.Request) -> web.StreamResponse:
        come.set()
        return await answered(asked)

    async with serving(handle) as url, bridged(url) as host:
        host.say(request("ping"))
        code, out, said = await host.end()
    assert (code, said) == (0, "") and json.loads(out)["id"] == 1


async def test_sigterm_ends_it_in_the_middle_of_a_wait() -> None:
    begun = asyncio.Event()

    async def handle(asked: web.Request) -> web.StreamResponse:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with serving(handle) as url, bridged(url) as host, asyncio.timeout(GIVES_UP_S):
        host.say(request("ping"))
        await begun.wait()
        host.process.send_signal(signal.SIGTERM)
        assert await host.process.wait() == 0
        assert host.process.stderr is not None and await host.process.stderr.read() == b""


async def test_it_ends_when_the_host_reads_no_more() -> None:
    async with serving(answered) as url:
        read, write = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *maildc.command("mcp"), env=maildc.environment(MAILD_URL=url, MAILD_API_KEY=KEY),
            stdin=asyncio.subprocess.PIPE, stdout=write, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        os.close(write)
        os.close(read)
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(json.dumps(request("ping")).encode() + b"\n")
        async with asyncio.timeout(GIVES_UP_S):
            assert await process.wait() == 0
            assert await process.stderr.read() == b""
        process.stdin.close()


# Faults ------------------------------------------------------------------------------------------


async def html(asked: web.Request) -> web.StreamResponse:
    return web.Response(status=502, text="<html>bad gateway</html>", content_type="text/html")


async def nothing_there(asked: web.Request) -> web.StreamResponse:
    return web.json_response({"error": {"code": "not_found", "message": "no"}}, status=404)


async def empty(asked: web.Request) -> web.StreamResponse:
    return web.Response(status=202)


async def another(asked: web.Request) -> web.StreamResponse:
    return web.json_response({"jsonrpc": "2.0", "id": 999, "result": {}})


async def deep(asked: web.Request) -> web.StreamResponse:
    return web.Response(body=b"[" * 1_000_000, content_type="application/json")


async def cut(asked: web.Request) -> web.StreamResponse:
    assert asked.transport is not None
    asked.transport.abort()
    return web.Response()


async def half(asked: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(asked)
    await response.write(b'{"jsonrpc"')
    assert asked.transport is not None
    asked.transport.abort()
    return response


async def keyless(asked: web.Request) -> web.StreamResponse:
    return web.Response(status=401, text="no")


@pytest.mark.parametrize(
    ("handle", "code", "advice"),
    [
        (html, "unavailable", "try again in a while"),
        (nothing_there, "not_found", "MAILD_URL"),
        (keyless, "key_refused", "MAILD_API_KEY"),
        (empty, "not_understood", "maild server"),
        (another, "not_understood", "another request"),
        (deep, "not_understood", "maild server"),
        (cut, "connection_lost", "call again with the very same arguments"),
        (half, "connection_lost", "call again with the very same arguments"),
    ],
)
async def test_a_fault_is_an_error_that_says_what_to_do(handle: Handle, code: str, advice: str) -> None:
    async with serving(handle) as url, bridged(url) as host:
        told = await host.ask("tools/list", "a")
        assert told["error"]["data"] == {"code": code} and advice in told["error"]["message"]
        assert (await host.ask("tools/list", "b"))["error"]["data"] == {"code": code}, "it lives on"
        ended, _, said = await host.end()
    assert ended == 0 and "tools/list: " in said and KEY not in said and len(said.splitlines()) == 2


async def test_a_server_that_is_down_is_told_and_one_that_comes_back_is_waited_for() -> None:
    async with serving(answered) as url:
        pass
    async with bridged(url) as host:
        error = (await host.ask("ping"))["error"]
        assert error["data"] == {"code": "unreachable"} and "Nothing was sent" in error["message"]
        assert "Connection refused" in error["message"]


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"{", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"9" * 10_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":"a"}', "a", -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
        (b'"words"', None, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":"nope"}', "a", -32601),
        (b'{"jsonrpc":"2.0","id":"a","method":7,"params":8}', "a", -32600),
    ],
)
async def test_what_is_no_request_is_answered_and_does_no_harm(
    maild: Running, line: bytes, id: Any, code: int
) -> None:
    async with bridged(maild.api.url, key=maild.api.key) as host:
        host.say(line)
        told = await host.hear()
        assert (told["id"], told["error"]["code"]) == (id, code)
        assert "result" in await host.ask("ping")


async def test_lines_that_ask_nothing_are_not_answered(maild: Running) -> None:
    async with bridged(maild.api.url, key=maild.api.key) as host:
        host.say(b"", b"  \r", {"jsonrpc": "2.0", "method": "notifications/initialized"})
        host.say({"jsonrpc": "2.0", "id": 5, "result": {}})
        assert "result" in await host.ask("ping", 6)
        code, out, said = await host.end()
    assert (code, out) == (0, "") and said == "maildc mcp: the host answered what nobody asked\n"


def chunks(*parts: bytes) -> Callable[[], bytes]:
    left: Iterator[bytes] = iter(parts)
    return lambda: next(left, b"")


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a", b"b\nc"), [b"ab", b"c"]),
        ((b"\n\n",), [b"", b""]),
        ((b"123456789", b"0", b"1\nb\n"), [None, b"b"]),
        ((b"1234567890\n",), [b"1234567890"]),
        ((b"12345678901",), [None]),
        ((), []),
    ],
)
def test_lines_are_split_and_those_that_are_too_long_left_out(
    parts: tuple[bytes, ...], lines: list[bytes | None]
) -> None:
    assert list(stdio.split(chunks(*parts), most=10)) == lines


# The key -----------------------------------------------------------------------------------------


async def test_a_redirect_is_told_and_gets_no_key() -> None:
    elsewhere: list[str] = []

    async def thief(asked: web.Request) -> web.StreamResponse:
        elsewhere.append(asked.headers.get("Authorization", ""))
        return await answered(asked)

    async with serving(thief) as there:

        async def handle(asked: web.Request) -> web.StreamResponse:
            return web.Response(status=int(asked.path[2:5]), headers={"Location": f"{there}/mcp"})

        async with serving(handle) as url:
            for status in (301, 302, 303, 307, 308):
                async with bridged(f"{url}/r{status}") as host:
                    error = (await host.ask("ping"))["error"]
                    assert error["data"] == {"code": "redirected"} and "MAILD_URL" in error["message"]
                    _, _, said = await host.end()
                    assert there in said and KEY not in said
    assert elsewhere == []


async def test_no_proxy_of_the_environment_reads_a_key_in_the_clear() -> None:
    seen: list[str] = []

    async def proxy(asked: web.Request) -> web.StreamResponse:
        seen.append(str(asked.url))
        return await answered(asked)

    async with serving(proxy) as there, serving(answered) as url:
        proxies = {"HTTP_PROXY": there, "http_proxy": there, "ALL_PROXY": there}
        host = await maildc.begin("mcp", url=url, key=KEY, **proxies)
        out, _ = await host.communicate(json.dumps(request("ping")).encode())
        assert "result" in json.loads(out)
    assert seen == []


async def test_the_key_is_in_no_argument_and_no_line_of_the_log() -> None:
    async def handle(asked: web.Request) -> web.StreamResponse:
        error = {"code": -32000, "message": f"refused: {asked.headers['Authorization']}"}
        return web.json_response({"jsonrpc": "2.0", "id": None, "error": error}, status=401)

    async with serving(handle) as url, bridged(url) as host:
        await host.ask("ping")
        shown = Path(f"/proc/{host.process.pid}/cmdline").read_bytes()
        assert b"mcp" in shown and KEY.encode() not in shown
        _, _, said = await host.end()
    assert "401" in said and KEY not in said


async def test_a_key_file_of_ones_own_is_used(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(0o600)

    async def handle(asked: web.Request) -> web.StreamResponse:
        return await answered(asked, {"heard": asked.headers["Authorization"]})

    async with serving(handle) as url, bridged(url, "--key-file", str(file), key="svc_live_another") as host:
        assert (await host.ask("ping"))["result"] == {"heard": f"Bearer {KEY}"}


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o666, 0o601])
async def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(mode)
    done = await maildc.run("mcp", "--key-file", str(file), url="http://127.0.0.1:9")
    assert (done.code, done.out) == (3, "") and "chmod 600" in done.said and KEY not in done.said


async def test_what_can_be_no_key_is_refused_and_not_shown(tmp_path: Path) -> None:
    """What would make a header of its own, or hold up the command, among them."""
    secret = "hunter2 secret"
    (tmp_path / "words").write_text(f"{secret}\nX-Injected: yes")
    (tmp_path / "long").write_text("x" * 5000)
    (tmp_path / "empty").write_text("")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for file in tmp_path.iterdir():
        file.chmod(0o600 if not file.is_dir() else 0o700)
    for name in ("words", "long", "empty", "folder", "fifo", "missing"):
        done = await maildc.run("mcp", "--key-file", str(tmp_path / name), url="http://127.0.0.1:9")
        assert (done.code, done.out) == (3, ""), name
        assert str(tmp_path / name) in done.said and "secret" not in done.said
    done = await maildc.run("mcp", url="http://127.0.0.1:9", key=f"{secret}\r\nX-Injected: yes")
    assert done.code == 3 and "secret" not in done.said


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.org",
        "ftp://x",
        "http://",
        "http://a:b@x",
        "https://x/?q=1",
        "https://x/#f",
        "http://x\ny",
        "http://[::1",
    ],
)
async def test_an_address_that_is_none_is_told(url: str) -> None:
    done = await maildc.run("mcp", url=url, key=KEY)
    assert (done.code, done.out) == (2, "") and "MAILD_URL" in done.said
