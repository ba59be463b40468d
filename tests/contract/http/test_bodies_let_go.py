"""A body is in memory for as long as its room is counted (controlplane/transport/request_bodies.py), also where it is
refused, or its client leaves. What has ended must not wait for the collector of cycles: so many other requests come
before it that the bodies of one key would fill the memory.
"""

import asyncio
import base64
import gc
from collections.abc import Callable, Iterable
from secrets import token_hex
from urllib.parse import urlsplit

import pytest

from controlplane.transport.request_bodies import LARGE_BYTES, BodyOctets
from tests.conftest import on_shared
from tests.support.running import Running, until, until_true

pytestmark = on_shared

LONG = "x" * (LARGE_BYTES + 1)
CONTENT = base64.b64encode(LONG.encode()).decode()


Bodies = Callable[[], list[BodyOctets]]


def all_bodies() -> list[BodyOctets]:
    return [one for one in gc.get_objects() if isinstance(one, BodyOctets)]


@pytest.fixture
def bodies(no_collector: None) -> Bodies:
    """Those of this test, while nothing is collected. What a client of another test left behind may end meanwhile."""
    others = all_bodies()
    return lambda: [one for one in all_bodies() if not any(one is other for other in others)]


def octets_of(bodies: Iterable[BodyOctets]) -> int:
    return sum(len(one._octets) for one in bodies)


def request_of(shared: Running, body: str, length: int) -> bytes:
    head = [
        "POST /v1/messages/send HTTP/1.1",
        f"Host: {urlsplit(shared.api.url).netloc}",
        f"Authorization: Bearer {shared.api.key}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return "\r\n".join([*head, "", body]).encode()


@pytest.mark.parametrize(
    "body",
    [
        f'{{"text": "{LONG}", "to": nothing}}',
        f'{{"text": "\\n{LONG}", "to": nothing}}',
        f'{{"text": "{LONG}", "inboxId": "inb_1", "to": []}}',
        f'{{"inboxId": "INBOX", "to": ["a@b.test"], "attachments": [{{"filename": "a", "content": "{CONTENT}!"}}]}}',
        "[" * 51 + f'"{LONG}"' + "]" * 51,
    ],
    ids=["no JSON", "no JSON, with an escape", "a fault", "no base64", "deep"],
)
async def test_what_is_refused(shared: Running, bodies: Bodies, body: str) -> None:
    body = body.replace("INBOX", (await shared.inbox(token_hex(4)))["id"])
    where = urlsplit(shared.api.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(request_of(shared, body, len(body)))
    assert b" 400 " in await reader.readline()
    writer.close()

    await until_true(lambda: not bodies())


async def test_what_is_cut(shared: Running, bodies: Bodies) -> None:
    where = urlsplit(shared.api.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write(request_of(shared, LONG, 2 * len(LONG)))

    async def has_gone() -> bool | None:
        return octets_of(bodies()) == 0 or None

    await until_true(lambda: octets_of(bodies()) == len(LONG))
    writer.transport.abort()
    await until(has_gone)
