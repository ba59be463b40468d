"""The disk of the log is full, or whoever read it is gone: mail and requests go on without it."""

import asyncio
import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from email.message import EmailMessage
from pathlib import Path

import aiohttp
import aiosmtplib
import pytest

from tests.support.daemon import DOMAIN, ROOT, Daemon, environment
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S


async def test_mail_and_requests_go_on(tmp_path: Path) -> None:
    (tmp_path / "maild.log").symlink_to("/dev/full")
    async with (
        asyncio.timeout(GIVES_UP_S),
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


@pytest.mark.parametrize("kind", ["pipe", "socket"])
async def test_a_reader_of_the_log_that_stands_still_holds_nobody_up(tmp_path: Path, kind: str) -> None:
    """As the journal does while its disk stands still, and an engine of containers that can't pass lines on."""
    if kind == "pipe":
        reader, log = os.pipe()
        fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, 4096)
    else:
        ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        reader, log = ours.detach(), theirs.detach()
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns:
        daemon = Daemon(tmp_path, dns_port=dns.port)
        await daemon.init()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "maild", "serve", "--config", str(daemon.config),
            cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=log,
        )  # fmt: skip
        os.close(log)
        assert process.stdout is not None
        port = int(json.loads(await process.stdout.readline())["smtp"][0].rpartition(":")[2])
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            for _ in range(30):
                await client.sendmail(
                    "ada@elsewhere.test", [f"postmaster@{DOMAIN}"], b"Subject: x\r\n\r\nx\r\n"
                )
        reading = asyncio.create_task(asyncio.to_thread(_read_all, reader))
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            await client.sendmail("ada@elsewhere.test", [f"postmaster@{DOMAIN}"], b"Subject: x\r\n\r\nx\r\n")
        process.terminate()
        assert await process.wait() == 0
        lines = [json.loads(line) for line in (await reading).splitlines()]
    lost = sum(line["lines"] for line in lines if line["event"] == "log_lines_lost")
    assert lost + sum(line["event"] == "accepted" for line in lines) >= 31
    assert lost and lines[-1]["event"] == "stopped"


def _read_all(number: int) -> bytes:
    with open(number, "rb") as file:
        return file.read()


@pytest.mark.parametrize("place", ["a full disk", "a reader that is gone"])
async def test_who_can_not_be_told_that_it_serves_is_served(tmp_path: Path, place: str) -> None:
    if place == "a full disk":
        out = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, out = os.pipe()
        os.close(reader)
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, aiohttp.ClientSession() as session:
        daemon = Daemon(tmp_path, dns_port=dns.port)
        await daemon.init()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "maild", "serve", "--config", str(daemon.config),
            cwd=ROOT, env=environment(), stdout=out, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        os.close(out)
        assert process.stderr is not None
        lines = [json.loads(line) async for line in _until_ready(process.stderr)]
        async with session.get(f"{lines[-1]['http']}/health") as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        _, rest = await process.communicate()
    assert process.returncode == 0
    assert json.loads(rest.splitlines()[-1])["event"] == "stopped"


async def _until_ready(log: asyncio.StreamReader) -> AsyncIterator[bytes]:
    async for line in log:
        yield line
        if b'"ready"' in line:
            return
