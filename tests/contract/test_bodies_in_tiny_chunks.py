"""Bodies whose framing outweighs them are parsed in many rounds of the event loop (controlplane/transport)."""

import asyncio
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from aiohttp import StreamReader

from tests.support.running import Running

CHUNKS = 100_000
PARSED_AT_ONCE = 3 * 4096  # what is read after a pause, and what had come before it


async def test_chunks_of_one_octet_leave_others_their_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, rounds = 0, [0]
    feed = StreamReader.feed_data

    def count(self: StreamReader, data: bytes, size: int = 0) -> bool:
        nonlocal parsed
        parsed += 1
        return feed(self, data, size)

    async def others() -> None:
        while True:
            rounds.append(parsed)
            await asyncio.sleep(0)

    monkeypatch.setattr(StreamReader, "feed_data", count)
    url = urlsplit(maild.api.url)
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    counting = asyncio.create_task(others())
    head = f"POST /v1/drafts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {maild.api.key}\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    writer.write(b"1\r\n \r\n" * CHUNKS + b"0\r\n\r\n")
    answer = await reader.readline()
    counting.cancel()
    writer.close()
    assert b" 400 " in answer
    assert parsed == CHUNKS
    assert max(after - before for before, after in pairwise(rounds)) <= PARSED_AT_ONCE
