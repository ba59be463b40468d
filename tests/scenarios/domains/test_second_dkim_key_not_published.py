"""The owner of a domain does not publish the second DKIM record for long, or never, or takes it away."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dkim

from maild.outbound.signing.dkim import KEY_CACHE_S
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import publish
from tests.support.peers.mx import Mx
from tests.support.running import Running, until
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]


class Signed:
    """A world with a verified domain that shows all but the second key, and what leaves it."""

    def __init__(
        self, world: DomainWorld, mx: Mx, clock: ManualClock, domain: dict[str, Any], inbox: dict[str, Any]
    ) -> None:
        self.world = world
        self._inbox = inbox
        self.domain = domain
        self._mx = mx
        self._clock = clock

    async def signatures(self) -> list[str]:
        """The algorithms of a mail that leaves now; each signature holds."""
        self._clock.forward(KEY_CACHE_S)
        count = len(self._mx.received)
        assert (await self.world.api.send(self._inbox)).status == 201

        async def look() -> bytes | None:
            return self._mx.received[-1].raw if len(self._mx.received) > count else None

        message = dkim.DKIM(await until(look))
        records = {one["name"]: one["value"] for one in await self.records()}
        fields = [value for name, value in message.headers if name.lower() == b"dkim-signature"]
        for number, _ in enumerate(fields):
            asked = lambda name, timeout=5: records[name.decode().rstrip(".")].encode()  # noqa: E731
            assert message.verify(idx=number, dnsfunc=asked)
        return [value.partition(b"a=")[2].partition(b";")[0].decode() for value in fields]

    async def records(self) -> list[dict[str, Any]]:
        shown = await self.world.shown(self.domain)
        return [one for one in shown["records"] if one["purpose"] == "dkim"]

    async def publish(self, selector: str) -> None:
        publish(
            self.world.zone, [one for one in await self.records() if one["name"].startswith(f"{selector}.")]
        )
        assert (await self.world.verify(self.domain))["status"] == "active"


@asynccontextmanager
async def signing(
    start: Start, folder: Path, has_second: bool = True, relay: dict[str, Any] | None = None
) -> AsyncIterator[Signed]:
    """`relay`: keys of a smarthost that takes all mail."""
    clock = ManualClock()
    async with Mx() as mx, DnsServer() as dns:
        dns.add_mx("elsewhere.test")
        async with domain_world(
            start,
            folder,
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={
                "port": mx.port,
                "allow_private_networks": True,
                "dkim_ed25519": has_second,
                "relays": {} if relay is None else {"one": {"host": f"127.0.0.1:{mx.port}", **relay}},
                "dkim_expires_after_s": 0,  # our clock stands, that of verifiers does not
            },
        ) as world:
            domain = await world.register()
            publish(world.zone, [one for one in domain["records"] if "k=ed25519" not in one["value"]])
            assert (await world.verify(domain))["status"] == "active"
            yield Signed(world, mx, clock, domain, await world.maild.inbox("bot", domain=NAME))


async def test_the_first_signs_alone_until_the_second_is_seen(start: Start, tmp_path: Path) -> None:
    async with signing(start, tmp_path) as there:
        shown = await there.records()
        assert [(one["name"], one["required"], one["status"]) for one in shown] == [
            (f"s1._domainkey.{NAME}", True, "ok"),
            (f"e1._domainkey.{NAME}", False, "missing"),
        ]
        assert await there.signatures() == ["rsa-sha256"]
        await there.publish("e1")
        assert await there.signatures() == ["rsa-sha256", "ed25519-sha256"]


async def test_a_smarthost_that_refuses_two_gets_the_first_alone(start: Start, tmp_path: Path) -> None:
    relay = {"tls": "opportunistic", "dkim_ed25519": False}
    async with signing(start, tmp_path, relay=relay) as there:
        await there.publish("e1")
        assert await there.signatures() == ["rsa-sha256"]


async def test_a_second_that_goes_away_takes_nothing_with_it(start: Start, tmp_path: Path) -> None:
    async with signing(start, tmp_path) as there:
        await there.publish("e1")
        there.world.zone.records.pop((f"e1._domainkey.{NAME}", "TXT"))
        assert (await there.world.verify(there.domain))["status"] == "active"


async def test_both_are_rotated_each_by_itself(start: Start, tmp_path: Path) -> None:
    async with signing(start, tmp_path) as there:
        await there.publish("e1")
        await there.world.api.call("POST", f"/v1/domains/{there.domain['id']}/rotate-dkim")
        assert [one["name"].partition(".")[0] for one in await there.records()] == ["s1", "s2", "e1", "e2"]
        await there.publish("e2")
        assert [one["name"].partition(".")[0] for one in await there.records()] == ["s1", "s2", "e2"]
        assert await there.signatures() == ["rsa-sha256", "ed25519-sha256"]
        await there.publish("s2")
        assert await there.signatures() == ["rsa-sha256", "ed25519-sha256"]


async def test_without_the_setting_there_is_one(start: Start, tmp_path: Path) -> None:
    async with signing(start, tmp_path, has_second=False) as there:
        assert [one["name"] for one in await there.records()] == [f"s1._domainkey.{NAME}"]
        assert await there.signatures() == ["rsa-sha256"]
