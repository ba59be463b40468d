"""S8: whoever is slower than any mail server is cut off with 421, and others are served meanwhile."""

import asyncio
from typing import Any

import pytest

from maild.inbound import session
from tests.conftest import Start
from tests.support.running import Running, Smtp

TIMEOUT = "421 4.4.2 timeout, closing connection"


@pytest.fixture
async def impatient(start: Start, monkeypatch: pytest.MonkeyPatch) -> Running:
    monkeypatch.setattr(session, "RATE_CHECK_S", 0.2)
    running = await start(smtp={"command_timeout_s": 1})
    await running.inbox("bot")
    return running


async def trickle(talk: Smtp, octet: bytes) -> str:
    """Write the octet again and again until the server says something."""
    heard = asyncio.create_task(talk.reply())
    while not heard.done():
        await talk.write(octet)
        await asyncio.wait([heard], timeout=0.02)
    return heard.result()


async def test_silence_after_the_greeting(impatient: Running) -> None:
    talk = await impatient.smtp()
    assert await talk.reply() == TIMEOUT
    assert await talk.closed()


async def test_silence_in_a_transaction(impatient: Running) -> None:
    talk = await impatient.smtp()
    await talk.say("EHLO client.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    assert await talk.reply() == TIMEOUT
    assert await talk.closed()


async def test_a_command_that_trickles_in(impatient: Running) -> None:
    """One octet at a time does not reset the clock."""
    assert await trickle(await impatient.smtp(), b"A") == TIMEOUT


async def test_a_line_without_end(impatient: Running) -> None:
    assert await trickle(await impatient.smtp(), b"A" * 20_000) == TIMEOUT


async def test_a_message_that_trickles_in(impatient: Running) -> None:
    talk = await impatient.smtp()
    await talk.begin("bot@agents.test")
    assert (await trickle(talk, b"x")).startswith("421 4.4.2 data comes too slowly")
    assert await talk.closed()
    assert await impatient.api.messages() == []


async def test_a_message_that_stops(impatient: Running) -> None:
    talk = await impatient.smtp()
    await talk.begin("bot@agents.test")
    await talk.write(b"Subject: half\r\n\r\n" + b"x" * 100_000)
    assert (await talk.reply()).startswith("421 4.4.2")
    assert await talk.closed()


async def test_half_a_tls_handshake(impatient: Running) -> None:
    talk = await impatient.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.write(b"\x16\x03\x01")
    # What is said then is no TLS; that it ends is what counts.
    while line := await talk.line():
        assert line.startswith("421 ")


async def test_a_whole_session_has_an_end(start: Start) -> None:
    """However busily it talks."""
    maild = await start(smtp={"session_timeout_s": 1, "max_junk_commands": 10**9})
    assert await trickle_noops(await maild.smtp()) == TIMEOUT


async def trickle_noops(talk: Smtp) -> str:
    while (reply := await talk.say("NOOP")).startswith("250 "):
        pass
    return reply


async def test_the_others_are_served_meanwhile(impatient: Running) -> None:
    slow = [await impatient.smtp() for _ in range(40)]
    for talk in slow[:20]:
        await talk.begin("bot@agents.test")
        await talk.write(b"Subject: never")
    assert (await impatient.deliver("bot@agents.test", "Subject: served\n\nhi\n")).startswith("250 ")
    found: list[dict[str, Any]] = await impatient.api.messages()
    assert [one["subject"] for one in found] == ["served"]


async def test_what_slow_peers_began_is_given_back(impatient: Running) -> None:
    """No bytes in flight and no unfinished file stay behind."""
    talk = await impatient.smtp()
    await talk.begin("bot@agents.test")
    await talk.write(b"Subject: large\r\n\r\n" + b"x" * 2_000_000)
    assert (await talk.reply()).startswith("421 ")
    assert await talk.closed()
    assert impatient.daemon.listener._bytes_in_flight == 0
    assert list((impatient.settings.data_path / "blobs" / "tmp").iterdir()) == []
