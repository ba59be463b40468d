"""What is submitted passes the defences of mail that comes in: smuggling, sizes, places, slow peers, and a stop."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from conf.tuning import SmtpTuning, Tuning
from tests.conftest import Start
from tests.support.clients.submitting import encrypted, greeted, logged_in, places, submit, submitting
from tests.support.running import Running, until, until_true

ADA = "ada@elsewhere.test"
HI = f"From: bot@agents.test\r\nTo: {ADA}\r\nMessage-ID: <one@laptop.test>\r\n\r\nhi\r\n"


@pytest.fixture
async def maild(start: Start, tmp_path: Path) -> Running:
    return await submitting(start, tmp_path / "tls")


@pytest.mark.parametrize("end", [b"\n.\n", b"\r\n.\n", b"\n.\r\n", b"\r.\r", b"\r\n.\r", b"\r\n.\0\r\n"])
async def test_only_crlf_dot_crlf_ends_a_message(maild: Running, bot: dict[str, Any], end: bytes) -> None:
    """S1, S2: neither into us nor, by what leaves, into others."""
    talk = await logged_in(maild, bot)
    for command in ("MAIL FROM:<>", f"RCPT TO:<{ADA}>", "DATA"):
        await talk.say(command)
    smuggled = (
        b"MAIL FROM:<>\r\nRCPT TO:<eve@elsewhere.test>\r\nDATA\r\nFrom: ceo@bank.test\r\n\r\npay\r\n.\r\n"
    )
    await talk.write(HI.encode() + b"x" + end + smuggled)
    assert (await talk.reply()).startswith("250 2.0.0 OK: queued as ")
    (message,) = await maild.api.messages()
    assert [one["address"] for one in message["recipients"]] == [ADA]
    raw = await maild.raw(message["id"])
    assert raw.count(b"\r") == raw.count(b"\r\n") == raw.count(b"\n")
    assert (await talk.say("NOOP")).startswith("250 ")


async def test_a_refused_message_is_read_to_its_end(maild: Running, bot: dict[str, Any]) -> None:
    talk = await logged_in(maild, bot)
    large = f"From: bot@agents.test\n no field here\r\nX\n\n{'x' * 70 + chr(10)}" * 5000
    assert (await submit(talk, bot, large, ADA)).startswith("554 5.6.0")
    assert (await submit(talk, bot, HI, ADA)).startswith("250 ")


async def test_sizes(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", smtp={"max_message_bytes": 100_000})
    bot = await maild.inbox("bot")
    talk = await logged_in(maild, bot)
    assert "SIZE 100000" in await talk.say("EHLO laptop.test")
    assert (await talk.say("MAIL FROM:<> SIZE=100001")).startswith("552 5.3.4")
    assert (await submit(talk, bot, HI + "x\n" * 60_000, ADA)).startswith("552 5.3.4")
    assert (await submit(talk, bot, HI + "x\n" * 200_000, ADA)).startswith("552 5.3.4")
    assert await talk.closed()
    assert maild.sql("SELECT 1 FROM blobs") == []


async def test_its_places_are_its_own(start: Start, tmp_path: Path) -> None:
    """Strangers that hold all sessions of port 25 keep nobody from sending."""
    maild = await submitting(start, tmp_path / "tls", smtp={"max_sessions": 2, "max_sessions_per_address": 2})
    bot = await maild.inbox("bot")
    for _ in range(2):
        await maild.smtp()
    assert (await (await maild.smtp(greeting=False)).reply()).startswith("421 ")
    talk = await logged_in(maild, bot)
    assert (await submit(talk, bot, HI, ADA)).startswith("250 ")
    await greeted(maild)
    with pytest.raises(AssertionError):
        await greeted(maild)


async def test_a_client_that_drips_is_cut_off(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", tuning=Tuning(smtp=SmtpTuning(rate_check_s=0.05)))
    bot = await maild.inbox("bot")
    talk = await logged_in(maild, bot)
    for command in ("MAIL FROM:<>", f"RCPT TO:<{ADA}>", "DATA"):
        await talk.say(command)
    assert (await talk.reply()).startswith("421 4.4.2 data comes too slowly")


@pytest.mark.parametrize(("line_end", "last"), [("\n", "\r\n"), ("\n", "\n"), ("\r", "\r")])
async def test_a_client_whose_final_dot_is_none_hears_why(
    start: Start, tmp_path: Path, line_end: str, last: str
) -> None:
    """MIME::Lite under TLS ends lines with LF alone, and waits for the reply to its dot."""
    maild = await submitting(start, tmp_path / "tls", tuning=Tuning(smtp=SmtpTuning(rate_check_s=0.05)))
    bot = await maild.inbox("bot")
    talk = await logged_in(maild, bot)
    for command in ("MAIL FROM:<>", f"RCPT TO:<{ADA}>"):
        await talk.say(command)
    await talk.write(b"DATA\r\n" + HI.replace("\r\n", line_end).encode() + b"." + last.encode())
    assert (await talk.reply()).startswith("354 ")
    assert (await talk.reply()).startswith("421 4.4.2 the final dot is none")


async def test_a_client_that_asks_nothing_for_long_is_let_go(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", smtp={"command_timeout_s": 1})
    talk = await encrypted(maild)
    assert await talk.say("AUTH LOGIN") == "334 VXNlcm5hbWU6"
    assert (await talk.reply()).startswith("421 4.4.2 timeout")


async def test_a_client_that_logged_in_may_keep_its_session(start: Start, tmp_path: Path) -> None:
    """As workers do between two mails: a stranger who comes later is let go, and it goes on."""
    times = {"command_timeout_s": 1, "session_timeout_s": 1}
    maild = await submitting(start, tmp_path / "tls", smtp=times)
    bot = await maild.inbox("bot")
    talk = await logged_in(maild, bot)
    stranger = await greeted(maild)
    assert (await stranger.reply()).startswith("421 4.4.2 timeout")
    assert (await submit(talk, bot, HI, ADA)).startswith("250 ")


async def test_a_client_that_lost_the_reply_comes_again_and_it_is_sent_once(
    maild: Running, bot: dict[str, Any]
) -> None:
    talk = await logged_in(maild, bot)
    for command in ("MAIL FROM:<>", f"RCPT TO:<{ADA}>", "DATA"):
        await talk.say(command)
    await talk.write(HI.encode() + b".\r\n")

    async def kept() -> str | None:
        return next((str(one["id"]) for one in await maild.api.messages()), None)

    message_id = await until(kept)
    talk.hang_up()
    talk = await logged_in(maild, bot)
    assert await submit(talk, bot, HI, ADA) == f"250 2.0.0 OK: queued as {message_id}"
    assert len(await maild.api.messages()) == 1


async def test_a_stop_lets_a_transfer_end(maild: Running, bot: dict[str, Any]) -> None:
    idle, busy = await logged_in(maild, bot), await logged_in(maild, bot)
    for command in ("MAIL FROM:<>", f"RCPT TO:<{ADA}>", "DATA"):
        await busy.say(command)
    where = places(maild)
    submission = maild.daemon.submission
    assert submission is not None
    stopping = asyncio.ensure_future(submission.stop())
    assert (await idle.reply()).startswith("421 4.3.2")
    await busy.write(HI.encode())
    assert (await busy.say(".")).startswith("250 ")
    await stopping
    with pytest.raises(OSError):
        await asyncio.open_connection(*where[0].rsplit(":", 1))


async def test_a_renewed_certificate_is_for_both(maild: Running) -> None:
    submission = maild.daemon.submission
    assert submission is not None
    before = submission.tls
    maild.daemon.reload()

    await until_true(lambda: submission.tls is not before)
    assert submission.tls is maild.daemon.listener.tls
