"""The resolver: four outcomes, one query for equal questions, a cache by TTL."""

import asyncio
from dataclasses import replace

import pytest

from conf.settings import Dns
from maild.dns_client import SILENT_S
from maild.resolver import (
    FAILURE_TTL_S,
    QUERIES_IN_FLIGHT,
    QUERIES_PER_DOMAIN,
    DnsTemporary,
    Mx,
    NoAnswer,
    NotAtHand,
    NxDomain,
    Resolver,
)
from storage.clock import Clock
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock


async def test_the_four_outcomes_are_kept_apart() -> None:
    async with DnsServer() as dns:
        dns.add_mx("x.test")
        dns.add("empty.test", "TXT", '"v=spf1 " "-all"')
        dns.servfail.add("broken.test")
        dns.drop.add("silent.test")
        resolver = Resolver(dns.settings, ManualClock())
        assert await resolver.mx("x.test") == [Mx(10, "mx.x.test")]
        assert await resolver.txt("EMPTY.test.") == [b"v=spf1 -all"]
        with pytest.raises(NoAnswer):
            await resolver.mx("empty.test")
        with pytest.raises(NxDomain):
            await resolver.mx("missing.test")
        hasty = Resolver(replace(dns.settings, timeout_s=1), ManualClock())
        for one, name in ((resolver, "broken.test"), (hasty, "silent.test")):
            with pytest.raises(DnsTemporary):
                await one.mx(name)


async def test_both_families_and_a_cname() -> None:
    async with DnsServer() as dns:
        dns.add("host.test", "A", "192.0.2.1")
        dns.add("host.test", "AAAA", "2001:db8::1")
        dns.add("alias.test", "CNAME", "host.test.")
        resolver = Resolver(dns.settings, ManualClock())
        assert await resolver.addresses("alias.test") == ["192.0.2.1", "2001:db8::1"]
        assert [await resolver.alias_of(name) for name in ("ALIAS.test.", "host.test")] == ["host.test", None]
        assert await resolver.alias_of("missing.test") is None


async def test_one_family_in_trouble_does_not_hide_the_other() -> None:
    async with DnsServer() as dns:
        dns.add("four.test", "A", "192.0.2.1")
        resolver = Resolver(dns.settings, ManualClock())
        assert await resolver.addresses("four.test") == ["192.0.2.1"]
        with pytest.raises(NxDomain):
            await resolver.addresses("missing.test")


async def test_a_truncated_answer_is_asked_for_again_over_tcp() -> None:
    async with DnsServer() as dns:
        dns.add("big.test", "TXT", *[f'"{number:0200}"' for number in range(20)])
        dns.truncate.add("big.test")
        assert len(await Resolver(dns.settings, ManualClock()).txt("big.test")) == 20


async def test_equal_questions_make_one_query_and_survive_a_cancelled_asker() -> None:
    async with DnsServer() as dns:
        dns.add_mx("x.test")
        dns.hold = asyncio.Event()
        resolver = Resolver(dns.settings, ManualClock())
        askers = [asyncio.create_task(resolver.mx("x.test")) for _ in range(50)]
        await dns.asked.wait()
        askers[0].cancel()
        dns.hold.set()
        answers = await asyncio.gather(*askers[1:])
        assert answers == [[Mx(10, "mx.x.test")]] * 49
        assert dns.queries["x.test", "MX"] == 1


async def test_a_domain_whose_nameservers_hang_holds_up_its_own_names_alone() -> None:
    async with DnsServer() as dns:
        names = [f"n{number}.hangs.test" for number in range(QUERIES_IN_FLIGHT * 2)]
        dns.drop |= set(names)
        dns.add_mx("x.there.test")
        resolver = impatient(dns.settings)
        hanging = [asyncio.create_task(resolver.mx(name)) for name in names]
        await asyncio.sleep(0)
        assert await resolver.mx("x.there.test") == [Mx(10, "mx.x.there.test")]
        assert sum(dns.queries[name, "MX"] > 0 for name in names) <= QUERIES_PER_DOMAIN
        assert not any(task.done() for task in hanging)
        dns.drop.clear()  # the rest is told that there is no such name
        found = await asyncio.gather(*hanging, return_exceptions=True)
        assert {type(one) for one in found} <= {DnsTemporary, NxDomain}
        assert not resolver._shares


async def test_answers_are_kept_for_their_ttl_and_failures_not_at_all() -> None:
    async with DnsServer() as dns:
        dns.add("x.test", "MX", "10 mx.x.test.", ttl=300)
        dns.negative_ttl = 60
        clock = ManualClock()
        resolver = Resolver(dns.settings, clock)

        async def ask() -> None:
            await resolver.mx("x.test")
            with pytest.raises(NxDomain):
                await resolver.mx("missing.test")

        for seconds, positive, negative in ((0, 1, 1), (59, 1, 1), (2, 1, 2), (240, 2, 3)):
            clock.forward(seconds)
            await ask()
            assert (dns.queries["x.test", "MX"], dns.queries["missing.test", "MX"]) == (positive, negative)

        dns.servfail.add("broken.test")
        with pytest.raises(DnsTemporary):
            await resolver.mx("broken.test")
        dns.servfail.clear()
        dns.add_mx("broken.test")
        with pytest.raises(DnsTemporary):  # RFC 9520 §3.2: a failure holds for a moment, and no longer
            await resolver.mx("broken.test")
        clock.forward(FAILURE_TTL_S)
        assert await resolver.mx("broken.test")


async def test_what_is_at_hand_needs_no_nameserver() -> None:
    async with DnsServer() as dns:
        dns.add("x.test", "TXT", '"words"')
        resolver = Resolver(dns.settings, ManualClock())
        with pytest.raises(NotAtHand):
            await resolver.at_hand.txt("x.test")
        await resolver.txt("x.test")
        with pytest.raises(NxDomain):
            await resolver.txt("missing.test")
        assert await resolver.at_hand.txt("X.test.") == [b"words"]
        with pytest.raises(NxDomain):
            await resolver.at_hand.txt("missing.test")
        assert dns.queries["x.test", "TXT"] == 1


@pytest.mark.parametrize(
    "name", ["a" * 64 + ".test", "a..test", ".".join(["abcdefgh"] * 40), "\x00", "a b", ""]
)
async def test_odd_names_raise_nothing_but_our_errors(name: str) -> None:
    async with DnsServer() as dns:
        with pytest.raises((NxDomain, NoAnswer)):
            await Resolver(dns.settings, ManualClock()).mx(name)


async def test_no_nameserver_within_reach_is_temporary() -> None:
    resolver = Resolver(Dns(nameservers=("127.0.0.1:1",), timeout_s=1), ManualClock())
    with pytest.raises(DnsTemporary):
        await resolver.mx("x.test")


@pytest.mark.parametrize("trouble", ["dead", "silent", "servfail", "garbage"])
async def test_the_next_nameserver_answers_for_one_in_trouble(trouble: str) -> None:
    async with DnsServer() as first, DnsServer() as second:
        second.add_mx("x.test")
        first.drop |= {"x.test"} if trouble == "silent" else set()
        first.servfail |= {"x.test"} if trouble == "servfail" else set()
        if trouble == "garbage":
            header = b"\x81\x80\x00\x01\x00\x09"  # an answer of nine records, of which none follows
            first.forge["x.test"] = lambda query: [query.to_wire()[:2] + header + query.to_wire()[8:]]
        port = 1 if trouble == "dead" else first.port
        settings = replace(both(first, second), nameservers=(f"127.0.0.1:{port}", f"127.0.0.1:{second.port}"))
        assert await impatient(settings).mx("x.test") == [Mx(10, "mx.x.test")]


async def test_an_answer_that_comes_after_its_try_counts() -> None:
    """A line that is full, or a nameserver that needs five seconds, is slow for each question alike."""
    async with DnsServer() as slow:
        slow.add_mx("x.test")
        first = slow.hold = asyncio.Event()
        resolver = impatient(slow.settings)
        asking = asyncio.create_task(resolver.mx("x.test"))
        await slow.asked.wait()
        slow.asked.clear()
        slow.hold = asyncio.Event()
        await slow.asked.wait()  # it is asked again
        first.set()  # and answers what it was asked first
        assert await asking == [Mx(10, "mx.x.test")]


def both(first: DnsServer, second: DnsServer) -> Dns:
    return Dns(nameservers=tuple(f"127.0.0.1:{one.port}" for one in (first, second)), timeout_s=GIVES_UP_S)


def impatient(settings: Dns, clock: Clock | None = None) -> Resolver:
    """A try is over in a moment, the question is not."""
    resolver = Resolver(settings, clock or ManualClock())
    resolver._client._try_s = 0.05
    return resolver


async def test_one_of_two_nameservers_that_is_dead_costs_one_question_its_try() -> None:
    """Else each of a message's look-ups waits for it, and they have no time left for the answers."""
    clock = ManualClock()
    async with DnsServer() as dead, DnsServer() as second:
        dead.drop.add("*.test")
        for number in range(20):
            second.add(f"x{number}.test", "A", "192.0.2.1")
            dead.add(f"x{number}.test", "A", "192.0.2.1")
        resolver = impatient(both(dead, second), clock)
        await resolver.ipv4("x0.test")
        resolver._client._try_s = GIVES_UP_S
        for number in range(1, 10):
            await resolver.ipv4(f"x{number}.test")
        assert dead.queries.total() == 1
        clock.forward(SILENT_S)
        dead.drop.clear()  # it is back, and who is named first is asked first
        for number in range(10, 20):
            await resolver.ipv4(f"x{number}.test")
        assert dead.queries.total() == 11 and second.queries.total() == 10


async def test_one_question_at_a_time_finds_out_whether_a_nameserver_is_back() -> None:
    clock = ManualClock()
    async with DnsServer() as dead, DnsServer() as second:
        dead.drop.add("*.test")
        for number in range(11):
            second.add(f"x{number}.test", "A", "192.0.2.1")
        resolver = impatient(both(dead, second), clock)
        await resolver.ipv4("x0.test")
        resolver._client._try_s = GIVES_UP_S
        clock.forward(SILENT_S)
        asking = {asyncio.create_task(resolver.ipv4(f"x{number}.test")) for number in range(1, 11)}
        while len(asking) > 1:
            _, asking = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
        assert dead.queries.total() == 2
        asking.pop().cancel()


async def test_names_that_no_nameserver_answers_for_put_none_behind_a_dead_one_for_long() -> None:
    """Anybody can have names whose servers hang; the nameserver says as little as if it were dead itself."""
    async with DnsServer() as dead, DnsServer() as second:
        dead.drop.add("*.test")
        second.drop.add("*.hangs.test")
        for number in range(5):
            second.add(f"x{number}.test", "A", "192.0.2.1")
        resolver = impatient(replace(both(dead, second), timeout_s=1))
        with pytest.raises(DnsTemporary):
            await resolver.ipv4("a.hangs.test")
        resolver._timeout_s = GIVES_UP_S
        await resolver.ipv4("x0.test")
        resolver._client._try_s = GIVES_UP_S
        for number in range(1, 5):
            await resolver.ipv4(f"x{number}.test")
        assert sum(dead.queries[f"x{number}.test", "A"] for number in range(5)) <= 1


async def test_a_question_that_got_lost_is_asked_again() -> None:
    async with DnsServer() as dns:
        dns.add_mx("x.test")
        dns.drop.add("x.test")
        asking = asyncio.create_task(impatient(dns.settings).mx("x.test"))
        await dns.asked.wait()
        dns.drop.clear()
        assert await asking == [Mx(10, "mx.x.test")]
