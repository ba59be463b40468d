"""SPF: may this client send mail in the name of this domain (RFC 7208)?

The owner of the domain writes the records, names what else is to be looked up, and may be hostile. So nothing here
raises for what DNS or a client says, and one evaluation asks at most

    11 TXT       the domain's record and, of the ten terms that look up, include and redirect
    110 others   ten `mx` of an MX and ten hosts each
    11           the names of the client, and an address of ten of them, once for all `ptr` and `%{p}`
    1 TXT        the explanation

questions, one of each term after another; hosts of one term are looked up at once. The caller has the deadline.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, Protocol, TypeVar

from conf.addresses import network_of
from maild.authentication.known_records import KnownSpfRecords
from maild.authentication.spf_record import (
    MacroString,
    Mechanism,
    SpfRecord,
    SpfSyntaxError,
    expand_name,
    expand_text,
    is_spf,
    parse_explanation,
    uses,
)
from maild.message.fields.address import is_within
from maild.message.fields.idn import ascii_domain
from maild.resolver import DnsError, DnsTemporary, Mx, NoAnswer, NxDomain

LOOKUP_TERMS_MAX = 10  # RFC 7208 §4.6.4, as the three below
VOID_LOOKUPS_MAX = 2
MX_HOSTS_MAX = 10
PTR_NAMES_MAX = 10
DOMAIN_CHARS_MAX = 253
EXPLANATION_S = 2.0  # more would put the result itself at risk, for which the caller has a deadline

_T = TypeVar("_T")
Address = IPv4Address | IPv6Address


class SpfDns(Protocol):
    """What is asked; `maild.resolver.Resolver` answers it. Names are in presentation form (RFC 1035 §5.1)."""

    async def txt(self, name: str) -> list[bytes]: ...
    async def mx(self, domain: str) -> list[Mx]: ...
    async def ipv4(self, host: str) -> list[str]: ...
    async def ipv6(self, host: str) -> list[str]: ...
    async def ptr(self, address: Address) -> list[str]: ...


class SpfResult(NamedTuple):
    """`result`: none, neutral, pass, fail, softfail, temperror or permerror (RFC 7208 §2.6)."""

    result: str
    domain: str  # that was evaluated: A-labels, lower case; "" when there was none
    identity: str  # "mailfrom" or "helo"
    explanation: str | None  # of a fail, in the domain owner's words: printable ASCII, at most 500 characters


class HostCheck(NamedTuple):
    """What `_check_host` found; the fields are those of SpfResult."""

    result: str
    explanation: str | None = None


class _PermError(Exception):
    """RFC 7208 §2.6.7: the owner of the domain must mend the records."""


async def evaluate_spf(
    dns: SpfDns,
    peer_address: str,
    helo: str,
    mail_from: str,
    *,
    hostname: str,
    now_s: float,
    records: KnownSpfRecords,
) -> SpfResult:
    """Of the envelope's sender, or where it is null of the HELO name.

    `mail_from` is an address without angle brackets, or "". `hostname` is ours, for an explanation that names it.
    `records`: what is known of all evaluations.
    """
    identity = "mailfrom" if mail_from else "helo"
    sender = mail_from or f"postmaster@{helo}"  # RFC 7208 §2.4
    domain = _evaluable(sender.rpartition("@")[2])
    client = _client(peer_address)
    if client is None or domain is None:
        return SpfResult("none", domain or "", identity, None)
    evaluation = _Evaluation(dns, client, sender, helo, hostname, now_s, records)
    found = await _check_host(evaluation, domain)
    return SpfResult(found.result, domain, identity, found.explanation)


async def _check_host(evaluation: "_Evaluation", domain: str) -> HostCheck:
    """RFC 7208 §4; of a fail with its explanation."""
    try:
        result = await evaluation.check(domain)
    except (_PermError, SpfSyntaxError):
        return HostCheck("permerror")
    except DnsTemporary:
        return HostCheck("temperror")
    return HostCheck(result, await evaluation.explain() if result == "fail" else None)


class _Evaluation:
    """The limits and macro values of one evaluation, with the records that it includes."""

    def __init__(
        self,
        dns: SpfDns,
        client: Address,
        sender: str,
        helo: str,
        hostname: str,
        now_s: float,
        records: KnownSpfRecords,
    ) -> None:
        """`sender` is an address, or a domain alone."""
        local, _, sender_domain = sender.rpartition("@")
        local = local or "postmaster"  # RFC 7208 §4.3
        self._dns = dns
        self._client = client
        self._octets, self._number = len(client.packed), int(client)
        self._records = records
        self._is_v4 = client.version == 4
        self._addresses = dns.ipv4 if self._is_v4 else dns.ipv6
        self._lookups_left = LOOKUP_TERMS_MAX
        self._voids_left = VOID_LOOKUPS_MAX
        self._client_names: list[str] | None = None
        self._is_nameless = False  # looking for those names found nothing at all
        self._deciding: tuple[SpfRecord, str] | None = (
            None  # what the last match stood in, and of which domain
        )
        self._values = {
            "s": f"{local}@{sender_domain}",
            "l": local,
            "o": sender_domain,
            "h": helo,
            "i": str(client) if self._is_v4 else ".".join(f"{int(client):032X}"),
            "v": "in-addr" if self._is_v4 else "ip6",
            "c": str(client),
            "r": hostname or "unknown",
            "t": str(int(now_s)),
        }

    async def check(self, domain: str) -> str:
        """The result of `domain`, of which an include and a redirect ask again."""
        evaluable = _evaluable(domain)
        text = None if evaluable is None else await self._record_of(evaluable)
        if evaluable is None or text is None:
            return "none"  # RFC 7208 §4.3, §4.5
        record = self._records.at_once(text)
        if record is None:
            record = await self._records.read(text, network_of(self._values["c"]))
        for mechanism in record.mechanisms:
            if mechanism.network:  # of which there may be hundreds: no coroutine for each
                is_match = self._is_within(mechanism.network, mechanism)
            else:
                is_match = await self._matches(mechanism, evaluable)
            if is_match:
                self._deciding = record, evaluable
                return mechanism.result
        if record.redirect is None:
            return "neutral"  # RFC 7208 §4.7
        self._spend_lookup()
        result = await self.check(await self._name(record.redirect, evaluable) or "")
        if result == "none":
            raise _PermError  # RFC 7208 §6.1
        return result

    async def explain(self) -> str | None:
        """RFC 7208 §6.2; None of one that is wrong in any way, or takes its time."""
        try:
            async with asyncio.timeout(EXPLANATION_S):
                return await self._explain()
        except TimeoutError:
            return None

    async def _explain(self) -> str | None:
        record, domain = self._deciding or (None, "")
        if record is None or record.exp is None:
            return None
        name = await self._name(record.exp, domain)
        if name is None or not fits_dns(name):
            return None
        try:
            (text,) = await self._dns.txt(_presented(name))
            string = parse_explanation(text)
        except (DnsError, ValueError):  # none, several, or not in the grammar
            return None
        return expand_text(string, await self._values_for(string, domain))

    async def _record_of(self, domain: str) -> bytes | None:
        try:
            records = [record for record in await self._dns.txt(_presented(domain)) if is_spf(record)]
        except (NxDomain, NoAnswer):
            return None
        if len(records) > 1:
            raise _PermError  # RFC 7208 §4.5
        return records[0] if records else None

    async def _matches(self, mechanism: Mechanism, domain: str) -> bool:
        if mechanism.kind == "all":
            return True
        self._spend_lookup()
        name = domain if mechanism.domain is None else await self._name(mechanism.domain, domain)
        if mechanism.kind == "include":
            return await self._includes(name or "")
        if name is None or not fits_dns(name):
            return False  # what can't be a name is in no DNS
        return await _LOOKUPS[mechanism.kind](self, mechanism, name)

    async def _includes(self, name: str) -> bool:
        result = await self.check(name)
        if result == "none":
            raise _PermError  # RFC 7208 §5.2
        return result == "pass"

    async def _matches_a(self, mechanism: Mechanism, name: str) -> bool:
        addresses = await self._found(self._addresses(_presented(name)))
        return self._any_within(addresses, mechanism) or self._no_match(is_void=not addresses)

    async def _matches_mx(self, mechanism: Mechanism, name: str) -> bool:
        found = await self._found(self._dns.mx(_presented(name)))
        hosts = [mx.host for mx in found if mx.host]
        if len(hosts) > MX_HOSTS_MAX:
            raise _PermError  # RFC 7208 §4.6.4
        answers = await self._addresses_of(hosts)
        lists = [answer for answer in answers if isinstance(answer, list)]
        if any(self._any_within(addresses, mechanism) for addresses in lists):
            return True
        for answer in answers:
            if isinstance(answer, DnsTemporary):
                raise type(answer)(*answer.args)  # anew: it would know this frame, which knows it
        return self._no_match(is_void=not found or not all(lists))

    async def _matches_exists(self, _: Mechanism, name: str) -> bool:
        # An A, whatever the client's family (RFC 7208 §5.7).
        found = await self._found(self._dns.ipv4(_presented(name)))
        return bool(found) or self._no_match(is_void=True)

    async def _matches_ptr(self, _: Mechanism, name: str) -> bool:
        names = await self._validated()
        target = name.lower()
        return any(is_within(one, target) for one in names) or self._no_match(self._is_nameless)

    def _no_match(self, is_void: bool) -> bool:
        """False. A term counts once, however many of its look-ups were void (RFC 7208 §4.6.4)."""
        self._voids_left -= is_void
        if self._voids_left < 0:
            raise _PermError
        return False

    def _spend_lookup(self) -> None:
        self._lookups_left -= 1
        if self._lookups_left < 0:
            raise _PermError  # RFC 7208 §4.6.4

    async def _validated(self) -> list[str]:
        """Names of the client that lead back to it (RFC 7208 §5.5)."""
        if self._client_names is None:
            try:
                names = (await self._found(self._dns.ptr(self._client)))[:PTR_NAMES_MAX]
                is_void = not names
            except DnsTemporary:
                names, is_void = [], False
            answers = await self._addresses_of(names)
            itself = Mechanism("", "a")
            self._client_names = [
                name.lower()
                for name, answer in zip(names, answers, strict=True)
                if isinstance(answer, list) and self._any_within(answer, itself)
            ]
            self._is_nameless = not self._client_names and (is_void or [] in answers)
        return self._client_names

    async def _addresses_of(self, hosts: Sequence[str]) -> list[list[str] | DnsTemporary]:
        """Of each host its addresses, or that nobody can say now."""
        return await asyncio.gather(*(self._addresses_or_why(host) for host in hosts))

    async def _addresses_or_why(self, host: str) -> list[str] | DnsTemporary:
        try:
            return await self._found(self._addresses(host))
        except DnsTemporary as error:
            return error

    @staticmethod
    async def _found(asked: Awaitable[list[_T]]) -> list[_T]:
        try:
            return await asked
        except (NxDomain, NoAnswer):
            return []

    def _any_within(self, addresses: Sequence[str], mechanism: Mechanism) -> bool:
        return any(self._is_within(_packed(address), mechanism) for address in addresses)

    def _is_within(self, network: bytes, mechanism: Mechanism) -> bool:
        """Whether the client is in the network of this address, as far as the mechanism's prefix goes."""
        if len(network) != self._octets:
            return False
        ignored = 8 * self._octets - (mechanism.prefix4 if self._is_v4 else mechanism.prefix6)
        return (int.from_bytes(network, "big") ^ self._number) >> ignored == 0

    async def _name(self, string: MacroString, domain: str) -> str | None:
        return expand_name(string, await self._values_for(string, domain))

    async def _values_for(self, string: MacroString, domain: str) -> dict[str, str]:
        values = self._values | {"d": domain}
        if uses(string, "p"):
            values["p"] = _preferred(await self._validated(), domain)
        return values


_LOOKUPS: dict[str, Callable[[_Evaluation, Mechanism, str], Awaitable[bool]]] = {
    "a": _Evaluation._matches_a,
    "mx": _Evaluation._matches_mx,
    "exists": _Evaluation._matches_exists,
    "ptr": _Evaluation._matches_ptr,
}


def _preferred(names: Sequence[str], domain: str) -> str:
    """The value of `%{p}` (RFC 7208 §7.3)."""
    below = [name for name in names if name.endswith(f".{domain}")]
    return domain if domain in names else next(iter((*below, *names)), "unknown")


def _client(peer_address: str) -> Address | None:
    try:
        address = ip_address(peer_address.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address  # RFC 7208 §5


def _evaluable(domain: str) -> str | None:
    """A-labels in lower case; None of what is no multi-label name, or an address (RFC 7208 §4.3)."""
    try:
        name = ascii_domain(domain)
    except ValueError:
        return None
    labels = name.split(".")
    is_address = name.startswith("[") or labels[-1].isdigit()
    is_readable = name.isprintable() and " " not in name
    return name if len(labels) > 1 and is_readable and not is_address and fits_dns(name) else None


def fits_dns(name: str) -> bool:
    """RFC 1035 §2.3.4: nobody can have published anything for a name that is longer, or has such a label."""
    return len(name) <= DOMAIN_CHARS_MAX and all(0 < len(label) < 64 for label in name.split("."))


def _presented(name: str) -> str:
    """A macro may have put a backslash in: there it stands for itself."""
    return name.replace("\\", "\\\\")


def _packed(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
