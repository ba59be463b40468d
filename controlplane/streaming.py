"""Answers too large to be in memory as a whole: written element by element, as fast as the client reads."""

import asyncio
from collections.abc import AsyncIterator

from aiohttp import web

JSON_TYPE = "application/json"


async def stream_array(
    request: web.Request, head: bytes, elements: AsyncIterator[bytes], tail: bytes
) -> web.StreamResponse:
    """200 with `head`, the elements of a JSON array, `tail`. What fails on the way cuts the connection."""
    response = web.StreamResponse(headers={"Content-Type": JSON_TYPE})
    await response.prepare(request)
    await response.write(head + b"[")
    separator = b""
    async for element in elements:
        await response.write(separator + element)
        separator = b","
        await asyncio.sleep(0)  # others are served in between, also where the client is quick
    await response.write(b"]" + tail)
    await response.write_eof()
    return response
