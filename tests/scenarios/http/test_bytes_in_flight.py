"""Bodies in memory are bounded; whoever holds his share hears 503, and what others want still fits."""

import asyncio
import base64
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from controlplane.transport import request_bodies
from tests.conftest import Start
from tests.support.running import Api, Running, until
from tests.support.waiting import GIVES_UP_S

MB = 1_048_576
LIMIT = 64 * MB


@pytest.fixture
async def small(start: Start) -> Running:
    return await start(http={"max_bytes_in_flight": LIMIT})


class Upload:
    """A send of `size` announced bytes that never ends."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def begin(cls, api: Api, size: int | None, path: str = "/v1/messages/send") -> "Upload":
        where = urlsplit(api.url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        length = "Transfer-Encoding: chunked" if size is None else f"Content-Length: {size}"
        writer.write(
            f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.key}\r\n"
            f"Content-Type: application/json\r\n{length}\r\n\r\n".encode()
        )
        return cls(reader, writer)

    async def bring(self, octets: bytes) -> None:
        self.writer.write(octets)
        await self.writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        async with asyncio.timeout(GIVES_UP_S):
            head = await self.reader.readuntil(b"\r\n\r\n")
        return int(head.split()[1]), head

    def hang_up(self) -> None:
        self.writer.transport.abort()


async def held(running: Running, wanted: int) -> None:
    async def look() -> bool | None:
        return True if running.daemon.http.request_bodies.held_bytes == wanted else None

    await until(look)


def large_send(inbox: dict[str, Any], size: int) -> bytes:
    content = base64.b64encode(b"x" * size).decode()
    return json.dumps(
        {"inboxId": inbox["id"], "to": ["a@b.test"], "attachments": [{"filename": "a", "content": content}]}
    ).encode()


async def test_who_trickles_holds_what_he_sent_and_gives_it_back_when_he_leaves(small: Running) -> None:
    one = await Upload.begin(small.api, 20 * MB)
    await one.bring(b" " * 5 * MB)
    await held(small, 5 * MB)
    one.hang_up()
    await held(small, 0)


async def test_one_organization_has_its_share_and_the_others_go_on(small: Running) -> None:
    other = await small.organization()
    theirs = await small.inbox("theirs", other.api)
    first = await Upload.begin(small.api, 20 * MB)
    await first.bring(b" " * (20 * MB - 1))
    await held(small, 20 * MB - 1)
    second = await Upload.begin(small.api, 20 * MB)  # refused before it is read: 40 of 64 is more than half
    status, head = await second.answer()
    assert status == 503 and b"Retry-After: " in head
    third = await Upload.begin(small.api, None)  # nobody knows how much it will be: refused on the way
    await third.bring(b"%x\r\n" % (18 * MB) + b" " * (14 * MB))
    assert (await third.answer())[0] == 503
    await held(small, 20 * MB - 1)
    answer = await other.api.call(
        "POST",
        "/v1/messages/send",
        data=large_send(theirs, 2 * MB),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status == 201
    for upload in (first, second, third):
        upload.hang_up()
    await held(small, 0)


async def test_each_route_has_its_own_length(small: Running) -> None:
    for path, limit in (("/v1/messages/send", 22 * MB), ("/v1/drafts", 1_258_291), ("/v1/inboxes", 65_536)):
        announced = await Upload.begin(small.api, limit + 1, path)
        status, _ = await announced.answer()  # nothing of the body was sent
        assert status == 413, path
        told = await Upload.begin(small.api, None, path)
        await told.bring(b"%x\r\n" % (limit + 1) + b" " * (limit + 1))
        assert (await told.answer())[0] == 413, path
        announced.hang_up()
        told.hang_up()
    await held(small, 0)


async def test_large_bodies_are_worked_on_a_few_at_a_time(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await small.inbox("bot")
    at_once, most = 0, 0
    prepare = small.daemon.operations._services.pipeline._prepare

    async def counted(*arguments: Any) -> Any:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        try:
            return await prepare(*arguments)
        finally:
            at_once -= 1

    monkeypatch.setattr(small.daemon.operations._services.pipeline, "_prepare", counted)
    body = large_send(bot, 500_000)
    sends = [
        small.api.call("POST", "/v1/messages/send", data=body, headers={"Content-Type": "application/json"})
        for _ in range(12)
    ]
    assert [answer.status for answer in await asyncio.gather(*sends)] == [201] * 12
    assert most == request_bodies.LARGE_AT_ONCE


async def test_a_client_that_left_while_it_waited_makes_no_work(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = await small.inbox("bot")
    read: list[int] = []
    monkeypatch.setattr(request_bodies, "read_body", lambda model, raw: read.append(len(raw)))
    turns = small.daemon.http.request_bodies.turns
    async with turns.turn("a"), turns.turn("b"):
        body = large_send(bot, 500_000)
        upload = await Upload.begin(small.api, len(body))
        await upload.bring(body)
        await held(small, len(body))
        upload.hang_up()
        while small.daemon.http.listener.watch._connections - {None}:  # until the loss was noticed
            if not any(
                one.peer and one._current_request for one in small.daemon.http.listener.watch._connections
            ):
                break
            await asyncio.sleep(0.01)
    await held(small, 0)
    assert read == []
