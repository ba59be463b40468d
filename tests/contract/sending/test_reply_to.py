"""Where an author wants answers: all of Reply-To is kept, and whose domains those are is found when it comes in."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.sender_world import TEXT, SenderWorld, mail_from


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


@pytest.fixture
async def world(start: Start, dns: DnsServer) -> SenderWorld:
    maild = await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
    return SenderWorld(maild, dns, await maild.inbox("bot"))


async def judged(world: SenderWorld, author: str, reply_to: str) -> tuple[dict[str, Any], Any]:
    """The message as GET shows it, and what is stored of organizations."""
    signer = world.signers[author.partition("@")[2]]
    raw = mail_from(author, b"Reply-To: " + reply_to.encode() + b"\r\n" + TEXT)
    message = await world.judged(signer.sign(raw))
    ((stored,),) = world.maild.sql("SELECT org_domains FROM messages WHERE id = ?", message["id"])
    return message, None if stored is None else json.loads(stored)


async def test_all_of_it_is_shown_and_the_first_where_one_is_asked_for(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=reject")
    for field, first, shown in (
        ("a@bank.test, B <b@bank.test>", "a@bank.test", ["a@bank.test", "b@bank.test"]),
        ("a@bank.test", "a@bank.test", ["a@bank.test"]),
        ("Nobody:;", None, []),
    ):
        message, _ = await judged(world, "info@bank.test", field)
        assert (message["replyTo"], message["replyToAddresses"]) == (first, shown)
        (listed, *_) = await world.maild.api.messages()
        assert listed["replyToAddresses"] == shown


async def test_whose_domains_they_are_is_found_by_the_walk(world: SenderWorld, dns: DnsServer) -> None:
    world.domain("bank.test", dmarc="p=reject")
    world.domain("mail.bank.test")
    dns.add("_dmarc.far.test", "TXT", '"v=DMARC1; p=none"')
    wanted = "a@bank.test, b@help.bank.test, c@x.far.test, d@no.where.test"
    _, found = await judged(world, "info@mail.bank.test", wanted)
    assert found == {
        "mail.bank.test": "bank.test",
        "bank.test": "bank.test",
        "help.bank.test": "bank.test",
        "x.far.test": "far.test",
    }


async def test_nothing_is_asked_for_where_nothing_depends_on_it(world: SenderWorld, dns: DnsServer) -> None:
    """No Reply-To, one on the author's domain, and a foreign one of an author who is not proven."""
    world.domain("bank.test", dmarc="p=reject")
    for raw in (
        world.signers["bank.test"].sign(mail_from("info@bank.test")),
        world.signers["bank.test"].sign(mail_from("info@bank.test", b"Reply-To: desk@BANK.test\r\n" + TEXT)),
        mail_from("info@liar.test", b"Reply-To: desk@far.test, a@bank.test\r\n" + TEXT),
    ):
        await world.judged(raw)
    assert not [name for name, _ in dns.queries if "far.test" in name]
    assert world.maild.sql("SELECT count(*) FROM messages WHERE org_domains IS NOT NULL") == [(0,)]


async def test_a_reply_to_of_a_thousand_domains_costs_a_few_questions(
    world: SenderWorld, dns: DnsServer
) -> None:
    world.domain("bank.test", dmarc="p=reject")
    many = ", ".join(f"a@x{number}.far.test" for number in range(200))
    await judged(world, "info@bank.test", many)
    walked = {name for name, _ in dns.queries if name.startswith("_dmarc.x")}
    assert len(walked) == 5
