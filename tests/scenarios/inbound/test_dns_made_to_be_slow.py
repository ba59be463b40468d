"""A sender's DNS hangs for every name, lies, answers with 64 KiB, goes round in circles: his mail alone waits, and not
for long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import dns.message
import pytest

from conf.tuning import SmtpTuning, Tuning
from maild.resolver import QUERIES_IN_FLIGHT
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import until, until_true
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sender_world import SenderWorld, mail_from

DEADLINE_S = 0.3
FAR_S = 600
QUESTIONS = [("slow.test", "TXT"), ("_dmarc.slow.test", "TXT"), ("rsa._domainkey.slow.test", "TXT")]
HERE = "ip4:127.0.0.1 -all"


@pytest.fixture
async def dns_server() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


async def begin(start: Start, dns_server: DnsServer, deadline_s: float = FAR_S) -> SenderWorld:
    """Nothing but this deadline ends a look-up."""
    maild = await start(
        dns={"nameservers": [f"127.0.0.1:{dns_server.port}"]},
        tuning=Tuning(smtp=SmtpTuning(auth_deadline_s=deadline_s)),
    )
    return SenderWorld(maild, dns_server, await maild.inbox("bot"))


@pytest.fixture
async def world(start: Start, dns_server: DnsServer) -> SenderWorld:
    return await begin(start, dns_server)


@pytest.fixture
async def hasty(start: Start, dns_server: DnsServer) -> SenderWorld:
    """Where no answer comes in time, however fast the machine is."""
    return await begin(start, dns_server, DEADLINE_S)


def slow_mail(world: SenderWorld) -> bytes:
    slow = world.domain("slow.test", dmarc="p=reject", spf=HERE)
    return slow.sign(mail_from("info@slow.test"))


def hang(world: SenderWorld) -> None:
    world.dns.drop.update({"slow.test", "*.slow.test"})


def asking() -> set[str]:
    """What the judge has not found out yet."""
    at_work = {task.get_coro().__name__ for task in asyncio.all_tasks()}  # type: ignore[union-attr]
    return at_work & {"_spf", "_policies", "_key"}


async def deadline_comes(world: SenderWorld, *still_asked: str) -> None:
    """As soon as nothing but this is missing."""
    await until_true(lambda: asking() == {*still_asked})
    (deadline,) = world.maild.daemon.listener._patience._waits
    deadline.reschedule(asyncio.get_running_loop().time())


def auth(message: dict[str, Any]) -> tuple[str | None, ...]:
    return tuple(message["auth"][name] for name in ("spf", "dkim", "dmarc", "verifiedDomain"))


async def test_it_is_taken_at_the_deadline_and_proves_nothing(hasty: SenderWorld) -> None:
    raw = slow_mail(hasty)
    hang(hasty)
    message = await hasty.judged(raw, "x@slow.test")
    assert auth(message) == ("temperror", "temperror", "temperror", None)
    assert not message["isSpam"]


async def test_what_came_in_time_counts(world: SenderWorld) -> None:
    raw = slow_mail(world)
    world.dns.drop.add("slow.test")  # its SPF record alone
    judging = asyncio.create_task(world.judged(raw, "x@slow.test"))
    await deadline_comes(world, "_spf")
    assert auth(await judging) == ("temperror", "pass", "pass", "slow.test")


async def test_other_mail_goes_on_and_a_stop_ends_it(start: Start, dns_server: DnsServer) -> None:
    world = await begin(start, dns_server)
    raw = slow_mail(world)
    hang(world)
    bank = world.domain("bank.test", dmarc="p=reject", spf=HERE)
    to = world.bot["address"]
    waiting = [asyncio.create_task(world.maild.deliver(to, raw, f"x@a{n}.slow.test")) for n in range(40)]

    async def asked() -> bool | None:
        return all(dns_server.queries[one] for one in QUESTIONS[1:]) or None

    await until(asked)
    for number in range(5):
        signed = bank.sign(mail_from("info@bank.test", b"Subject: %d\r\n\r\nhi\r\n" % number))
        assert auth(await world.judged(signed, "x@bank.test")) == ("pass", "pass", "pass", "bank.test")
    assert not any(one.done() for one in waiting)
    world.maild.daemon.listener._patience.end()  # as its stop does, once sessions have had their time
    async with asyncio.timeout(GIVES_UP_S):
        assert set(await asyncio.gather(*waiting)) == {"421 4.3.2 service is shutting down, try again later"}
    assert len(await world.maild.api.messages()) == 5


async def test_who_uses_up_all_questions_is_nobody_else(world: SenderWorld) -> None:
    """A policy that could not be asked for is not one that says nothing."""
    world.domain("bank.test", dmarc="p=reject", spf="-all")
    async with no_questions(world):
        refusing = asyncio.create_task(world.refused(mail_from("info@bank.test"), "x@bank.test"))
        await deadline_comes(world, "_spf", "_policies")
        assert await refusing == "451 4.3.2 too many questions to DNS at the moment, try again later"
    assert (await world.refused(mail_from("info@bank.test"), "x@bank.test")).startswith("550 5.7.1 ")


async def test_nor_where_the_policy_is_known_and_not_whose_the_domain_is(world: SenderWorld) -> None:
    world.dns.negative_ttl = 0  # so that there is none above the domain has to be asked each time
    world.domain("bank.test", dmarc="p=reject", spf="-all")
    world.domain("evil.test", spf=HERE)
    assert (await world.refused(mail_from("info@bank.test"), "x@evil.test")).startswith("550 5.7.1 ")
    async with no_questions(world):
        refusing = asyncio.create_task(world.refused(mail_from("info@bank.test"), "x@evil.test"))
        await deadline_comes(world, "_policies")
        assert await refusing == "451 4.3.2 too many questions to DNS at the moment, try again later"


@asynccontextmanager
async def no_questions(world: SenderWorld) -> AsyncIterator[None]:
    """All places for questions are taken meanwhile."""
    resolver = world.maild.daemon._resolver
    assert resolver is not None
    names = [f"d{number}.test" for number in range(QUERIES_IN_FLIGHT)]
    world.dns.drop.update(names)
    hanging = [asyncio.create_task(resolver.txt(name)) for name in names]

    await until_true(lambda: resolver.is_exhausted)
    yield
    await resolver.close()  # nobody asks these any more
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_a_nameserver_that_lies_is_one_that_fails(hasty: SenderWorld) -> None:
    raw = slow_mail(hasty)

    def another_s(query: dns.message.Message) -> list[bytes]:
        return [dns.message.make_response(dns.message.make_query("bank.test.", "TXT")).to_wire()]

    for name, _ in QUESTIONS:
        hasty.dns.forge[name] = another_s
    hasty.dns.forge["_dmarc.slow.test"] = lambda query: [b"\x00" * 12, b"garbage", query.to_wire()]
    message = await hasty.judged(raw, "x@slow.test")
    assert auth(message) == ("temperror", "temperror", "temperror", None)


async def test_records_of_64_kib_are_no_records(world: SenderWorld) -> None:
    raw = slow_mail(world)
    huge = " ".join(f'"{"x" * 255}"' for _ in range(250))
    for (name, kind), begins in zip(
        QUESTIONS, ('"v=spf1 " ', '"v=DMARC1; p=reject; " ', '"v=DKIM1; p=" '), strict=True
    ):
        world.dns.records[name, kind] = [begins + huge]
        world.dns.truncate.add(name)
    assert auth(await world.judged(raw, "x@slow.test")) == ("permerror", "permerror", "none", None)


async def test_names_that_go_round_in_circles(world: SenderWorld) -> None:
    raw = slow_mail(world)
    for name, kind in QUESTIONS:
        del world.dns.records[name, kind]
        world.dns.add(name, "CNAME", f"back.{name}.")
        world.dns.add(f"back.{name}", "CNAME", f"{name}.")
    assert auth(await world.judged(raw, "x@slow.test")) == ("temperror", "temperror", "temperror", None)
    assert sum(world.dns.queries.values()) <= 12


async def test_a_client_that_went_away_meanwhile_is_no_failure(
    start: Start, dns_server: DnsServer, capsys: pytest.CaptureFixture[str]
) -> None:
    world = await begin(start, dns_server)
    hang(world)
    listener = world.maild.daemon.listener
    talk = await world.maild.smtp()
    await talk.begin(world.bot["address"], "x@slow.test")
    await talk.write(slow_mail(world) + b".\r\n")

    async def asked() -> bool | None:
        return bool(dns_server.queries[QUESTIONS[1]]) or None

    async def gone() -> bool | None:
        return not (listener._sessions or listener._committing) or None

    await until(asked)
    (session,) = listener._sessions
    session._cut_off()  # as for one who has not read our last reply in time
    listener._patience.end()
    await until(gone)
    said = capsys.readouterr().out
    assert "disconnected" in said and "session_failed" not in said
