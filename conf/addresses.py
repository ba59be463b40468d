"""May we connect to an address that someone else named? And which addresses are one owner's? Pure; one rule for mail
hosts and webhooks alike.

The owner of a domain's DNS, or of a webhook's URL, names an address, and we call it from inside our network. So only
plain global unicast is called: nothing that leads to this host, its neighbours or its platform, nothing that carries
another address within (tunnels, translators: the network decides where they lead), and nothing with a zone.

The rule stands here because both planes ask, and neither may import the other; so does conf/tls.py.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

# The IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), without services that they call globally
# reachable and that any network may run (AS112, AMT); and a platform's service at an address that looks public.
REFUSED: tuple[tuple[str, str], ...] = (
    ("0.0.0.0/8", '"this network", RFC 791 §3.2'),
    ("10.0.0.0/8", "private, RFC 1918"),
    ("100.64.0.0/10", "carrier-grade NAT, RFC 6598"),
    ("127.0.0.0/8", "loopback, RFC 1122 §3.2.1.3"),
    ("168.63.129.16/32", "Azure's platform service"),
    ("169.254.0.0/16", "link-local, RFC 3927; metadata of clouds"),
    ("172.16.0.0/12", "private, RFC 1918"),
    ("192.0.0.0/24", "IETF protocol assignments, RFC 6890 §2.1"),
    ("192.0.2.0/24", "documentation, RFC 5737"),
    ("192.88.99.0/24", "6to4 relays, RFC 7526"),
    ("192.168.0.0/16", "private, RFC 1918"),
    ("198.18.0.0/15", "benchmarks, RFC 2544"),
    ("198.51.100.0/24", "documentation, RFC 5737"),
    ("203.0.113.0/24", "documentation, RFC 5737"),
    ("224.0.0.0/4", "multicast, RFC 5771"),
    ("240.0.0.0/4", "reserved and broadcast, RFC 1112 §4, RFC 919 §7"),
    ("2001::/23", "IETF protocol assignments, RFC 2928: Teredo (RFC 4380), benchmarks, ORCHID"),
    ("2001:db8::/32", "documentation, RFC 3849"),
    ("2002::/16", "6to4, RFC 3056: leads to any IPv4 address"),
    ("3ffe::/16", "6bone, returned by RFC 3701"),
    ("3fff::/20", "documentation, RFC 9637"),
)
# RFC 4291 §2.4, as far as IANA gives it out. What is not in it: unspecified, loopback, IPv4-mapped and -compatible
# (RFC 4291 §2.5), NAT64 (64:ff9b::/96, RFC 6052; 64:ff9b:1::/48, RFC 8215), discard-only (RFC 6666), segment routing
# (RFC 9602), unique local (RFC 4193), link-local, site-local (RFC 3879), multicast.
GLOBAL_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")

_REFUSED_V4 = [ipaddress.IPv4Network(block) for block, _ in REFUSED if ":" not in block]
_REFUSED_V6 = [ipaddress.IPv6Network(block) for block, _ in REFUSED if ":" in block]


_OWNERS_REMEMBERED = 4096
_MAPPED = "::ffff:"


def unmapped(address: str) -> str:
    """The IPv4 address that a socket of both versions shows as IPv6 (RFC 4291 §2.5.5.2), else the text as it is. Else
    limits and rules see in one client two, and in all clients of IPv4 one network."""
    if not address.startswith(_MAPPED):
        return address
    try:
        return str(ipaddress.IPv6Address(address).ipv4_mapped or address)
    except ValueError:
        return address


@lru_cache(_OWNERS_REMEMBERED)
def network_of(address: str) -> str:
    """What one host may have many addresses of: for IPv6 the /64, for IPv4 the address alone. Itself where it is no
    address."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False).network_address)
    except ValueError:
        return address


@lru_cache(_OWNERS_REMEMBERED)
def site_of(address: str) -> str:
    """What one owner may have many addresses in: of IPv6 the /48, the most that a site gets (RFC 6177), of IPv4 the
    /24. Itself where it is no address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipaddress.ip_network((parsed, 24 if parsed.version == 4 else 48), strict=False))


class Networks:
    """Those that an operator names, as their settings are written."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._networks = [ipaddress.ip_network(network) for network in networks]

    def have(self, address: str) -> bool:
        """Is the address in one of them? What is no address is in none."""
        if not self._networks:
            return False
        try:
            parsed = ipaddress.ip_address(address.partition("%")[0])
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)


def is_public(address: str) -> bool:
    """May we connect to it on another's word? False for whatever is not a plain IP address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return not any(parsed in block for block in _REFUSED_V4)
    if parsed.scope_id is not None or parsed not in GLOBAL_UNICAST_V6:  # RFC 4007 §11: a zone is this host's
        return False
    return not any(parsed in block for block in _REFUSED_V6)
