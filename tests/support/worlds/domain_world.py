"""A daemon whose `[dns] doh` are two resolvers of ours, and what a domain's owner does."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import DohServer, publish
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.running import Answer, Api, Running

NAME = "acme.test"


@dataclass
class DomainWorld:
    """`zone` is what the world's DNS holds; `doh` serve it (until one of them is told otherwise)."""

    maild: Running
    zone: DnsServer
    doh: list[DohServer]

    @property
    def api(self) -> Api:
        return self.maild.api

    async def register(self, name: str = NAME, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        answer = await (api or self.api).post("/v1/domains", {"domainName": name, **fields})
        assert answer.status == 201
        made: dict[str, Any] = answer.data
        return made

    async def verify(self, domain: dict[str, Any], api: Api | None = None) -> dict[str, Any]:
        verified: dict[str, Any] = (await self.verifying(domain, api)).data
        return verified

    async def verifying(self, domain: dict[str, Any], api: Api | None = None) -> Answer:
        return await (api or self.api).call("POST", f"/v1/domains/{domain['id']}/verify")

    async def verified(self, name: str = NAME, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        """A domain of the organization with all its records in DNS, verified."""
        domain = await self.register(name, api, **fields)
        publish(self.zone, domain["records"])
        assert (await self.verify(domain, api))["status"] == "active"
        return await self.shown(domain, api)

    async def shown(self, domain: dict[str, Any], api: Api | None = None) -> dict[str, Any]:
        found: dict[str, Any] = (await (api or self.api).get(f"/v1/domains/{domain['id']}")).data
        return found

    async def delete(self, domain: dict[str, Any]) -> dict[str, Any]:
        gone: dict[str, Any] = (await self.api.call("DELETE", f"/v1/domains/{domain['id']}")).data
        return gone


@asynccontextmanager
async def domain_world(
    start: Callable[..., Awaitable[Running]], folder: Path, *, resolvers: int = 2, **options: Any
) -> AsyncIterator[DomainWorld]:
    ca = ThrowawayCa(folder)
    zone = DnsServer()
    async with AsyncExitStack() as stack:
        doh = [await stack.enter_async_context(DohServer(ca, zone)) for _ in range(resolvers)]
        dns = {
            "nameservers": ["127.0.0.1:9"],
            "timeout_s": 10,
            "doh": [one.url for one in doh],
            "doh_ca_file": str(ca.ca_file),
            **options.pop("dns", {}),
        }
        yield DomainWorld(await start(dns=dns, **options), zone, doh)


def record_of(domain: dict[str, Any], purpose: str) -> dict[str, Any]:
    (found,) = [one for one in domain["records"] if one["purpose"] == purpose]
    return dict(found)
