"""Answers to mail that swaks brought, as a Postfix stores them, and Python's email and mail-parser read them."""

import asyncio
from datetime import datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import mailparser
import pytest
from mailparser import MailParser

from tests.support.daemon import DOMAIN, Daemon
from tests.support.machine import tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.postfix import Postfix
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

THERE = "there.test"
BOT = f"bot@{DOMAIN}"
SAID = "I do. Żółć 漢字"


async def swaks(port: int, *headers: str) -> None:
    given = [word for header in headers for word in ("--header", header)]
    process = await asyncio.create_subprocess_exec(
        tools.path_of("swaks"), "--server", "127.0.0.1", "--port", str(port), "--ehlo", f"client.{THERE}",
        "--from", f"alice@{THERE}", "--to", BOT, "--body", "Who pays?", *given,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode("utf-8", "replace")


@tools.needs("swaks", "postfix", root=True)
async def test_everybody_gets_an_answer_in_the_thread(tmp_path: Path) -> None:
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Postfix(THERE) as postfix,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=postfix.port) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        await daemon.api.post("/v1/inboxes", username="bot")
        await swaks(
            daemon.smtp_port, f"From: Alice <alice@{THERE}>", f"To: {BOT}, Bob <bob@{THERE}>", f"Cc: carol@{THERE}",
            f"Reply-To: desk@{THERE}", "Subject: Invoice", "Message-Id: <1@there.test>",
        )  # fmt: skip
        (incoming,) = await daemon.api.get("/v1/messages")
        answer = await daemon.api.post(
            f"/v1/messages/{incoming['id']}/reply", text=SAID, html="<p>I do. <b>Żółć</b> 漢字</p>", replyAll=True,
            quote="text", ifLastMessageId=incoming["id"],
        )  # fmt: skip
        raws = await postfix.mail(3)
        mails = [read(raw) for raw in raws]
        assert {mail["To"] for mail in mails} == {f"desk@{THERE}, bob@{THERE}"}
        assert {mail["Cc"] for mail in mails} == {f"carol@{THERE}"}
        for mail in mails:
            assert (mail["Subject"], mail["In-Reply-To"]) == ("Re: Invoice", "<1@there.test>")
            assert mail["References"] == "<1@there.test>"
            text, html = (part.get_content() for part in mail.iter_parts())
            assert text.splitlines()[0] == SAID and text.splitlines()[-1] == "> Who pays?"
            assert "<b>Żółć</b>" in html and "<blockquote" in html
        for raw in raws:
            check_by_mail_parser(mailparser.parse_from_bytes(raw), incoming)
        thread: Any = await daemon.api.get(f"/v1/threads/{incoming['threadId']}")
        assert [one["id"] for one in thread["messages"]] == [incoming["id"], answer["id"]]
        assert thread["messages"][1]["extractedText"] == SAID
        # Bob answers to what he got: it joins the thread.
        again = f"References: <1@there.test> {mails[0]['Message-ID']}"
        await swaks(daemon.smtp_port, f"From: bob@{THERE}", "Subject: Re: Invoice", again)
        newest = (await daemon.api.get("/v1/messages"))[0]
        assert newest["threadId"] == incoming["threadId"]


def check_by_mail_parser(mail: MailParser, answered: dict[str, Any]) -> None:
    """It reads with hands of its own: addresses, dates, encoded words."""
    assert mail.from_ == [("", BOT)]
    assert [address for _, address in mail.to] == [f"desk@{THERE}", f"bob@{THERE}"]
    assert [address for _, address in mail.cc] == [f"carol@{THERE}"]
    assert (mail.subject, mail.in_reply_to) == ("Re: Invoice", "<1@there.test>")
    assert mail.references == "<1@there.test>"
    (text,), (html,) = mail.text_plain, mail.text_html
    assert text.startswith(SAID) and "> Who pays?" in text
    assert "<b>Żółć</b>" in html
    assert mail.date is not None and abs(mail.date.timestamp() - iso_s(answered["createdAt"])) < GIVES_UP_S
    assert mail.defects == []


def iso_s(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def read(raw: bytes) -> EmailMessage:
    mail = message_from_bytes(raw, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return mail
