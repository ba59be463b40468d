"""What the owner of a client's address calls it, where that name leads back to the address (RFC 8601 §3, "iprev")."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address
from typing import Protocol

from maild.authentication.spf import PTR_NAMES_MAX
from maild.resolver import DnsError


class ReverseDns(Protocol):
    """Names of addresses, and addresses of names (maild.resolver.Resolver); all raise DnsError."""

    async def ptr(self, address: IPv4Address | IPv6Address) -> list[str]: ...
    async def ipv4(self, host: str) -> list[str]: ...
    async def ipv6(self, host: str) -> list[str]: ...


async def client_name(dns: ReverseDns, peer: str) -> str | None:
    """None where there is no such name, or DNS does not say. It takes as long as DNS does."""
    address = ipaddress.ip_address(peer.partition("%")[0])  # without the interface of a link-local one
    addresses_of = dns.ipv4 if address.version == 4 else dns.ipv6
    try:
        names = await dns.ptr(address)
    except DnsError:
        return None
    for name in names[:PTR_NAMES_MAX]:
        try:
            found = await addresses_of(name)
        except DnsError:
            continue
        if address in map(ipaddress.ip_address, found):
            return name
    return None
