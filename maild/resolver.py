"""DNS for the whole mail plane, behind one cache.

Four outcomes are kept apart, because they decide different things: an answer, `NxDomain` (the name
does not exist), `NoAnswer` (it does, without such a record), `DnsTemporary` (no server could say; or none could be
asked, `DnsNotAsked`, for want of descriptors, ports or memory). The first three are cached for as long as
their TTL says, the last for FAILURE_TTL_S (RFC 9520), but where none was asked: a domain whose
nameservers hang can't keep all mail in its name waiting. The cache is bounded by entries and by
octets, because whoever owns a name decides how large its answers are.

Questions about one domain have a share of the queries in flight, so that one whose nameservers hang holds up its own
names alone. A domain is the last two labels of a name, three below what looks like a registry (co.uk), and of a reverse
name the network. All names below one registry have half of the queries, in case it is one owner's.

Equal questions that are asked at once make one query; a caller that is cancelled does not take the others' answer
away. Names are absolute: the system's search list is never used. Nothing raises but `DnsError`, whatever a name or a
server looks like.
"""

import asyncio
import resource
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import dns.exception
import dns.name

from conf.dns_wire import NXDOMAIN
from conf.setting_kinds import host_port, is_loopback
from conf.settings import Dns
from maild.dns_client import DnsClient, Nameserver, NoNameserver, SystemNameservers
from storage.clock import Clock
from storage.exhaustion import Exhausted, is_exhaustion

CACHE_ENTRIES = 20_000
CACHE_OCTETS = 32 * 1024 * 1024
ENTRY_OCTETS = 600  # what an entry takes besides its name and records, and
RECORD_OCTETS = 120  # what a record takes besides its text: both rather too much
QUERIES_IN_FLIGHT = 1000  # more than forty sessions' mail may wait for, if all of it names hosts that hang
DESCRIPTORS_PER_QUERY = 4  # that the process has, at least: each query has a socket
QUERIES_PER_DOMAIN = 20
QUERIES_PER_REGISTRY = 100
# Labels that tell one owner of addresses from the next: of IPv4 a /16, of IPv6 a /32.
REVERSE_LABELS = {"in-addr.arpa": 4, "ip6.arpa": 10}
TTL_MAX_S = 86_400
FAILURE_TTL_S = 5
NEGATIVE_TTL_MAX_S = 3 * 3600  # RFC 2308 §5
SURE = ("org", "net")  # that there are such zones any resolver can say which reaches the network
HEARD_LATELY_S = 1.0
CUT_OFF_S = 3.0  # for the question whether nobody is heard
NAME_CHARS_MAX = 4 * 253  # RFC 1035 §3.1, each octet written as a backslash and its number


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


class DnsNotAsked(DnsTemporary, Exhausted):
    """There was no descriptor, port or memory to ask with, which says nothing of the name: not cached."""

    def __str__(self) -> str:
        return f"no descriptor, port or memory to ask DNS for {super().__str__()}"


class NotAtHand(Exception):
    """A nameserver would have to be asked."""


class Mx(NamedTuple):
    """RFC 5321 §5.1: the lowest preference is tried first."""

    preference: int
    host: str  # lower case, without the dot at the end; "" in a null MX


@dataclass(frozen=True, slots=True)
class _Entry:
    expires: float
    records: tuple[Any, ...]
    error: type[DnsError] | None
    octets: int = 0  # of memory, about
    is_authentic: bool = False
    alias_of: str = ""


class _LookUps:
    """One look-up for each type; every method raises the DnsErrors above."""

    async def _entry(self, key: tuple[str, str]) -> _Entry:
        raise NotImplementedError

    async def mx(self, domain: str) -> list[Mx]:
        """The MX records in no order."""
        return [Mx(*record) for record in await self._records(domain, "MX")]

    async def ipv4(self, host: str) -> list[str]:
        """The A records."""
        return list(await self._records(host, "A"))

    async def ipv6(self, host: str) -> list[str]:
        """The AAAA records."""
        return list(await self._records(host, "AAAA"))

    async def ptr(self, address: IPv4Address | IPv6Address) -> list[str]:
        """The names that the owner of the address gives it: lower case, no dot at the end. Anybody may claim any."""
        return list(await self._records(address.reverse_pointer, "PTR"))

    async def txt(self, name: str) -> list[bytes]:
        """Each record as one string: its pieces joined without a blank (RFC 7208 §3.3, RFC 6376 §3.6.2.2)."""
        return list(await self._records(name, "TXT"))

    async def tlsa(self, name: str) -> list[bytes]:
        """Each record's data (RFC 6698 §2.1)."""
        return list(await self._records(name, "TLSA"))

    async def is_authentic(self, name: str, *rdtypes: str) -> bool:
        """Is one of these answers (that there is no record is one too) vouched for by DNSSEC? Never without
        `dns.trust_ad`. DnsTemporary where there is no answer to any."""
        entries = [await self._entry((name.rstrip(".").lower(), rdtype)) for rdtype in rdtypes]
        if all(_is_temporary(entry) for entry in entries):
            raise DnsTemporary(name[:NAME_CHARS_MAX])
        return any(entry.is_authentic for entry in entries)

    async def alias_of(self, host: str) -> str | None:
        """The name that has the host's addresses, where that is another one."""
        entries = [await self._entry((host.rstrip(".").lower(), rdtype)) for rdtype in ("A", "AAAA")]
        return next((entry.alias_of for entry in entries if entry.alias_of), None)

    async def _records(self, name: str, rdtype: str) -> tuple[Any, ...]:
        entry = await self._entry((name.rstrip(".").lower(), rdtype))
        if entry.error is not None:
            raise entry.error(f"{name[:NAME_CHARS_MAX]} {rdtype}")
        return entry.records


class AtHand(_LookUps):
    """What a resolver's cache has. It waits for nobody, so no task is needed to ask several things at once; NotAtHand
    where it has nothing."""

    def __init__(self, cached: Callable[[tuple[str, str]], _Entry | None]) -> None:
        self._cached = cached

    async def _entry(self, key: tuple[str, str]) -> _Entry:
        entry = self._cached(key)
        if entry is None:
            raise NotAtHand
        return entry


class Resolver(_LookUps):
    """Look-ups through the nameservers of the settings. `at_hand`: the same from its cache alone."""

    def __init__(self, settings: Dns, clock: Clock) -> None:
        self._clock = clock
        self._timeout_s = settings.timeout_s
        self._trusts_ad = settings.trust_ad
        configured = [host_port(listen) for listen in settings.nameservers]
        self._nameservers = (lambda: configured) if configured else SystemNameservers()
        # Ask again within the deadline: half of it for each try, at most two seconds.
        self._client = DnsClient(
            self._nameservers, try_s=min(2.0, settings.timeout_s / 2), now=clock.monotonic
        )
        self._cache: OrderedDict[tuple[str, str], _Entry] = OrderedDict()
        self._cached_octets = 0
        self._flying: dict[tuple[str, str], asyncio.Task[_Entry]] = {}
        self._slots = asyncio.Semaphore(queries_of(resource.getrlimit(resource.RLIMIT_NOFILE)[0]))
        self._exhausted_until = float("-inf")
        # A share lives as long as it is held or waited for.
        self._shares: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self.at_hand = AtHand(self._cached)

    @property
    def nameservers(self) -> Sequence[Nameserver]:
        """Those that are asked now."""
        return self._nameservers()

    @property
    def nameservers_are_near(self) -> bool:
        """Are all of them on this host, where nobody comes between?"""
        return all(is_loopback(address) for address, _ in self._nameservers())

    @property
    def is_exhausted(self) -> bool:
        """Are all places in use, or were there no descriptors just now, so that nobody is asked anything new?"""
        return self._slots.locked() or self._clock.monotonic() < self._exhausted_until

    async def is_cut_off(self) -> bool:
        """Is no nameserver heard, whatever it is asked? One on this host must know something that is elsewhere."""
        began = self._clock.monotonic()
        if self._client.heard_at > began - HEARD_LATELY_S:
            return False
        try:
            async with asyncio.timeout(CUT_OFF_S):
                asked = await asyncio.gather(*(self._fly((zone, "MX")) for zone in SURE))
        except TimeoutError:
            asked = []
        return self._client.heard_at < began and not any(entry.error is DnsNotAsked for entry in asked)

    async def close(self) -> None:
        """Nobody waits for answers any more."""
        flying = list(self._flying.values())
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)

    async def addresses(self, host: str) -> list[str]:
        """IPv4 addresses, then IPv6 ones. One family that can't be had does not hide the other."""
        kinds = [(host.rstrip(".").lower(), "A"), (host.rstrip(".").lower(), "AAAA")]
        entries = [self._cached(key) for key in kinds]
        if any(entry is None for entry in entries):
            entries = list(await asyncio.gather(*(self._entry(key) for key in kinds)))
        found = [record for entry in entries if entry for record in entry.records]
        if not found:
            errors = [entry.error for entry in entries if entry and entry.error]
            raise next((one for one in (DnsNotAsked, DnsTemporary) if one in errors), errors[0])(host)
        return found

    async def _entry(self, key: tuple[str, str]) -> _Entry:
        return self._cached(key) or await self._fly(key)

    def _cached(self, key: tuple[str, str]) -> _Entry | None:
        entry = self._cache.get(key)
        if entry is None or entry.expires <= self._clock.monotonic():
            return None
        self._cache.move_to_end(key)
        return entry

    def _keep(self, key: tuple[str, str], entry: _Entry) -> None:
        replaced = self._cache.pop(key, None)
        self._cache[key] = entry
        self._cached_octets += entry.octets - (replaced.octets if replaced else 0)
        while len(self._cache) > CACHE_ENTRIES or self._cached_octets > CACHE_OCTETS:
            _, oldest = self._cache.popitem(last=False)
            self._cached_octets -= oldest.octets

    async def _fly(self, key: tuple[str, str]) -> _Entry:
        task = self._flying.get(key)
        if task is None:
            wire = _to_wire(key[0])
            if wire is None:
                return _Entry(0, (), NxDomain)
            task = asyncio.create_task(self._query(key, wire))
            self._flying[key] = task
            task.add_done_callback(lambda _: self._flying.pop(key, None))
        return await asyncio.shield(task)

    async def _query(self, key: tuple[str, str], wire: bytes) -> _Entry:
        try:
            async with asyncio.timeout(self._timeout_s), self._shared(key[0]), self._slots:
                entry = await self._ask(key, wire)
        except (NoNameserver, OSError, TimeoutError, MemoryError) as error:
            expires = self._clock.monotonic() + FAILURE_TTL_S
            if is_exhaustion(error):
                self._exhausted_until = expires
                return _Entry(0, (), DnsNotAsked)
            # All of them failed or sent garbage, or were silent.
            entry = _Entry(expires, (), DnsTemporary, ENTRY_OCTETS + len(key[0]))
        self._keep(key, entry)
        return entry

    @asynccontextmanager
    async def _shared(self, name: str) -> AsyncIterator[None]:
        domain, registry = _owners(name)
        async with self._share_of(domain, QUERIES_PER_DOMAIN):
            if registry is None:
                yield
            else:
                async with self._share_of(registry, QUERIES_PER_REGISTRY):
                    yield

    def _share_of(self, domain: str, queries: int) -> asyncio.Semaphore:
        share = self._shares.get(domain)
        if share is None:
            share = self._shares[domain] = asyncio.Semaphore(queries)
        return share

    async def _ask(self, key: tuple[str, str], wire: bytes) -> _Entry:
        name, rdtype = key
        now = self._clock.monotonic()
        answer = await self._client.ask(wire, rdtype)
        octets = ENTRY_OCTETS + len(name) + len(answer.alias_of) + sum(map(_octets, answer.records))
        is_authentic = answer.is_authentic and self._trusts_ad
        if answer.records:
            expires = now + min(answer.ttl_s, TTL_MAX_S)
            return _Entry(expires, answer.records, None, octets, is_authentic, answer.alias_of)
        error = NxDomain if answer.rcode == NXDOMAIN else NoAnswer
        return _Entry(now + min(answer.ttl_s, NEGATIVE_TTL_MAX_S), (), error, octets, is_authentic)


def queries_of(limit: int) -> int:
    """How many may be in flight in a process that may have so many descriptors."""
    return min(QUERIES_IN_FLIGHT, limit // DESCRIPTORS_PER_QUERY) if limit >= 0 else QUERIES_IN_FLIGHT


def _is_temporary(entry: _Entry) -> bool:
    return entry.error is not None and entry.error.temporary


def _owners(name: str) -> tuple[str, str | None]:
    """The domain that a name is of, and the registry that it is below, if its name shows one."""
    labels = name.split(".")
    last_two = ".".join(labels[-2:])
    if last_two in REVERSE_LABELS:
        return ".".join(labels[-REVERSE_LABELS[last_two] :]), last_two
    if len(labels) > 2 and len(labels[-1]) == 2 and len(labels[-2]) <= 3:  # co.uk, com.br, ac.jp
        return ".".join(labels[-3:]), f"*.{last_two}"
    return last_two, None


def _to_wire(name: str) -> bytes | None:
    """None of what is no domain name."""
    if len(name) > NAME_CHARS_MAX:
        return None
    try:
        # Lengths of labels are below 64, so lower() leaves them as they are.
        return (dns.name.from_text(name, dns.name.root).to_wire() or b"").lower()
    except (dns.exception.DNSException, UnicodeError):
        return None


def _octets(record: str | bytes | tuple[int, str]) -> int:
    return RECORD_OCTETS + len(record[1] if isinstance(record, tuple) else record)
