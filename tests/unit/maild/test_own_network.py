"""Whose fault is it that a host was not reached: its own, or that of this host's network?"""

from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from conf.settings import Dns
from maild.own_network import OwnNetwork
from maild.resolver import HEARD_LATELY_S, DnsTemporary, Resolver
from maild.ways import ANYWHERE_V4, ANYWHERE_V6
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.store import ManualClock

THERE = "192.0.2.7"


def own_network(dns: Dns, ways: Sequence[str] = (), clock: ManualClock | None = None) -> OwnNetwork:
    return OwnNetwork(Resolver(dns, clock or ManualClock()), lambda address: address in ways)


@pytest.mark.parametrize(
    ("ways", "is_away"),
    [((), True), ((ANYWHERE_V4,), False), ((ANYWHERE_V6,), False), ((THERE,), False)],
)
async def test_it_is_away_where_there_is_no_way_to_anybody(ways: Sequence[str], is_away: bool) -> None:
    async with DnsServer() as dns:
        network = own_network(dns.settings, ways)
        assert await network.is_away([THERE], is_named=True) is is_away


@pytest.mark.parametrize("trouble", ["silent", "nobody listens", "it reaches nobody"])
async def test_it_is_away_where_no_nameserver_is_heard(trouble: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maild.resolver.CUT_OFF_S", 0.2)
    async with DnsServer() as dns:
        zones = ("org", "net", "there.test")
        dns.drop.update(zones if trouble == "silent" else ())
        dns.servfail.update(zones if trouble == "it reaches nobody" else ())  # as one on this host says
        if trouble == "nobody listens":
            await dns.stop()
        network = own_network(dns.settings, [ANYWHERE_V4])
        with capture_logs() as told:
            assert await network.is_away([], is_named=True)
            assert await network.is_away([THERE], is_named=True)
        assert not await network.is_away([THERE], is_named=False)  # DNS has nothing to do with it
    assert [one["reason"] for one in told if one["event"] == "network_away"] == ["no nameserver answers"]


async def test_a_name_that_nobody_answers_for_is_its_owners_fault() -> None:
    async with DnsServer() as dns:
        dns.servfail.add("there.test")
        network = own_network(dns.settings, [ANYWHERE_V4])
        assert not await network.is_away([], is_named=True)


async def test_who_was_heard_a_moment_ago_is_not_asked() -> None:
    clock = ManualClock()
    async with DnsServer() as dns:
        dns.add("there.test", "A", THERE)
        resolver = Resolver(dns.settings, clock)
        await resolver.ipv4("there.test")
        dns.servfail.update({"org", "net", "other.test"})
        with pytest.raises(DnsTemporary):
            await resolver.ipv4("other.test")
        assert not await resolver.is_cut_off() and not dns.queries["org.", "MX"] + dns.queries["org", "MX"]
        clock.forward(HEARD_LATELY_S)
        assert await resolver.is_cut_off()


async def test_what_the_cache_says_is_not_heard() -> None:
    clock = ManualClock()
    async with DnsServer() as dns:
        resolver = Resolver(dns.settings, clock)
        assert not await resolver.is_cut_off()
        clock.forward(HEARD_LATELY_S)
        dns.servfail.update({"org", "net"})
        assert await resolver.is_cut_off()
