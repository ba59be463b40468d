"""A file of a large message that the disk does not give: what computes for others, and what reads, go on."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from storage.clock import Clock
from storage.ids import Ids
from storage.mail.blobs import Blob, Blobs, Spool
from storage.turns.started_threads import started_threads
from tests.support.running import Running, until_true
from tests.support.waiting import GIVES_UP_S

LARGE = "From: a@elsewhere.test\nSubject: large\n\n" + "and this one\n" * 50_000
DEFAULT_THREADS = 32  # of asyncio, at most


@pytest.fixture
def disk() -> Iterator[threading.Event]:
    """It gives and takes nothing until it is set."""
    gives = threading.Event()
    yield gives
    gives.set()


@pytest.mark.parametrize("what", ["", "/evidence"])
async def test_nobody_waits_for_it_at_the_thread_that_computes(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, disk: threading.Event, what: str
) -> None:
    message = await maild.received(bot, LARGE)
    asked: list[str] = []
    read = Blobs._range

    def stand_still(self: Blobs, blob: Blob, start: int, end: int) -> bytes:
        asked.append(blob.id)
        disk.wait()
        return read(self, blob, start, end)

    monkeypatch.setattr(Blobs, "_range", stand_still)
    reading = asyncio.create_task(maild.api.get(f"/v1/messages/{message['id']}{what}"))
    await until_true(lambda: asked)
    async with asyncio.timeout(GIVES_UP_S):
        assert await maild.daemon._cpu.run("another", lambda: "computed") == "computed"
    disk.set()
    assert (await reading).status == 200


async def test_who_reads_does_not_wait_behind_those_who_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: threading.Event
) -> None:
    threads = started_threads(1, "blobs")
    blobs = Blobs(tmp_path / "blobs", Ids(Clock()), 0, threads)
    blobs.prepare()
    there = await blobs.store(b"there")
    finish = Spool._finish_file

    def stand_still(self: Spool) -> Path:
        disk.wait()
        return finish(self)

    monkeypatch.setattr(Spool, "_finish_file", stand_still)
    writing = [asyncio.create_task(blobs.store(b"another")) for _ in range(DEFAULT_THREADS + 1)]
    await asyncio.sleep(0)
    async with asyncio.timeout(GIVES_UP_S):
        assert await blobs.load(there.as_blob) == b"there"
    disk.set()
    await asyncio.gather(*writing)
    threads.shutdown()
