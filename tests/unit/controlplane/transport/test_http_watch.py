"""How many connections there may be, in all and from one address, and how slowly an answer may be taken."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web
from structlog.testing import capture_logs

from conf.settings import Http
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.transport.connections import ClientConnection, Watch
from storage.clock import Clock
from storage.ids import Ids


@dataclass(eq=False)
class Connection:
    peer: str


def watching(settings: Http, *, is_memory_scarce: bool = False) -> Watch:
    clock = Clock()
    return Watch(
        settings, Ids(clock), StrangerLog(clock.monotonic), is_memory_scarce=lambda: is_memory_scarce
    )


def opened(watch: Watch, peer: str) -> bool:
    connection: Any = Connection(peer)
    return watch.opened(connection)


def test_one_address_has_its_share_and_leaves_the_rest_to_others() -> None:
    watch = watching(Http(max_connections=10, max_connections_per_address=2))
    assert [opened(watch, "192.0.2.1") for _ in range(3)] == [True, True, False]
    assert opened(watch, "192.0.2.2")


def test_addresses_of_one_ipv6_network_are_one_address() -> None:
    """Else ten of the 2^64 that a stranger has take all connections."""
    watch = watching(Http(max_connections=10, max_connections_per_address=2))
    held: list[Any] = [Connection(f"2001:db8::{number}") for number in (1, 2, 3)]
    assert [watch.opened(one) for one in held] == [True, True, False]
    assert opened(watch, "2001:db8:0:1::1")
    watch.closed(held[0])
    assert opened(watch, "2001:db8::4")


def test_a_proxy_on_this_host_is_not_one_address() -> None:
    watch = watching(Http(max_connections=10, max_connections_per_address=2))
    assert [opened(watch, "127.0.0.1") for _ in range(11)] == [True] * 10 + [False]


def test_a_proxy_that_the_operator_names_is_not_one_address() -> None:
    settings = Http(max_connections=10, max_connections_per_address=2, proxy_from=("10.0.0.0/24",))
    watch = watching(settings)
    assert [opened(watch, "10.0.0.7") for _ in range(3)] == [True] * 3
    assert [opened(watch, "10.0.1.7") for _ in range(3)] == [True, True, False]


def test_a_place_is_free_again_when_its_connection_ends() -> None:
    watch = watching(Http(max_connections=1))
    held: Any = Connection("192.0.2.1")
    assert watch.opened(held)
    watch.closed(held)
    watch.closed(held)
    assert opened(watch, "192.0.2.1")


@pytest.mark.parametrize(("connections", "heard"), [(1000, HttpTuning().heard_out), (9, 9)])
async def test_so_many_are_heard_out_though_they_are_too_many(connections: int, heard: int) -> None:
    """And where there are descriptors for few connections, few."""
    watch = watching(Http(max_connections=connections))
    refused: list[Any] = [Connection("192.0.2.1") for _ in range(heard + 1)]
    transport: Any = None
    assert [watch.hears_out(one, transport) for one in refused] == [True] * heard + [False]
    watch.closed(refused[0])
    assert watch.hears_out(refused[-1], transport)


class Answering:
    """A connection whose answer of a gigabyte its client takes at some pace; `look` is asked each second."""

    def __init__(self, *, is_scarce: bool = False) -> None:
        self.now = 1000.0
        self._taken = 0
        self._is_cut = False
        self._kernel, self._peer = socket.socketpair()
        watch = watching(Http(body_min_bytes_per_s=1000), is_memory_scarce=is_scarce)
        loop = asyncio.get_running_loop()
        self._connection = ClientConnection(web.Server(self._answer), watch, loop=loop)
        self._request: Any = SimpleNamespace(
            content=SimpleNamespace(is_eof=lambda: True),
            writer=SimpleNamespace(output_size=self.get_write_buffer_size()),
        )
        connection: Any = self._connection
        connection._current_request, connection.transport = self._request, self

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        raise AssertionError

    def get_write_buffer_size(self) -> int:
        return 250_000 + self._taken % 100  # never the same twice: something is always taken

    def get_extra_info(self, _name: str) -> socket.socket:
        return self._kernel

    def abort(self) -> None:
        self._is_cut = True

    def seconds_until_cut(self, pace: Callable[[int], int], at_most: int = 300) -> int | None:
        for second in range(at_most):
            self._connection.look(self.now)
            if self._is_cut:
                return second
            self.now += 1
            self._taken += pace(second)
            self._request.writer.output_size = self._taken + self.get_write_buffer_size()
        return None


async def test_who_takes_an_answer_drop_by_drop_is_cut() -> None:
    with capture_logs() as lines:
        assert Answering(is_scarce=True).seconds_until_cut(lambda _: 999) == 30
        assert Answering().seconds_until_cut(lambda _: 999) == 60
    assert [line["reason"] for line in lines] == ["answer taken too slowly"] * 2


async def test_who_keeps_the_pace_is_not() -> None:
    assert Answering(is_scarce=True).seconds_until_cut(lambda _: 1001) is None


async def test_a_reader_whose_line_stands_still_for_a_while_gets_on_while_room_is_plenty() -> None:
    assert Answering().seconds_until_cut(stalling) is None
    assert Answering(is_scarce=True).seconds_until_cut(stalling) is not None


class Sending:
    """A connection whose client sends a body without end; `look` is asked each second."""

    def __init__(self, *, others: int = 0, is_memory_scarce: bool = False) -> None:
        self.now = 1000.0
        self._is_cut = False
        settings = Http(max_connections=10, body_min_bytes_per_s=1000, body_timeout_s=900)
        watch = watching(settings, is_memory_scarce=is_memory_scarce)
        self._connection = ClientConnection(web.Server(self._answer), watch, loop=asyncio.get_running_loop())
        for number in range(others):
            assert opened(watch, f"192.0.2.{number}")
        watch.opened(self._connection)
        connection: Any = self._connection
        connection._current_request = SimpleNamespace(content=SimpleNamespace(is_eof=lambda: False))
        connection.transport = self

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        raise AssertionError

    def get_write_buffer_size(self) -> int:
        return 0

    def abort(self) -> None:
        self._is_cut = True

    def seconds_until_cut(self, pace: Callable[[int], int], at_most: int = 7200) -> int | None:
        """`pace`: how many octets the client brings in each second."""
        for second in range(at_most):
            self._connection.look(self.now)
            if self._is_cut:
                return second
            self.now += 1
            self._connection._received += pace(second)
        return None


SCARCE = [{"others": 4}, {"is_memory_scarce": True}]


def steady(_second: int) -> int:
    return 5000  # 40 kbit/s


def stalling(second: int) -> int:
    """A mobile line: packets are lost for some seconds, and TCP waits for as long again."""
    return 0 if second % 100 < 40 else 5001


async def test_a_body_on_a_slow_line_comes_whole_while_room_is_plenty() -> None:
    """20 MB over 40 kbit/s take more than an hour, and a client that is cut begins anew."""
    assert Sending(others=3).seconds_until_cut(steady) is None


async def test_a_line_that_stands_still_for_a_while_gets_on_while_room_is_plenty() -> None:
    assert Sending(others=3).seconds_until_cut(stalling) is None


@pytest.mark.parametrize("scarce", SCARCE)
async def test_a_slow_line_has_its_time_and_no_more_where_others_need_the_room(scarce: Any) -> None:
    with capture_logs() as lines:
        assert Sending(**scarce).seconds_until_cut(steady) == 900
    assert [line["reason"] for line in lines] == ["body not complete in time"]


@pytest.mark.parametrize("scarce", SCARCE)
async def test_a_line_that_stands_still_is_cut_where_others_need_the_room(scarce: Any) -> None:
    seconds = Sending(**scarce).seconds_until_cut(stalling)
    assert seconds is not None and seconds <= 10


async def test_who_drips_a_body_is_cut_though_room_is_plenty() -> None:
    with capture_logs() as lines:
        assert Sending().seconds_until_cut(lambda _: 999) == 60
    assert [line["reason"] for line in lines] == ["body too slow"]
