"""An operator works beside the daemon while mail comes in and goes out. Each command is a process of its own, as no
other test has it: what it takes from the daemon (locks, the log of changes) shows in two processes alone."""

import asyncio
import json
from itertools import count
from pathlib import Path

import aiosmtplib
import pytest

from tests.support.daemon import DOMAIN, POLL_S, AnswerError, Daemon, DaemonError
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S

TO = f"bot@{DOMAIN}"
PAGE = 100
LEAST = 20


async def test_nothing_that_was_acknowledged_meanwhile_is_lost(tmp_path: Path) -> None:
    async with DnsServer() as dns, Daemon(tmp_path, dns_port=dns.port) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        held, load, over = locks(daemon), Load(daemon, inbox["id"]), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(load.mail_comes(over))
            group.create_task(load.mail_leaves(over))
            try:
                await asyncio.gather(make_and_remove(daemon, tmp_path / "backup"), look_and_refuse(daemon))
            finally:
                over.set()
        async with asyncio.timeout(GIVES_UP_S):
            while locks(daemon) != held:  # of what is being read or written, it has others for a moment
                await asyncio.sleep(POLL_S)
        await daemon.kill()  # what it would write back at its end is lost, unless the log is where it belongs
        await daemon.start()
        assert load.acknowledged - await load.kept() == set()
        assert held and len(load.acknowledged) > LEAST, "hardly anything was under way: this proves nothing"
        assert json.loads(await daemon.command("check", "--json"))["ok"]


class Load:
    """Mail from a stranger, and sends with a key; by Message-ID and by id what was acknowledged."""

    def __init__(self, daemon: Daemon, inbox_id: str) -> None:
        self._daemon = daemon
        self._inbox_id = inbox_id
        self.acknowledged: set[str] = set()

    async def mail_comes(self, over: asyncio.Event) -> None:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=self._daemon.smtp_port, start_tls=False)
        async with client:
            for number in count():
                if over.is_set():
                    return
                message_id = f"<{number}@there.test>"
                await client.sendmail("ada@there.test", [TO], f"Message-ID: {message_id}\r\n\r\nHello\r\n")
                self.acknowledged.add(message_id)

    async def mail_leaves(self, over: asyncio.Event) -> None:
        while not over.is_set():
            try:
                sent = await self._daemon.api.post("/v1/messages/send", inboxId=self._inbox_id, to=[TO])
            except AnswerError as error:
                assert error.status == 503, error  # the queue is paused
            else:
                self.acknowledged.add(sent["id"])

    async def kept(self) -> set[str]:
        found: set[str] = set()
        more: dict[str, str] = {}
        while page := await self._daemon.api.get("/v1/messages", limit=PAGE, **more):
            found |= {one[name] for one in page for name in ("id", "messageIdHeader")}
            more = {"before": page[-1]["id"]}
        return found


async def make_and_remove(daemon: Daemon, backup: Path) -> None:
    made = json.loads(await daemon.command("org", "create", "Acme", "--json"))["organizationId"]
    await daemon.command("backup", str(backup))
    await daemon.command("org", "delete", made, "--yes")
    await daemon.command("init")


async def look_and_refuse(daemon: Daemon) -> None:
    await daemon.command("queue", "pause")
    await daemon.command("check")
    await daemon.command("queue", "resume")
    with pytest.raises(DaemonError, match="another maild is running"):
        await daemon.command("compact")


def locks(daemon: Daemon) -> list[list[str]]:
    """What the kernel knows of the daemon's locks on its store."""
    files = (daemon.data_dir / name for name in (".", "lock", "maild.sqlite3", "maild.sqlite3-shm"))
    inodes = {str(one.stat().st_ino) for one in files}
    lines = (line.split()[1:] for line in Path("/proc/locks").read_text("utf-8").splitlines())
    return sorted(one for one in lines if one[3] == str(daemon.pid) and one[4].rpartition(":")[2] in inodes)
