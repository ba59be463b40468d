"""A customer's domain works, signed with its own key, and is deleted: at once nothing comes in or goes out."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import dkim
import pytest

from maild.inbound.reading.first_look import FirstLook
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world, record_of

Start = Callable[..., Awaitable[Running]]
MAIL = "From: friend@elsewhere.test\r\nSubject: hello\r\n\r\nhello\r\n"
ADDRESS = f"bot@{NAME}"


@pytest.fixture
async def mx() -> AsyncIterator[Mx]:
    async with Mx() as made:
        yield made


@pytest.fixture
async def world(start: Start, tmp_path: Path, mx: Mx) -> AsyncIterator[DomainWorld]:
    async with DnsServer() as dns:
        dns.add_mx("elsewhere.test")
        dns.servfail.add("broken.test")
        async with domain_world(
            start,
            tmp_path,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 3600},
        ) as made:
            yield made


async def message(world: DomainWorld, message_id: str, status: str) -> dict[str, Any]:
    async def look() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await world.api.get(f"/v1/messages/{message_id}")).data
        return shown if shown["status"] == status else None

    found: dict[str, Any] = await until(look)
    return found


async def test_mail_comes_in_and_goes_out_signed_with_the_domain_s_key(world: DomainWorld, mx: Mx) -> None:
    domain = await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    assert inbox["address"] == ADDRESS
    arrived = await world.maild.received(inbox, MAIL)
    assert arrived["subject"] == "hello"
    sent = (await world.api.send(inbox, text="out")).data
    await message(world, sent["id"], "delivered")
    (received,) = mx.received
    record = record_of(domain, "dkim")

    def lookup(name: bytes, timeout: int = 5) -> bytes | None:
        return record["value"].encode() if name.decode().rstrip(".") == record["name"] else None

    assert dkim.verify(received.raw, dnsfunc=lookup)
    assert f"d={NAME}; s=s1;".encode() in received.raw.replace(b"\r\n", b"").replace(b"  ", b" ")
    assert received.mail_from.endswith(f"@{NAME}")


async def test_it_receives_nothing_more(world: DomainWorld) -> None:
    domain = await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    before, within = await world.maild.smtp(), await world.maild.smtp()
    assert (await before.say("EHLO client.elsewhere.test")).startswith("250")
    assert (await before.say("MAIL FROM:<friend@elsewhere.test>")).startswith("250")
    await within.begin(ADDRESS)
    await world.delete(domain)
    # Not 5.1.1, by which a sender takes the address for gone, should the domain come again.
    assert (await before.say(f"RCPT TO:<{ADDRESS}>")).startswith("550 5.7.1 relaying denied")
    assert (await before.say(f"RCPT TO:<postmaster@{NAME}>")).startswith("550 5.7.1 relaying denied")
    # A recipient taken before is as dead as one that comes now.
    assert (await within.say(MAIL + ".")).startswith("550 5.1.1")
    assert await world.api.messages(inboxId=inbox["id"]) == []


async def test_it_sends_nothing_more(world: DomainWorld) -> None:
    domain = await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    await world.delete(domain)
    answer = await world.api.send(inbox)
    assert (answer.status, answer.code) == (400, "domain_not_verified")
    assert answer.error["details"] == {"domainName": NAME}
    answer = await world.maild.test_api.send(inbox)
    assert (answer.status, answer.code) == (400, "domain_not_verified")


async def test_what_was_queued_is_stopped(world: DomainWorld, mx: Mx) -> None:
    domain = await world.verified()
    bot, other = await world.maild.inbox("bot", domain=NAME), await world.maild.inbox("other")
    deferred = (await world.api.send(bot, to=["somebody@broken.test"])).data

    async def is_deferred() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await world.api.get(f"/v1/messages/{deferred['id']}")).data
        return shown if shown["recipients"][0]["status"] == "deferred" else None

    assert (await until(is_deferred))["status"] == "queued"
    assert (await world.shown(domain))["todayUsed"] == 1
    await world.delete(domain)
    failed = await message(world, deferred["id"], "failed")
    assert failed["failureReason"] == "domain_not_verified"
    assert failed["recipients"][0]["status"] == "failed"
    assert "domain" in failed["recipients"][0]["response"]
    await message(world, (await world.api.send(other)).data["id"], "delivered")  # other domains' mail goes on
    # It never left the host, and it is no bounce that counts against the sender.
    assert world.maild.sql("SELECT coalesce(sum(value), 0) FROM usage WHERE scope = ?", NAME) == [(0,)]
    assert world.maild.sql("SELECT count(*) FROM usage WHERE metric = 'bounced'") == [(0,)]
    assert world.maild.sql("SELECT count(*) FROM suppressions") == [(0,)]


async def test_mail_between_inboxes_of_the_host_stops_too(world: DomainWorld) -> None:
    domain = await world.verified()
    bot, other = await world.maild.inbox("bot", domain=NAME), await world.maild.inbox("other")
    assert (await world.api.send(other, to=[ADDRESS])).status == 201
    await world.maild.arrival(bot)
    await world.delete(domain)
    sent = (await world.api.send(other, to=[ADDRESS])).data
    await message(world, sent["id"], "failed")  # the domain is somebody else's now, and has no MX
    assert len(await world.api.messages(inboxId=bot["id"], direction="inbound")) == 1


async def test_so_does_mail_that_is_being_prepared_for_an_inbox_of_the_host(
    world: DomainWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = await world.verified()
    bot, other = await world.maild.inbox("bot", domain=NAME), await world.maild.inbox("other")
    look = FirstLook.at

    async def delete_first(self: FirstLook, *args: Any) -> Any:
        await world.delete(domain)
        return await look(self, *args)

    monkeypatch.setattr(FirstLook, "at", delete_first)
    sent = (await world.api.send(bot, to=[other["address"]])).data

    async def is_over() -> dict[str, Any] | None:
        shown: dict[str, Any] = (await world.api.get(f"/v1/messages/{sent['id']}")).data
        return None if shown["status"] == "queued" else shown

    failed = await until(is_over)
    assert failed["failureReason"] == "domain_not_verified"
    assert await world.api.messages(inboxId=other["id"], direction="inbound") == []


async def test_it_works_again_after_it_was_registered_and_verified_again(world: DomainWorld) -> None:
    domain = await world.verified()
    inbox = await world.maild.inbox("bot", domain=NAME)
    await world.delete(domain)
    again = await world.register()
    assert (await world.api.send(inbox)).code == "domain_not_verified"
    world.zone.add(
        record_of(again, "ownership")["name"], "TXT", f'"{record_of(again, "ownership")["value"]}"'
    )
    assert (await world.verify(again))["status"] == "active"
    assert (await world.maild.received(inbox, MAIL))["subject"] == "hello"
    await message(world, (await world.api.send(inbox)).data["id"], "delivered")
