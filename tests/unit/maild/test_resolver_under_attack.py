"""Answers that a hostile owner of a name, or a forger, may send: the four outcomes, and bounds on memory and work."""

import asyncio
import random
import struct
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import dns.message
import dns.rdatatype
import dns.rrset
import pytest

from maild import resolver as resolver_module
from maild.resolver import (
    QUERIES_IN_FLIGHT,
    QUERIES_PER_DOMAIN,
    QUERIES_PER_REGISTRY,
    DnsError,
    DnsTemporary,
    NoAnswer,
    NxDomain,
    Resolver,
)
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock


async def test_one_family_and_the_names_of_an_address() -> None:
    async with DnsServer() as zone:
        zone.add("host.test", "A", "192.0.2.1")
        zone.add("four.test", "A", "192.0.2.4")
        zone.add("host.test", "AAAA", "2001:db8::1")
        zone.add("1.2.0.192.in-addr.arpa", "PTR", "Host.test.", "other.test.")
        six = IPv6Address("2001:db8::1")
        zone.add(six.reverse_pointer, "PTR", "host.test.")
        resolver = Resolver(zone.settings, ManualClock())
        assert await resolver.ipv4("Host.test.") == ["192.0.2.1"]
        assert await resolver.ipv6("host.test") == ["2001:db8::1"]
        assert sorted(await resolver.ptr(IPv4Address("192.0.2.1"))) == ["host.test", "other.test"]
        assert await resolver.ptr(six) == ["host.test"]
        with pytest.raises(NoAnswer):
            await resolver.ipv6("four.test")
        with pytest.raises(NxDomain):
            await resolver.ipv4("missing.test")
        zone.servfail.add(("host.test", "MX"))
        with pytest.raises(DnsTemporary):
            await resolver.mx("host.test")


REVERSE = IPv4Address("10.1.2.3").reverse_pointer


@pytest.mark.parametrize(
    ("one", "other", "hangs_too"),
    [
        ("n{}.hangs.test", "there.test", False),
        ("n{}.hangs.co.uk", "there.co.uk", False),
        ("n{}.hangs.co.uk", "there.hangs.co.uk", True),
        ("{}." + REVERSE, IPv4Address("10.1.77.1").reverse_pointer, True),
        ("{}." + REVERSE, IPv4Address("10.2.2.3").reverse_pointer, False),
        (
            "{}." + IPv6Address("2001:db8::1").reverse_pointer,
            IPv6Address("2001:db9::1").reverse_pointer,
            False,
        ),
        (
            "{}." + IPv6Address("2001:db8::1").reverse_pointer,
            IPv6Address("2001:db8:ff::").reverse_pointer,
            True,
        ),
    ],
)
async def test_whose_names_wait_for_a_domain_that_hangs(one: str, other: str, hangs_too: bool) -> None:
    async with DnsServer() as zone:
        names = [one.format(number) for number in range(QUERIES_PER_DOMAIN)]
        zone.drop |= set(names)
        resolver = Resolver(zone.settings, ManualClock())
        hanging = [asyncio.create_task(resolver.txt(name)) for name in names]
        while len(zone.queries) < len(names):
            await asyncio.wait_for(zone.asked.wait(), GIVES_UP_S)
            await asyncio.sleep(0)
        zone.add(other, "TXT", "there")
        asked = asyncio.create_task(resolver.txt(other))
        if not hangs_too:
            assert await asked == [b"there"]
        assert not any(task.done() for task in hanging)
        assert zone.queries[other, "TXT"] == (not hangs_too)
        zone.drop.clear()
        await asyncio.gather(asked, *hanging, return_exceptions=True)
        assert not resolver._shares


async def test_one_owner_of_what_looks_like_a_registry_has_half_of_the_queries() -> None:
    async with DnsServer() as zone:
        names = [f"n.d{number}.xyz.io" for number in range(QUERIES_IN_FLIGHT * 2)]
        zone.drop |= set(names)
        zone.add("there.test", "TXT", "there")
        resolver = Resolver(zone.settings, ManualClock())
        hanging = [asyncio.create_task(resolver.txt(name)) for name in names]
        await asyncio.sleep(0)
        assert await resolver.txt("there.test") == [b"there"]
        assert sum(zone.queries[name, "TXT"] > 0 for name in names) <= QUERIES_PER_REGISTRY
        zone.drop.clear()
        await asyncio.gather(*hanging, return_exceptions=True)


async def test_a_record_of_64_kib_with_any_octets_comes_whole() -> None:
    octets = bytes(range(256)) * 250
    pieces = [octets[at : at + 255] for at in range(0, len(octets), 255)]
    texts = ['"' + "".join(f"\\{octet:03d}" for octet in piece) + '"' for piece in pieces]
    async with DnsServer() as zone:
        zone.add("big.test", "TXT", " ".join(texts))
        # The server of the test takes a while to write it.
        resolver = Resolver(replace(zone.settings, timeout_s=10), ManualClock())
        assert await resolver.txt("big.test") == [octets]


async def test_cnames_in_a_circle_and_into_nothing() -> None:
    async with DnsServer() as zone:
        zone.add("a.test", "CNAME", "b.test.")
        zone.add("b.test", "CNAME", "a.test.")
        zone.add("lost.test", "CNAME", "missing.test.")
        resolver = Resolver(zone.settings, ManualClock())
        with pytest.raises(DnsTemporary):
            await resolver.txt("a.test")
        with pytest.raises(NxDomain):
            await resolver.txt("lost.test")


async def test_a_nameserver_that_hangs_over_tcp_is_silence() -> None:
    async with DnsServer() as zone:
        zone.truncate.add("x.test")
        zone.forge["x.test"] = lambda query: []
        with pytest.raises(DnsTemporary):
            await Resolver(replace(zone.settings, timeout_s=1), ManualClock()).txt("x.test")


def _forged(query: dns.message.Message, text: str, id_: int | None = None, name: str = "") -> bytes:
    response = dns.message.make_response(dns.message.make_query(name, "TXT") if name else query)
    response.id = query.id if id_ is None else id_
    response.answer.append(dns.rrset.from_text(response.question[0].name, 300, "IN", "TXT", text))
    return response.to_wire()


async def test_the_true_answer_is_waited_for_behind_forged_ones() -> None:
    def answers(query: dns.message.Message) -> list[bytes]:
        return [
            b"",
            b"\xff" * 40,
            _forged(query, "false", id_=query.id ^ 1),
            _forged(query, "false", name="other.test"),
            query.to_wire(),  # a question is no answer
            _forged(query, "true"),
        ]

    async with DnsServer() as zone:
        zone.forge["x.test"] = answers
        assert await Resolver(zone.settings, ManualClock()).txt("x.test") == [b"true"]


@pytest.mark.parametrize(
    "tail", [b"", b"\x00" * 5, b"\xc0\x0c", b"\xc0\xff" * 30, b"\x3f" * 80, b"\x80" * 300]
)
async def test_an_answer_that_breaks_off_is_temporary(tail: bytes) -> None:
    def answers(query: dns.message.Message) -> list[bytes]:
        asked = query.to_wire()
        section = asked[12 : asked.index(b"\x00", 12) + 5]
        return [struct.pack("!6H", query.id, 0x8180, 1, 3, 0, 0) + section + tail]

    async with DnsServer() as zone:
        zone.forge["x.test"] = answers
        for over_tcp in (False, True):
            if over_tcp:
                zone.truncate.add("x.test")
            with pytest.raises(DnsTemporary):
                await Resolver(zone.settings, ManualClock()).txt("x.test")


@pytest.mark.parametrize("rdtype", ["mx", "ipv4", "ipv6", "txt"])
async def test_damaged_answers_raise_nothing_but_our_errors(rdtype: str) -> None:
    seeded = random.Random(7)

    def damage(query: dns.message.Message) -> list[bytes]:
        response = dns.message.make_response(query)
        question = query.question[0]
        texts = {"MX": "1 a.b.x.test.", "A": "192.0.2.1", "AAAA": "2001:db8::1", "TXT": '"some text"'}
        for owner in (question.name, "y.test."):
            kind = dns.rdatatype.to_text(question.rdtype)
            response.answer.append(dns.rrset.from_text(owner, 9, "IN", kind, texts[kind]))
        wire = bytearray(response.to_wire())
        for _ in range(seeded.randint(1, 4)):
            wire[seeded.randrange(len(query.to_wire()) - 11, len(wire))] = seeded.randrange(256)
        return [bytes(wire[: seeded.choice((len(wire), seeded.randint(30, len(wire))))])]

    async with DnsServer() as zone:
        zone.forge = {f"{number}.x.test": damage for number in range(200)}
        resolver = Resolver(zone.settings, ManualClock())
        outcomes = set()
        for name in zone.forge:
            try:
                await getattr(resolver, rdtype)(name)
                outcomes.add("answer")
            except DnsError as error:
                outcomes.add(type(error).__name__)
        assert {"answer", "DnsTemporary"} <= outcomes


@pytest.mark.parametrize(
    "name", ["x" * 100_000, "\\046" * 5000, "ü" * 300, "a\\", "\\999.test", "\ud800.test"]
)
async def test_what_is_no_name_is_not_asked_for_and_not_kept(name: str) -> None:
    async with DnsServer() as zone:
        resolver = Resolver(zone.settings, ManualClock())
        with pytest.raises(NxDomain):
            await resolver.txt(name)
        assert not zone.queries
        assert not resolver._cache


async def test_the_cache_is_bounded_by_octets_and_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver_module, "CACHE_OCTETS", 100_000)
    async with DnsServer() as zone:
        text = " ".join(['"' + "x" * 250 + '"'] * 100)
        for number in range(8):
            zone.add(f"{number}.test", "TXT", text, ttl=10 if number == 7 else 300)
        clock = ManualClock()
        resolver = Resolver(zone.settings, clock)
        for number in range(8):
            await resolver.txt(f"{number}.test")
        assert [name for name, _ in resolver._cache] == ["5.test", "6.test", "7.test"]
        assert 75_000 < resolver._cached_octets <= 100_000
        clock.forward(11)
        await resolver.txt("7.test")  # put in the place of the one that ran out
        assert resolver._cached_octets == sum(entry.octets for entry in resolver._cache.values())
        assert len(resolver._cache) == 3
