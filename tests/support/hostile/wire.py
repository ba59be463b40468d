"""Bare connections for attackers: no library that would mend what they say."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from tests.support.hostile import Target

PATIENCE_S = 20
# Strangers come from several addresses; Linux has all of 127.0.0.0/8 on loopback.
STRANGER = "127.0.2.%d"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connection(port: int, source: str | None = None) -> AsyncIterator[Streams]:
    local = (source, 0) if source else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=local)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


@asynccontextmanager
async def session(target: Target, stranger: int) -> AsyncIterator[Streams]:
    """An SMTP session, greeted."""
    async with connection(target.smtp_port, STRANGER % stranger) as (reader, writer):
        await reply(reader)
        await say(reader, writer, b"EHLO there.test")
        yield reader, writer


async def reply(reader: asyncio.StreamReader, patience_s: float = PATIENCE_S) -> bytes:
    """The last line of a reply."""
    async with asyncio.timeout(patience_s):
        while (line := await reader.readuntil(b"\n"))[3:4] == b"-":
            pass
    return line


async def say(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: bytes, patience_s: float = PATIENCE_S
) -> bytes:
    writer.write(line + b"\r\n")
    await writer.drain()
    return await reply(reader, patience_s)


async def begin(streams: Streams, recipients: Iterable[str], sender: str = "mallory@there.test") -> None:
    """From MAIL to the 354."""
    reader, writer = streams
    await say(reader, writer, f"MAIL FROM:<{sender}>".encode())
    for recipient in recipients:
        await say(reader, writer, f"RCPT TO:<{recipient}>".encode())
    await say(reader, writer, b"DATA")


async def mail(target: Target, stranger: int, recipients: Iterable[str], raw: bytes) -> bytes:
    """One message; the reply to its end."""
    async with session(target, stranger) as (reader, writer):
        await begin((reader, writer), recipients)
        writer.write(raw)
        await writer.drain()
        return await say(reader, writer, b"\r\n.")


def head(target: Target, method: str, path: str, length: int | None = None) -> bytes:
    """The head of a request with the attackers' key."""
    lines = [f"{method} {path} HTTP/1.1", "Host: api", f"Authorization: Bearer {target.key}"]
    if length is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


async def request(target: Target, method: str, path: str, body: bytes | None = None) -> int:
    """One request on a connection of its own, read to its end; the status."""
    async with connection(target.http_port) as (reader, writer), asyncio.timeout(PATIENCE_S):
        writer.write(head(target, method, path, None if body is None else len(body)) + (body or b""))
        line = await reader.readline()
        status = int(line.split()[1])
        await _read_answer(reader)
        return status


async def _read_answer(reader: asyncio.StreamReader) -> None:
    length = None
    while (line := await reader.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if length is None:  # chunked
        while size := int(await reader.readline() or b"0", 16):
            await reader.readexactly(size + 2)
    while length:
        length -= len(await reader.read(min(length, 1 << 20)) or b"x" * length)


async def drip(writer: asyncio.StreamWriter, octets: bytes, seconds: int) -> None:
    """The octets once a second."""
    for _ in range(seconds):
        writer.write(octets)
        await writer.drain()
        await asyncio.sleep(1)


def sending(target: Target, **fields: Any) -> bytes:
    """The body of a send to one of the odd hosts."""
    to = [f"a{random.randrange(1 << 30)}@{random.choice(target.hop_domains)}"]
    return json.dumps({"inboxId": target.inbox_id, "to": to, **fields}).encode()
