"""How a connection to a host is to be protected.

A smarthost gets what its section says: verified TLS from the first octet or by STARTTLS, or as any host. A mail host
gets what the hop's demand says (`receiver_policies.py`); where nobody demands anything that is opportunistic TLS (RFC
7435): STARTTLS where it is offered, without verifying the host; plain text where it is not, or where the handshake
fails. A policy that `requires_tls` is never delivered to in plain text.

What failed once is remembered for a while, so that a broken host does not cost two connections each
time; forgetting that at a restart does no harm.
"""

import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from conf.tls import client_context, unverified_context
from maild.message.delivery_evidence import VerifiedBy
from maild.outbound.routing.relays import RelayHost
from maild.outbound.routing.route import Hop
from maild.outbound.tls.dane import is_matched
from maild.outbound.tls.tls_demand import TlsDemand
from storage.clock import Clock

BROKEN_FOR_S = 3600
BROKEN_HOSTS_MAX = 10_000


Accepts = Callable[[Sequence[bytes]], bool]  # a chain as DER, the host's own certificate first


@dataclass(frozen=True, slots=True)
class TlsPolicy:
    """`name`: for the log; `is_implicit`: the session begins with TLS (RFC 8314 §3.3). `demanded_by`: the policy
    that is met by it, for `tls` of a recipient; "" where there is none. `accepts`: what judges the chain besides
    OpenSSL."""

    name: str
    context: ssl.SSLContext | None  # None: don't even ask for STARTTLS
    requires_tls: bool = False
    is_implicit: bool = False
    demanded_by: str = ""
    accepts: Accepts | None = None

    @property
    def verified_by(self) -> VerifiedBy | None:
        """What vouches for the host once TLS is there; None: nobody."""
        if self.accepts is not None:
            return "dane"
        is_verified = self.context is not None and self.context.verify_mode is ssl.CERT_REQUIRED
        return "webpki" if is_verified else None

    @property
    def words(self) -> str:
        """Whose demand a failure is about, to be put before it."""
        return f"TLS policy {self.demanded_by}: " if self.demanded_by else ""


class ClientContexts(NamedTuple):
    """What was read for sessions with mail hosts, and with smarthosts, by their `ca_file`."""

    unverified: ssl.SSLContext
    verified: ssl.SSLContext
    of_relays: Mapping[str, ssl.SSLContext]


class TlsPolicies:
    """The policy of each host; what failed is kept in memory alone. `ca_file`: trusted besides the system's CAs.
    `pair`: certificate and key that hosts are shown which ask who we are, None for none. `relays`: all that there
    are; what they need is made before the first session, for it takes a while."""

    def __init__(
        self,
        clock: Clock,
        ca_file: str = "",
        pair: tuple[str, str] | None = None,
        relays: Iterable[RelayHost] = (),
    ) -> None:
        """ssl.SSLError or OSError, as for `read`."""
        self._clock = clock
        self._ca_file = ca_file
        self._pair = pair
        self._relay_hosts = [one for one in relays if one.tls != "opportunistic"]
        self._plain = TlsPolicy("plain", None)
        self._broken: OrderedDict[tuple[str, str], float] = OrderedDict()  # host, policy
        self.use(self.read())

    def read(self) -> ClientContexts:
        """What the files hold now; for a thread, since the system's CAs take some 50 ms. ssl.SSLError or OSError where
        they don't fit."""
        unverified, verified = self._shown(unverified_context()), self._verifying(self._ca_file)
        verified.hostname_checks_common_name = False  # RFC 8461 §4.1: the name is a DNS-ID
        of_relays = {file: self._verifying(file) for file in {one.ca_file for one in self._relay_hosts}}
        return ClientContexts(unverified, verified, of_relays)

    def use(self, contexts: ClientContexts) -> None:
        """For sessions that begin from now on."""
        unverified, verified, of_relays = contexts
        self._unverified, self._verified = unverified, verified
        self._opportunistic = TlsPolicy("opportunistic", unverified)
        self._testing = TlsPolicy("testing", verified)
        self._relays = {
            one: TlsPolicy(one.tls, of_relays[one.ca_file], True, one.tls == "implicit")
            for one in self._relay_hosts
        }

    def _verifying(self, ca_file: str) -> ssl.SSLContext:
        context = self._shown(client_context())
        if ca_file:
            context.load_verify_locations(ca_file)
        return context

    def _shown(self, context: ssl.SSLContext) -> ssl.SSLContext:
        if self._pair is not None:
            # An encrypted key is a fault; without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(*self._pair, password="")
        return context

    def for_hop(self, hop: Hop) -> TlsPolicy:
        """What protects a session with this host."""
        if hop.relay is not None and hop.relay.tls != "opportunistic":
            return self._relays[hop.relay]
        if hop.demand.level in ("opportunistic", "testing"):
            return self._unless_broken(hop)
        return self._of_demand(hop.demand)

    def _of_demand(self, demand: TlsDemand) -> TlsPolicy:
        if demand.level == "none":
            return self._plain
        context = self._verified if demand.level == "verify" else self._unverified
        is_matched = partial(_is_matched, demand) if demand.level == "dane" else None
        return TlsPolicy(demand.level, context, True, demanded_by=demand.policy, accepts=is_matched)

    def _unless_broken(self, hop: Hop) -> TlsPolicy:
        testing, opportunistic = self._testing, self._opportunistic
        if hop.demand.level == "testing" and not self._is_broken(hop.host, testing):
            return testing
        return self._plain if self._is_broken(hop.host, opportunistic) else opportunistic

    def _is_broken(self, host: str, policy: TlsPolicy) -> bool:
        until = self._broken.get((host, policy.name))
        return until is not None and until > self._clock.monotonic()

    def handshake_failed(self, host: str, policy: TlsPolicy) -> None:
        """For a while `for_hop` gives the next weaker one: unverified TLS, and then plain text (RFC 7435 §3). There is
        none of a policy that requires TLS."""
        key = host, policy.name
        self._broken[key] = self._clock.monotonic() + BROKEN_FOR_S
        self._broken.move_to_end(key)
        while len(self._broken) > BROKEN_HOSTS_MAX:
            self._broken.popitem(last=False)


def _is_matched(demand: TlsDemand, chain: Sequence[bytes]) -> bool:
    return is_matched(demand.tlsa, chain, demand.names)
