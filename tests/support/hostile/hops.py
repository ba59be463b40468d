"""Hosts that take our mail, and answer as no host should."""

import asyncio
import random
from collections.abc import Awaitable, Callable

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _greet(streams: Streams, extension: str = "PIPELINING") -> None:
    reader, writer = streams
    writer.write(b"220 hop ESMTP\r\n")
    await reader.readline()
    writer.write(f"250-hop\r\n250 {extension}\r\n".encode())


async def mail_answered_with(code: str, streams: Streams) -> None:
    """251 or 220 to MAIL, from a host that does not pipeline."""
    reader, writer = streams
    await _greet(streams, "8BITMIME")
    while line := await reader.readline():
        writer.write(f"{code if line.startswith(b'MAIL') else 250} hm\r\n".encode())


async def anything(streams: Streams) -> None:
    """Codes by chance."""
    reader, writer = streams
    await _greet(streams, random.choice(["PIPELINING", "8BITMIME"]))
    while await reader.readline():
        writer.write(
            b"%d hm\r\n" % random.choice([99, 150, 200, 220, 251, 252, 354, 399, 421, 450, 550, 999])
        )


async def reads_nothing_of_the_message(streams: Streams) -> None:
    reader, writer = streams
    await _greet(streams)
    while line := await reader.readline():
        writer.write(b"354 go on\r\n" if line.startswith(b"DATA") else b"250 ok\r\n")
        if line.startswith(b"DATA"):
            await asyncio.sleep(3600)


async def endless_reply(streams: Streams) -> None:
    writer = streams[1]
    while True:
        writer.write(b"220-" + b"x" * 500 + b"\r\n")
        await writer.drain()


async def octet_by_octet(streams: Streams) -> None:
    for octet in b"220 hop ESMTP\r\n" * 100:
        streams[1].write(bytes([octet]))
        await asyncio.sleep(0.5)


async def garbage(streams: Streams) -> None:
    streams[1].write(random.randbytes(2000) + b"\r\n")
    await streams[0].read(100)


BEHAVIOURS: tuple[Callable[[Streams], Awaitable[None]], ...] = (
    lambda streams: mail_answered_with("251", streams),
    lambda streams: mail_answered_with("220", streams),
    anything,
    reads_nothing_of_the_message,
    endless_reply,
    octet_by_octet,
    garbage,
)


async def serve(address: str, port: int) -> asyncio.Server:
    """A host that behaves otherwise on each connection."""

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await random.choice(BEHAVIOURS)((reader, writer))
        except (ConnectionError, RuntimeError, ValueError, asyncio.CancelledError):
            pass  # the other side has had enough (uvloop: RuntimeError), or all is over
        finally:
            writer.transport.abort()

    return await asyncio.start_server(one, address, port)
