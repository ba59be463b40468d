"""Replies to commands that were sent together leave together (RFC 2920 §3.2), and none is kept back."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.support.running import Running

ENVELOPE = b"MAIL FROM:<friend@elsewhere.test>\r\nRCPT TO:<bot@agents.test>\r\n"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What the server gave its transports, write by write."""
    writes: list[bytes] = []
    write = asyncio.StreamWriter.write

    def noted(writer: asyncio.StreamWriter, data: bytes) -> None:
        if data[:3].isdigit():
            writes.append(data)
        write(writer, data)

    with monkeypatch.context() as patch:
        patch.setattr(asyncio.StreamWriter, "write", noted)
        yield writes


async def test_the_replies_to_an_envelope_leave_in_one_write(maild: Running, written: list[bytes]) -> None:
    await maild.inbox("bot")
    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    written.clear()
    await talk.write(ENVELOPE + b"RCPT TO:<nobody@agents.test>\r\nRSET\r\n" + ENVELOPE + b"DATA\r\n")
    assert [(await talk.reply())[:3] for _ in range(7)] == ["250", "250", "550", "250", "250", "250", "354"]
    assert [one.count(b"\r\n") for one in written] == [3, 4]


async def test_a_reply_waits_for_no_command_that_has_not_come(maild: Running, written: list[bytes]) -> None:
    await maild.inbox("bot")
    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    written.clear()
    await talk.write(ENVELOPE + b"DAT")
    assert [(await talk.reply())[:3] for _ in range(2)] == ["250", "250"]
    assert [one.count(b"\r\n") for one in written] == [2]
    assert (await talk.say("A")).startswith("354")


async def test_what_waits_is_said_before_the_handshake(maild: Running) -> None:
    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.write(b"MAIL FROM:<friend@elsewhere.test>\r\nSTARTTLS\r\n")
    assert [(await talk.reply())[:3] for _ in range(2)] == ["250", "220"]
    await talk.start_tls()
    assert (await talk.say("RCPT TO:<bot@agents.test>")).startswith("503")
