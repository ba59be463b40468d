"""Which addresses we connect to on a stranger's word (conf/addresses.py): for mail hosts and webhooks the same."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conf.addresses import REFUSED, is_public, unmapped
from controlplane.egress import client
from maild.outbound.routing import route

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# What stands beside a refused network and is not refused itself.
NEIGHBOURS = {
    "0.0.0.0/8": ("1.0.0.0",),
    "10.0.0.0/8": ("9.255.255.255", "11.0.0.0"),
    "100.64.0.0/10": ("100.63.255.255", "100.128.0.0"),
    "127.0.0.0/8": ("126.255.255.255", "128.0.0.0"),
    "168.63.129.16/32": ("168.63.129.15", "168.63.129.17"),
    "169.254.0.0/16": ("169.253.255.255", "169.255.0.0"),
    "172.16.0.0/12": ("172.15.255.255", "172.32.0.0"),
    "192.0.0.0/24": ("191.255.255.255", "192.0.1.0"),
    "192.0.2.0/24": ("192.0.1.255", "192.0.3.0"),
    "192.88.99.0/24": ("192.88.98.255", "192.88.100.0"),
    "192.168.0.0/16": ("192.167.255.255", "192.169.0.0"),
    "198.18.0.0/15": ("198.17.255.255", "198.20.0.0"),
    "198.51.100.0/24": ("198.51.99.255", "198.51.101.0"),
    "203.0.113.0/24": ("203.0.112.255", "203.0.114.0"),
    "224.0.0.0/4": ("223.255.255.255",),
    "240.0.0.0/4": (),
    "2001::/23": ("2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"),
    "2001:db8::/32": ("2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"),
    "2002::/16": ("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"),
    "3ffe::/16": ("3ffd:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"),
    "3fff::/20": ("3fff:1000::",),
}


@pytest.mark.parametrize("block", [block for block, _ in REFUSED])
def test_a_refused_network_is_refused_from_end_to_end_and_no_further(block: str) -> None:
    network: Network = ipaddress.ip_network(block)
    assert not is_public(str(network[0])) and not is_public(str(network[-1]))
    assert all(is_public(neighbour) for neighbour in NEIGHBOURS[block])


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "2a00::1", "2000::", "192.31.196.1"]
)
def test_plain_global_addresses_are_called(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "::", "::1", "100::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1",
        "169.254.169.254", "255.255.255.255",
        # Outside of what IANA has given out.
        "1fff:ffff::1", "4000::", "e000::1",
    ],
)  # fmt: skip
def test_what_is_no_global_unicast_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("inner", ["10.0.0.1", "127.0.0.1", "169.254.169.254", "93.184.216.34"])
@pytest.mark.parametrize(
    "form",
    [
        "::ffff:{hex}",  # IPv4-mapped, RFC 4291 §2.5.5.2
        "::{hex}",  # IPv4-compatible, RFC 4291 §2.5.5.1
        "::ffff:0:{hex}",  # IPv4-translated, RFC 2765 §2.1
        "64:ff9b::{hex}",  # NAT64, RFC 6052
        "64:ff9b:1::{hex}",  # NAT64 of one's own, RFC 8215
        "2002:{hex}::1",  # 6to4, RFC 3056
        "2001:0:{hex}::1",  # Teredo: the server
        "2001::{flipped}",  # Teredo: the client, RFC 4380 §4
    ],
)
def test_an_address_within_an_address_is_refused_wherever_it_leads(form: str, inner: str) -> None:
    number = int(ipaddress.IPv4Address(inner))
    written = {
        name: f"{value >> 16:x}:{value & 0xFFFF:x}"
        for name, value in {"hex": number, "flipped": number ^ 0xFFFFFFFF}.items()
    }
    address = form.format(**written)
    assert ipaddress.ip_address(address) and not is_public(address)


@pytest.mark.parametrize("address", ["fe80::1%eth0", "2606:2800:220:1::1%1", "::ffff:8.8.8.8%lo"])
def test_a_zone_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "text", ["", "localhost", "8.8.8", "8.8.8.8.8", "010.0.0.1", "0x8.8.8.8", "[::1]", " 8.8.8.8"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert not is_public(text)


def test_mail_and_webhooks_ask_the_same_rule() -> None:
    assert vars(client)["is_public"] is vars(route)["is_public"] is is_public


@given(st.ip_addresses())
def test_nothing_public_is_special(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if is_public(str(address)):
        assert address.is_global and not address.is_multicast
        assert getattr(address, "ipv4_mapped", None) is None
        assert getattr(address, "sixtofour", None) is None
        assert getattr(address, "teredo", None) is None


@pytest.mark.parametrize(
    ("shown", "address"),
    [
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:c000:207", "192.0.2.7"),
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("::1", "::1"),
        ("::ffff:unknown", "::ffff:unknown"),
        ("", ""),
    ],
)
def test_a_client_of_ipv4_has_one_address_on_a_socket_of_both_versions(shown: str, address: str) -> None:
    assert unmapped(shown) == address
