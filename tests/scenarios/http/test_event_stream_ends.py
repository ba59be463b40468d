"""Streams that must end: a revoked key, a daemon that stops, a reader that reads nothing."""

import asyncio
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import CapturingLogger

from conf.tuning import HttpTuning, Tuning
from controlplane.transport import event_stream
from controlplane.webhooks.event_streams import Feed
from tests.conftest import Start
from tests.support.clients.event_stream import EventStream
from tests.support.running import Running, until, until_true


def transport_of(feed: Feed) -> asyncio.Transport:
    """The connection of its reader, which the feed knows as the way to cut it."""
    transport: asyncio.Transport = feed._cut.__self__  # type: ignore[union-attr]
    return transport


@pytest.mark.parametrize("how", ["by the API", "by the operator"])
async def test_the_key_is_revoked(maild: Running, bot: dict[str, Any], how: str) -> None:
    key = await maild.key("messages:read")
    (row,) = [one for one in (await maild.api.get("/v1/keys")).data if one["scopes"] == ["messages:read"]]
    async with EventStream(key) as stream, EventStream(maild.api) as other:
        if how == "by the API":
            await maild.api.call("DELETE", f"/v1/keys/{row['id']}")
        else:
            await maild.operate(maild.store.keys.revoke, row["id"])
        await maild.deliver(bot["address"], "Subject: secret\n\n")
        await stream.ended()
        assert (await other.next()).event["data"]["subject"] == "secret"


async def test_a_silent_stream_of_a_revoked_key_ends_too(maild: Running) -> None:
    key = await maild.key("messages:read")
    (row,) = [one for one in (await maild.api.get("/v1/keys")).data if one["scopes"] == ["messages:read"]]
    async with EventStream(key) as stream:
        await maild.operate(maild.store.keys.revoke, row["id"])
        await stream.ended()


# The server waits an hour for its requests, and a stream for its reader: what ends earlier ends by itself.
PATIENT = Tuning(http=HttpTuning(shutdown_s=3600, stream_stalled_s=3600))


async def test_the_daemon_stops(start: Start) -> None:
    maild = await start(tuning=PATIENT)
    readers = [EventStream(maild.api) for _ in range(5)]
    for reader in readers:
        await reader.__aenter__()
    stopping = asyncio.create_task(maild.daemon.stop())
    await asyncio.gather(*(reader.ended() for reader in readers))
    await stopping
    assert not maild.daemon.streams._feeds


async def test_the_daemon_stops_while_a_reader_reads_nothing(start: Start) -> None:
    maild = await start(tuning=PATIENT)
    stalled = await stall(maild)
    await filled(maild)
    await maild.daemon.stop()
    assert not maild.daemon.streams._feeds
    stalled.close()


async def test_a_reader_that_reads_nothing_is_cut_off(start: Start) -> None:
    maild = await start(tuning=Tuning(http=HttpTuning(stream_stalled_s=0.5)))
    await filled(maild)
    stalled = await stall(maild)
    readers = maild.daemon.streams._feeds

    async def cut() -> bool | None:
        return not readers or None

    await until_true(lambda: readers)
    (reader,) = readers
    await until(cut)
    assert transport_of(reader).is_closing()
    assert 0 < reader._position < 150  # nothing was read ahead of the socket
    stalled.close()


async def test_a_reader_that_is_lost_in_the_middle_of_an_event_is_no_fault_of_ours(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CapturingLogger()
    monkeypatch.setattr(event_stream, "log", log)
    maild = await start()
    await filled(maild)
    stalled = await stall(maild)
    readers = maild.daemon.streams._feeds

    async def gone() -> bool | None:
        return not readers or None

    await until_true(lambda: any(one._cut and transport_of(one).get_write_buffer_size() for one in readers))
    stalled.transport.abort()  # with words unread: a reset
    await until(gone)
    assert log.calls == []


async def stall(maild: Running) -> asyncio.StreamWriter:
    """Ask for a stream from the first event on, and read nothing of it."""
    where = urlsplit(maild.daemon.http.url)
    _, writer = await asyncio.open_connection(where.hostname, where.port, limit=1024)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(
        f"GET /v1/events/stream?after=evt_{'0' * 26} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {maild.api.key}\r\n\r\n".encode()
    )
    await writer.drain()
    return writer


async def filled(maild: Running) -> None:
    """More words than the sockets of both sides take."""
    inbox = await maild.inbox()
    words = ("x" * 70 + "\n") * 800
    for _ in range(150):
        await maild.deliver(inbox["address"], f"Subject: long\n\n{words}")
