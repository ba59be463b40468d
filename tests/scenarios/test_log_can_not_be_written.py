"""The disk of the log is full, or whoever read it is gone: mail and requests go on without it."""

import asyncio
from email.message import EmailMessage
from pathlib import Path

import aiosmtplib

from tests.support.daemon import Daemon
from tests.support.dns_server import DnsServer

TEST_S = 40


async def test_mail_and_requests_go_on(tmp_path: Path) -> None:
    (tmp_path / "maild.log").symlink_to("/dev/full")
    async with (
        asyncio.timeout(TEST_S),
        DnsServer() as dns,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=9) as daemon,
    ):
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "ada@elsewhere.test", inbox["address"], "hello"
        mail.set_content("words")
        await aiosmtplib.send(mail, hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False)
        (message,) = await daemon.api.get("/v1/messages", inboxId=inbox["id"])
        assert message["subject"] == "hello"
