"""Routes: RFC 5321 §5.1 and its refusals."""

import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from conf.loading import parse
from conf.strangers import StrangerLog
from maild.outbound.routing.host_groups import HostGroups
from maild.outbound.routing.relays import RelayHost
from maild.outbound.routing.route import HOSTS_MAX, Hop, RouteError, Router
from maild.outbound.tls.receiver_policies import ReceiverPolicies
from maild.resolver import Resolver
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.store import ManualClock


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


def router(dns: DnsServer, smtp: tuple[str, ...] = ("0.0.0.0:25",), **outbound: Any) -> Router:
    settings = parse(
        {"server": {"hostname": "mail.ours.test"}, "smtp": {"listen": list(smtp)}, "outbound": outbound}
    )
    clock = ManualClock()
    policies = ReceiverPolicies({}, None, None, StrangerLog(clock.monotonic))
    return Router(settings, Resolver(dns.settings, clock), policies, HostGroups({}), random.Random(1))


async def hops(router: Router, domain: str, sender_domain: str = "ours.test") -> list[Hop]:
    return [hop async for hop in router.hops(domain, sender_domain, lambda host, why: None)]


async def refusal(router: Router, domain: str) -> tuple[int, str]:
    with pytest.raises(RouteError) as caught:
        await hops(router, domain)
    return caught.value.code, caught.value.enhanced


async def test_by_preference_and_at_random_among_equals(dns: DnsServer) -> None:
    for number in range(4):
        dns.add_mx("x.test", f"8.8.4.{number}", f"m{number}.x.test", 20 if number else 5)
    orders = {tuple(hop.host for hop in await hops(router(dns), "x.test"))[1:] for _ in range(1)}
    one = router(dns)
    orders |= {tuple(hop.host for hop in await hops(one, "x.test"))[1:] for _ in range(20)}
    assert len(orders) > 1
    assert (await hops(one, "x.test"))[0] == Hop("m0.x.test", "8.8.4.0", 25, group="m0.x.test")


async def test_the_address_itself_where_there_is_no_mx(dns: DnsServer) -> None:
    dns.add("x.test", "A", "8.8.8.8")
    dns.add("x.test", "AAAA", "2001:4860:4860::8888")
    assert [hop.address for hop in await hops(router(dns), "x.test")] == ["8.8.8.8", "2001:4860:4860::8888"]


@pytest.mark.parametrize(
    ("versions", "tried"),
    [
        ("both", ["8.8.8.8", "2001:4860:4860::8888"]),
        ("ipv4", ["8.8.8.8"]),
        ("ipv6", ["2001:4860:4860::8888"]),
    ],
)
async def test_addresses_are_of_the_versions_that_the_operator_wants(
    dns: DnsServer, versions: str, tried: list[str]
) -> None:
    dns.add_mx("x.test", "8.8.8.8", "mx.x.test")
    dns.add("mx.x.test", "AAAA", "2001:4860:4860::8888")
    assert [hop.address for hop in await hops(router(dns, ip_versions=versions), "x.test")] == tried
    relayed = router(dns, ip_versions=versions, relay="mx.x.test:25")
    assert [hop.address for hop in await hops(relayed, "elsewhere.test")] == tried


async def test_a_host_without_such_an_address_is_told_as_that(dns: DnsServer) -> None:
    dns.add("x.test", "AAAA", "2001:4860:4860::8888")
    assert await refusal(router(dns, ip_versions="ipv4"), "x.test") == (550, "5.4.4")
    # The operator's own choice of a smarthost never fails mail for good.
    relayed = router(dns, ip_versions="ipv4", relay="x.test:25")
    assert await refusal(relayed, "elsewhere.test") == (451, "4.4.3")


async def test_many_addresses_of_one_version_do_not_hide_the_other(dns: DnsServer) -> None:
    """A host with IPv6 alone would never reach one with three IPv4 addresses."""
    for number in range(5):
        dns.add("x.test", "A", f"8.8.8.{number}")
    dns.add("x.test", "AAAA", "2001:4860:4860::8888")
    tried = [hop.address for hop in await hops(router(dns), "x.test")]
    assert (len(tried), tried[-1]) == (3, "2001:4860:4860::8888")


async def test_a_cname_is_followed(dns: DnsServer) -> None:
    dns.add("alias.test", "CNAME", "x.test.")
    dns.add_mx("x.test", "8.8.8.8")
    assert [hop.host for hop in await hops(router(dns), "alias.test")] == ["mx.x.test"]


async def test_a_few_hosts_of_many(dns: DnsServer) -> None:
    for number in range(40):
        dns.add_mx("x.test", "8.8.8.8", f"m{number}.x.test")
    assert len(await hops(router(dns), "x.test")) == HOSTS_MAX


async def test_refusals(dns: DnsServer) -> None:
    dns.add("null.test", "MX", "0 .")
    dns.add("nothing.test", "TXT", '"x"')
    dns.add("dangling.test", "MX", "10 nowhere.test.")
    dns.servfail.add("broken.test")
    one = router(dns)
    assert await refusal(one, "null.test") == (556, "5.1.10")
    assert await refusal(one, "missing.test") == (550, "5.1.2")
    assert await refusal(one, "nothing.test") == (550, "5.4.4")
    assert await refusal(one, "dangling.test") == (550, "5.4.4")
    assert await refusal(one, "broken.test") == (451, "4.4.3")
    assert await refusal(one, "[192.0.2.1]") == (550, "5.1.2")


async def test_who_is_passed_over_is_told(dns: DnsServer) -> None:
    dns.add("x.test", "MX", "10 nowhere.test.", "20 mx2.test.", "30 mx3.test.")
    dns.add("mx2.test", "A", "10.0.0.1")
    dns.add("mx3.test", "A", "8.8.8.8")
    told: list[tuple[str, str]] = []
    found = router(dns).hops("x.test", "ours.test", lambda host, why: told.append((host, why)))
    assert [hop.host async for hop in found] == ["mx3.test"]
    assert told == [
        ("nowhere.test", "mail host nowhere.test has no address"),
        ("mx2.test", "mail host mx2.test has no public address"),
    ]


async def test_an_unanswered_host_makes_the_refusal_temporary(dns: DnsServer) -> None:
    dns.add("x.test", "MX", "10 nowhere.test.", "20 mx2.test.")
    dns.servfail.add("mx2.test")
    assert await refusal(router(dns), "x.test") == (451, "4.4.3")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "169.254.1.1", "::1", "100.64.0.1",
        "168.63.129.16", "64:ff9b::808:808", "192.88.99.1", "192.0.0.10", "2001::1",
    ],
)  # fmt: skip
async def test_private_addresses_are_never_tried(dns: DnsServer, address: str) -> None:
    dns.add_mx("x.test", address)
    assert await refusal(router(dns), "x.test") == (550, "5.4.4")
    assert [hop.address for hop in await hops(router(dns, allow_private_networks=True), "x.test")] == [
        address
    ]


async def test_private_ones_among_public_ones_are_left_out(dns: DnsServer) -> None:
    dns.add_mx("x.test", "10.0.0.1")
    dns.add("mx.x.test", "A", "8.8.8.8")
    assert [hop.address for hop in await hops(router(dns), "x.test")] == ["8.8.8.8"]


async def test_mail_does_not_loop(dns: DnsServer) -> None:
    dns.add_mx("best.test", "8.8.8.8", "mail.ours.test", 10)
    dns.add_mx("second.test", "8.8.8.8", "mail.ours.test", 10)
    dns.add_mx("second.test", "8.8.4.4", "first.second.test", 5)
    dns.add_mx("second.test", "8.8.4.5", "third.second.test", 20)
    one = router(dns)
    assert await refusal(one, "best.test") == (550, "5.4.6")
    assert [hop.host for hop in await hops(one, "second.test")] == ["first.second.test"]
    dns.add_mx("address.test", "127.0.0.1")
    ours = router(dns, smtp=("127.0.0.1:25",), allow_private_networks=True)
    assert await refusal(ours, "address.test") == (550, "5.4.6")


async def test_a_smarthost_takes_everything(dns: DnsServer) -> None:
    dns.add("relay.test", "A", "10.0.0.9")
    assert await hops(router(dns, relay="10.0.0.8:2525"), "any.test") == [
        Hop("10.0.0.8", "10.0.0.8", 2525, RelayHost("", "10.0.0.8", 2525), group="relay:10.0.0.8")
    ]
    assert await refusal(router(dns, relay="gone.test:25"), "any.test") == (451, "4.4.3")
    assert [hop.address for hop in await hops(router(dns, relay="relay.test:25"), "any.test")] == ["10.0.0.9"]
