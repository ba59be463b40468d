"""Answers too large to be in memory as a whole: written piece by piece, as fast as the client reads."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from aiohttp import web

from controlplane.operations.operation import JSON

WRITE_BYTES = 64 * 1024
NONE: Mapping[str, str] = {}


async def whole_or_rest(
    parts: AsyncIterator[bytes], held_bytes: int
) -> tuple[bytes, AsyncIterator[bytes] | None]:
    """The array of these parts, or the pieces of it where it is more than `held_bytes`.

    A part is one element or several (with commas between them), or empty.
    """
    held: list[bytes] = []
    async for part in parts:
        if part:
            held.append(part)
        if sum(map(len, held)) > held_bytes:
            return b"", _array(held, parts)
    return b"[" + b",".join(held) + b"]", None


async def stream_json(
    request: web.Request, pieces: AsyncIterator[bytes], headers: Mapping[str, str] = NONE
) -> web.StreamResponse:
    """200 with these pieces of JSON as `data`. What fails on the way cuts the connection."""
    response = web.StreamResponse(headers={"Content-Type": JSON, **headers})
    await response.prepare(request)
    gathered = bytearray(b'{"data":')
    async for piece in pieces:
        if len(gathered) + len(piece) < WRITE_BYTES:
            gathered += piece
            continue
        if gathered:  # an empty chunk would be the last one
            await response.write(bytes(gathered))
            gathered.clear()
        await response.write(piece)
        await asyncio.sleep(0)  # others are served in between, also where the client is quick
    await response.write_eof(bytes(gathered) + b"}")
    return response


async def _array(held: list[bytes], parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield b"["
    yield held.pop(0)
    while held:
        yield b","
        yield held.pop(0)
    async for part in parts:
        if part:
            yield b","
            yield part
    yield b"]"
