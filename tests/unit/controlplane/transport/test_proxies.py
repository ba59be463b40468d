"""Who is a proxy, and which client it passes on: nobody claims to be somebody else."""

import pytest

from controlplane.transport.proxies import Proxies

PROXIES = Proxies(["10.0.0.0/24", "fd00:1::/64", "35.191.0.1/32"])


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "", "10.0.0.7", "fd00:1::7"])
def test_what_is_here_and_what_is_named_is_a_proxy(peer: str) -> None:
    assert PROXIES.have(peer)


@pytest.mark.parametrize("peer", ["10.0.1.7", "fd00:2::7", "198.51.100.9", "unknown"])
def test_nobody_else_is(peer: str) -> None:
    assert not PROXIES.have(peer)


@pytest.mark.parametrize(
    ("told", "client"),
    [
        ("198.51.100.9", "198.51.100.9"),
        ("203.0.113.5, 198.51.100.9", "198.51.100.9"),  # what the client said, and what the proxy saw
        ("203.0.113.5, 198.51.100.9, 10.0.0.7", "198.51.100.9"),  # two proxies, one behind the other
        ("203.0.113.5,198.51.100.9,35.191.0.1", "198.51.100.9"),  # one that names itself last
        ("203.0.113.5, 198.51.100.9, 127.0.0.1", "198.51.100.9"),  # two on one host: TLS, and a cache
        ("203.0.113.5, 198.51.100.9, ::1, 10.0.0.7", "198.51.100.9"),
        ("198.51.100.9:4711", "198.51.100.9"),
        ("2001:db8::9", "2001:db8::9"),
        ("[2001:db8::9]:4711", "2001:db8::9"),
        ("[2001:db8::9]", "2001:db8::9"),
        ("::ffff:198.51.100.9", "198.51.100.9"),
    ],
)
def test_the_client_is_the_last_that_is_no_proxy(told: str, client: str) -> None:
    assert PROXIES.client_in(told) == client


@pytest.mark.parametrize(
    "told",
    [
        "",
        ",",
        "unknown",
        "198.51.100.9, _hidden",
        "10.0.0.7",
        "10.0.0.7, 10.0.0.8",
        "127.0.0.1",
        "127.0.0.1, ::1",
        "1:2",
        "[198.51",
    ],
)
def test_where_none_can_be_told_nobody_is_named(told: str) -> None:
    assert PROXIES.client_in(told) is None
