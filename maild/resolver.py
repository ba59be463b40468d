"""DNS for the whole mail plane: dnspython behind one cache.

Four outcomes are kept apart, because they decide different things: an answer, `NxDomain` (the name
does not exist), `NoAnswer` (it does, without such a record), `DnsTemporary` (no server could say).
The first three are cached for as long as their TTL says; the last never is.

Questions about one domain (the last two labels of the name) have a share of the queries in flight, so that one
whose nameservers hang holds up its own names alone. Equal questions that are asked at once make one query; a caller
that is cancelled does not take the others' answer away. Names are absolute: the system's search list is never
used. Nothing raises but `DnsError`, whatever a name or a server looks like.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple, cast
from weakref import WeakValueDictionary

import dns.asyncresolver
import dns.exception
import dns.name
import dns.nameserver
import dns.resolver

from conf.settings import Dns
from storage.clock import Clock

CACHE_ENTRIES = 20_000
QUERIES_IN_FLIGHT = 200
QUERIES_PER_DOMAIN = 20
TTL_MAX_S = 86_400
NEGATIVE_TTL_MAX_S = 3 * 3600  # RFC 2308 §5
RECORDS_MAX = 1000  # of one answer; the rest of a huge one is dropped


class DnsError(Exception):
    """No answer. `temporary` tells whether asking later may help."""

    temporary = False


class NxDomain(DnsError):
    """The name does not exist, or is not a domain name at all."""


class NoAnswer(DnsError):
    """The name exists, and has no record of this type."""


class DnsTemporary(DnsError):
    """SERVFAIL, a timeout, no nameserver within reach."""

    temporary = True


class Mx(NamedTuple):
    """RFC 5321 §5.1: the lowest preference is tried first."""

    preference: int
    host: str  # lower case, without the dot at the end; "" in a null MX


@dataclass(frozen=True, slots=True)
class _Entry:
    expires: float
    records: tuple[Any, ...]
    error: type[DnsError] | None


class Resolver:
    """Look-ups through the nameservers of the settings; every method raises the DnsErrors above."""

    def __init__(self, settings: Dns, clock: Clock) -> None:
        self._clock = clock
        self._timeout_s = settings.timeout_s
        self._resolver = _make_resolver(settings)
        self._cache: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._flying: dict[tuple[str, str], asyncio.Task[_Entry]] = {}
        self._slots = asyncio.Semaphore(QUERIES_IN_FLIGHT)
        # A share lives as long as it is held or waited for.
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def mx(self, domain: str) -> list[Mx]:
        """The MX records in no order."""
        records = await self._records(domain, "MX")
        return [Mx(record.preference, _text(record.exchange)) for record in records]

    async def addresses(self, host: str) -> list[str]:
        """IPv4 addresses, then IPv6 ones. One family that can't be had does not hide the other."""
        kinds = [(host.rstrip(".").lower(), "A"), (host.rstrip(".").lower(), "AAAA")]
        entries = [self._cached(key) for key in kinds]
        if any(entry is None for entry in entries):
            entries = list(await asyncio.gather(*(self._entry(key) for key in kinds)))
        found = [record.address for entry in entries if entry for record in entry.records]
        if not found:
            errors = [entry.error for entry in entries if entry and entry.error]
            raise (DnsTemporary if DnsTemporary in errors else errors[0])(host)
        return found

    async def txt(self, name: str) -> list[bytes]:
        """Each record as one string: its pieces joined without a blank (RFC 7208 §3.3, RFC 6376 §3.6.2.2)."""
        return [b"".join(record.strings) for record in await self._records(name, "TXT")]

    async def _records(self, name: str, rdtype: str) -> tuple[Any, ...]:
        entry = await self._entry((name.rstrip(".").lower(), rdtype))
        if entry.error is not None:
            raise entry.error(f"{name} {rdtype}")
        return entry.records

    async def _entry(self, key: tuple[str, str]) -> _Entry:
        return self._cached(key) or await self._fly(key)

    def _cached(self, key: tuple[str, str]) -> _Entry | None:
        entry = self._cache.get(key)
        if entry is None or entry.expires <= self._clock.monotonic():
            return None
        self._cache.move_to_end(key)
        return entry

    async def _fly(self, key: tuple[str, str]) -> _Entry:
        task = self._flying.get(key)
        if task is None:
            task = asyncio.create_task(self._query(*key))
            self._flying[key] = task
            task.add_done_callback(lambda _: self._flying.pop(key, None))
        return await asyncio.shield(task)

    async def _query(self, name: str, rdtype: str) -> _Entry:
        try:
            async with asyncio.timeout(self._timeout_s), self._share_of(name), self._slots:
                entry = await self._ask(name, rdtype)
        except (dns.exception.DNSException, OSError, TimeoutError, ValueError):
            # NoNameservers is SERVFAIL or garbage from all of them; LifetimeTimeout is silence.
            return _Entry(0, (), DnsTemporary)
        self._cache[name, rdtype] = entry
        self._cache.move_to_end((name, rdtype))
        while len(self._cache) > CACHE_ENTRIES:
            self._cache.popitem(last=False)
        return entry

    def _share_of(self, name: str) -> asyncio.Semaphore:
        domain = ".".join(name.rsplit(".", 2)[-2:])
        share = self._shares.get(domain)
        if share is None:
            share = self._shares[domain] = asyncio.Semaphore(QUERIES_PER_DOMAIN)
        return share

    async def _ask(self, name: str, rdtype: str) -> _Entry:
        now = self._clock.monotonic()
        try:
            absolute = dns.name.from_text(name, dns.name.root)
        except (dns.exception.DNSException, UnicodeError):
            return _Entry(now + NEGATIVE_TTL_MAX_S, (), NxDomain)
        try:
            answer = await self._resolver.resolve(
                absolute, rdtype, search=False, raise_on_no_answer=False, lifetime=self._timeout_s
            )
        except dns.resolver.NXDOMAIN as error:
            chains = [response.resolve_chaining() for response in cast(Any, error).responses().values()]
            ttl = min((chain.minimum_ttl for chain in chains), default=0)
            return _Entry(now + min(ttl, NEGATIVE_TTL_MAX_S), (), NxDomain)
        ttl = answer.chaining_result.minimum_ttl
        if answer.rrset is None:
            return _Entry(now + min(ttl, NEGATIVE_TTL_MAX_S), (), NoAnswer)
        return _Entry(now + min(ttl, TTL_MAX_S), tuple(answer.rrset)[:RECORDS_MAX], None)


def _make_resolver(settings: Dns) -> dns.asyncresolver.Resolver:
    resolver = dns.asyncresolver.Resolver(configure=not settings.nameservers)
    if settings.nameservers:
        resolver.nameservers = [_nameserver(listen) for listen in settings.nameservers]
    resolver.use_search_by_default = False
    resolver.ndots = None
    # Ask again within the deadline: half of it for each try, at most two seconds.
    resolver.timeout = min(2.0, settings.timeout_s / 2)
    return resolver


def _nameserver(listen: str) -> dns.nameserver.Nameserver:
    host, _, port = listen.rpartition(":")
    return dns.nameserver.Do53Nameserver(host.strip("[]"), int(port))


def _text(name: dns.name.Name) -> str:
    return name.to_text(omit_final_dot=True).lower().removesuffix(".")
