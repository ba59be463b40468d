"""A proxy on loopback that ends TLS before a program, as an operator's does: octets in, octets out."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.peers.throwaway_ca import ThrowawayCa

PIECE = 64 * 1024


class TlsFront(NamedTuple):
    """`url`: where clients reach the program; `ca_file`: whom they have to trust."""

    url: str
    ca_file: Path


@asynccontextmanager
async def tls_front(folder: Path, to_port: int) -> AsyncIterator[TlsFront]:
    """Stands before the program that listens on `to_port`, or hangs up while none does."""
    ca = ThrowawayCa(folder)

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(ConnectionError):
            from_program, to_program = await asyncio.open_connection("127.0.0.1", to_port)
            with contextlib.closing(to_program):
                await asyncio.wait(
                    [
                        asyncio.create_task(_pump(reader, to_program)),
                        asyncio.create_task(_pump(from_program, writer)),
                    ],
                    return_when=asyncio.FIRST_COMPLETED,
                )

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=ca.server_context(["127.0.0.1"]))
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield TlsFront(f"https://127.0.0.1:{port}", ca.ca_file)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while octets := await reader.read(PIECE):
            writer.write(octets)
            await writer.drain()
