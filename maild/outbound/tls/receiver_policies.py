"""What receivers demand of those who deliver to them, joined: one demand for each mail host of a domain.

DANE stands before MTA-STS (RFC 8461 §2): who has TLSA records that can be used is judged by them alone. Where DNSSEC
does not vouch for the domain's MX and the host's address, there is no DANE (RFC 7672 §2.2). Where DNS does not answer a
question of these, mail waits: whoever can make it silent could else turn DANE off (§2.1.1).

What the operator demands of a destination (`[outbound.tls.NAME]`) is the least where it is "verify" or "encrypt"; where
it is "opportunistic" or "none" the receiver is not even asked.
"""

from collections.abc import Mapping, Sequence

from conf.log_events import LogEvent
from conf.settings import TlsRule
from conf.strangers import StrangerLog
from maild.outbound.tls.dane import read_usable
from maild.outbound.tls.mta_sts import StsFault, StsPolicies
from maild.outbound.tls.sts_policy import StsPolicy
from maild.outbound.tls.tls_demand import NO_DEMAND, Level, PolicyForbids, TlsDemand
from maild.resolver import DnsNotAsked, DnsTemporary, NoAnswer, NxDomain, Resolver

_STS_TESTING = TlsDemand("testing", "mta-sts testing")
_STS_ENFORCED = TlsDemand("verify", "mta-sts")
_DANE_UNUSABLE = TlsDemand("encrypt", "dane")
_WEAKEST_FIRST: tuple[Level, ...] = ("opportunistic", "testing", "encrypt", "verify", "dane")


class HostKeys:
    """The TLSA records of mail hosts, by their port."""

    def __init__(self, resolver: Resolver, port: int) -> None:
        self._resolver = resolver
        self._port = port

    async def speak_for(self, domain: str) -> bool:
        """Is there DANE for hosts of the domain at all: does DNSSEC vouch for its MX, or for there being none?
        PolicyForbids."""
        try:
            return await self._resolver.is_authentic(domain, "MX")
        except DnsNotAsked:
            raise
        except DnsTemporary:
            raise PolicyForbids(f"TLS policy dane: DNS does not answer for the MX of {domain}") from None

    async def demand(self, domain: str, host: str) -> TlsDemand | None:
        """What the records of a host of the domain demand; None where there are none. PolicyForbids."""
        try:
            if not await self._resolver.is_authentic(host, "A", "AAAA"):
                return None  # RFC 7672 §2.2.2: such zones may choke on TLSA, and can't have any that counts
            target = await self._resolver.alias_of(host)
            for name in (host,) if target is None else (target, host):  # §2.1.3
                records = await self._signed_records(f"_{self._port}._tcp.{name}")
                if records:
                    return _by_records(records, (name, domain))
            return None
        except DnsNotAsked:
            raise
        except DnsTemporary:
            text = f"TLS policy dane: DNS does not answer for the TLSA records of {host}"
            raise PolicyForbids(text) from None

    async def _signed_records(self, name: str) -> Sequence[bytes]:
        """Those that DNSSEC vouches for; DnsTemporary."""
        try:
            records = await self._resolver.tlsa(name)
            return records if await self._resolver.is_authentic(name, "TLSA") else ()
        except (NxDomain, NoAnswer):
            return ()


def _by_records(records: Sequence[bytes], names: tuple[str, ...]) -> TlsDemand:
    """RFC 7672 §2.2: TLS alone, where none of them can be used."""
    usable = read_usable(records)
    return TlsDemand("dane", "dane", usable, names) if usable else _DANE_UNUSABLE


class DomainPolicy:
    """What one domain demands, as it was asked for a moment ago. `keys`: None where it has no DANE. `least`: what the
    operator demands."""

    def __init__(
        self,
        domain: str,
        sts: StsPolicy | None,
        keys: HostKeys | None,
        least: TlsDemand,
        strangers: StrangerLog,
    ) -> None:
        self._domain = domain
        self._sts = sts
        self._keys = keys
        self._least = least
        self._strangers = strangers

    async def demand(self, host: str) -> TlsDemand:
        """What a session with the domain's mail host must be like; PolicyForbids."""
        if self._least.level == "none":
            return self._least
        dane = await self._keys.demand(self._domain, host) if self._keys is not None else None
        if dane is not None and dane.level == "dane":
            return dane
        return max(self._by_sts(host), dane or NO_DEMAND, self._least, key=_strength)  # of equals the first

    def _by_sts(self, host: str) -> TlsDemand:
        sts = self._sts
        if sts is None or sts.mode == "none":
            return NO_DEMAND
        is_named = sts.names(host)
        if sts.mode == "enforce":
            if not is_named:
                raise PolicyForbids(
                    f"TLS policy mta-sts of {self._domain} does not name its mail host {host}"
                )
            return _STS_ENFORCED
        if not is_named:
            self._strangers.note(
                LogEvent.TLS_POLICY_UNMET,
                whose=self._domain,
                policy=_STS_TESTING.policy,
                domain=self._domain,
                host=host,
                reason="the policy does not name the host",
            )
        return _STS_TESTING


def _strength(demand: TlsDemand) -> tuple[int, bool]:
    """What nobody demands is less than what the operator leaves at that."""
    return _WEAKEST_FIRST.index(demand.level), demand != NO_DEMAND


class ReceiverPolicies:
    """`rules`: the operator's. `sts`: None where the operator wants no MTA-STS; `keys`: None where no resolver's word
    counts for DANE."""

    def __init__(
        self,
        rules: Mapping[str, TlsRule],
        sts: StsPolicies | None,
        keys: HostKeys | None,
        strangers: StrangerLog,
    ) -> None:
        self._rules = {domain: rule.policy for rule in rules.values() for domain in rule.domains}
        self._sts = sts
        self._keys = keys
        self._strangers = strangers

    async def of_domain(self, domain: str) -> DomainPolicy:
        """What the domain (an A-label) demands; asks it where that is not known. PolicyForbids."""
        rule = self._rules.get(domain)
        least = NO_DEMAND if rule is None else TlsDemand(rule, rule)
        if rule in ("opportunistic", "none"):
            return DomainPolicy(domain, None, None, least, self._strangers)
        sts = await self._sts.of(domain) if self._sts is not None else None
        keys = self._keys if self._keys is not None and await self._keys.speak_for(domain) else None
        return DomainPolicy(domain, sts, keys, least, self._strangers)

    def at_hand(self, domain: str) -> tuple[StsPolicy | None, StsFault | None]:
        """See StsPolicies.at_hand."""
        return (None, None) if self._sts is None else self._sts.at_hand(domain)

    async def close(self) -> None:
        """End what is under way. Idempotent."""
        if self._sts is not None:
            await self._sts.close()
