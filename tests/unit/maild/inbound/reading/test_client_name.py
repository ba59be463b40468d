"""The name by which a client's address is known, where that leads back to it."""

from ipaddress import IPv4Address, IPv6Address

import pytest

from maild.authentication.spf import PTR_NAMES_MAX
from maild.inbound.reading.client_name import client_name
from maild.resolver import DnsTemporary, NxDomain


class Reverse:
    """`names`: address → its names; `addresses`: name → its addresses."""

    def __init__(self, names: dict[str, list[str]], addresses: dict[str, list[str]]) -> None:
        self._names = names
        self._addresses = addresses
        self.asked: list[str] = []

    async def ptr(self, address: IPv4Address | IPv6Address) -> list[str]:
        return self._found(self._names, str(address))

    async def ipv4(self, host: str) -> list[str]:
        return self._found(self._addresses, host)

    async def ipv6(self, host: str) -> list[str]:
        return self._found(self._addresses, host)

    def _found(self, among: dict[str, list[str]], key: str) -> list[str]:
        self.asked.append(key)
        if key not in among:
            raise DnsTemporary(key) if "silent" in key else NxDomain(key)
        return among[key]


@pytest.mark.parametrize(
    ("peer", "names", "addresses", "expected"),
    [
        ("192.0.2.1", ["mx.test"], ["192.0.2.1"], "mx.test"),
        ("192.0.2.1", ["mx.test"], ["192.0.2.2", "192.0.2.1"], "mx.test"),
        ("192.0.2.1", ["gone.test", "silent.test", "mx.test"], ["192.0.2.1"], "mx.test"),
        ("192.0.2.1", ["mx.test"], ["192.0.2.2"], None),
        ("192.0.2.1", ["silent.test"], [], None),
        ("2001:db8::1", ["mx.test"], ["2001:0db8:0::1"], "mx.test"),
        ("fe80::1%eth0", ["mx.test"], ["fe80::1"], "mx.test"),
    ],
)
async def test_a_name_leads_back(
    peer: str, names: list[str], addresses: list[str], expected: str | None
) -> None:
    dns = Reverse({peer.partition("%")[0]: names}, {"mx.test": addresses})
    assert await client_name(dns, peer) == expected


async def test_an_address_without_names_has_none() -> None:
    assert await client_name(Reverse({}, {}), "192.0.2.1") is None


async def test_an_address_of_many_names_is_few_questions() -> None:
    dns = Reverse({"192.0.2.1": [f"{number}.test" for number in range(1000)]}, {})
    assert await client_name(dns, "192.0.2.1") is None
    assert len(dns.asked) == 1 + PTR_NAMES_MAX
