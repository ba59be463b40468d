"""Mail programs and frameworks that we did not write submit mail: swaks, Python's smtplib, nodemailer, Postfix, and
Thunderbird, whose dialogue is said as it was recorded. Each of them checks the certificate.

What they sent comes back by the API, and what leaves is what they composed, signed.
"""

import asyncio
import base64
import smtplib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import product
from pathlib import Path
from typing import Any

import dkim
import pytest

from tests.support.daemon import DOMAIN, HOSTNAME, Daemon
from tests.support.machine import node, tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.postfix import Postfix
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.running import Smtp
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

STRANGERS = Path(__file__).parent / "strangers"
ADA, BOB = "ada@there.test", "bob@there.test"
BOT = f"bot@{DOMAIN}"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8


@dataclass
class Office:
    """The daemon, the host that mail goes to, and the authority that clients trust."""

    daemon: Daemon
    mx: Mx
    ca_file: Path
    folder: Path

    @property
    def key(self) -> str:
        return self.daemon.api_key

    async def sent(self, subject: str) -> dict[str, Any]:
        """The message as the API shows it, once it was delivered."""
        listed = await self.daemon.api.until(
            "/v1/messages",
            lambda found: any(one["subject"] == subject and one["status"] == "delivered" for one in found),
        )
        (message,) = [one for one in listed if one["subject"] == subject]
        whole: dict[str, Any] = await self.daemon.api.get(f"/v1/messages/{message['id']}")
        return whole

    def left(self, subject: str) -> bytes:
        """The octets that the host got, whose signature is good."""
        (raw,) = [one.raw for one in self.mx.received if f"Subject: {subject}".encode() in one.raw]
        _, value = self.daemon.dkim_record()
        assert dkim.verify(raw, dnsfunc=lambda name, timeout=5: value.encode())
        return raw


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    ca = ThrowawayCa(tmp_path)
    ca.server_context([HOSTNAME, "127.0.0.1"])
    pair = str(tmp_path / f"{HOSTNAME}.pem")
    ports = {"submission_listen": ["127.0.0.1:0"], "submission_listen_tls": ["127.0.0.1:0"]}
    smtp = {**ports, "tls_cert": pair, "tls_key": pair}
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Mx() as mx:
        dns.add_mx("there.test")
        async with Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port, more={"smtp": smtp}) as daemon:
            await daemon.api.post("/v1/inboxes", username="bot", name="Bot")
            yield Office(daemon, mx, ca.ca_file, tmp_path)
            assert daemon.api_key not in daemon.log.read_text("utf-8")


@tools.needs("swaks")
async def test_swaks(office: Office) -> None:
    (office.folder / "data.png").write_bytes(PNG)
    for number, (tls, mechanism) in enumerate(product(("--tls", "--tlsc"), ("PLAIN", "LOGIN"))):
        subject, port = f"By swaks {number}", office.daemon.submission_ports[tls == "--tlsc"]
        said = await tools.run(
            tools.path_of("swaks"), "--server", "127.0.0.1", "--port", str(port), tls,
            "--tls-verify", "--tls-ca-path", str(office.ca_file),
            "--auth", mechanism, "--auth-user", BOT, "--auth-password", office.key, "--from", BOT,
            "--to", f"{ADA},{BOB}", "--header", f"Subject: {subject}", "--header", f"To: {ADA}", "--body", "Hello.",
            "--attach-type", "image/png", "--attach-name", "data.png", "--attach", f"@{office.folder / 'data.png'}",
            folder=office.folder,
        )  # fmt: skip
        assert "235 2.7.0 authenticated" in said and "queued as msg_" in said
        message = await office.sent(subject)
        assert (message["toAddresses"], message["bccAddresses"]) == ([ADA], [BOB])
        assert [one["filename"] for one in message["attachments"]] == ["data.png"]
        told = message_from_bytes(office.left(subject), policy=policy.default)
        assert told["X-Mailer"].startswith("swaks") and "Received" not in told and "Bcc" not in told


@tools.needs("swaks")
async def test_swaks_with_the_wrong_key_or_without_tls(office: Office) -> None:
    port = str(office.daemon.submission_ports[0])
    common = (tools.path_of("swaks"), "--server", "127.0.0.1", "--port", port, "--from", BOT, "--to", ADA)
    login = ("--auth", "PLAIN", "--auth-user", BOT, "--auth-password")
    code, said = await tools.ended(*common, "--tls", *login, "nonsense", folder=office.folder)
    assert code == 28 and "535 5.7.8" in said  # 28: swaks could not authenticate
    code, said = await tools.ended(*common, *login, office.key, folder=office.folder)
    assert code == 28 and "did not advertise authentication" in said
    code, said = await tools.ended(*common, "--tls", folder=office.folder)
    assert code == 23 and "530 5.7.0" in said  # 23: MAIL was refused


async def test_smtplib(office: Office) -> None:
    """Two messages in one session, blind copies, and what is refused, as Python tells of it."""
    context = ssl.create_default_context(cafile=office.ca_file)
    context.check_hostname = False  # we connect by address
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Bcc"], mail["Subject"] = f"Bot <{BOT}>", ADA, BOB, "By smtplib"
    mail.set_content("Grüße.\n")
    mail.add_alternative("<p>Grüße.</p>\n", subtype="html")
    mail.add_attachment(PNG, "image", "png", filename="data.png")

    def send() -> list[dict[str, tuple[int, bytes]]]:
        refused = []
        starttls, tls = office.daemon.submission_ports
        with smtplib.SMTP("127.0.0.1", starttls) as client:
            client.starttls(context=context)
            client.login(BOT, office.key)
            refused.append(client.send_message(mail))
            del mail["Subject"]
            mail["Subject"] = "By smtplib again"
            refused.append(client.send_message(mail))
        with smtplib.SMTP_SSL("127.0.0.1", tls, context=context) as client:
            with pytest.raises(smtplib.SMTPAuthenticationError):
                client.login(BOT, "nonsense")
            client.login(BOT, office.key)
            with pytest.raises(smtplib.SMTPDataError, match="From must be one mailbox"):
                client.sendmail(BOT, [ADA], "From: ceo@bank.test\r\n\r\nhi\r\n")
            with pytest.raises(smtplib.SMTPSenderRefused):
                client.sendmail("ceo@bank.test", [ADA], f"From: {BOT}\r\n\r\nhi\r\n")
        return refused

    assert await asyncio.to_thread(send) == [{}, {}]
    message = await office.sent("By smtplib")
    assert message["textBody"] == "Grüße.\n" and message["htmlBody"] == "<p>Grüße.</p>\n"
    assert message["bccAddresses"] == [BOB]
    told = message_from_bytes(office.left("By smtplib\r"), policy=policy.default)
    assert isinstance(told, EmailMessage) and told["Bcc"] is None
    assert [part.get_content() for part in told.iter_attachments()] == [PNG]


@tools.needs("node", "npm")
async def test_nodemailer(office: Office) -> None:
    mail = {
        "from": {"name": "Robötchen", "address": BOT},
        "to": ADA,
        "bcc": BOB,
        "subject": "By nodemailer ✓",
        "text": "Grüße.",
        "html": '<p>Grüße. <img src="cid:pic"></p>',
        "messageId": "<one@laptop.test>",
        "attachments": [
            {
                "filename": "pic.png",
                "cid": "pic",
                "content": base64.b64encode(PNG).decode(),
                "encoding": "base64",
            }
        ],
        "icalEvent": {"method": "REQUEST", "content": "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"},
    }
    question = {
        "ports": office.daemon.submission_ports, "user": BOT, "pass": office.key, "wrong": "nonsense",
        "ca": office.ca_file.read_text(), "name": HOSTNAME, "mail": {**mail, "messageId": None},
    }  # fmt: skip
    answer = await node.run_json(STRANGERS, "send_mail.js", question, office.folder)
    assert answer["wrong"] == 535
    replies = [answer["starttls"], answer["tls"], *answer["pooled"]]
    assert all(one.startswith("250 2.0.0 OK: queued as msg_") for one in replies) and len(set(replies)) == 7
    message = await office.sent("By nodemailer ✓")
    assert message["fromName"] == "Robötchen" and message["bccAddresses"] == [BOB]
    assert [(one["filename"], one["isInline"]) for one in message["attachments"]][-1] == ("invite.ics", False)
    assert {"image/png", "application/ics"} <= {one["contentType"] for one in message["attachments"]}


@tools.needs("postfix", root=True)
@pytest.mark.skipif(not list(Path("/usr/lib").glob("*/sasl2/libplain.so*")), reason="no libsasl2-modules")
async def test_postfix_as_a_null_client(office: Office) -> None:
    """As docs/operating.md has it: what root and cron send leaves from the inbox, and so do the bounces."""
    extra = (
        f"relayhost = [127.0.0.1]:{office.daemon.submission_ports[1]}",
        "smtp_tls_wrappermode = yes",
        "smtp_tls_security_level = secure",
        f"smtp_tls_CAfile = {office.ca_file}",
        f"smtp_tls_secure_cert_match = {HOSTNAME}",
        "smtp_sasl_auth_enable = yes",
        "smtp_sasl_security_options = noanonymous",
        f"smtp_sasl_password_maps = static:{BOT}:{office.key}",
        f"smtp_generic_maps = inline:{{ {{ root@box.test = {BOT} }}, {{ MAILER-DAEMON@mx.box.test = {BOT} }} }}",
        "virtual_mailbox_domains =",
        "smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination",
    )
    async with Postfix("box.test", extra=extra) as postfix:

        def send() -> None:
            with smtplib.SMTP("127.0.0.1", postfix.port) as client:
                client.sendmail(
                    "root@box.test",
                    [ADA, BOB, "you@intranet"],
                    f"From: root@box.test (Cron Daemon)\r\nTo: {ADA}\r\nSubject: By cron\r\n\r\nDone.\r\n",
                )

        await asyncio.to_thread(send)
        message = await office.sent("By cron")
        assert (message["fromAddress"], message["fromName"]) == (BOT, "Cron Daemon")
        assert (message["toAddresses"], message["bccAddresses"]) == ([ADA], [BOB])
        assert f"From: {BOT} (Cron Daemon)".encode() in office.left("By cron")
        (bounce,) = await office.daemon.api.until("/v1/messages", bool, direction="inbound")
        assert bounce["subject"] == "Undelivered Mail Returned to Sender"


# What Thunderbird 128 says, but for names, addresses and the key: its EHLO is an address literal, AUTH PLAIN comes with
# its response, MAIL declares BODY and SIZE, and the text is format=flowed.
BLANK = " "  # at the end of a line: it goes on (RFC 3676)
THUNDERBIRD = f"""\
Message-ID: <0d4f1e9c-7f0a-4a3e-9d0c-2b4d6f8a1c3e@{DOMAIN}>
Date: Sun, 22 Nov 2026 13:00:00 +0100
MIME-Version: 1.0
User-Agent: Mozilla Thunderbird
Content-Language: en-US
To: Ada Lovelace <{ADA}>
From: Bot <{BOT}>
Subject: By Thunderbird
Autocrypt: addr={BOT}; keydata=
 xsBNBGVa
Content-Type: text/plain; charset=UTF-8; format=flowed
Content-Transfer-Encoding: 8bit

Hello Ada, this is a paragraph that Thunderbird has wrapped at 72{BLANK}
characters, and it goes on — with a dash.

.a line that begins with a dot
--{BLANK}
Bot
"""


async def test_thunderbird(office: Office) -> None:
    talk = await Smtp.connect(f"127.0.0.1:{office.daemon.submission_ports[0]}")
    assert (await talk.reply()).startswith("220 ")
    assert "STARTTLS" in await talk.say("EHLO [192.168.1.23]")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.start_tls()
    offered = (await talk.say("EHLO [192.168.1.23]")).split("\n")
    assert "250-AUTH PLAIN LOGIN" in offered and "250-8BITMIME" in offered
    login = base64.b64encode(f"\0{BOT}\0{office.key}".encode()).decode()
    assert await talk.say(f"AUTH PLAIN {login}") == "235 2.7.0 authenticated"
    octets = THUNDERBIRD.replace("\n", "\r\n").encode()
    assert (await talk.say(f"MAIL FROM:<{BOT}> BODY=8BITMIME SIZE={len(octets)}")).startswith("250 ")
    assert (await talk.say(f"RCPT TO:<{ADA}>")).startswith("250 ")
    assert (await talk.say("DATA")).startswith("354 ")
    await talk.write(octets.replace(b"\r\n.", b"\r\n.."))
    assert (await talk.say(".")).startswith("250 2.0.0 OK: queued as msg_")
    assert (await talk.say("QUIT")).startswith("221 ")

    message = await office.sent("By Thunderbird")
    assert "Thunderbird has wrapped at 72 characters, and it goes on — with" in message["textBody"]
    assert "\n.a line that begins with a dot\n" in message["textBody"]
    assert message["messageIdHeader"] == f"<0d4f1e9c-7f0a-4a3e-9d0c-2b4d6f8a1c3e@{DOMAIN}>"
    wire = office.left("By Thunderbird")
    assert wire.endswith(octets.partition(b"\r\n\r\n")[2]) and octets.partition(b"\r\n\r\n")[0] in wire
    assert b"192.168.1.23" not in wire
