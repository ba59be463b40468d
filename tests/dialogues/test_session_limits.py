"""Back-pressure instead of collapse: over a cap SMTP says 421 or 452, and what was begun ends well."""

import asyncio
from typing import Any

import pytest

from maild.inbound.wire.smtp_protocol import END_OF_DATA, STREAM_OCTETS
from storage.mail.blobs import SPOOL_BUFFER_BYTES, Spool
from tests.conftest import Start
from tests.support.running import Running, until, until_true


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


async def test_who_has_most_sessions_gives_way_to_a_newcomer(start: Start) -> None:
    """Else a few addresses, an octet a second from each session, shut everybody out."""
    maild = await start(smtp={"max_sessions": 4})
    held = [await maild.smtp(source=f"127.0.4.{number}") for number in (1, 1, 2, 2)]
    for talk in held[1:]:
        await talk.say("NOOP")
    newcomer = await maild.smtp(source="127.0.5.1")
    assert (await newcomer.say("NOOP")).startswith("250 ")
    assert (await held[0].reply()).startswith("421 4.3.2 others need the place")
    assert await held[0].closed()
    assert (await held[1].say("NOOP")).startswith("250 ")
    another = await maild.smtp(greeting=False, source="127.0.5.2")
    assert (await another.reply()).startswith("220 ")  # two of them beside two
    third = await maild.smtp(greeting=False, source="127.0.5.3")
    assert (await third.reply()).startswith("421 4.7.0 too many sessions")


async def test_nobody_gives_way_to_who_has_all_that_an_address_may_have(start: Start) -> None:
    maild = await start(smtp={"max_sessions": 4, "max_sessions_per_address": 1})
    held = [await maild.smtp(source=f"127.0.4.{number}") for number in (1, 2, 3)]
    await maild.smtp(source="127.0.5.1")
    again = await maild.smtp(greeting=False, source="127.0.5.1")
    assert (await again.reply()).startswith("421 4.7.0")
    for talk in held:
        assert (await talk.say("NOOP")).startswith("250 ")


def all_is_taken(maild: Running, octets: int) -> bool:
    """Is nothing on its way any more of a message that goes on later, but what is read in one piece with the rest?"""
    (busy,) = [one for one in maild.daemon.listener._sessions if one.is_busy]
    left = len(busy._reader._buffer)  # type: ignore[attr-defined]
    is_read = left < STREAM_OCTETS + len(END_OF_DATA)
    return is_read and maild.daemon.listener._memory.held_bytes + left >= octets


async def held_memory(maild: Running, least: int, most: int = 2**60) -> int:
    """What the account of memory holds, once it is between the two."""
    memory = maild.daemon.listener._memory

    async def look() -> int | None:
        return memory.held_bytes if least <= memory.held_bytes <= most else None

    found: int = await until(look)
    return found


async def test_who_holds_its_share_of_the_memory_is_refused_and_others_are_not(start: Start) -> None:
    maild = await start(smtp={"max_bytes_in_flight": 800_000})
    bot = await maild.inbox("bot")
    holder, again = await maild.smtp(), await maild.smtp()
    await holder.begin(bot["address"])
    await holder.write(b"Subject: held\r\n\r\n" + b"x" * 240_000)
    await until_true(lambda: all_is_taken(maild, 240_000))
    await again.begin(bot["address"])
    await again.write(b"Subject: again\r\n\r\n" + b"y" * 240_000)
    other = await maild.smtp(source="127.0.0.2")
    await other.begin(bot["address"])
    assert (await other.say(b"Subject: other\r\n\r\n" + b"z" * 100_000 + b"\r\n.")).startswith("250 ")
    assert (await again.say(b"\r\n.")).startswith("452 4.3.1")
    assert (await holder.say(b"\r\n.")).startswith("250 ")
    await again.begin(bot["address"])  # the session lives, and there is room again
    assert (await again.say(b"Subject: again\r\n\r\n" + b"y" * 150_000 + b"\r\n.")).startswith("250 ")
    assert [one["subject"] for one in await maild.api.messages()] == ["again", "held", "other"]
    await held_memory(maild, 0, 0)


async def test_what_is_spooled_into_a_file_is_not_held(start: Start) -> None:
    """Else a dozen slow sessions of one address use up what is there for everybody."""
    maild = await start(smtp={"max_bytes_in_flight": 8_000_000})
    bot = await maild.inbox("bot")
    slow = [await maild.smtp() for _ in range(4)]
    for talk in slow:
        await talk.begin(bot["address"])
        await talk.write(b"Subject: slow\r\n\r\n" + b"x" * 3_000_000)
    await until_true(lambda: spooled(maild) > 4 * 2_200_000)
    await held_memory(maild, 0, 4 * (SPOOL_BUFFER_BYTES + 64 * 1024))
    other = await maild.smtp(source="127.0.0.2")
    await other.begin(bot["address"])
    assert (await other.say(b"Subject: other\r\n\r\n" + b"z" * 300_000 + b"\r\n.")).startswith("250 ")
    for talk in slow:
        assert (await talk.say(b"\r\n.")).startswith("250 ")
    await held_memory(maild, 0, 0)


def spooled(maild: Running) -> int:
    return sum(one.stat().st_size for one in (maild.settings.data_path / "blobs" / "tmp").iterdir())


async def test_refused_mail_gives_its_bytes_back_at_once(start: Start) -> None:
    """Those that come at the same speed must not drag each other down."""
    maild = await start(smtp={"max_message_bytes": 1_000_000})
    bot = await maild.inbox("bot")
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    await talk.write(b"Subject: large\r\n\r\n" + b"x" * 900_000)
    await until_true(lambda: spooled(maild) > 0)
    await talk.write(b"x" * 300_000)
    await until_true(lambda: list((maild.settings.data_path / "blobs" / "tmp").iterdir()) == [])
    await held_memory(maild, 0, 0)
    assert (await talk.say(b"\r\n.")).startswith("552 5.3.4")


async def test_of_two_that_the_disk_has_no_room_for_one_gets_through(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = maild.daemon.listener._disk
    monkeypatch.setattr(disk, "_room", lambda: 3_000_000 - disk._unwritten_bytes - disk._written_bytes)
    first, second = await maild.smtp(), await maild.smtp(source="127.0.0.2")
    for talk in (first, second):
        await talk.say("EHLO client.test")
        assert (await talk.say("MAIL FROM:<a@b.test> SIZE=1500000")).startswith("250 ")
        assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("250 ")
    assert (await first.say("DATA")).startswith("354 ")
    assert (await second.say("DATA")).startswith("452 4.3.1")
    assert (await first.say(b"Subject: x\r\n\r\n" + b"x" * 1_400_000 + b"\r\n.")).startswith("250 ")
    assert disk._unwritten_bytes == 0 and not disk._claimed


async def test_a_message_that_grows_beyond_the_room_is_refused_at_once(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = maild.daemon.listener._disk
    talk = await maild.smtp()
    await talk.begin(bot["address"])
    monkeypatch.setattr(disk, "_room", lambda: 1_000_000 - disk._unwritten_bytes - disk._written_bytes)
    await talk.write(b"Subject: x\r\n\r\n" + b"x" * 400_000)
    await until_true(lambda: spooled(maild) > 0)
    await talk.write(b"x" * 400_000)
    await until_true(lambda: not disk._claimed)
    assert (await talk.say(b"\r\n.")).startswith("452 4.3.1")


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
    assert int(refusal.headers["Retry-After"]) > 0
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
    assert maild.daemon.listener._memory.held_bytes == 0


async def test_a_store_that_fails_is_451_and_tells_no_stranger_why(
    maild: Running, bot: dict[str, Any], monkeypatch: Any
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the secret cause")

    talk = await maild.smtp()
    await talk.begin(bot["address"])
    monkeypatch.setattr(maild.daemon.listener._acceptor._depositor, "deposit", broken)
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
    await until_true(lambda: listener._memory.held_bytes > 0)
    talk.hang_up()
    await until_true(lambda: listener._memory.held_bytes == 0)
    assert await maild.api.messages() == []


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


async def test_at_stop_nobody_begins_another_message(start: Start) -> None:
    """However many a peer has to bring: the stop waits for those that were on their way alone."""
    maild = await start()
    bot = await maild.inbox("bot")
    first, second = await maild.smtp(), await maild.smtp()
    for talk in (first, second):
        await talk.begin(bot["address"])
    stopping = asyncio.create_task(maild.daemon.listener.stop())
    assert (await first.say(b"Subject: first\r\n\r\nhello\r\n.")).startswith("250 ")
    assert (await first.say("MAIL FROM:<friend@elsewhere.test>")).startswith("421 4.3.2")
    assert await first.closed()
    assert not stopping.done()
    assert (await second.say(b"Subject: second\r\n\r\nhello\r\n.")).startswith("250 ")
    await stopping
