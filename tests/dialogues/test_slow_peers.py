"""S8: whoever is slower than any mail server is cut off with 421, and others are served meanwhile."""

import asyncio
import socket
from typing import Any

import pytest

from conf.tuning import SmtpTuning, Tuning
from storage.turns import patient_timer
from tests.conftest import Start
from tests.support.running import Running, Smtp, until_true
from tests.support.waiting import GIVES_UP_S

TIMEOUT = "421 4.4.2 timeout, closing connection"


@pytest.fixture
async def impatient(start: Start) -> Running:
    running = await start(smtp={"command_timeout_s": 1}, tuning=Tuning(smtp=SmtpTuning(rate_check_s=0.2)))
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


async def test_a_command_that_came_while_the_process_stood_still(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its timers are due then, before it has read."""
    monkeypatch.setattr(patient_timer, "HEARD_S", GIVES_UP_S)
    maild = await start()
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    (session,) = maild.daemon.listener._sessions
    session._active_at -= 3600
    session._timeout_handle._due(session._timeout_cb)  # type: ignore[union-attr]
    assert await talk.say("NOOP") == "250 2.0.0 OK"


@pytest.mark.parametrize(("end", "is_false"), [(b"\r\n.\r\n", False), (b"\n.\r\n", True), (b"\n.\n", True)])
async def test_an_end_of_data_that_is_not_read_yet_is_no_false_one(
    start: Start, end: bytes, is_false: bool
) -> None:
    """Else the sender of a whole message is told that its lines are wrong, since it was not its turn in time."""
    maild = await start()
    await maild.smtp()
    (session,) = maild.daemon.listener._sessions
    session._reader._buffer += b"hello" + end  # type: ignore[attr-defined]  # it came, and nobody was woken
    assert session.waits_at_false_dot is is_false


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


async def test_a_message_that_drips_after_much_came_at_once(start: Start) -> None:
    """Above the least rate of each short while, and below that of the longer ones, while half of the sessions are in
    use."""
    maild = await start(
        smtp={"data_min_bytes_per_s": 1, "data_min_average_bytes_per_s": 100_000, "max_sessions": 2},
        tuning=Tuning(smtp=SmtpTuning(rate_check_s=0.1, average_checks=3)),
    )
    await maild.inbox("bot")
    talk = await maild.smtp()
    await talk.begin("bot@agents.test")
    await talk.write(b"Subject: much\r\n\r\n" + b"x" * 2_000_000)
    assert (await trickle(talk, b"x")).startswith("421 4.4.2 data comes too slowly")
    assert await talk.closed()


async def bring_slowly(maild: Running) -> str:
    """A message that takes longer than a session may; the reply."""
    await maild.inbox("bot")
    talk = await maild.smtp()
    await talk.begin("bot@agents.test")
    heard = asyncio.create_task(talk.reply())
    for _ in range(75):
        await talk.write(b"x" * 70 + b"\r\n")
        await asyncio.wait([heard], timeout=0.02)
        if heard.done():
            return heard.result()
    await talk.write(b".\r\n")
    return await heard


async def test_a_message_on_a_slow_line_outlasts_the_session(start: Start) -> None:
    """10 MB at 5 KB/s take half an hour."""
    maild = await start(smtp={"session_timeout_s": 1})
    assert (await bring_slowly(maild)).startswith("250 ")


async def test_but_not_where_others_may_need_its_place(start: Start) -> None:
    maild = await start(smtp={"session_timeout_s": 1, "max_sessions": 2})
    assert await bring_slowly(maild) == TIMEOUT


async def test_a_peer_that_reads_no_reply_is_cut_off(start: Start) -> None:
    """Closing waits for the peer to read: it must not wait for ever."""
    maild = await start(
        smtp={"command_timeout_s": 1, "max_junk_commands": 10**9},
        tuning=Tuning(smtp=SmtpTuning(hang_up_s=0.1)),
    )
    _reader, writer = await deaf(maild)
    await writes_until_it_blocks(writer)
    listener = maild.daemon.listener
    async with asyncio.timeout(GIVES_UP_S):
        while listener._sessions:
            await asyncio.sleep(0.01)
    writer.transport.abort()


async def deaf(maild: Running) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = maild.daemon.listener.addresses[0].rpartition(":")
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=sock, limit=1)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    return reader, writer


async def writes_until_it_blocks(writer: asyncio.StreamWriter) -> None:
    """Commands whose replies nobody reads, until the server reads no more of them."""
    try:
        async with asyncio.timeout(1):
            while True:
                writer.write(b"HELP\r\n" * 5000)
                await writer.drain()
    except TimeoutError:
        pass


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
    for number in range(40):
        talk = await impatient.smtp()
        if number % 2:  # at once: a while later it would hear that it was silent for too long
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
    assert impatient.daemon.listener._memory.held_bytes == 0
    unfinished = impatient.settings.data_path / "blobs" / "tmp"
    await until_true(lambda: list(unfinished.iterdir()) == [])
