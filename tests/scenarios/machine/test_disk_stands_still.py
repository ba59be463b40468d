"""The disk takes nothing for a while: who writes is told to come again, who reads is served, nothing is lost."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from storage.engine import writer
from storage.engine.database import Database
from storage.engine.writer import Pace
from tests.support.running import Api, Running, until_true

RAW = b"From: a@elsewhere.test\r\nSubject: hello\r\nMessage-ID: <1@elsewhere.test>\r\n\r\nwords\r\n"


class SlowDisk:
    """It takes every COMMIT, from `stop` on none until `go_on`."""

    def __init__(self, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self._db, self._patch = db, monkeypatch
        self._takes, self._commit = threading.Event(), writer._commit
        self._takes.set()
        monkeypatch.setattr(writer, "_commit", self._commit_when_it_takes)

    def _commit_when_it_takes(self, conn: sqlite3.Connection) -> None:
        self._takes.wait()
        self._commit(conn)

    async def stop(self) -> "asyncio.Task[None]":
        """Something of the daemon's own is in a commit that does not end, and has been for too long."""
        self._takes.clear()
        self._patch.setattr(self._db._writer, "_pace", Pace(patience_s=0))
        waiting = asyncio.create_task(self._db.write(lambda tx: None))
        await until_true(lambda: self._db.stands_still)
        return waiting

    def go_on(self) -> None:
        self._patch.setattr(self._db._writer, "_pace", Pace())
        self._takes.set()


@pytest.fixture
def disk(maild: Running, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDisk]:
    assert maild.daemon._db is not None
    made = SlowDisk(maild.daemon._db, monkeypatch)
    yield made
    made.go_on()


async def test_who_writes_is_told_to_come_again_and_who_reads_is_served(
    maild: Running, bot: dict[str, Any], disk: SlowDisk
) -> None:
    waiting = await disk.stop()
    refused = await maild.api.send(bot, subject="s", text="t")
    assert (refused.status, refused.code) == (503, "provider_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    assert (await talk.say("MAIL FROM:<a@elsewhere.test>")).startswith("451 4.3.2 ")
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).status == 200
    assert await maild.api.messages() == []
    health = await maild.api.get("/health")
    assert (health.status, health.json["status"], health.json["disk"]) == (200, "healthy", "stalled")

    disk.go_on()
    await waiting
    await until_true(lambda: not maild.daemon._db.stands_still)  # type: ignore[union-attr]
    assert (await maild.api.get("/health")).json["disk"] == "ok"


@pytest.fixture
async def unused(maild: Running) -> Api:
    """As a key sees it whose last use is to be noted."""
    return await maild.key()


async def test_who_reads_does_not_wait_for_the_last_use_of_the_key_to_be_noted(
    maild: Running, unused: Api, disk: SlowDisk
) -> None:
    waiting = await disk.stop()
    assert (await unused.get("/v1/inboxes")).status == 200
    disk.go_on()
    await waiting


async def test_mail_that_was_on_its_way_is_refused_at_its_end(
    maild: Running, bot: dict[str, Any], disk: SlowDisk
) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    waiting = await disk.stop()
    assert (await talk.say(RAW + b".")).startswith("451 4.3.2 ")
    disk.go_on()
    await waiting
    assert maild.sql("SELECT count(*) FROM messages") == [(0,)]
