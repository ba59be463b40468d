"""A body that takes long to read is read beside the event loop (controlplane/transport/request_bodies.py)."""

import json
import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import HttpVersion11

from conf.settings import Http
from controlplane.transport.request_bodies import AT_ONCE_BYTES, RequestBodies
from storage.turns.cpu_threads import CpuThreads

ROUTE: Any = SimpleNamespace(body_bytes_max=10 * AT_ONCE_BYTES)
LONG_TEXT = "ü" * 1000


class Arrived:
    """A body that is there at once."""

    def __init__(self, body: bytes) -> None:
        self._left = [body]

    def at_eof(self) -> bool:
        return not self._left

    def set_read_chunk_size(self, n: int) -> None: ...

    async def readany(self) -> bytes:
        return self._left.pop()


@pytest.fixture
async def bodies() -> AsyncIterator[RequestBodies]:
    cpu = CpuThreads()
    yield RequestBodies(Http(), cpu)
    await cpu.close()


async def is_read_apart(bodies: RequestBodies, body: bytes) -> bool:
    request: Any = SimpleNamespace(
        content_length=None,
        version=HttpVersion11,
        headers={"Content-Type": "application/json"},
        content=Arrived(body),
    )
    async with bodies.parsed(ROUTE, request, ["owner"], lambda _: threading.get_ident()) as thread:
        return bool(thread != threading.get_ident())


@pytest.mark.parametrize(
    "domain", ["bücher.test", "b\\u00fccher.test", "xn--bcher-kva.test", "XN--bcher-kva.test"]
)
@pytest.mark.parametrize("at", ["@", "\\u0040"])
async def test_many_foreign_addresses_are(bodies: RequestBodies, domain: str, at: str) -> None:
    """Each takes a millisecond, and sixteen requests begin in a round of the loop."""
    addresses = ",".join(f'"a{number}{at}{domain}"' for number in range(10))
    assert await is_read_apart(bodies, f'{{"to":[{addresses}]}}'.encode())


async def test_much_is(bodies: RequestBodies) -> None:
    assert await is_read_apart(bodies, b"[" + b'"",' * AT_ONCE_BYTES + b'""]')


@pytest.mark.parametrize(
    "body",
    [
        f'{{"to":["ada@bücher.test"],"text":"{LONG_TEXT}"}}',
        json.dumps({"to": [f"a{number}@there.test" for number in range(50)]}),
        json.dumps({"text": "x" * (AT_ONCE_BYTES - 100)}),
    ],
    ids=["a foreign address and foreign words", "many plain addresses", "many words"],
)
async def test_what_is_read_quickly_is_not(bodies: RequestBodies, body: str) -> None:
    assert not await is_read_apart(bodies, body.encode())
