"""A client that did not hear our 250 sends the message again (RFC 1047): it is stored once. What a client sends a
second time of its own accord is stored twice."""

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog

from maild.inbound import accept
from maild.inbound.sessions import session
from maild.inbound.sessions.conversation import Conversation
from storage.engine import writer
from tests.support.peers.mx import vanish
from tests.support.running import Running, Smtp, Template, until_true

RAW = (
    b"From: a@elsewhere.test\r\nTo: bot@agents.test\r\nSubject: pay\r\nMessage-ID: <1@elsewhere.test>\r\n"
    b"Date: Sat, 21 Nov 2026 10:00:00 +0000\r\n\r\npay the bill\r\n"
)
LARGE = RAW + b"and this one\r\n" * 50_000
SENDER = "friend@elsewhere.test"


def sessions(maild: Running) -> int:
    return len(maild.daemon.listener._sessions)


def stored(maild: Running) -> int:
    ((count,),) = maild.sql("SELECT count(*) FROM messages")
    return int(count)


def files(maild: Running) -> int:
    return sum(one.is_file() for one in (maild.settings.data_path / "blobs").glob("*/*"))


async def unheard(maild: Running, to: str = "bot@agents.test", raw: bytes = RAW) -> str:
    """The client goes as soon as the message is committed; the id of that."""
    before = stored(maild)
    talk = await maild.smtp()
    await talk.begin(to)
    await talk.write(raw + b".\r\n")
    await until_true(lambda: stored(maild) > before)
    await lost(maild, talk)
    return str(maild.sql("SELECT max(id) FROM messages")[0][0])


async def lost(maild: Running, talk: Smtp) -> None:
    talk.hang_up()
    await until_true(lambda: sessions(maild) == 0)


async def heard(
    maild: Running, raw: bytes = RAW, sender: str = SENDER, *to: str, source: str | None = None
) -> str:
    """The client reads the 250 and says so; the id that it heard."""
    talk = await maild.smtp(source=source)
    await talk.say("EHLO client.elsewhere.test")
    assert (await talk.say(f"MAIL FROM:<{sender}>")).startswith("250 ")
    for one in to or ("bot@agents.test",):
        assert (await talk.say(f"RCPT TO:<{one}>")).startswith("250 ")
    assert (await talk.say("DATA")).startswith("354 ")
    reply = await talk.say(raw + b".")
    assert reply.startswith("250 2.0.0 OK: stored as msg_"), reply
    assert (await talk.say("QUIT")).startswith("221 ")
    assert await talk.closed()
    return reply.rpartition(" ")[2]


@pytest.mark.parametrize("raw", [RAW, LARGE], ids=["in_a_row", "in_a_file"])
async def test_what_nobody_heard_is_stored_once(maild: Running, bot: dict[str, Any], raw: bytes) -> None:
    first = await unheard(maild, raw=raw)
    kept = files(maild)
    with structlog.testing.capture_logs() as logs:
        assert await heard(maild, raw) == first
    assert (stored(maild), files(maild)) == (1, kept)
    (told,) = [one for one in logs if one["event"] == "received_again"]
    assert (told["message_id"], told["mail_from"]) == (first, SENDER)


async def test_a_client_that_was_gone_without_a_word_is_known_when_it_comes_again(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its network went away with our 250, and no end of the connection tells of it."""
    monkeypatch.setattr(session, "ACKNOWLEDGED_S", 0.3)
    talk = await maild.smtp()
    await talk.begin("bot@agents.test")
    vanish(talk._writer.get_extra_info("socket"))
    await talk.write(RAW + b".\r\n")
    await until_true(lambda: stored(maild) == 1)
    await until_true(lambda: sessions(maild) == 0)
    await heard(maild)
    assert stored(maild) == 1
    talk.hang_up()


async def test_the_second_copy_that_was_not_heard_either(maild: Running, bot: dict[str, Any]) -> None:
    first = await unheard(maild)
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    assert (await talk.say(RAW + b".")).endswith(first)
    await lost(maild, talk)
    assert await heard(maild) == first


async def test_once_it_was_heard_the_next_one_is_another(maild: Running, bot: dict[str, Any]) -> None:
    first = await unheard(maild)
    assert await heard(maild) == first
    assert await heard(maild) != first
    assert stored(maild) == 2


async def test_what_was_heard_is_stored_again(maild: Running, bot: dict[str, Any]) -> None:
    assert await heard(maild) != await heard(maild)
    assert stored(maild) == 2


@pytest.mark.parametrize("command", ["NOOP", "RSET", "MAIL FROM:<a@elsewhere.test>", "NONSENSE"])
async def test_a_client_that_goes_on_has_heard(maild: Running, bot: dict[str, Any], command: str) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    assert (await talk.say(RAW + b".")).startswith("250 ")
    await talk.say(command)
    await lost(maild, talk)
    await heard(maild)
    assert stored(maild) == 2


async def test_another_message_sender_recipient_or_client_is_no_copy(
    maild: Running, bot: dict[str, Any]
) -> None:
    other = await maild.inbox("other")
    first = await unheard(maild)
    others = [
        await heard(maild, RAW + b"now\r\n"),
        await heard(maild, RAW, "other@elsewhere.test"),
        await heard(maild, RAW, SENDER, "bot+list@agents.test"),
        await heard(maild, RAW, SENDER, bot["address"], other["address"]),
        await heard(maild, source="127.0.0.2"),
    ]
    assert first not in others and len(set(others)) == 5
    assert await heard(maild) == first


async def test_recipients_in_another_order_are_the_same_envelope(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.say(f"MAIL FROM:<{SENDER}>")
    for address in (bot["address"], other["address"]):
        await talk.say(f"RCPT TO:<{address}>")
    await talk.say("DATA")
    first = (await talk.say(RAW + b".")).rpartition(" ")[2]
    await lost(maild, talk)
    assert await heard(maild, RAW, SENDER, other["address"], bot["address"]) == first


async def test_without_a_message_id_nobody_knows_whether_it_is_a_copy(
    maild: Running, bot: dict[str, Any]
) -> None:
    raw = RAW.replace(b"Message-ID", b"X-Id")
    first = await unheard(maild, raw=raw)
    assert await heard(maild, raw) != first
    assert stored(maild) == 2


async def test_an_address_that_reaches_another_inbox_now(maild: Running, bot: dict[str, Any]) -> None:
    """What a stranger's inbox had is no reason to keep it from the next owner of the address."""
    first = await unheard(maild)
    await maild.api.call("DELETE", f"/v1/inboxes/{bot['id']}")
    maild.sql("UPDATE inboxes SET deactivated_at = 5 WHERE id = ?", bot["id"])
    await maild.inbox("bot")
    assert await heard(maild) != first


# How a client is lost -----------------------------------------------------------------------------

Going = Callable[[Running, Smtp], Awaitable[None]]


async def abort(maild: Running, talk: Smtp) -> None:
    talk.hang_up()
    await until_gone(maild)


async def say_no_more(maild: Running, talk: Smtp) -> None:
    talk.half_close()
    await until_gone(maild)


async def until_gone(maild: Running) -> None:
    (session,) = maild.daemon.listener._sessions
    await until_true(lambda: is_gone(session))


def is_gone(session: Conversation) -> bool:
    return session.has_said_all or not session.is_open


async def stay(maild: Running, talk: Smtp) -> None:
    pass


@pytest.mark.parametrize(
    ("goes", "behind", "is_heard"),
    [
        (abort, b"", False),
        (abort, b"QUIT\r\n", False),
        (say_no_more, b"", False),
        (say_no_more, b"QUIT\r\n", False),
        (stay, b"QUIT\r\n", True),
    ],
)
async def test_a_client_that_goes_while_its_message_is_taken(
    maild: Running,
    bot: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    goes: Going,
    behind: bytes,
    is_heard: bool,
) -> None:
    """`behind`: what it had sent together with the message, before there was anything to hear."""
    committed, go_on = asyncio.Event(), asyncio.Event()
    whole = accept.Acceptor._accept

    async def held(*given: Any) -> Any:
        receipt = await whole(*given)
        committed.set()
        await go_on.wait()
        return receipt

    with monkeypatch.context() as patch:
        patch.setattr(accept.Acceptor, "_accept", held)
        talk = await maild.smtp()
        await talk.begin(bot["address"])
        await talk.write(RAW + b".\r\n" + behind)
        await committed.wait()
        try:
            await goes(maild, talk)
        finally:
            go_on.set()
        await until_true(lambda: sessions(maild) == 0 and maild.daemon.listener._committing == 0)
    await heard(maild)
    assert stored(maild) == (2 if is_heard else 1)


def differs(some: list[bytes], before: int) -> bool:
    return len(some) != before


@pytest.mark.parametrize("raw", [RAW, LARGE], ids=["in_a_row", "in_a_file"])
async def test_a_client_that_comes_again_while_the_disk_stands_still(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, raw: bytes
) -> None:
    """Its first message is not in the store yet, and will be."""
    came: list[bytes] = []
    disk, whole, commit = threading.Event(), accept.Acceptor.accept, writer._commit

    async def noted(*given: Any) -> Any:
        came.append(given[2].sha256)
        return await whole(*given)

    def stands_still(conn: sqlite3.Connection) -> None:
        disk.wait()
        commit(conn)

    monkeypatch.setattr(accept.Acceptor, "accept", noted)
    monkeypatch.setattr(writer, "_commit", stands_still)
    try:
        for _ in range(2):
            before = len(came)
            talk = await maild.smtp()
            await talk.begin(bot["address"])
            await talk.write(raw + b".\r\n")
            await until_true(partial(differs, came, before))
            talk.hang_up()
            await until_true(lambda: all(map(is_gone, maild.daemon.listener._sessions)))
        again = asyncio.create_task(heard(maild, raw))
        await until_true(lambda: len(came) == 3)
    finally:
        disk.set()
    await again
    assert (stored(maild), files(maild)) == (1, int(raw is LARGE))


async def test_a_client_lost_under_tls(maild: Running, bot: dict[str, Any]) -> None:
    talk = await maild.smtp()
    await talk.say("STARTTLS")
    await talk.start_tls()
    await talk.begin(bot["address"])
    first = (await talk.say(RAW + b".")).rpartition(" ")[2]
    await lost(maild, talk)
    assert await heard(maild) == first


# The process ends ---------------------------------------------------------------------------------


async def again(maild: Running, template: Template, folder: Path) -> Running:
    """Another process on the store as this one leaves it at the moment, which is as a kill does."""
    shutil.copytree(maild.settings.data_path, folder)
    return await Running.start(replace(template, folder=folder), folder.with_name("next"))


async def test_a_kill_between_commit_and_250(
    maild: Running, bot: dict[str, Any], template: Template, tmp_path: Path
) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    first = (await talk.say(RAW + b".")).rpartition(" ")[2]
    after = await again(maild, template, tmp_path / "killed")
    try:
        assert await heard(after) == first
        assert stored(after) == 1
        assert await heard(after) != first
    finally:
        await after.stop()


async def test_what_was_not_heard_outlives_the_process(
    maild: Running, bot: dict[str, Any], template: Template, tmp_path: Path
) -> None:
    first = await unheard(maild)
    other = await heard(maild, RAW + b"heard\r\n")
    await maild.daemon.stop()
    after = await again(maild, template, tmp_path / "stopped")
    try:
        assert await heard(after) == first
        assert await heard(after, RAW + b"heard\r\n") != other
    finally:
        await after.stop()
