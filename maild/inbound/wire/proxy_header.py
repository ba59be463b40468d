"""The PROXY protocol, version 2: a load balancer tells who its client is (haproxy.org, proxy-protocol.txt, §2.2).

Pure: octets in, an address out. Version 1 is a line of text; every balancer that has it has version 2.
"""

import ipaddress
from typing import NamedTuple

SIGNATURE = b"\r\n\r\n\x00\r\nQUIT\n"
FIXED_OCTETS = 16
MORE_OCTETS_MAX = 2048  # addresses, and what a balancer adds (TLVs): some hundred octets in practice

_VERSION_2 = 0x20
_LOCAL, _PROXY = 0, 1
_TCP_OVER_IPV4, _TCP_OVER_IPV6 = 0x11, 0x21
_IPV4_OCTETS, _IPV6_OCTETS = 12, 36  # two addresses and two ports


class ProxyHeaderError(Exception):
    """It is no PROXY header that we take; the text says why, for the log."""


class ProxyHead(NamedTuple):
    """What the first `FIXED_OCTETS` say. `more_octets`: how many follow."""

    command: int
    family: int
    more_octets: int


def read_head(octets: bytes) -> ProxyHead:
    """Of exactly `FIXED_OCTETS`; ProxyHeaderError."""
    if octets[:12] != SIGNATURE:
        raise ProxyHeaderError("no PROXY header of version 2")
    version_and_command, family = octets[12], octets[13]
    if version_and_command & 0xF0 != _VERSION_2:
        raise ProxyHeaderError("another version than 2")
    command = version_and_command & 0x0F
    if command not in (_LOCAL, _PROXY):
        raise ProxyHeaderError("an unknown command")  # "receivers must drop connections" with these
    more = int.from_bytes(octets[14:16], "big")
    if more > MORE_OCTETS_MAX:
        raise ProxyHeaderError(f"longer than {MORE_OCTETS_MAX} octets")
    return ProxyHead(command, family, more)


def read_source(head: ProxyHead, octets: bytes) -> str | None:
    """The client's address, of the `more_octets` that follow the head; None for the balancer's own connection, as for
    its health checks (LOCAL). ProxyHeaderError."""
    if head.command == _LOCAL:
        return None  # what follows is to be ignored
    if head.family == _TCP_OVER_IPV4 and len(octets) >= _IPV4_OCTETS:
        return str(ipaddress.IPv4Address(octets[:4]))
    if head.family == _TCP_OVER_IPV6 and len(octets) >= _IPV6_OCTETS:
        address = ipaddress.IPv6Address(octets[:16])
        # The same client must be the same peer, however the balancer writes it.
        return str(address.ipv4_mapped or address)
    raise ProxyHeaderError("no address of a TCP connection")
