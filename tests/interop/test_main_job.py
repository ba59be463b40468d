"""The whole product against software that we did not write: a mail comes in by swaks, the API shows it and
answers it, and a real Postfix, found by MX, stores the answer with a signature that strangers verify.

Beside it: mail between two inboxes of this host arrives without a look-up or a connection, and both sides
see one conversation.
"""

import asyncio
import hashlib
import hmac
import json
import random
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import dkim
import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from tests.support.daemon import DOMAIN, Daemon
from tests.support.machine import tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.postfix import Postfix
from tests.support.peers.webhook_sink import HOST, Received, WebhookSink
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

THERE = "there.test"
ALICE = f"alice@{THERE}"
BOT = f"bot@{DOMAIN}"
SUBJECT = "Invoice 4711"
QUESTION = "Please pay the invoice.\nIt is attached."
ANSWER = "It is paid. Grüße, the bot"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n" + random.Random(4711).randbytes(30_000) + b"\n%%EOF\n"


@tools.needs("swaks", "postfix", "opendkim", root=True)
async def test_a_mail_comes_in_is_answered_and_the_answer_is_verified_by_strangers(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Postfix(THERE) as postfix,
        WebhookSink(tmp_path) as sink,
        Daemon(
            tmp_path,
            dns_port=dns.port,
            outbound_port=postfix.port,
            more={"webhooks": {"allow_private_networks": True, "ca_file": str(sink.ca_file)}},
        ) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        dns.add(HOST, "A", "127.0.0.1")
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        webhook = await daemon.api.post("/v1/webhooks", url=sink.url(), subscribedEvents=["email.received"])

        transcript = await swaks(daemon.smtp_port, tmp_path / "invoice.pdf")
        assert "TLS started" in transcript
        incoming = await shown(daemon, inbox["id"])
        (request,) = await sink.received_count(1)
        assert_webhook(request, webhook["secret"], incoming)

        answer = await daemon.api.post(
            "/v1/messages/send",
            inboxId=inbox["id"],
            to=[ALICE],
            subject=f"Re: {SUBJECT}",
            text=ANSWER,
            inReplyTo=incoming["id"],
        )
        assert answer["threadId"] == incoming["threadId"]
        (raw,) = await postfix.mail(1)
        assert dns.queries[THERE, "MX"] >= 1
        assert_is_the_answer(raw, incoming)
        await assert_signed(raw, *daemon.dkim_record(), tmp_path)
        await assert_delivered(daemon, answer["id"])


async def swaks(port: int, pdf: Path) -> str:
    """Deliver a multipart mail with a PDF over STARTTLS; what was said on the wire."""
    pdf.write_bytes(PDF)
    process = await asyncio.create_subprocess_exec(
        tools.path_of("swaks"), "--server", "127.0.0.1", "--port", str(port), "--tls", "--suppress-data",
        "--ehlo", f"client.{THERE}", "--from", ALICE, "--to", BOT,
        "--header", f"Subject: {SUBJECT}", "--header", f"From: Alice <{ALICE}>", "--body", QUESTION,
        "--attach-type", "application/pdf", "--attach-name", "invoice.pdf", "--attach", f"@{pdf}",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    transcript = out.decode("utf-8", "replace")
    assert process.returncode == 0, transcript
    return transcript


async def shown(daemon: Daemon, inbox_id: str) -> Any:
    """What came in, checked as the API shows it. It is there already: the 250 came after the commit."""
    (listed,) = await daemon.api.get("/v1/messages", inboxId=inbox_id, direction="inbound")
    message = await daemon.api.get(f"/v1/messages/{listed['id']}")
    assert (message["status"], message["fromAddress"], message["fromName"]) == ("received", ALICE, "Alice")
    assert (message["subject"], message["toAddresses"]) == (SUBJECT, [BOT])
    assert message["textBody"].split() == QUESTION.split()
    (attachment,) = message["attachments"]
    assert (attachment["filename"], attachment["contentType"]) == ("invoice.pdf", "application/pdf")
    assert attachment["sizeBytes"] == len(PDF)
    assert await daemon.api.get_bytes(f"/v1/attachments/{attachment['id']}") == PDF
    return message


def assert_webhook(request: Received, secret: str, incoming: Any) -> None:
    assert request.event["type"] == "email.received"
    assert request.event["data"]["messageId"] == incoming["id"]
    assert request.event["data"]["subject"] == SUBJECT

    # By hand, as docs/contract.md, "Webhook requests", describes it.
    stamp, digest = (field.partition("=")[2] for field in request.headers["x-svc-signature"].split(","))
    signed = stamp.encode() + b"." + request.body
    assert hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest() == digest

    # By the library of standardwebhooks.com, which also refuses what was changed.
    assert Webhook(secret).verify(request.body, request.headers) == json.loads(request.body)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(request.body.replace(b"Invoice", b"invoice"), request.headers)


def assert_is_the_answer(raw: bytes, incoming: Any) -> None:
    mail = message_from_bytes(raw, EmailMessage, policy=policy.SMTP)
    assert (mail["From"], mail["To"]) == (BOT, ALICE)
    assert mail["Subject"] == f"Re: {SUBJECT}"
    assert mail["In-Reply-To"] == incoming["messageIdHeader"]
    assert mail["References"].split()[-1] == incoming["messageIdHeader"]
    body = mail.get_body(("plain",))
    assert body is not None
    assert body.get_content().strip() == ANSWER


async def assert_signed(raw: bytes, name: str, record: str, folder: Path) -> None:
    """dkimpy and opendkim both accept it with the record that `init` printed, and neither a changed one."""
    changed = raw.replace(b"It is paid", b"Is it paid")
    assert changed != raw
    for message, is_good in ((raw, True), (changed, False)):
        assert dkim.verify(message, dnsfunc=lambda asked, timeout=5: records(name, record, asked)) is is_good
        verdict = await opendkim_verdict(message, name, record, folder)
        assert ("dkim=pass" in verdict, "dkim=fail" in verdict) == (is_good, not is_good), verdict
        assert f"header.d={DOMAIN} " in verdict


def records(name: str, record: str, asked: bytes) -> bytes | None:
    return record.encode() if asked.decode().rstrip(".") == name else None


async def opendkim_verdict(message: bytes, name: str, record: str, folder: Path) -> str:
    """opendkim's test mode on one file, with our record in place of the DNS (opendkim.conf, TestDNSData)."""
    (folder / "keys").write_text(f"{name} {record}\n")
    (folder / "opendkim.conf").write_text(f"Mode v\nSyslog no\nTestDNSData file:{folder}/keys\n")
    (folder / "message.eml").write_bytes(message)
    process = await asyncio.create_subprocess_exec(
        tools.path_of("opendkim"), "-vv", "-x", folder / "opendkim.conf", "-t", folder / "message.eml",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    return out.decode("utf-8", "replace")


async def assert_delivered(daemon: Daemon, message_id: str) -> None:
    message = await daemon.api.until(f"/v1/messages/{message_id}", lambda one: one["status"] == "delivered")
    (recipient,) = message["recipients"]
    assert (recipient["address"], recipient["kind"], recipient["status"]) == (ALICE, "to", "delivered")
    assert (recipient["remoteHost"], recipient["smtpCode"]) == (f"mx.{THERE}", 250)
    assert recipient["tls"].startswith("TLSv1.")
    assert recipient["attempts"] == 1


async def test_mail_between_two_inboxes_of_this_host_never_touches_the_network(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Mx() as mx,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=mx.port) as daemon,
    ):
        ann = await daemon.api.post("/v1/inboxes", username="ann")
        ben = await daemon.api.post("/v1/inboxes", username="ben")
        question = await sent(daemon, ann, ben, subject="Lunch?", text="Are you hungry?")
        heard = await arrived(daemon, ben)
        answer = await sent(daemon, ben, ann, text="Always.", inReplyTo=heard["id"])
        back = await arrived(daemon, ann)

        assert heard["messageIdHeader"] == question["messageIdHeader"]
        assert back["inReplyTo"] == question["messageIdHeader"]
        assert (answer["threadId"], back["threadId"]) == (heard["threadId"], question["threadId"])
        for thread_id, texts in (
            (question["threadId"], ["Are you hungry?", "Always."]),
            (heard["threadId"], ["Are you hungry?", "Always."]),
        ):
            thread = await daemon.api.get(f"/v1/threads/{thread_id}")
            assert [one["text"].strip() for one in thread["messages"]] == texts
            assert thread["messageCount"] == 2
    assert not dns.queries
    assert mx.connections == 0


async def sent(daemon: Daemon, sender: Any, recipient: Any, **more: Any) -> Any:
    """Send, and wait until it is delivered."""
    message = await daemon.api.post(
        "/v1/messages/send", inboxId=sender["id"], to=[recipient["address"]], **more
    )
    return await daemon.api.until(f"/v1/messages/{message['id']}", lambda one: one["status"] == "delivered")


async def arrived(daemon: Daemon, inbox: Any) -> Any:
    (message,) = await daemon.api.get("/v1/messages", inboxId=inbox["id"], direction="inbound")
    return message
