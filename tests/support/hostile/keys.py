"""What the holder of one key, or of none, does over HTTP."""

import asyncio
import base64
import random

from tests.support.hostile import Target
from tests.support.hostile.wire import connection, drip, head, request, sending

MIB = 1024 * 1024
SEND = "/v1/messages/send"
_FILE = base64.b64encode(random.Random(1).randbytes(5 * MIB)).decode()


async def large_sends_at_once(target: Target) -> None:
    files = [{"filename": name, "contentType": "application/x-y", "content": _FILE} for name in "ab"]
    body = sending(target, attachments=files)
    await asyncio.gather(*(request(target, "POST", SEND, body) for _ in range(8)))
    await asyncio.sleep(2)


async def unfinished_bodies(target: Target) -> None:
    async def one(path: str) -> None:
        async with connection(target.http_port) as (_, writer):
            writer.write(head(target, "POST", path, 21 * MIB) + b'{"text":"' + b"x" * (3 * MIB))
            await drip(writer, b"x" * 1100, 8)

    paths = [SEND, "/v1/drafts", "/v1/inboxes"] * 6
    await asyncio.gather(*(one(path) for path in paths), return_exceptions=True)


async def body_of_unknown_fields(target: Target) -> None:
    body = b"{" + b",".join(b'"f%d":1' % n for n in range(1_200_000)) + b"}"
    for path in (SEND, "/v1/drafts", "/v1/inboxes"):
        await request(target, "POST", path, body)


async def body_of_one_name(target: Target) -> None:
    metadata = b",".join([b'"a":""'] * 300_000)
    await request(target, "POST", SEND, b'{"headers":{' + metadata + b"}}")
    await request(target, "POST", "/v1/inboxes", b'{"metadata":{' + metadata[:60_000] + b"}}")


async def body_of_numbers(target: Target) -> None:
    await request(target, "POST", SEND, sending(target)[:-1] + b',"cc":[' + b"1," * 4_000_000 + b"1]}")


async def recipients_of_foreign_domains(target: Target) -> None:
    """A domain is encoded to be checked; beyond ASCII that takes its time."""
    to = [f"a{one}@{'ü' * 20}{one}.test" for one in range(45)]
    body = sending(target, to=to, subject="x", text="x")
    await asyncio.gather(*(request(target, "POST", SEND, body) for _ in range(10)))


async def bodies_in_tiny_chunks(target: Target) -> None:
    chunked = head(target, "POST", SEND)[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"

    async def one() -> None:
        async with connection(target.http_port) as (reader, writer):
            writer.write(chunked + b"1\r\n \r\n" * 100_000 + b"0\r\n\r\n")
            await reader.readline()

    await asyncio.gather(*(one() for _ in range(10)), return_exceptions=True)


async def headers_that_are_hard_to_read(target: Target) -> None:
    """To a route that needs no key, and to the console."""
    for name, unit in (("Content-Type", b'"a",'), ("Content-Type", b"("), ("Cookie", b"a=b; ")):
        line = name.encode() + b": " + unit * (7900 // len(unit)) + b"\r\n"
        for path in (b"/v1/unsubscribe?token=x", b"/console"):
            async with connection(target.http_port) as (reader, writer):
                writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + line + b"\r\n")
                await reader.readline()


async def malformed_requests(target: Target) -> None:
    key = target.key.encode()
    for octets in (
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /health HTTP/1.1\r\nAuthorization: Bearer " + key + b"\x00\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 9000 + b"\r\n\r\n",
        b"POST /v1/inboxes HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: x\r\nExpect: bananas\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_\xff\r\n\r\n",
    ):
        async with connection(target.http_port) as (reader, writer):
            writer.write(octets)
            await reader.readline()


async def requests_without_a_key(target: Target) -> None:
    wrong = b"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer svc_live_%048x\r\n\r\n"
    async with connection(target.http_port) as (reader, writer):
        for _ in range(50):
            writer.write(wrong % random.randrange(1 << 64))
            await reader.readuntil(b"\r\n\r\n")


async def hoarded_connections(target: Target) -> None:
    async def one() -> None:
        async with connection(target.http_port) as (reader, writer):
            writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            await reader.readline()
            await asyncio.sleep(8)

    await asyncio.gather(*(one() for _ in range(200)), return_exceptions=True)


async def searches_of_two_letters(target: Target) -> None:
    paths = [f"/v1/messages?q=%C3%BC{letter}" for letter in "abcdefghijklmnopqrst"]
    await asyncio.gather(*(request(target, "GET", path) for path in paths))
    await asyncio.sleep(5)


async def large_body_read_by_many(target: Target) -> None:
    path = f"/v1/messages/{target.big_message_id}"
    await asyncio.gather(*(request(target, "GET", path) for _ in range(6)))
    await asyncio.sleep(2)


async def long_thread_read_by_many(target: Target) -> None:
    path = f"/v1/threads/{target.long_thread_id}"
    await asyncio.gather(*(request(target, "GET", path) for _ in range(6)))
    await asyncio.sleep(2)


async def downloads_not_read(target: Target) -> None:
    async def one() -> None:
        async with connection(target.http_port) as (reader, writer):
            writer.write(head(target, "GET", f"/v1/messages/{target.big_message_id}"))
            await reader.read(100)
            await asyncio.sleep(8)

    await asyncio.gather(*(one() for _ in range(12)), return_exceptions=True)


async def peers_that_go_away(target: Target) -> None:
    async with connection(target.http_port) as (_, writer):
        writer.write(head(target, "POST", SEND, 100_000) + b'{"text":"' + b"x" * 50_000)
        await writer.drain()
    async with connection(target.http_port) as (reader, writer):
        writer.write(head(target, "GET", f"/v1/messages/{target.big_message_id}/raw"))
        await reader.read(1)
    await asyncio.sleep(1)


async def sends_to_odd_hosts(target: Target) -> None:
    """As an agent does that answers whoever writes to it."""
    await request(target, "POST", SEND, sending(target, subject="hello", text="hello"))
    await asyncio.sleep(0.7)


ATTACKS = (
    large_sends_at_once,
    unfinished_bodies,
    body_of_unknown_fields,
    body_of_one_name,
    body_of_numbers,
    recipients_of_foreign_domains,
    bodies_in_tiny_chunks,
    headers_that_are_hard_to_read,
    malformed_requests,
    requests_without_a_key,
    hoarded_connections,
    searches_of_two_letters,
    large_body_read_by_many,
    long_thread_read_by_many,
    downloads_not_read,
    peers_that_go_away,
    sends_to_odd_hosts,
)
