"""The process may open nothing more, however many it has open: what comes waits or hears "later", and nothing is lost.

The limit of the running daemon is lowered below what it has open, so each open(), socket() and accept() fails, and
raised again.
"""

import asyncio
import json
import resource
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import aiosmtplib
import pytest

from tests.support.daemon import DOMAIN, POLL_S, ROOT, Daemon, environment
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.webhook_sink import HOST, WebhookSink
from tests.support.waiting import GIVES_UP_S

LARGE = "Subject: large\n\n" + "words and words and words\n" * 20_000
SMALL = "Subject: small\n\nwords\n"


class ExhaustedWorld:
    """A daemon, who writes to it, and whom it writes to."""

    def __init__(
        self, daemon: Daemon, dns: DnsServer, mx: Mx, sink: WebhookSink, inbox: dict[str, Any]
    ) -> None:
        self.daemon, self.dns, self.mx, self.sink, self.inbox = daemon, dns, mx, sink, inbox

    @contextmanager
    def nothing_opens(self) -> Iterator[None]:
        before = resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (3, before[1]))
        try:
            yield
        finally:
            resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, before)

    async def session(self) -> aiosmtplib.SMTP:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=self.daemon.smtp_port, start_tls=False)
        await client.connect()
        return client

    async def until_exhausted(self, what: str) -> None:
        """Return when the log says that this has failed for want of descriptors."""
        async with asyncio.timeout(GIVES_UP_S):
            while what not in [line["what"] for line in self.daemon.logged("exhausted")]:
                await asyncio.sleep(POLL_S)

    def cpu_ticks(self) -> int:
        fields = Path(f"/proc/{self.daemon.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ExhaustedWorld]:
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Mx() as mx, WebhookSink(tmp_path) as sink:
        more = {"webhooks": {"allow_private_networks": True, "ca_file": str(sink.ca_file)}}
        async with Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port, more=more) as daemon:
            dns.add_mx("there.test")
            dns.add(HOST, "A", "127.0.0.1")
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            yield ExhaustedWorld(daemon, dns, mx, sink, inbox)


async def send(session: aiosmtplib.SMTP, mail: str, sender: str = "ada@there.test") -> str:
    """The reply to the message."""
    try:
        _, text = await session.sendmail(sender, [f"bot@{DOMAIN}"], mail.replace("\n", "\r\n"))
    except aiosmtplib.SMTPDataError as error:
        return f"{error.code} {error.message}"
    return f"250 {text}"


async def test_who_comes_waits_and_the_processor_rests(world: ExhaustedWorld) -> None:
    before = world.cpu_ticks()
    async with aiohttp.ClientSession(world.daemon.api.url) as client:
        with world.nothing_opens():
            health = asyncio.create_task(client.get("/health"))
            session = asyncio.create_task(world.session())
            await world.until_exhausted("connections")
            # A second of it: an event loop that goes on asking for what it can't have takes all of the second.
            done, _ = await asyncio.wait([health, session], timeout=1)
            spent = world.cpu_ticks() - before
        assert not done
        assert (await (await health).json())["status"] == "healthy"
        (await session).close()
    assert spent < 50, f"{spent} hundredths of a second"
    assert [line["what"] for line in world.daemon.logged("exhausted")].count("connections") == 1


async def test_what_is_stored_is_kept_and_the_rest_hears_later(world: ExhaustedWorld) -> None:
    session = await world.session()
    first = (await send(session, LARGE)).split()[-1]
    with world.nothing_opens():
        for path in (f"/v1/messages/{first}/raw", f"/v1/messages/{first}"):
            async with world.daemon.api._session.get(path) as answer:
                assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
        async with world.daemon.api._session.post(
            "/v1/messages/send",
            json={"inboxId": world.inbox["id"], "to": ["a@there.test"], "text": LARGE},
        ) as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
            assert (await answer.json())["error"]["code"] == "provider_unavailable"
        assert await send(session, LARGE) == "451 4.3.2 insufficient system resources, try again later"
        small = (await send(session, SMALL)).split()[-1]
        assert (await world.daemon.api.get(f"/v1/messages/{small}"))["subject"] == "small"
    second = (await send(session, LARGE)).split()[-1]
    for message_id in (first, second):
        assert LARGE.encode().replace(b"\n", b"\r\n") in await world.daemon.api.get_bytes(
            f"/v1/messages/{message_id}/raw"
        )
    ids = {one["id"] for one in await world.daemon.api.get("/v1/messages", inboxId=world.inbox["id"])}
    assert ids == {first, small, second}
    assert not world.daemon.logged("request_failed") and not world.daemon.logged("store_damaged")
    session.close()


async def test_mail_that_leaves_waits_and_that_is_no_attempt(world: ExhaustedWorld) -> None:
    with world.nothing_opens():
        sent = await world.daemon.api.post(
            "/v1/messages/send", inboxId=world.inbox["id"], to=["a@there.test"], text="hello"
        )
        await world.until_exhausted("deliveries")
    await world.daemon.api.until(
        f"/v1/messages/{sent['id']}", lambda message: message["status"] in ("delivered", "bounced")
    )
    (delivered,) = await world.daemon.until_logged("delivered")
    assert delivered["attempt"] == 1 and len(world.mx.received) == 1
    assert not world.daemon.logged("deferred") and not world.daemon.logged("backed_off")


async def test_an_endpoint_loses_no_attempt(world: ExhaustedWorld) -> None:
    await world.daemon.api.post("/v1/webhooks", url=world.sink.url(), subscribedEvents=["email.received"])
    session = await world.session()
    with world.nothing_opens():
        assert (await send(session, SMALL)).startswith("250 ")
        await world.until_exhausted("webhooks")
    (received,) = await world.sink.received_count(1)
    assert received.headers["x-svc-attempt"] == "1"
    log = await world.daemon.api.until("/v1/webhooks/deliveries", lambda found: len(found) > 0)
    assert [(one["attempt"], one["isSuccessful"]) for one in log] == [(1, True)]
    session.close()


async def test_a_policy_that_was_not_asked_for_lets_no_forgery_in(world: ExhaustedWorld) -> None:
    world.dns.add("_dmarc.strict.test", "TXT", '"v=DMARC1; p=reject"')
    world.dns.add("strict.test", "TXT", '"v=spf1 -all"')
    forged = f"From: ceo@strict.test\n{SMALL}"
    session = await world.session()
    with world.nothing_opens():
        assert (await send(session, forged, "ceo@strict.test")).startswith("451 4.3.2 ")
    async with asyncio.timeout(GIVES_UP_S):
        while (reply := await send(session, forged, "ceo@strict.test")).startswith("451 "):
            await asyncio.sleep(POLL_S)
    assert reply.startswith("550 5.7.1 ")
    session.close()


async def test_health_says_when_few_are_left(world: ExhaustedWorld) -> None:
    assert (await get_health(world))["descriptors"] == "ok"
    with world.nothing_opens():
        assert (await get_health(world))["descriptors"] == "short"
    assert (await get_health(world))["descriptors"] == "ok"


async def get_health(world: ExhaustedWorld) -> dict[str, Any]:
    """On a connection that is open already."""
    health: dict[str, Any] = json.loads(await world.daemon.api.get_bytes("/health"))
    return health


async def started(daemon: Daemon, limit: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        "/bin/sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh",
        sys.executable, "-m", "maild", "serve", "--config", str(daemon.config),
        cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def test_too_few_to_serve_anybody_are_a_fault_of_the_configuration(tmp_path: Path) -> None:
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns:
        daemon = Daemon(tmp_path, dns_port=dns.port)
        await daemon.init()
        process = await started(daemon, 100)
        _, error = await process.communicate()
    assert process.returncode == 2, "started again by systemd, it would fail again"
    assert error.decode().splitlines()[-1].startswith("maild: this process may open 100 files, maild wants ")


@pytest.mark.parametrize("limit", [128, 1024])
async def test_strangers_who_fill_port_25_leave_descriptors_for_the_rest(tmp_path: Path, limit: int) -> None:
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, aiohttp.ClientSession() as client:
        daemon = Daemon(tmp_path, dns_port=dns.port)
        await daemon.init()
        process = await started(daemon, limit)
        assert process.stdout is not None and process.stderr is not None
        ready = json.loads(await process.stdout.readline())
        port = int(ready["smtp"][0].rpartition(":")[2])
        writers: list[asyncio.StreamWriter] = []
        greeted = 0
        for number in range(limit):  # more than there is room for, from many addresses
            address = f"127.0.{1 + number // 40}.{1 + number % 40}"
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            writers.append(writer)
            greeted += (await reader.readline()).startswith(b"220 ")
        async with client.get(f"{ready['http']}/health") as answer:
            health = await answer.json()
        process.terminate()
        _, told = await process.communicate()
        for writer in writers:
            writer.transport.abort()
    lines = [json.loads(line) for line in told.splitlines()]
    (few,) = [line for line in lines if line["event"] == "few_descriptors"]
    assert few["limit"] == limit and greeted >= few["smtp_sessions"] > 0
    assert (health["status"], health["descriptors"]) == ("healthy", "ok")
    assert not [line for line in lines if line["event"] == "exhausted"]
