"""Is the client's address on a block list? Asked by DNS (RFC 5782), beside the conversation.

A list says "listed" by an address in 127.0.0.0/8 (§2.1), and by 127.255.255.0/24 that it does not want to be asked so
(a public resolver, too many questions). What does not answer lists nobody.
"""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence

from conf.addresses import is_public
from maild.resolver import DnsError

LISTED = ipaddress.IPv4Network("127.0.0.0/8")
REFUSED_TO_ANSWER = ipaddress.IPv4Network("127.255.255.0/24")


class BlockLists:
    """`zones`: of the lists, in the order in which they are named to a client that several list. `addresses`: the IPv4
    addresses of a name, or DnsError."""

    def __init__(self, zones: Sequence[str], addresses: Callable[[str], Awaitable[list[str]]]) -> None:
        self._zones = zones
        self._addresses = addresses

    def begin(self, peer: str) -> "asyncio.Task[str | None] | None":
        """Ask all lists at once; the task ends with the zone that has the peer, or None, and raises nothing. None where
        there is nothing to ask: no list knows private addresses."""
        if not self._zones or not is_public(peer):
            return None
        return asyncio.create_task(self._ask(peer))

    async def _ask(self, peer: str) -> str | None:
        name = reversed_name(peer)
        are_listed = await asyncio.gather(*(self._has(f"{name}.{zone}") for zone in self._zones))
        return next(
            (zone for zone, is_listed in zip(self._zones, are_listed, strict=True) if is_listed), None
        )

    async def _has(self, name: str) -> bool:
        try:
            found = await self._addresses(name)
        except DnsError:
            return False
        return any(map(_is_listing, found))


def reversed_name(peer: str) -> str:
    """`2.0.0.127` of 127.0.0.2 (RFC 5782 §2.1); of IPv6 the 32 nibbles (§2.4)."""
    return ipaddress.ip_address(peer).reverse_pointer.removesuffix(".in-addr.arpa").removesuffix(".ip6.arpa")


def _is_listing(answer: str) -> bool:
    address = ipaddress.IPv4Address(answer)
    return address in LISTED and address not in REFUSED_TO_ANSWER
