"""Where a destination's mail goes next: RFC 5321 §5.1, or a smarthost.

A route is found by the policy below, host after host as delivery asks for the next one, so that a
first host that takes the mail costs one look-up. Addresses are checked here, and what is connected to
is the checked address: a name is never resolved a second time. Nothing is cached here (the resolver does).
Each hop carries what its receiver demands of the session; hosts that a policy keeps from the mail are not tried.
"""

import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from conf.addresses import is_public
from conf.settings import Settings
from maild.dns_client import is_address
from maild.outbound.routing.host_groups import HostGroups
from maild.outbound.routing.relays import RelayHost, Relays
from maild.outbound.tls.receiver_policies import ReceiverPolicies
from maild.outbound.tls.tls_demand import NO_DEMAND, PolicyForbids, TlsDemand
from maild.resolver import DnsError, DnsNotAsked, Mx, NoAnswer, NxDomain, Resolver

T = TypeVar("T")

HOSTS_MAX = 10  # RFC 5321 §5.1 asks for two at least
ADDRESSES_PER_HOST_MAX = 3


class Source(NamedTuple):
    """How this host shows itself: the address it connects from ("" for any), and its name in EHLO ("" for its own)."""

    address: str = ""
    hostname: str = ""


ANY_SOURCE = Source()


class Hop(NamedTuple):
    """One address of a next hop to try. `relay`: of a smarthost, which is not the recipient's own MX; what it demands
    stands there. `group`: the hosts that are one destination with it (`host_groups.py`)."""

    host: str
    address: str
    port: int
    relay: RelayHost | None = None
    source: Source = ANY_SOURCE
    demand: TlsDemand = NO_DEMAND
    group: str = ""


class _Hosts(NamedTuple):
    """In the order in which they are tried; `best`: those that are preferred to all others."""

    ordered: list[str]
    best: frozenset[str]


@dataclass
class RouteError(Exception):
    """The domain can't be routed; `code` tells whether permanently (5xx) or for now (4xx)."""

    code: int
    enhanced: str
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.enhanced} {self.text}"


class Router:
    """Finds next hops. `randomness` orders hosts of equal preference."""

    def __init__(
        self,
        settings: Settings,
        resolver: Resolver,
        policies: ReceiverPolicies,
        groups: HostGroups,
        randomness: random.Random,
    ) -> None:
        self._resolver = resolver
        self._policies = policies
        self._randomness = randomness
        self._port = settings.outbound.port
        self._relays = Relays(settings.outbound)
        self._groups = groups
        self._sources = {
            domain: section for section in settings.outbound.sources.values() for domain in section.senders
        }
        self._allow_private = settings.outbound.allow_private_networks
        self._versions = settings.outbound.ip_versions
        self._hostname = settings.server.hostname
        self._listening = frozenset(settings.smtp.listen)

    def relay(self, domain: str, sender_domain: str) -> RelayHost | None:
        """The smarthost that takes mail from one domain to the other; None where the MX takes it."""
        return self._relays.chosen(sender_domain, domain)

    def is_way(self, hop: Hop, domain: str, sender_domain: str) -> bool:
        """Does mail to the domain that another sender's went to by this hop go there too?"""
        same_relay = hop.relay == self.relay(domain, sender_domain)
        return same_relay and hop.source == self._source(hop.address, sender_domain)

    async def hops(
        self,
        domain: str,
        sender_domain: str,
        passed_over: Callable[[str, str], None],
        obeys_policies: bool = True,
    ) -> AsyncGenerator[Hop, None]:
        """The addresses to try, best first; RouteError in place of the first when there is none, DnsNotAsked.
        `passed_over`: is told which mail hosts are not to be tried, and why."""
        relay = self.relay(domain, sender_domain)
        if relay is not None:
            async for hop in self._relay_hops(relay, sender_domain):
                yield hop
            return
        found = False
        refusal: RouteError | None = None
        hosts = await self._hosts(domain)
        policy = await _allowed(self._policies.of_domain(domain)) if obeys_policies else None
        for host in hosts.ordered:
            try:
                addresses = self._checked(host, await self._addresses(host))
                demand = await _allowed(policy.demand(host)) if policy is not None else NO_DEMAND
            except RouteError as error:
                passed_over(host, error.text)
                refusal = _prefer_transient(refusal, replace(error))  # anew: that one knows this frame
                continue
            group = self._groups.of_host(domain, host, hosts.best)
            for address in addresses:
                found = True
                yield Hop(
                    host, address, self._port, None, self._source(address, sender_domain), demand, group
                )
        if not found:
            if refusal is not None:
                raise replace(refusal)
            raise RouteError(550, "5.4.4", f"no usable mail host for {domain}")

    async def close(self) -> None:
        """End what is under way. Idempotent."""
        await self._policies.close()

    async def _hosts(self, domain: str) -> _Hosts:
        if domain.startswith("["):
            raise RouteError(550, "5.1.2", "address literals are not supported")
        try:
            records = await self._resolver.mx(domain)
        except NxDomain:
            raise RouteError(550, "5.1.2", f"domain {domain} does not exist") from None
        except NoAnswer:
            # RFC 5321 §5.1: the address record as an implicit MX of preference 0.
            return _Hosts([domain], frozenset((domain,)))
        except DnsNotAsked:
            raise
        except DnsError:
            raise RouteError(451, "4.4.3", f"DNS does not answer for the MX of {domain}") from None
        if is_null_mx(records):
            raise RouteError(556, "5.1.10", f"{domain} accepts no mail (null MX)")
        return self._ordered(domain, [record for record in records if record.host])

    def _ordered(self, domain: str, records: list[Mx]) -> _Hosts:
        # RFC 5321 §5.1: if we are one of them, only better ones than us may be tried.
        ours = min((mx.preference for mx in records if mx.host == self._hostname), default=None)
        if ours is not None:
            records = [mx for mx in records if mx.preference < ours]
            if not records:
                raise RouteError(550, "5.4.6", f"the best mail host of {domain} is this one: mail would loop")
        # RFC 5321 §5.1: equals in random order, to spread the load.
        self._randomness.shuffle(records)
        records.sort(key=lambda mx: mx.preference)
        best = frozenset(mx.host for mx in records if mx.preference == records[0].preference)
        return _Hosts(list(dict.fromkeys(mx.host for mx in records))[:HOSTS_MAX], best)

    async def _addresses(self, host: str) -> list[str]:
        try:
            return await self._resolver.addresses(host)
        except (NxDomain, NoAnswer):
            raise RouteError(550, "5.4.4", f"mail host {host} has no address") from None
        except DnsNotAsked:
            raise
        except DnsError:
            raise RouteError(451, "4.4.3", f"DNS does not answer for the address of {host}") from None

    def _checked(self, host: str, addresses: list[str]) -> list[str]:
        others = [address for address in addresses if not self._is_ours(address)]
        if not others:
            raise RouteError(550, "5.4.6", f"mail host {host} is this one: mail would loop")
        public = [address for address in others if self._allow_private or is_public(address)]
        if not public:
            raise RouteError(550, "5.4.4", f"mail host {host} has no public address")
        ours = self._of_our_versions(public)
        if not ours:
            raise RouteError(550, "5.4.4", f"mail host {host} has an {_version_of(public[0])} address alone")
        return _few(ours)

    def _of_our_versions(self, addresses: Sequence[str]) -> list[str]:
        return [one for one in addresses if self._versions in ("both", _version_of(one).lower())]

    def _is_ours(self, address: str) -> bool:
        shown = f"[{address}]" if ":" in address else address
        return f"{shown}:{self._port}" in self._listening

    async def _relay_hops(self, relay: RelayHost, sender_domain: str) -> AsyncGenerator[Hop, None]:
        # The operator named this host: a private address is as good as any.
        named = [relay.host] if is_address(relay.host) else await self._relay_addresses(relay.host)
        group = self._groups.of_relay(relay.name or relay.host)
        for address in named:
            source = self._source(address, sender_domain)
            yield Hop(relay.host, address, relay.port, relay, source, group=group)

    def _source(self, address: str, sender_domain: str) -> Source:
        section = self._sources.get(sender_domain)
        if section is None:
            return ANY_SOURCE
        is_ipv6 = ":" in address
        own = next((one for one in section.addresses if (":" in one) == is_ipv6), "")
        return Source(own, section.hostname)

    async def _relay_addresses(self, host: str) -> list[str]:
        try:
            found = self._of_our_versions(await self._resolver.addresses(host))
        except DnsNotAsked:
            raise
        except DnsError:
            found = []
        if not found:  # our own configuration is at fault, not the recipient: never a bounce
            raise RouteError(451, "4.4.3", f"the smarthost {host} has no address now")
        return found


async def _allowed(asking: Awaitable[T]) -> T:
    try:
        return await asking
    except PolicyForbids as error:
        raise RouteError(451, "4.7.0", str(error)) from None


def is_null_mx(records: Sequence[Mx]) -> bool:
    """Does the domain say that it takes no mail?"""
    # RFC 7505 §3: a null MX stands alone; beside other records "." is a host without addresses.
    return len(records) == 1 and not records[0].host


def _version_of(address: str) -> str:
    return "IPv6" if ":" in address else "IPv4"


def _few(addresses: list[str]) -> list[str]:
    """As many as are tried; of both versions where there are both, for this host may have but one."""
    few, more = addresses[:ADDRESSES_PER_HOST_MAX], addresses[ADDRESSES_PER_HOST_MAX:]
    versions = set(map(_version_of, few))
    other = next((one for one in more if _version_of(one) not in versions), None)
    return few if other is None else [*few[:-1], other]


def _prefer_transient(first: RouteError | None, second: RouteError) -> RouteError:
    """Of two hosts' faults the transient one counts: another attempt may reach that host."""
    return first if first is not None and first.code < 500 else second
