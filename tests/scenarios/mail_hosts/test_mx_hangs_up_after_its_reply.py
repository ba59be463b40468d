"""What a host said before it hung up counts: a refusal is one, and who asks for less gets less."""

from pathlib import Path

import pytest

from tests.support.worlds.sending import Sending

GONE = "550 5.1.1 no such user"
BLOCKED = "554 5.7.1 blocked by our block list"
BUSY = "421 4.7.0 too many messages, slow down"
WAYS = pytest.mark.parametrize("extensions", [["PIPELINING"], []], ids=["pipelining", "one by one"])


async def told(sending: Sending, *recipients: str) -> list[tuple[str, int | None, str | None]]:
    """What became of a message to them: status, code and words of each."""
    sending.dns.add_mx("there.test")
    await sending.queue.start()
    message_id = await sending.send(*recipients)
    await sending.until_attempts(message_id, len(recipients))
    rows = await sending.store.recipients(message_id)
    return [(row.status, row.smtp_code, row.response) for row in rows]


@WAYS
async def test_an_address_that_is_refused_has_bounced(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.extensions = extensions
        sending.mx.always["RCPT"], sending.mx.hang_up_after = GONE, "RCPT"
        assert await told(sending, "you@there.test") == [("bounced", 550, "no such user")]
        assert sending.mx.connections == 1


@WAYS
async def test_a_sender_that_is_refused_has_bounced(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.extensions = extensions
        sending.mx.always["MAIL"], sending.mx.hang_up_after = BLOCKED, "MAIL"
        assert await told(sending, "you@there.test") == [
            ("bounced", 554, "blocked by our block list (in reply to MAIL FROM)")
        ]


@WAYS
@pytest.mark.parametrize("stage", ["MAIL", "RCPT"])
async def test_who_asks_for_less_is_told_so_and_heard(
    tmp_path: Path, extensions: list[str], stage: str
) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.extensions = extensions
        sending.mx.always[stage], sending.mx.hang_up_after = BUSY, stage
        assert await told(sending, "you@there.test") == [("deferred", 421, "too many messages, slow down")]
        (delayed,) = await sending.store.events("email.delayed")
        assert (delayed["class"], delayed["advice"]) == ("throttled", "slow_down")
        assert sending.queue._deliverer._groups.group("mx.there.test").pace.waits_s > 0


@WAYS
async def test_each_recipient_has_its_own_reply_and_the_others_are_lost(
    tmp_path: Path, extensions: list[str]
) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.extensions = extensions
        sending.mx.always["RCPT", "gone@there.test"] = GONE
        sending.mx.hang_up_after = "RCPT", "gone@there.test"
        found = await told(sending, "first@there.test", "gone@there.test", "last@there.test")
        lost = ("deferred", 421, "connection lost")
        assert found == [lost, ("bounced", 550, "no such user"), lost]


@WAYS
async def test_a_host_that_ends_the_session_ends_it_for_all_behind(
    tmp_path: Path, extensions: list[str]
) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.extensions = extensions
        sending.mx.always["RCPT", "gone@there.test"] = GONE
        sending.mx.always["RCPT", "busy@there.test"] = BUSY
        sending.mx.hang_up_after = "RCPT", "busy@there.test"
        found = await told(
            sending, "first@there.test", "gone@there.test", "busy@there.test", "last@there.test"
        )
        busy = ("deferred", 421, "too many messages, slow down")
        assert found == [busy, ("bounced", 550, "no such user"), busy, busy]
        if not extensions:
            assert [one for one in sending.mx.commands if "last@" in one] == []


async def test_a_host_that_takes_all_and_hangs_up_is_lost_and_the_next_is_tried(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", host="two.there.test", preference=20)
        sending.mx.hang_up_after = "RCPT"
        (found,) = await told(sending, "you@there.test")
        assert found[0] == "deferred"
        assert sending.mx.connections == 2


async def test_the_reason_of_a_refused_greeting_is_kept(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.always["EHLO"], sending.mx.hang_up_after = "550 5.7.1 your address is blocked", "EHLO"
        (found,) = await told(sending, "you@there.test")
        assert found[2] == "your address is blocked"


@pytest.mark.parametrize(
    ("reply", "status"),
    [("552 5.3.4 message too big for us", "bounced"), ("451 4.3.0 scanner failed", "deferred")],
)
async def test_a_refusal_in_the_middle_of_the_message_is_one(tmp_path: Path, reply: str, status: str) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.interrupt = 100_000, reply
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", raw=large(6_000_000))
        await sending.until(message_id, status)
        (row,) = await sending.store.recipients(message_id)
        assert (row.smtp_code, row.response) == (int(reply[:3]), reply[10:])


async def test_an_acceptance_in_the_middle_of_the_message_is_none(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.mx.interrupt = 100_000, "250 2.0.0 taken"
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", raw=large(6_000_000))
        await sending.until(message_id, "deferred")


def large(octets: int) -> bytes:
    head = b"From: a@ours.test\r\nTo: you@there.test\r\nMessage-ID: <1@ours.test>\r\n\r\n"
    return head + (b"y" * 76 + b"\r\n") * (octets // 78)
