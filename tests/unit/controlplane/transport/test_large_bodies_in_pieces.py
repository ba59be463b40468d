"""Of large bodies the event loop takes one piece in each round, by turns (controlplane/transport/request_bodies.py)."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import HttpVersion11

from conf.settings import Http
from controlplane.transport.request_bodies import LARGE_BYTES, RequestBodies
from storage.turns.cpu_threads import CpuThreads

ROUTE: Any = SimpleNamespace(body_bytes_max=100 * LARGE_BYTES)
PIECES = 10


class Arrived:
    """A body all of whose pieces are there at once; `taken` has its name for each one taken."""

    def __init__(self, name: str, taken: list[str], piece_bytes: int = LARGE_BYTES) -> None:
        self._name = name
        self._taken = taken
        self._piece = b"x" * piece_bytes
        self._left = PIECES

    def at_eof(self) -> bool:
        return not self._left

    def set_read_chunk_size(self, n: int) -> None: ...

    async def readany(self) -> bytes:
        self._left -= 1
        self._taken.append(self._name)
        return self._piece


@pytest.fixture
async def bodies() -> AsyncIterator[RequestBodies]:
    cpu = CpuThreads()
    yield RequestBodies(Http(), cpu)
    await cpu.close()


async def read(bodies: RequestBodies, content: Arrived, owner: str) -> int:
    request: Any = SimpleNamespace(content_length=None, version=HttpVersion11, headers={}, content=content)
    async with bodies.octets(ROUTE, request, [owner]) as raw:
        return len(raw)


async def rounds_until(done: "asyncio.Future[Any]") -> int:
    rounds = 0
    while not done.done():
        rounds += 1
        await asyncio.sleep(0)
    return rounds


async def test_others_have_a_round_of_the_loop_for_each_piece(bodies: RequestBodies) -> None:
    everything = asyncio.gather(*(read(bodies, Arrived("a", []), f"owner{n}") for n in range(5)))
    assert await rounds_until(everything) >= 5 * (PIECES - 1)
    assert await everything == [PIECES * LARGE_BYTES] * 5


async def test_an_owner_of_many_bodies_waits_behind_each_other_owner_once(bodies: RequestBodies) -> None:
    taken: list[str] = []
    many = [read(bodies, Arrived("many", taken, LARGE_BYTES // 2), "many") for _ in range(8)]
    await asyncio.gather(*many, read(bodies, Arrived("one", taken, LARGE_BYTES // 2), "one"))
    assert taken.index("many") < taken.index("one")
    assert "one" not in taken[taken.index("one") + 5 * PIECES :]


async def test_a_small_body_waits_for_nobody(bodies: RequestBodies) -> None:
    large = asyncio.gather(*(read(bodies, Arrived("large", []), f"owner{n}") for n in range(5)))
    await asyncio.sleep(0)
    assert await read(bodies, Arrived("small", [], 100), "small") == PIECES * 100
    assert not large.done()
    await large
