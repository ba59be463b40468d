"""Which way mail to a domain would go, and whether somebody there takes mail at all, as far as DNS says: what is told
of a message before it is sent. The way is found by the queue's own rule (`destination_of`); nothing is connected to.

All look-ups of one question have one deadline, and go through the resolver's cache. Those of all questions have
LOOK_UPS_AT_ONCE places, at which organizations take turns: whoever asks about hosts that hang takes nothing from the
mail. Doubt is `unknown`.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

from maild.outbound.lines.destination_queues import DestinationKind, destination_of
from maild.outbound.routing.relays import RelayHost
from maild.outbound.routing.route import HOSTS_MAX, is_null_mx
from maild.ports import IsLocal
from maild.resolver import DnsError, NoAnswer, NxDomain, Resolver
from storage.turns.work_turns import WorkTurns

LOOK_UPS_AT_ONCE = 50

Route = Literal["local", "mx", "relay", "simulator"]
MxFinding = Literal["ok", "no_mx", "null_mx", "nxdomain", "unknown"]
_ROUTES: Mapping[DestinationKind, Route] = {
    DestinationKind.SIMULATOR: "simulator",
    DestinationKind.LOCAL: "local",
    DestinationKind.RELAY: "relay",
    DestinationKind.REMOTE: "mx",
}


class Prospect(NamedTuple):
    """Of mail to one domain. `finding`: `ok` where nothing is to be looked up."""

    route: Route
    finding: MxFinding


class Prospects:
    """`relay_of`: recipient's and sender's domain → the smarthost that takes it. `deadline_s`: of all look-ups of one
    question together."""

    def __init__(
        self,
        is_local: IsLocal,
        relay_of: Callable[[str, str], RelayHost | None],
        resolver: Resolver,
        deadline_s: float,
    ) -> None:
        self._is_local = is_local
        self._relay_of = relay_of
        self._resolver = resolver
        self._deadline_s = deadline_s
        self._turns = WorkTurns(LOOK_UPS_AT_ONCE)

    async def find(
        self, organization_id: str, mode: str, sender_domain: str, domains: Collection[str]
    ) -> Mapping[str, Prospect]:
        """Of each of these recipients' domains, A-labels in lower case."""
        routes = {domain: await self._route(mode, sender_domain, domain) for domain in domains}
        findings = await self._findings(organization_id, [one for one in routes if routes[one] == "mx"])
        return {domain: Prospect(route, findings.get(domain, "ok")) for domain, route in routes.items()}

    async def _route(self, mode: str, sender_domain: str, domain: str) -> Route:
        relay = self._relay_of(domain, sender_domain)
        return _ROUTES[destination_of(mode, domain, await self._is_local(domain), relay).kind]

    async def _findings(self, organization_id: str, domains: Collection[str]) -> Mapping[str, MxFinding]:
        found: dict[str, MxFinding] = dict.fromkeys(domains, "unknown")

        async def look(domain: str) -> None:
            async with self._turns.turn(organization_id):
                found[domain] = await self._finding(domain)

        with suppress(TimeoutError):  # what is not known by then is unknown
            async with asyncio.timeout(self._deadline_s), asyncio.TaskGroup() as group:
                for domain in domains:
                    group.create_task(look(domain))
        return found

    async def _finding(self, domain: str) -> MxFinding:
        if domain.startswith("["):
            return "no_mx"
        try:
            records = await self._resolver.mx(domain)
        except NxDomain:
            return "nxdomain"
        except NoAnswer:
            return await self._has_address([domain])  # RFC 5321 §5.1: an implicit MX
        except DnsError:
            return "unknown"
        if is_null_mx(records):
            return "null_mx"
        return await self._has_address([one.host for one in sorted(records) if one.host])

    async def _has_address(self, hosts: list[str]) -> MxFinding:
        finding: MxFinding = "no_mx"
        for host in hosts[:HOSTS_MAX]:
            try:
                await self._resolver.addresses(host)
            except (NxDomain, NoAnswer):
                continue
            except DnsError:
                finding = "unknown"  # another host may be there all the same
            else:
                return "ok"
        return finding
