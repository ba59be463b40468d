"""What an rspamd that the operator has says of mail that comes in, and what follows; here it is a scripted one."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from structlog.testing import capture_logs

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sender_world import mail_from

MESSAGE = mail_from("ann@elsewhere.test")


class Filter:
    """Says `action`, or `text` where that is set, once `hold` is set where there is one."""

    def __init__(self) -> None:
        self.action = "no action"
        self.status = 200
        self.text: str | None = None
        self.asked: list[tuple[dict[str, str], bytes]] = []
        self.hold: asyncio.Event | None = None
        self.heard = asyncio.Event()

    async def check(self, request: web.Request) -> web.Response:
        self.asked.append((dict(request.headers), await request.read()))
        self.heard.set()
        if self.hold is not None:
            await self.hold.wait()
        answer = {"action": self.action, "score": 7.5, "symbols": {"GTUBE": {"score": 0}}}
        text = json.dumps(answer) if self.text is None else self.text
        return web.Response(text=text, content_type="application/json", status=self.status)

    @asynccontextmanager
    async def served(self) -> AsyncIterator[str]:
        """Its URL."""
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/checkv2", self.check)
        async with TestServer(app) as server:
            yield str(server.make_url("/"))


@pytest.fixture
async def spam_filter() -> Filter:
    return Filter()


@pytest.fixture
async def maild(start: Start, spam_filter: Filter) -> AsyncIterator[Running]:
    async with spam_filter.served() as url:
        yield await start(inbound={"rspamd_url": url})


@pytest.mark.parametrize(
    ("action", "reply", "is_spam"),
    [
        ("no action", "250 2.0.0", False),
        ("an action of tomorrow", "250 2.0.0", False),
        ("add header", "250 2.0.0", True),
        ("rewrite subject", "250 2.0.0", True),
        ("quarantine", "250 2.0.0", True),
        ("discard", "250 2.0.0", True),
        ("greylist", "451 4.7.1", None),
        ("soft reject", "451 4.7.1", None),
        ("reject", "550 5.7.1", None),
    ],
)
async def test_its_action_decides(
    maild: Running, spam_filter: Filter, action: str, reply: str, is_spam: bool | None
) -> None:
    inbox = await maild.inbox("bot")
    spam_filter.action = action
    assert (await maild.deliver(inbox["address"], MESSAGE, "x@sender.test")).startswith(reply)
    assert [one["isSpam"] for one in await maild.api.messages()] == ([] if is_spam is None else [is_spam])
    ((fields, body),) = spam_filter.asked
    assert body == MESSAGE
    assert {name: fields[name] for name in ("IP", "Helo", "From", "Rcpt")} == {
        "IP": "127.0.0.1",
        "Helo": "client.elsewhere.test",
        "From": "x@sender.test",
        "Rcpt": "bot@agents.test",
    }


REVERSE = "1.0.0.127.in-addr.arpa"


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


async def name_told(start: Start, spam_filter: Filter, dns: DnsServer) -> str | None:
    """The client's name, as the filter hears it."""
    async with spam_filter.served() as url:
        nameservers = {"nameservers": [f"127.0.0.1:{dns.port}"]}
        maild = await start(inbound={"rspamd_url": url}, dns=nameservers)
        await maild.received(await maild.inbox("bot"), MESSAGE)
    ((fields, _),) = spam_filter.asked
    return fields.get("Hostname")


@pytest.mark.parametrize(
    ("addresses", "told"),
    [
        ({"mx.sender.test": "127.0.0.1"}, "mx.sender.test"),
        ({"mx.sender.test": "192.0.2.1"}, None),
        ({}, None),
    ],
)
async def test_it_hears_a_name_that_leads_back_to_the_client(
    start: Start, spam_filter: Filter, dns: DnsServer, addresses: dict[str, str], told: str | None
) -> None:
    dns.add(REVERSE, "PTR", *(f"other{n}.sender.test." for n in range(9)), "mx.sender.test.")
    for name, address in addresses.items():
        dns.add(name, "A", address)
    assert await name_told(start, spam_filter, dns) == told


async def test_who_does_not_say_the_client_s_name_keeps_no_mail_from_it(
    start: Start, spam_filter: Filter, dns: DnsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maild.inbound.reading.spam_filter.NAME_DEADLINE_S", 0.05)
    dns.drop.add(REVERSE)
    assert await name_told(start, spam_filter, dns) is None


@pytest.mark.parametrize("status", [500, 404])
async def test_one_that_fails_loses_no_mail(maild: Running, spam_filter: Filter, status: int) -> None:
    inbox = await maild.inbox("bot")
    spam_filter.status, spam_filter.action = status, "reject"
    assert (await maild.received(inbox, MESSAGE))["isSpam"] is False


@pytest.mark.parametrize(
    "text", ["", "what?", '{"action": "reject"', '{"a":' * 100_000, '{"action": null}', "[]"]
)
async def test_one_that_says_what_can_t_be_read_loses_no_mail(
    maild: Running, spam_filter: Filter, text: str
) -> None:
    inbox = await maild.inbox("bot")
    spam_filter.text = text
    assert (await maild.received(inbox, MESSAGE))["isSpam"] is False


async def test_one_that_is_not_there_loses_no_mail(start: Start) -> None:
    maild = await start(inbound={"rspamd_url": "http://127.0.0.1:9"})
    assert (await maild.received(await maild.inbox("bot"), MESSAGE))["isSpam"] is False


async def test_one_that_does_not_answer_in_time_loses_no_mail(
    maild: Running, spam_filter: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    inbox = await maild.inbox("bot")
    monkeypatch.setattr("maild.inbound.reading.spam_filter.DEADLINE_S", 0.05)
    spam_filter.hold = asyncio.Event()
    with capture_logs() as lines:
        assert (await maild.received(inbox, MESSAGE))["isSpam"] is False
    assert [one["reason"] for one in lines if one["event"] == "spam_filter_silent"] == ["no answer in time"]
    spam_filter.hold.set()


async def test_it_does_not_clear_what_was_spam_before(maild: Running, spam_filter: Filter) -> None:
    inbox = await maild.inbox("bot")
    assert (await maild.received(inbox, mail_from("ann@elsewhere.test, bob@elsewhere.test")))[
        "isSpam"
    ] is True
    assert len(spam_filter.asked) == 1


async def test_it_sees_large_mail_whole(maild: Running, spam_filter: Filter) -> None:
    inbox = await maild.inbox("bot")
    raw = MESSAGE + b"0123456789abcdef\r\n" * 100_000
    await maild.received(inbox, raw)
    assert spam_filter.asked[0][1] == raw


async def test_the_process_stops_while_it_thinks(maild: Running, spam_filter: Filter) -> None:
    inbox = await maild.inbox("bot")
    spam_filter.hold = asyncio.Event()
    delivering = asyncio.create_task(maild.deliver(inbox["address"], MESSAGE))
    async with asyncio.timeout(GIVES_UP_S):
        await spam_filter.heard.wait()
    maild.daemon.listener._patience.end()  # as its stop does, once sessions have had their time
    async with asyncio.timeout(GIVES_UP_S):
        assert await delivering == "421 4.3.2 service is shutting down, try again later"
    spam_filter.hold.set()
