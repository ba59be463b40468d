"""Bodies whose framing outweighs them are parsed in many rounds of the event loop (controlplane/transport)."""

import asyncio
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from aiohttp import StreamReader

from controlplane.transport import connections
from controlplane.transport.connections import ClientConnection
from tests.conftest import Start
from tests.support.running import Running

CHUNKS = 10_000
PARSED_AT_ONCE = 3 * 256  # what is read after a pause, and what had come before it


@pytest.mark.parametrize(
    ("key", "status"), [(None, b" 400 "), ("unknown", b" 401 ")], ids=("that_is_read", "that_is_thrown_away")
)
async def test_a_body_of_chunks_of_one_octet_leaves_others_their_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch, key: str | None, status: bytes
) -> None:
    parsed, rounds = 0, [0]
    is_parsed = asyncio.Event()
    feed = StreamReader.feed_data

    def count(self: StreamReader, data: bytes, size: int = 0) -> bool:
        nonlocal parsed
        parsed += 1
        if parsed == CHUNKS:
            is_parsed.set()
        return feed(self, data, size)

    async def others() -> None:
        while True:
            rounds.append(parsed)
            await asyncio.sleep(0)

    monkeypatch.setattr(StreamReader, "feed_data", count)
    counting = asyncio.create_task(others())
    reader, writer = await connected(maild)
    writer.write(draft_in(maild, b"1\r\n \r\n", CHUNKS, key))
    assert status in await reader.readline()
    await is_parsed.wait()
    counting.cancel()
    assert parsed == CHUNKS
    writer.close()
    steps = [after - before for before, after in pairwise(rounds)]
    assert max(steps) <= PARSED_AT_ONCE
    # A rest is five milliseconds, which are hundreds of rounds where nobody else wants the loop.
    assert sum(map(bool, steps)) < len(steps) / 4, "most rounds are free of it"


async def test_a_body_in_chunks_of_some_size_never_rests(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "TINY_REST_S", 3600.0)
    answer = await answer_to(await start(), b"200\r\n" + b" " * 512 + b"\r\n", 2000)
    assert b" 400 " in answer


async def test_each_body_of_a_connection_rests(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[bool] = []
    asked = ClientConnection._came_in_tiny_chunks

    def note(self: ClientConnection) -> bool:
        rests.append(asked(self))
        return rests[-1]

    monkeypatch.setattr(ClientConnection, "_came_in_tiny_chunks", note)
    body = draft_in(maild, b"1\r\n \r\n", 300)
    reader, writer = await connected(maild)
    for _ in range(3):
        writer.write(body)
        told = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(told.lower().partition(b"content-length: ")[2].split()[0]))
    writer.close()
    assert len(rests) >= 3
    assert all(rests)


async def answer_to(maild: Running, chunk: bytes, times: int) -> bytes:
    """The first line of what a draft of these chunks is answered with."""
    reader, writer = await connected(maild)
    writer.write(draft_in(maild, chunk, times))
    try:
        return await reader.readline()
    finally:
        writer.close()


async def connected(maild: Running) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    url = urlsplit(maild.api.url)
    return await asyncio.open_connection(url.hostname, url.port)


def draft_in(maild: Running, chunk: bytes, times: int, key: str | None = None) -> bytes:
    """A request for a draft whose body are these chunks; `key`: instead of a good one."""
    head = f"POST /v1/drafts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key or maild.api.key}\r\n"
    coded = f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    return coded + chunk * times + b"0\r\n\r\n"
