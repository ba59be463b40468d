"""A domain's DKIM key is rotated: the new one signs once DNS shows it, and not a moment before."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from maild.outbound.signing.dkim import KEY_CACHE_S
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import publish
from tests.support.peers.mx import Mx
from tests.support.running import Running, until
from tests.support.worlds.domain_world import NAME, domain_world
from tests.support.worlds.store import ManualClock

Start = Callable[..., Awaitable[Running]]


async def test_no_signature_without_a_record(start: Start, tmp_path: Path) -> None:
    clock = ManualClock()
    async with Mx() as mx, DnsServer() as dns:
        dns.add_mx("elsewhere.test")
        async with domain_world(
            start,
            tmp_path,
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        ) as world:
            domain = await world.verified()
            inbox = await world.maild.inbox("bot", domain=NAME)

            async def selector() -> str:
                count = len(mx.received)
                assert (await world.api.send(inbox)).status == 201

                async def look() -> bytes | None:
                    return mx.received[-1].raw if len(mx.received) > count else None

                raw: bytes = await until(look)
                return raw.partition(b" s=")[2].partition(b";")[0].decode()

            assert await selector() == "s1"
            rotating = (await world.api.call("POST", f"/v1/domains/{domain['id']}/rotate-dkim")).data
            clock.forward(KEY_CACHE_S)
            assert await selector() == "s1"
            publish(world.zone, [one for one in rotating["records"] if one["name"].startswith("s2.")])
            assert (await world.verify(domain))["status"] == "active"
            clock.forward(KEY_CACHE_S)
            assert await selector() == "s2"
