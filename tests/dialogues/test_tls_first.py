"""`smtp.listen_tls` (RFC 8314 §3): TLS before the greeting; all else as on the other addresses, places included."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import structlog

from conf.tuning import SmtpTuning, Tuning
from maild.inbound.wire.proxy_header import SIGNATURE
from tests.conftest import Start
from tests.support.running import Running, Smtp, until_true
from tests.support.waiting import GIVES_UP_S

LISTEN = {"listen_tls": ["127.0.0.1:0"]}


async def connected(maild: Running) -> Smtp:
    talk = await Smtp.connect(maild.daemon.listener.tls_addresses[0])
    maild._talks.append(talk)
    return talk


async def greeted(maild: Running) -> Smtp:
    talk = await connected(maild)
    await talk.start_tls()
    assert (await talk.reply()).startswith("220 ")
    return talk


async def test_a_message_travels_encrypted_from_the_first_octet(start: Start) -> None:
    maild = await start(smtp=LISTEN)
    bot = await maild.inbox("bot")
    talk = await greeted(maild)
    offered = await talk.say("EHLO client.test")
    assert "STARTTLS" not in offered and "PIPELINING" in offered and "AUTH" not in offered
    assert (await talk.say("STARTTLS")).startswith("503 ")
    await talk.begin(bot["address"])
    assert (await talk.say(b"Subject: secret\r\n\r\nhello\r\n.")).startswith("250 ")
    (only,) = await maild.api.messages()
    trace = maild.sql("SELECT trace FROM messages WHERE id = ?", only["id"])[0][0].decode()
    assert "with ESMTPS id" in " ".join(trace.split())
    assert (await talk.say("RCPT TO:<somebody@elsewhere.test>")).startswith("503 ")


async def test_nobody_relays_there_either(start: Start) -> None:
    maild = await start(smtp=LISTEN)
    talk = await greeted(maild)
    await talk.say("EHLO client.test")
    await talk.say("MAIL FROM:<friend@elsewhere.test>")
    assert (await talk.say("RCPT TO:<somebody@elsewhere.test>")).startswith("550 ")


@pytest.mark.parametrize("said", [b"EHLO client.test\r\n" * 20, b"\x16\x03\x01", b""])
@pytest.mark.parametrize("leaves", [True, False])
async def test_a_handshake_that_comes_to_nothing_gives_its_place_back(
    start: Start, said: bytes, leaves: bool
) -> None:
    maild = await start(
        smtp=LISTEN | {"max_sessions_per_address": 1, "command_timeout_s": 1},
        tuning=Tuning(smtp=SmtpTuning(hang_up_s=0.1)),
    )
    talk = await connected(maild)
    await talk.write(said)
    if leaves:
        talk.hang_up()
    await until_true(lambda: not maild.daemon.listener._sessions)
    assert (await (await greeted(maild)).say("NOOP")).startswith("250 ")


async def test_who_never_shakes_hands_is_no_fault_of_ours(start: Start) -> None:
    maild = await start(smtp=LISTEN | {"command_timeout_s": 1}, tuning=Tuning(smtp=SmtpTuning(hang_up_s=0.1)))
    with structlog.testing.capture_logs() as lines:
        await connected(maild)
        await until_true(lambda: any(line["event"] == "tls_failed" for line in lines))
    assert [line["reason"] for line in lines if line["event"] == "tls_failed"] == ["GIVEN_UP"]
    assert not [line for line in lines if line["event"] == "session_failed"]


async def test_who_speaks_in_clear_text_hears_none(start: Start) -> None:
    maild = await start(smtp=LISTEN)
    reader, writer = await asyncio.open_connection(*_host_port(maild))
    writer.write(b"EHLO client.test\r\n")
    async with asyncio.timeout(GIVES_UP_S):
        heard = await reader.read()
    assert not heard or heard[0] == 0x15  # RFC 8446 §5.1: an alert
    writer.close()


async def test_places_are_shared_with_the_other_addresses(start: Start) -> None:
    maild = await start(smtp=LISTEN | {"max_sessions_per_address": 1})
    plain = await maild.smtp()
    refused = await connected(maild)
    assert await refused.closed()  # without a handshake: a refusal costs us none
    await plain.say("QUIT")
    plain.hang_up()
    await until_true(lambda: not maild.daemon.listener._sessions)
    await greeted(maild)
    assert (await (await maild.smtp(greeting=False)).reply()).startswith("421 ")


async def shaken(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, say: Callable[[bytes], Awaitable[None]]
) -> bytes:
    """The greeting, after a handshake whose octets go out by `say`."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing)
    greeting = b""
    async with asyncio.timeout(GIVES_UP_S):
        while not greeting:
            try:
                tls.do_handshake()
                greeting = tls.read()
            except ssl.SSLWantReadError:
                if outgoing.pending:
                    await say(outgoing.read())
                else:
                    incoming.write(await reader.read(65536))
    writer.transport.abort()
    return greeting


async def test_a_handshake_that_comes_octet_by_octet_is_a_handshake(start: Start) -> None:
    maild = await start(smtp=LISTEN)
    reader, writer = await asyncio.open_connection(*_host_port(maild))

    async def say(octets: bytes) -> None:
        for octet in octets:
            writer.write(bytes([octet]))
            await writer.drain()

    assert (await shaken(reader, writer, say)).startswith(b"220 ")


async def test_a_handshake_may_come_with_the_header_of_a_balancer(start: Start) -> None:
    maild = await start(smtp=LISTEN | {"proxy_from": ["127.0.0.0/8"]})
    reader, writer = await asyncio.open_connection(*_host_port(maild))
    before = [SIGNATURE + b"\x20\x00\x00\x00"]

    async def say(octets: bytes) -> None:
        writer.write(b"".join(before) + octets)  # one packet
        before.clear()

    assert (await shaken(reader, writer, say)).startswith(b"220 ")


async def test_the_stop_ends_sessions_there_too(start: Start) -> None:
    maild = await start(smtp=LISTEN)
    talk: Any = await greeted(maild)
    await maild.daemon.listener.stop()
    assert (await talk.reply()).startswith("421 4.3.2 ")


def _host_port(maild: Running) -> tuple[str, int]:
    host, _, port = maild.daemon.listener.tls_addresses[0].rpartition(":")
    return host, int(port)
