"""A daemon that clients may log in to and submit mail, and a client that says what it is told.

maild = await submitting(start)                     on both kinds of ports, with a certificate
talk = await logged_in(maild, bot)                  a raw conversation under TLS, after AUTH
reply = await submit(talk, bot, mail, "a@b.test")   one message
"""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conf.tuning import Tuning
from maild.inbound.wire import tls
from storage.clock import Clock
from tests.conftest import Start
from tests.support.running import HOSTNAME, Running, Smtp, dot_stuffed

PLACES = {"submission_listen": ["127.0.0.1:0"], "submission_listen_tls": ["127.0.0.1:0"]}


async def submitting(
    start: Start,
    folder: Path,
    clock: Clock | None = None,
    tuning: Tuning | None = None,
    **sections: Mapping[str, Any],
) -> Running:
    folder.mkdir(exist_ok=True)
    cert, key = tls.self_signed(folder, HOSTNAME)
    smtp = {**PLACES, "tls_cert": cert, "tls_key": key, **sections.pop("smtp", {})}
    return await start(smtp=smtp, clock=clock, tuning=tuning, **sections)


def places(maild: Running) -> tuple[str, str]:
    """Where STARTTLS is asked for, and where TLS comes first."""
    submission = maild.daemon.submission
    assert submission is not None
    return submission.addresses[0], submission.tls_addresses[0]


async def greeted(maild: Running, *, source: str | None = None) -> Smtp:
    """In clear text, EHLO said."""
    talk = await Smtp.connect(places(maild)[0], source)
    maild._talks.append(talk)
    assert (await talk.reply()).startswith("220 ")
    assert (await talk.say("EHLO laptop.test")).startswith("250")
    return talk


async def encrypted(maild: Running, *, source: str | None = None) -> Smtp:
    """Under TLS, EHLO said again."""
    talk = await greeted(maild, source=source)
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.start_tls()
    assert "AUTH PLAIN LOGIN" in await talk.say("EHLO laptop.test")
    return talk


def plain(username: str, password: str, acts_for: str = "") -> str:
    return base64.b64encode(f"{acts_for}\0{username}\0{password}".encode()).decode()


async def logged_in(maild: Running, inbox: Mapping[str, Any], key: str | None = None) -> Smtp:
    talk = await encrypted(maild)
    reply = await talk.say(f"AUTH PLAIN {plain(inbox['address'], key or str(maild.api.key))}")
    assert reply.startswith("235 2.7.0"), reply
    return talk


async def submit(talk: Smtp, sender: Mapping[str, Any], mail: bytes | str, *recipients: str) -> str:
    """The first reply that refuses, or the one to the message."""
    for command in (f"MAIL FROM:<{sender['address']}>", *(f"RCPT TO:<{one}>" for one in recipients)):
        reply = await talk.say(command)
        if not reply.startswith("250"):
            return reply
    reply = await talk.say("DATA")
    if not reply.startswith("354"):
        return reply
    octets = mail.encode() if isinstance(mail, str) else mail
    octets = octets.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    octets = dot_stuffed(octets)
    await talk.write(octets + (b"" if octets.endswith(b"\r\n") else b"\r\n"))
    return await talk.say(".")


async def submitted(
    maild: Running, inbox: Mapping[str, Any], mail: bytes | str, *recipients: str
) -> dict[str, Any]:
    """The message as the API shows it, submitted in a session of its own."""
    talk = await logged_in(maild, inbox)
    return await shown(maild, await submit(talk, inbox, mail, *recipients))


async def shown(maild: Running, reply: str) -> dict[str, Any]:
    """The message that a 250 names."""
    assert reply.startswith("250 2.0.0 OK: queued as msg_"), reply
    whole: dict[str, Any] = (await maild.api.get(f"/v1/messages/{reply.rsplit(maxsplit=1)[-1]}")).data
    return whole
