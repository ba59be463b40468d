"""How a connection to a host is to be protected.

A smarthost gets what its section says: verified TLS from the first octet or by STARTTLS, or as any host. Every other
host gets opportunistic TLS (RFC 7435): STARTTLS where it is offered, without verifying the host; plain text where it is
not, or where the handshake fails. `for_hop` is the place for MTA-STS (RFC 8461) and DANE (RFC 7672): a policy that
`requires_tls` is never delivered to in plain text.

What failed once is remembered for a while, so that a broken host does not cost two connections each
time; forgetting that at a restart does no harm.
"""

import ssl
from collections import OrderedDict
from dataclasses import dataclass

from conf.tls import client_context
from maild.outbound.relays import RelayHost
from maild.outbound.route import Hop
from storage.clock import Clock

BROKEN_FOR_S = 3600
BROKEN_HOSTS_MAX = 10_000


@dataclass(frozen=True, slots=True)
class TlsPolicy:
    """`name`: for the log; `is_implicit`: the session begins with TLS (RFC 8314 §3.3)."""

    name: str
    context: ssl.SSLContext | None  # None: don't even ask for STARTTLS
    requires_tls: bool = False
    is_implicit: bool = False


class TlsPolicies:
    """The policy of each host; what failed is kept in memory alone."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._opportunistic = TlsPolicy("opportunistic", _unverified())
        self._plain = TlsPolicy("plain", None)
        self._broken: OrderedDict[str, float] = OrderedDict()
        self._relays: dict[RelayHost, TlsPolicy] = {}

    def for_hop(self, hop: Hop) -> TlsPolicy:
        """What protects a session with this host."""
        if hop.relay is not None and hop.relay.tls != "opportunistic":
            return self._of_relay(hop.relay)
        return self._for_host(hop.host)

    def _of_relay(self, relay: RelayHost) -> TlsPolicy:
        policy = self._relays.get(relay)
        if policy is None:
            context = client_context()
            if relay.ca_file:
                context.load_verify_locations(relay.ca_file)
            policy = self._relays[relay] = TlsPolicy(relay.tls, context, True, relay.tls == "implicit")
        return policy

    def _for_host(self, host: str) -> TlsPolicy:
        until = self._broken.get(host)
        if until is not None and until > self._clock.monotonic():
            return self._plain
        return self._opportunistic

    def handshake_failed(self, host: str) -> TlsPolicy:
        """What to do instead: plain text, now and for a while (RFC 7435 §3)."""
        self._broken[host] = self._clock.monotonic() + BROKEN_FOR_S
        self._broken.move_to_end(host)
        while len(self._broken) > BROKEN_HOSTS_MAX:
            self._broken.popitem(last=False)
        return self._plain


def _unverified() -> ssl.SSLContext:
    context = client_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
