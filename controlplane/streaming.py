"""Answers too large to be in memory as a whole: written piece by piece, as fast as the client reads."""

import asyncio
from collections.abc import AsyncIterator

from aiohttp import web

JSON_TYPE = "application/json"
WRITE_BYTES = 64 * 1024


async def stream_array(
    request: web.Request, head: bytes, elements: AsyncIterator[bytes], tail: bytes
) -> web.StreamResponse:
    """200 with `head`, the elements of a JSON array, `tail`."""
    return await stream_json(request, _array(head, elements, tail))


async def stream_json(request: web.Request, pieces: AsyncIterator[bytes]) -> web.StreamResponse:
    """200 with the pieces of a JSON text. What fails on the way cuts the connection."""
    response = web.StreamResponse(headers={"Content-Type": JSON_TYPE})
    await response.prepare(request)
    gathered = bytearray()
    async for piece in pieces:
        gathered += piece
        if len(gathered) >= WRITE_BYTES:
            await response.write(bytes(gathered))
            gathered.clear()
            await asyncio.sleep(0)  # others are served in between, also where the client is quick
    await response.write(bytes(gathered))
    await response.write_eof()
    return response


async def _array(head: bytes, elements: AsyncIterator[bytes], tail: bytes) -> AsyncIterator[bytes]:
    yield head + b"["
    separator = b""
    async for element in elements:
        yield separator + element
        separator = b","
    yield b"]" + tail
