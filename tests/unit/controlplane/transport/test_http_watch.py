"""How many connections there may be, in all and from one address."""

from dataclasses import dataclass
from typing import Any

from conf.settings import Http
from conf.strangers import StrangerLog
from controlplane.transport.connections import Watch
from storage.clock import Clock
from storage.ids import Ids


@dataclass(eq=False)
class Connection:
    peer: str


def watching(settings: Http) -> Watch:
    clock = Clock()
    return Watch(settings, Ids(clock), StrangerLog(clock.monotonic))


def opened(watch: Watch, peer: str) -> bool:
    connection: Any = Connection(peer)
    return watch.opened(connection)


def test_one_address_has_its_share_and_leaves_the_rest_to_others() -> None:
    watch = watching(Http(max_connections=10, max_connections_per_address=2))
    assert [opened(watch, "192.0.2.1") for _ in range(3)] == [True, True, False]
    assert opened(watch, "192.0.2.2")


def test_a_proxy_on_this_host_is_not_one_address() -> None:
    watch = watching(Http(max_connections=10, max_connections_per_address=2))
    assert [opened(watch, "127.0.0.1") for _ in range(11)] == [True] * 10 + [False]


def test_a_place_is_free_again_when_its_connection_ends() -> None:
    watch = watching(Http(max_connections=1))
    held: Any = Connection("192.0.2.1")
    assert watch.opened(held)
    watch.closed(held)
    watch.closed(held)
    assert opened(watch, "192.0.2.1")
