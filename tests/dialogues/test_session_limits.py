"""Back-pressure instead of collapse (promise 7): over a cap SMTP says 421 or 452, and what was begun ends well."""

import asyncio
from collections.abc import Callable
from typing import Any

from storage.blobs import Spool
from tests.conftest import Start
from tests.support.running import Running, Smtp, until


async def test_sessions_of_one_address_are_capped(start: Start) -> None:
    maild = await start(smtp={"max_sessions_per_address": 2})
    first, _second = await maild.smtp(), await maild.smtp()
    third = await maild.smtp(greeting=False)
    assert (await third.reply()).startswith("421 4.7.0")
    assert await third.closed()
    elsewhere = await maild.smtp(source="127.0.0.2")  # others are not affected
    assert (await elsewhere.say("NOOP")).startswith("250 ")
    await first.say("QUIT")
    assert await first.closed()
    assert (await until(lambda: greeted(maild))).startswith("220 ")  # its place is free again


async def greeted(maild: Running) -> str | None:
    talk = await maild.smtp(greeting=False)
    reply = await talk.reply()
    return reply if reply.startswith("220 ") else None


async def test_sessions_in_all_are_capped(start: Start) -> None:
    maild = await start(smtp={"max_sessions": 2})
    _first, _second = await maild.smtp(source="127.0.0.2"), await maild.smtp(source="127.0.0.3")
    third = await maild.smtp(greeting=False, source="127.0.0.4")
    assert (await third.reply()).startswith("421 4.7.0")
    assert await third.closed()


async def test_bytes_in_flight_are_capped(start: Start) -> None:
    maild = await start(smtp={"max_bytes_in_flight": 400_000, "max_message_bytes": 350_000})
    bot = await maild.inbox("bot")
    holder = await maild.smtp()
    await holder.begin(bot["address"])
    await holder.write(b"Subject: held\r\n\r\n" + b"x" * 300_000)
    other = await maild.smtp()
    await other.say("EHLO other.test")
    announced = await until(lambda: refused(other, "MAIL FROM:<a@b.test> SIZE=200000"))
    assert announced.startswith("452 4.3.1")
    await other.begin(bot["address"])
    await other.write(b"Subject: unannounced\r\n\r\n" + b"y" * 200_000 + b"\r\n.\r\n")
    assert (await other.reply()).startswith("452 4.3.1")
    await holder.write(b"\r\n.\r\n")
    assert (await holder.reply()).startswith("250 ")
    await other.begin(bot["address"])  # the session lives, and there is room again
    await other.write(b"Subject: second try\r\n\r\n" + b"y" * 200_000 + b"\r\n.\r\n")
    assert (await other.reply()).startswith("250 ")
    assert [one["subject"] for one in await maild.api.messages()] == ["second try", "held"]
    assert maild.daemon.listener._bytes_in_flight == 0


async def refused(talk: Smtp, command: str) -> str | None:
    reply = await talk.say(command)
    if not reply.startswith("250 "):
        return reply
    await talk.say("EHLO again.test")
    return None


class FullDisk:
    def has_room(self, expected_bytes: int = 0) -> bool:
        return False


async def test_below_the_disk_reserve_nothing_new_is_taken_and_reading_goes_on(
    maild: Running, bot: dict[str, Any]
) -> None:
    kept = await maild.received(bot, "Subject: kept\n\nwords\n")
    disk = maild.daemon.listener._disk
    disk.has_room = FullDisk().has_room  # type: ignore[method-assign]  # SMTP and API share the one
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("MAIL FROM:<friend@elsewhere.test>")).startswith("452 4.3.1")
    refusal = await maild.api.send(bot)
    assert (refusal.status, refusal.code) == (503, "provider_unavailable")
    assert (await maild.api.get(f"/v1/messages/{kept['id']}")).data["textBody"] == "words\n"
    del disk.has_room
    assert (await talk.say("MAIL FROM:<friend@elsewhere.test>")).startswith("250 ")


async def test_a_spool_that_can_not_write_is_452_at_the_dot(
    maild: Running, bot: dict[str, Any], monkeypatch: Any
) -> None:
    def full(self: Spool) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Spool, "_flush", full)
        reply = await maild.deliver(bot["address"], "Subject: no room\n\n" + "x" * 600_000)
    assert reply.startswith("452 4.3.1")
    assert "space" not in reply
    assert (await maild.deliver(bot["address"], "Subject: room\n\n")).startswith("250 ")
    assert maild.daemon.listener._bytes_in_flight == 0


async def test_a_store_that_fails_is_451_and_tells_no_stranger_why(
    maild: Running, bot: dict[str, Any], monkeypatch: Any
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the secret cause")

    talk = await maild.smtp()
    await talk.begin(bot["address"])
    monkeypatch.setattr(maild.daemon.listener._acceptor, "_commit", broken)
    reply = await talk.say(b"Subject: x\r\n\r\n.")
    assert reply.startswith("451 4.3.0") and "secret" not in reply
    monkeypatch.setattr(maild.daemon.listener, "find_mailbox", broken)
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    reply = await talk.say(f"RCPT TO:<{bot['address']}>")
    assert reply.startswith("451 4.3.0") and "secret" not in reply
    assert (await talk.say("NOOP")).startswith("250 ")


async def test_a_message_is_kept_though_its_sender_hangs_up_at_the_dot(
    maild: Running, bot: dict[str, Any]
) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(b"Subject: bye\r\n\r\nbye\r\n.\r\n")
    talk.hang_up()

    async def look() -> list[dict[str, Any]] | None:
        return await maild.api.messages() or None

    found = await until(look)
    # Whether the dot was read before the reset came is the network's doing; half a message never is.
    assert [one["subject"] for one in found] == ["bye"]


async def test_a_message_without_its_dot_is_never_stored(maild: Running, bot: dict[str, Any]) -> None:
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(b"Subject: half\r\n\r\n" + b"half\r\n" * 100_000)
    listener = maild.daemon.listener
    await until(lambda: true_when(lambda: listener._bytes_in_flight > 0))
    talk.hang_up()
    await until(lambda: true_when(lambda: listener._bytes_in_flight == 0))
    assert await maild.api.messages() == []


async def true_when(condition: Callable[[], bool]) -> bool | None:
    return condition() or None


async def test_who_hangs_up_without_quit_frees_its_place(start: Start) -> None:
    """Else a client that closes carelessly locks its own address out until the command timer fires."""
    maild = await start(smtp={"max_sessions_per_address": 1})
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    talk.hang_up()
    assert (await until(lambda: greeted(maild))).startswith("220 ")


async def test_who_has_said_everything_and_half_closes_is_answered(
    maild: Running, bot: dict[str, Any]
) -> None:
    """`printf … | nc` does it: the end of what it says is not the end of its listening."""
    talk = await maild.smtp()
    await talk.write(
        f"EHLO c.test\r\nMAIL FROM:<a@b.test>\r\nRCPT TO:<{bot['address']}>\r\nDATA\r\n".encode()
        + b"Subject: piped\r\n\r\nx\r\n.\r\nQUIT\r\n"
    )
    talk.half_close()
    replies = [await talk.reply() for _ in range(6)]
    assert [reply[:3] for reply in replies] == ["250", "250", "250", "354", "250", "221"]
    assert await talk.closed()


async def test_at_stop_the_idle_hear_421_and_a_transfer_may_finish(start: Start) -> None:
    maild = await start()
    bot = await maild.inbox("bot")
    idle, busy = await maild.smtp(), await maild.smtp()
    await busy.begin(bot["address"])
    await busy.write(b"Subject: in transfer\r\n\r\n")
    stopping = asyncio.create_task(maild.daemon.listener.stop())
    assert (await idle.reply()).startswith("421 4.3.2")
    assert await idle.closed()
    assert (await busy.say(b"late\r\n.")).startswith("250 ")
    await stopping
    assert (await busy.reply())[:3] in ("421", "")
    assert [one["subject"] for one in await maild.api.messages()] == ["in transfer"]
