"""What needs no key, or asks for much with one, costs everybody else little."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from storage.engine.database import Database
from storage.mail.blobs import Blobs
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S


async def test_health_asks_the_store_once_for_all_who_ask_at_once(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0
    answer = asyncio.Event()
    read = Database.read

    async def slowly(db: Database, unit: Any, *arguments: Any) -> Any:
        nonlocal asked
        if unit.__name__ == "_ping":  # the daemon's own parts ask for other things meanwhile
            asked += 1
            await answer.wait()
        return await read(db, unit, *arguments)

    monkeypatch.setattr(Database, "read", slowly)
    asking = [asyncio.create_task(maild.api.with_key(None).get("/health")) for _ in range(50)]
    async with asyncio.timeout(GIVES_UP_S):
        while len(maild.daemon.http.listener.watch._connections) < 50 or not asked:
            await asyncio.sleep(0.01)
    during = asked
    answer.set()
    assert [one.status for one in await asyncio.gather(*asking)] == [200] * 50
    assert during == 1 and asked <= 3  # those whose request came behind the answer ask once more


async def test_requests_that_one_peer_sends_ahead_are_served_one_after_the_other(maild: Running) -> None:
    """Pipelining: what is ahead waits as octets in the kernel, and nobody's place is taken twice."""
    host, port = maild.api.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET /v1/inboxes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {maild.api.key}\r\n\r\n".encode()
    writer.write(request * 2000)
    async with asyncio.timeout(GIVES_UP_S):
        for _ in range(2000):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 ")
            (length,) = (
                line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Content-Length")
            )
            await reader.readexactly(int(length))
            assert all(len(one._messages) <= 64 for one in maild.daemon.http.listener.watch._connections)
    writer.transport.abort()


@pytest.mark.parametrize(
    "query", ["x=" + "a" * 1_000_000, "&".join(f"p{n}=1" for n in range(1500)), "a=1&" * 1500]
)
async def test_a_query_without_end_is_refused(maild: Running, query: str) -> None:
    answer = await maild.api.get(f"/v1/messages?{query}")
    assert answer.status == 400 and len(answer.body) < 100_000


async def test_an_answer_that_fails_on_its_way_is_cut_and_never_goes_on_as_another(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The envelope of an error in the middle of an attachment would pass for its bytes."""
    sent = (await maild.api.send(bot, attachments=[{"filename": "a", "content": "QUFB" * 500_000}])).data
    stream = Blobs.stream

    async def torn(store: Blobs, *arguments: Any) -> AsyncIterator[bytes]:
        count = 0
        async for piece in stream(store, *arguments):
            if count == 2:
                raise OSError("the disk is gone")
            count += 1
            yield piece

    monkeypatch.setattr(Blobs, "stream", torn)
    with pytest.raises(aiohttp.ClientPayloadError):
        await maild.api.get(f"/v1/attachments/{sent['attachments'][0]['id']}")
    monkeypatch.undo()
    assert (await maild.api.get(f"/v1/attachments/{sent['attachments'][0]['id']}")).status == 200
