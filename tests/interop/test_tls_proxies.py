"""The API behind the TLS proxies of docs/operating.md, by curl with HTTP/2: what an agent needs comes through, and no
request of one caller does harm to another's."""

import asyncio
import base64
import json
import random
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port, own_address
from tests.support.peers.proxies import NAME, PROGRAMS, Proxy
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

AS_JSON = ("--header", "Content-Type: application/json", "--data-binary")
EACH = [pytest.param(name, marks=tools.needs("curl", program)) for name, program in PROGRAMS.items()]
BYTES = random.Random(7).randbytes(9_000_000)


class Curl:
    """One caller of the API through a proxy. Each call is a connection of its own."""

    def __init__(self, proxy: Proxy, key: str, address: str = "127.0.0.1") -> None:
        self._proxy = proxy
        self._key = key
        self._address = address

    async def starts(self, path: str, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            tools.path_of("curl"), "--silent", "--show-error", "--no-buffer", "--http2", "--cacert",
            str(self._proxy.ca_file), "--resolve", f"{NAME}:{self._proxy.port}:{self._address}",
            "--header", f"Authorization: Bearer {self._key}", *arguments, self._proxy.url + path,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip

    async def octets(self, path: str, *arguments: str) -> tuple[str, bytes]:
        """Version of HTTP and status, such as "2 200", and the body."""
        process = await self.starts(path, *arguments, "--write-out", "\n%{http_version} %{http_code}")
        out, _ = await process.communicate()
        body, _, line = out.rpartition(b"\n")
        return line.decode(), body

    async def asks(self, path: str, *arguments: str) -> tuple[str, dict[str, object]]:
        line, body = await self.octets(path, *arguments)
        return line, json.loads(body)


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    async with asyncio.timeout(GIVES_UP_S), Daemon(tmp_path, dns_port=9) as running:
        yield running


@pytest.mark.parametrize("name", EACH)
async def test_large_sends_parts_waits_and_streams_come_through(
    daemon: Daemon, tmp_path: Path, name: str
) -> None:
    inbox = await daemon.api.post("/v1/inboxes", username="bot")
    async with Proxy(name, daemon.api.url, tmp_path) as proxy:
        curl = Curl(proxy, daemon.api_key)
        stream = await curl.starts("/v1/events/stream")
        waiting = asyncio.create_task(curl.asks(f"/v1/messages/wait?inboxId={inbox['id']}&timeoutSeconds=55"))
        large = tmp_path / "large.json"
        large.write_text(json.dumps({
            "inboxId": inbox["id"], "to": [inbox["address"]], "subject": "large", "text": "here it is",
            "attachments": [{"filename": "a.bin", "contentType": "application/pdf",
                             "content": base64.b64encode(BYTES).decode()}],
        }))  # fmt: skip
        line, sent = await curl.asks("/v1/messages/send", *AS_JSON, f"@{large}")
        assert line == "2 201", sent

        line, waited = await waiting
        message = waited["data"]["message"]  # type: ignore[index]
        assert (line, message["subject"]) == ("2 200", "large")
        assert stream.stdout is not None
        while b"email.received" not in await stream.stdout.readline():
            assert not stream.stdout.at_eof(), proxy.log
        stream.kill()
        await stream.wait()

        whole = await daemon.api.get(f"/v1/messages/{message['id']}")
        path = f"/v1/attachments/{whole['attachments'][0]['id']}"
        assert await curl.octets(path, "--range", "1000-1999") == ("2 206", BYTES[1000:2000])


@pytest.mark.parametrize("name", EACH)
async def test_what_is_refused_before_its_body_came_leaves_others_alone(
    daemon: Daemon, tmp_path: Path, name: str
) -> None:
    """HAProxy uses a connection again after an answer that came early, unless the answer says that it is the last."""
    huge = tmp_path / "huge.json"
    huge.write_bytes(b'"' + b"a" * 40_000_000 + b'"')
    stranger = Curl(proxy := Proxy(name, daemon.api.url, tmp_path), "svc_live_" + "0" * 48)
    async with proxy:
        curl = Curl(proxy, daemon.api_key)
        for caller, status in [(curl, 413), (stranger, 401)] * 4:
            # Caddy may lose the words, where curl gives up sending as soon as it has heard the status.
            line, _ = await caller.octets("/v1/messages/send", "--header", "Expect:", *AS_JSON, f"@{huge}")
            assert line == f"2 {status}"
            line, listed = await curl.asks("/v1/inboxes", "--max-time", "5")
            assert line == "2 200" and "data" in listed


@pytest.mark.parametrize("name", EACH)
async def test_who_guesses_links_of_the_console_can_not_claim_to_be_many(
    daemon: Daemon, tmp_path: Path, name: str
) -> None:
    """The address that a proxy has seen is the last that it tells; others before it are the client's own words. A
    client at an address of loopback would be a proxy itself."""
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address but those of loopback")
    async with Proxy(name, daemon.api.url, tmp_path) as proxy:
        curl = Curl(proxy, daemon.api_key, address)
        statuses = []
        for guess in range(6):
            line, _ = await curl.octets(
                "/console/sign-in", "--header", f"X-Forwarded-For: 192.0.2.{guess}",
                "--header", f"Origin: {proxy.url}", "--data", f"link={guess:064}",
            )  # fmt: skip
            statuses.append(line)
    assert statuses == [*["2 403"] * 5, "2 429"]


WAITING = [
    pytest.param("caddy", "2 200", (), marks=tools.needs("curl", "caddy")),
    pytest.param("haproxy", "2 201", (*AS_JSON, '{"username": "bot"}'), marks=tools.needs("curl", "haproxy")),
]


@pytest.mark.parametrize(("name", "answer", "arguments"), WAITING)
async def test_a_request_waits_while_the_daemon_restarts(
    tmp_path: Path, name: str, answer: str, arguments: Sequence[str]
) -> None:
    more = {"http": {"listen": f"127.0.0.1:{free_port()}"}}
    daemon = Daemon(tmp_path, dns_port=9, more=more)
    async with asyncio.timeout(GIVES_UP_S), daemon, Proxy(name, daemon.api.url, tmp_path) as proxy:
        curl = Curl(proxy, daemon.api_key)
        await daemon.stop()
        asking = asyncio.create_task(curl.octets("/v1/inboxes", *arguments))
        await daemon.start()
        line, _ = await asking
        assert line == answer
