"""What receivers demand of those who deliver to them, joined: one demand for each mail host of a domain."""

from conf.log_events import LogEvent
from conf.strangers import StrangerLog
from maild.outbound.mta_sts import StsPolicies
from maild.outbound.sts_policy import StsPolicy
from maild.outbound.tls_demand import NO_DEMAND, PolicyForbids, TlsDemand

_STS_TESTING = TlsDemand("testing", "mta-sts testing")
_STS_ENFORCED = TlsDemand("verify", "mta-sts")


class DomainPolicy:
    """What one domain demands, as it was asked for a moment ago."""

    def __init__(self, domain: str, sts: StsPolicy | None, strangers: StrangerLog) -> None:
        self._domain = domain
        self._sts = sts
        self._strangers = strangers

    async def demand(self, host: str) -> TlsDemand:
        """What a session with the domain's mail host must be like; PolicyForbids."""
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


class ReceiverPolicies:
    """`sts`: None where the operator wants no MTA-STS."""

    def __init__(self, sts: StsPolicies | None, strangers: StrangerLog) -> None:
        self._sts = sts
        self._strangers = strangers

    async def of_domain(self, domain: str) -> DomainPolicy:
        """What the domain (an A-label) demands; asks it where that is not known."""
        sts = await self._sts.of(domain) if self._sts is not None else None
        return DomainPolicy(domain, sts, self._strangers)

    async def close(self) -> None:
        """End what is under way. Idempotent."""
        if self._sts is not None:
            await self._sts.close()
