"""One of the resolvers that check domains is down, lies, talks garbage or is slow."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import publish
from tests.support.running import Running
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world, record_of

Start = Callable[..., Awaitable[Running]]


async def statuses(world: DomainWorld, domain: dict[str, object]) -> set[str]:
    return {one["status"] for one in (await world.shown(domain))["records"]}


async def test_down_without_a_second_opinion(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path) as world:
        domain = await world.register()
        publish(world.zone, domain["records"])
        await world.doh[1].__aexit__()
        answer = await world.verify(domain)
        assert (answer["status"], set(answer["checks"].values())) == ("pending", {False})
        assert await statuses(world, domain) == {"unavailable"}
        await world.doh[1].__aenter__()
        assert (await world.verify(domain))["status"] == "active"


@pytest.mark.parametrize("fault", ["garbage", "junk", "status", "servfail", "other", "truncated", "redirect"])
async def test_of_three_one_talks_garbage(start: Start, tmp_path: Path, fault: str) -> None:
    async with domain_world(start, tmp_path, resolvers=3) as world:
        world.doh[0].fault = fault
        domain = await world.register()
        publish(world.zone, domain["records"])
        assert (await world.verify(domain))["status"] == "active"


async def test_slow_resolvers_have_a_deadline_and_hold_nobody_else_up(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path, resolvers=3, dns={"timeout_s": 5}) as world:
        world.doh[2].fault = "slow"
        domain = await world.register()
        publish(world.zone, domain["records"])
        assert (await world.verify(domain))["status"] == "active"
        # All questions wait beside each other, for one deadline, not one after the other.
        assert world.doh[2].held_most == world.doh[2].requests == world.doh[0].requests > 1


async def test_one_that_lies_for_us_verifies_nothing(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path, resolvers=3) as world:
        domain = await world.register()
        world.doh[0].zone = DnsServer()
        publish(world.doh[0].zone, domain["records"])
        answer = await world.verify(domain)
        assert (answer["status"], set(answer["checks"].values())) == ("pending", {False})
        shown = record_of(await world.shown(domain), "mx")
        assert (shown["status"], shown["observed"]) == ("conflicting", ["10 mx.agents.test"])


async def test_one_that_lies_against_us_is_seen(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path) as world:
        domain = await world.register()
        publish(world.zone, domain["records"])
        world.doh[0].zone = DnsServer()
        world.doh[0].zone.add(NAME, "MX", "10 mx.evil.test.")
        assert (await world.verify(domain))["status"] == "pending"
        shown = record_of(await world.shown(domain), "mx")
        assert shown["status"] == "conflicting"
        assert sorted(shown["observed"]) == ["10 mx.agents.test", "10 mx.evil.test"]


async def test_one_alone_is_joined_by_the_plain_resolver(start: Start, tmp_path: Path) -> None:
    async with DnsServer() as plain:
        dns = {"nameservers": [f"127.0.0.1:{plain.port}"]}
        async with domain_world(start, tmp_path, resolvers=1, dns=dns) as world:
            domain = await world.register()
            publish(world.zone, domain["records"])
            assert (await world.verify(domain))["status"] == "pending"
            assert await statuses(world, domain) == {"conflicting"}
            publish(plain, domain["records"])
            assert (await world.verify(domain))["status"] == "active"


async def test_without_any_the_plain_resolver_decides(start: Start, tmp_path: Path) -> None:
    async with DnsServer() as plain:
        dns = {"nameservers": [f"127.0.0.1:{plain.port}"], "doh_ca_file": ""}
        async with domain_world(start, tmp_path, resolvers=0, dns=dns) as world:
            domain = await world.register()
            assert (await world.verify(domain))["status"] == "pending"
            assert await statuses(world, domain) == {"missing"}
            publish(plain, domain["records"])
            assert (await world.verify(domain))["status"] == "active"


async def test_a_verified_domain_outlives_dead_resolvers(start: Start, tmp_path: Path) -> None:
    async with domain_world(start, tmp_path) as world:
        domain = await world.verified()
        for resolver in world.doh:
            await resolver.__aexit__()
        answer = await world.verify(domain)
        assert (answer["status"], set(answer["checks"].values())) == ("active", {True})
        assert await statuses(world, domain) == {"unavailable"}
        inbox = await world.maild.inbox("bot", domain=NAME)
        assert (await world.api.send(inbox)).status == 201
