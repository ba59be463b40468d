"""Where all places are taken, who has most gives way, else who is silent for long; never one whose message is whole."""

from dataclasses import dataclass

import pytest

from maild.inbound.sessions.session_places import PATIENCE_S, who_gives_way

NOW = 1000.0


@dataclass(eq=False)
class Client:
    peer: str
    client_has_word_since: float | None = NOW - 1
    is_busy: bool = False
    is_open: bool = True


def test_the_site_that_has_most_gives_its_longest_wait() -> None:
    newcomer = Client("192.0.2.1")
    hoard = [Client(f"198.51.100.{number}", NOW - number) for number in range(1, 4)]
    others = [Client("203.0.113.1", NOW - 50), Client("203.0.113.2", NOW - 60)]
    assert who_gives_way([*hoard, *others, newcomer], newcomer, NOW) is hoard[2]


def test_addresses_of_one_ipv6_network_are_one_site() -> None:
    newcomer = Client("2001:db8:2::1")
    hoard = [Client(f"2001:db8:1:{number}::1") for number in range(2)]
    assert who_gives_way([*hoard, newcomer], newcomer, NOW) in hoard


def test_a_transfer_gives_way_and_a_message_that_came_whole_does_not() -> None:
    newcomer = Client("192.0.2.1")
    committing = Client("198.51.100.1", None, is_busy=True)
    receiving = Client("198.51.100.2", NOW - 1, is_busy=True)
    assert who_gives_way([committing, receiving, newcomer], newcomer, NOW) is receiving
    assert who_gives_way([committing, committing, newcomer], newcomer, NOW) is None


@pytest.mark.parametrize(("waited_s", "gives_way"), [(PATIENCE_S, True), (PATIENCE_S - 1, False)])
def test_where_nobody_has_more_who_is_silent_gives_way(waited_s: float, gives_way: bool) -> None:
    newcomer, silent = Client("192.0.2.1"), Client("198.51.100.1", NOW - waited_s)
    slow_transfer = Client("203.0.113.1", NOW - 100, is_busy=True)
    assert who_gives_way([silent, slow_transfer, newcomer], newcomer, NOW) is (silent if gives_way else None)


def test_who_has_most_is_no_newcomer_to_others() -> None:
    others = [Client("198.51.100.1"), Client("203.0.113.1")]
    newcomer = Client("192.0.2.2")
    assert who_gives_way([Client("192.0.2.1"), *others, newcomer], newcomer, NOW) is None


def test_who_was_told_to_go_is_not_told_again() -> None:
    newcomer, gone = Client("192.0.2.1"), Client("198.51.100.1", NOW - 90, is_open=False)
    left = Client("198.51.100.2", NOW - 5)
    assert who_gives_way([gone, left, newcomer], newcomer, NOW) is left


def test_a_peer_without_an_address_is_a_site_of_its_own() -> None:
    newcomer, unknown = Client("192.0.2.1"), Client("unknown", NOW - 90)
    assert who_gives_way([unknown, unknown, newcomer], newcomer, NOW) is unknown
