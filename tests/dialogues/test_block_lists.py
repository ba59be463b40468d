"""`smtp.dnsbl`: a client that a list has is refused at RCPT, and a list that fails refuses nobody (RFC 5782)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from maild.inbound.sessions.block_lists import reversed_name
from tests.conftest import Start
from tests.dialogues.test_proxy_protocol import begun, header
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, Smtp
from tests.support.waiting import GIVES_UP_S

CLIENT, CLIENT_V6 = "5.6.7.8", "2a01:4f8::1"
FIRST, SECOND = "first.list.test", "second.list.test"


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


@pytest.fixture
async def maild(start: Start, dns: DnsServer) -> Running:
    return await start(
        smtp={"dnsbl": [FIRST, SECOND], "proxy_from": ["127.0.0.0/8"]},
        dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
    )


async def introduced(maild: Running, source: str = CLIENT) -> Smtp:
    """A session of that client that may say RCPT."""
    talk = await begun(maild, header(source))
    assert (await talk.reply()).startswith("220 ")
    await talk.say("EHLO client.elsewhere.test")
    assert (await talk.say("MAIL FROM:<friend@elsewhere.test>")).startswith("250 ")
    return talk


@pytest.mark.parametrize("source", [CLIENT, CLIENT_V6])
@pytest.mark.parametrize("zone", [FIRST, SECOND])
async def test_a_listed_client_is_refused_and_told_by_which_list(
    maild: Running, bot: dict[str, Any], dns: DnsServer, source: str, zone: str
) -> None:
    dns.add(f"{reversed_name(source)}.{zone}", "A", "127.0.0.2")
    talk = await introduced(maild, source)
    reply = await talk.say(f"RCPT TO:<{bot['address']}>")
    assert reply == f"550 5.7.1 your address {source} is on the block list {zone}"
    # Whoever is listed wrongly can say so.
    assert (await talk.say("RCPT TO:<postmaster@agents.test>")).startswith("250 ")


@pytest.mark.parametrize(
    "answers",
    [
        [],
        ["127.255.255.252"],  # a typing error in the zone
        ["127.255.255.254"],  # asked by a public resolver
        ["127.255.255.255"],  # too many questions
        ["198.51.100.7"],  # a zone that was given up, and is for sale now
    ],
)
async def test_what_is_no_listing_refuses_nobody(
    maild: Running, bot: dict[str, Any], dns: DnsServer, answers: list[str]
) -> None:
    dns.add(f"8.7.6.5.{FIRST}", "A", *answers)
    talk = await introduced(maild)
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("250 ")


@pytest.mark.parametrize("fails", ["servfail", "drop"])
async def test_a_list_that_fails_refuses_nobody(
    maild: Running, bot: dict[str, Any], dns: DnsServer, fails: str
) -> None:
    for zone in (FIRST, SECOND):
        getattr(dns, fails).add(f"8.7.6.5.{zone}")
    assert maild.daemon._resolver is not None
    maild.daemon._resolver._timeout_s = 1  # no answer comes, however long it is waited for
    talk = await introduced(maild)
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("250 ")


async def test_the_lists_are_asked_beside_the_conversation_and_once(
    maild: Running, bot: dict[str, Any], dns: DnsServer
) -> None:
    dns.hold = asyncio.Event()
    talk = await introduced(maild)  # EHLO and MAIL are answered meanwhile
    await talk.write(f"RCPT TO:<{bot['address']}>\r\n".encode())
    async with asyncio.timeout(GIVES_UP_S):
        while len(dns.queries) < 2:
            await dns.asked.wait()
            dns.asked.clear()
    dns.hold.set()
    assert (await talk.reply()).startswith("250 ")
    await talk.say("EHLO client.elsewhere.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("250 ")
    assert dict(dns.queries) == {(f"8.7.6.5.{zone}", "A"): 1 for zone in (FIRST, SECOND)}


async def test_private_addresses_are_told_to_no_list(
    maild: Running, bot: dict[str, Any], dns: DnsServer
) -> None:
    talk = await introduced(maild, "10.1.2.3")
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("250 ")
    assert not dns.queries
