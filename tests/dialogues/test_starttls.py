"""STARTTLS (RFC 3207): a real handshake, and nothing said before it counts after it (S4)."""

import asyncio
import smtplib
import ssl
from typing import Any

import pytest
import structlog

from tests.support.running import Running, Smtp, until_true


async def encrypted(maild: Running, before: str = "") -> Smtp:
    talk = await maild.smtp()
    assert "STARTTLS" in await talk.say("EHLO client.test")
    for command in filter(None, before.split("\n")):
        assert (await talk.say(command)).startswith("250")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.start_tls()
    return talk


async def test_a_message_travels_encrypted(maild: Running, bot: dict[str, Any]) -> None:
    talk = await encrypted(maild)
    offered = await talk.say("EHLO client.test")
    assert "STARTTLS" not in offered and "PIPELINING" in offered
    await talk.begin(bot["address"])
    assert (await talk.say(b"Subject: secret\r\n\r\nhello\r\n.")).startswith("250 ")
    (only,) = await maild.api.messages()
    trace = maild.sql("SELECT trace FROM messages WHERE id = ?", only["id"])[0][0].decode()
    assert "with ESMTPS id" in " ".join(trace.split())


async def test_state_is_reset_by_the_handshake(maild: Running, bot: dict[str, Any]) -> None:
    """RFC 3207 §4.2: the server forgets what the client said, EHLO and a begun transaction too."""
    talk = await encrypted(maild, f"MAIL FROM:<friend@elsewhere.test>\nRCPT TO:<{bot['address']}>")
    assert (await talk.say("DATA")).startswith("503 ")
    assert (await talk.say("MAIL FROM:<friend@elsewhere.test>")).startswith("503 ")
    assert (await talk.say("EHLO client.test")).startswith("250")
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("503 ")


@pytest.mark.parametrize(
    "injected",
    [
        b"VRFY injected\r\n",
        b"EHLO attacker.test\r\nMAIL FROM:<attacker@elsewhere.test>\r\n",
        b"VRF",  # an unfinished line would swallow the first encrypted one
    ],
)
async def test_plaintext_behind_starttls_is_discarded(maild: Running, injected: bytes) -> None:
    """What stood in the plaintext buffer is never answered inside TLS (CVE-2011-0411)."""
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    await talk.write(b"STARTTLS\r\n" + injected)
    reply = await talk.reply()
    if not reply.startswith("220 "):  # refusing is as good
        assert reply[0] in "45"
        return
    await talk.start_tls()
    assert await talk.say("NOOP") == "250 2.0.0 OK"
    assert (await talk.say("MAIL FROM:<friend@elsewhere.test>")).startswith("503 ")


async def test_starttls_takes_no_argument_and_only_once(maild: Running) -> None:
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS now")).startswith("501 5.5.4")
    talk = await encrypted(maild)
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS")).startswith("503 5.5.1")
    assert (await talk.say("NOOP")).startswith("250 ")


async def test_garbage_instead_of_a_handshake_ends_the_session(maild: Running) -> None:
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.write(b"MAIL FROM:<friend@elsewhere.test>\r\n" * 20)
    assert await talk.closed()
    assert (await maild.deliver("postmaster@agents.test", "Subject: x\n\n")).startswith("250 ")


async def test_counts_survive_the_handshake(maild: Running) -> None:
    """A fresh start is not a fresh account of junk."""
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    limit = maild.settings.smtp.max_junk_commands
    for _ in range(limit):
        assert (await talk.say("BOGUS")).startswith("500 ")
    await talk.say("STARTTLS")
    await talk.start_tls()
    assert (await talk.say("BOGUS")).startswith("421 ")


async def test_who_can_t_agree_hears_why_and_the_log_tells_it(maild: Running) -> None:
    """RFC 5246 §7.2.2: an alert, where the end of the connection says nothing to whoever looks for the fault."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-GCM-SHA256")
    with structlog.testing.capture_logs() as lines:
        talk = await offered_tls(maild)
        with pytest.raises(ssl.SSLError) as heard:
            await talk.start_tls(context)
        await until_true(lambda: any(line["event"] == "tls_failed" for line in lines))
    assert heard.value.reason == "SSLV3_ALERT_HANDSHAKE_FAILURE"
    (line,) = (line for line in lines if line["event"] == "tls_failed")
    assert line["reason"] == "NO_SHARED_CIPHER"


async def test_the_log_tells_what_a_client_has_against_the_certificate(maild: Running) -> None:
    host, _, port = maild.daemon.listener.addresses[0].rpartition(":")

    def ask_for_tls() -> None:
        with smtplib.SMTP(host, int(port)) as client:
            client.starttls(context=ssl.create_default_context())

    with structlog.testing.capture_logs() as lines:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.to_thread(ask_for_tls)
        await until_true(lambda: any(line["event"] == "tls_failed" for line in lines))
    (line,) = (line for line in lines if line["event"] == "tls_failed")
    assert line["reason"] == "TLSV1_ALERT_UNKNOWN_CA"


async def offered_tls(maild: Running) -> Smtp:
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    return talk
