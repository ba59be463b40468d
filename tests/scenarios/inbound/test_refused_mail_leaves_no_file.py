"""Bytes whose row did not commit go at once: else strangers fill the disk with mail that was refused."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from maild.inbound.delivery.mailboxes import Mailboxes
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.reading import receiving
from storage.engine import writer
from storage.engine.database import Database
from tests.conftest import Start
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

LARGE = b"x" * 70 + b"\r\n"
BODY = LARGE * 8000  # 576 KB: spooled into a file while it comes

Exit = Callable[[Running, dict[str, Any], pytest.MonkeyPatch], Any]


def files(maild: Running) -> list[str]:
    return [one.name for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()]


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError("broken")


def dying(*_: Any) -> None:
    os._exit(9)


def commit_fails(conn: sqlite3.Connection) -> None:
    conn.execute("ROLLBACK")
    raise sqlite3.OperationalError("disk I/O error")


async def deactivate(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")


async def fill(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    assert (await maild.deliver(bot["address"], b"Subject: first\n\n" + b"y" * 2000)).startswith("250 ")


async def fail_commit(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    patch.setattr(writer, "_commit", commit_fails)


async def fail_unit(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Mailboxes, "deliver", broken)


async def fail_reading(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    patch.setattr(receiving, "read_message", broken)


async def die_of_reading(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    patch.setattr(receiving, "read_message", dying)


async def nothing(maild: Running, bot: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    pass


@pytest.mark.parametrize(
    ("meanwhile", "head", "code"),
    [
        (nothing, b"Received: from a by b; now\r\n" * 51, "554 5.4.6"),
        (nothing, b"X-Bare: a\nb\r\n", "550 5.6.0"),
        (nothing, b"X-Large: " + b"y" * 1_000_000 + b"\r\n", "552 5.3.4"),
        (deactivate, b"", "550 5.1.1"),
        (fill, b"", "452 4.2.2"),
        (fail_commit, b"", "451 4.3.0"),
        (fail_unit, b"", "451 4.3.0"),
        (fail_reading, b"", "451 4.3.0"),
        (die_of_reading, b"", "451 4.3.0"),
    ],
)
async def test_mail_that_is_refused_after_data(
    start: Start, monkeypatch: pytest.MonkeyPatch, meanwhile: Exit, head: bytes, code: str
) -> None:
    maild = await start(smtp={"max_message_bytes": 1_000_000, "bare_line_ends": "refuse"})
    narrow = await maild.organization("narrow")
    bot = await maild.inbox("bot", narrow.api if meanwhile is fill else maild.api)
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(head + b"Subject: refused\r\n\r\n" + BODY)
    with monkeypatch.context() as patch:
        await meanwhile(maild, bot, patch)
        before = bytes_used(maild)
        assert (await talk.say(b".")).startswith(code)
    assert files(maild) == []
    assert bytes_used(maild) == before
    assert maild.sql("SELECT subject FROM messages WHERE subject = 'refused'") == []
    assert (await talk.say("NOOP")).startswith("250 ")


def bytes_used(maild: Running) -> list[tuple[Any, ...]]:
    return maild.sql("SELECT organization_id, bytes FROM stored_bytes ORDER BY organization_id")


async def test_mail_that_is_taken_keeps_its_file(maild: Running, bot: dict[str, Any]) -> None:
    message = await maild.received(bot, b"Subject: kept\r\n\r\n" + BODY)
    assert len(files(maild)) == 1
    assert (await maild.raw(message["id"])).endswith(LARGE)


async def test_mail_whose_sender_goes_away(maild: Running, bot: dict[str, Any]) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(b"Subject: half\r\n\r\n" + BODY)
    await soon(lambda: files(maild) != [])
    talk.hang_up()
    await soon(lambda: files(maild) == [])


async def soon(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(GIVES_UP_S):
        while not condition():
            await asyncio.sleep(0.01)


# Sends --------------------------------------------------------------------------------------------


async def test_a_send_that_a_guard_refuses(maild: Running) -> None:
    tiny = await maild.organization("tiny")
    bot = await maild.inbox("bot", tiny.api)
    assert (await tiny.api.send(bot, text="the one of today")).status == 201
    assert (await tiny.api.send(bot, text="x" * 300_000)).code == "limit_reached"
    assert files(maild) == []


async def test_a_send_whose_commit_fails(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_commit", commit_fails)
        assert (await maild.api.send(bot, text="x" * 300_000)).code == "email_delivery_failed"
    assert files(maild) == []


async def test_a_send_that_was_made_already(maild: Running, bot: dict[str, Any]) -> None:
    """The first look did not find it, the transaction does: two clients sent one draft at once."""
    draft = (await maild.api.post("/v1/drafts", {"inboxId": bot["id"], "to": ["a@elsewhere.test"]})).data
    await maild.api.call("PATCH", f"/v1/drafts/{draft['id']}", {"text": "x" * 300_000})
    sends = [maild.api.call("POST", f"/v1/drafts/{draft['id']}/send") for _ in range(4)]
    assert sorted(one.status for one in await asyncio.gather(*sends)) == [200, 200, 200, 201]
    assert len(files(maild)) == 1


# A caller that is cancelled -----------------------------------------------------------------------


class Held:
    """The writer, held up until `go_on`."""

    def __init__(self, patch: pytest.MonkeyPatch, db: Database, fails: bool) -> None:
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        begin = db._writer._begin

        async def held() -> None:
            self.begun.set()
            await self.go_on.wait()
            await begin()
            if fails:
                db._writer.connection.raw.execute("ROLLBACK")
                raise sqlite3.OperationalError("disk I/O error")

        patch.setattr(db._writer, "_begin", held)


@pytest.mark.parametrize("fails", [False, True])
async def test_the_file_of_a_cancelled_caller_follows_its_commit(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    daemon = maild.daemon
    assert daemon._db is not None
    acceptor = daemon.listener._acceptor
    box = await acceptor.find_mailbox(bot["address"])
    assert box is not None
    envelope = InboundEnvelope("a@b.test", ((bot["address"], box),), "c.test", "192.0.2.1", "ESMTP", None)
    stored = await acceptor._blobs.store(b"Subject: x\r\n\r\n" + BODY)
    held = Held(monkeypatch, daemon._db, fails)
    accepting = asyncio.create_task(acceptor.accept(envelope, stored))
    await held.begun.wait()
    accepting.cancel()
    await asyncio.wait([accepting])
    assert accepting.cancelled() and files(maild) == [stored.id]
    held.go_on.set()
    await soon(lambda: not acceptor._blobs._keeping)
    assert files(maild) == ([] if fails else [stored.id])
    assert maild.sql("SELECT id FROM blobs") == ([] if fails else [(stored.id,)])
