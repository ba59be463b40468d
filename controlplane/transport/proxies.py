"""Which peers are proxies, and whose requests they pass on.

What runs on this host is one, and what the operator names (`http.proxy_from`): it has one address for many clients, so
limits for an address are not its, and it is believed who they are. Of anybody else nothing that is said counts.
"""

from collections.abc import Iterable
from ipaddress import ip_address

from conf.addresses import Networks, unmapped


class Proxies:
    """`networks`: of those that are elsewhere."""

    def __init__(self, networks: Iterable[str]) -> None:
        self._elsewhere = Networks(networks)

    def have(self, peer: str) -> bool:
        """Is the peer one? A socket without an address is on this host."""
        return peer.startswith("127.") or peer in ("::1", "") or self._elsewhere.have(peer)

    def client_in(self, told: str) -> str | None:
        """The client, from the X-Forwarded-For that one of them has sent; None: it names nobody.

        Each adds whom it saw itself behind what it was told, and some add themselves: the last that is none of them.
        Of two on one host (TLS, and a cache behind it) the second saw the first there, at an address of loopback.
        """
        for one in reversed(told.split(",")):
            address = _address(one.strip())
            if address is None or not self.have(address):
                return address
        return None


def _address(told: str) -> str | None:
    """Without the port that some put behind it (`192.0.2.1:4711`, `[2001:db8::1]:4711`)."""
    if told.startswith("["):
        told = told[1:].partition("]")[0]
    elif told.count(":") == 1:
        told = told.partition(":")[0]
    try:
        return unmapped(str(ip_address(told)))
    except ValueError:
        return None
