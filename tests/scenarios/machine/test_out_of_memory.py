"""The process gets no memory: what is asked for comes later, and what would wait for good ends with the process."""

import asyncio
import json
import os
import resource
import signal
import sys
from pathlib import Path

import aiohttp
import aiosmtplib

from tests.support.daemon import DOMAIN, ROOT, Daemon, environment
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S

LARGE = b"Subject: large\r\n\r\n" + b"words and words and words\r\n" * 200_000
# A reader's task ends for want of memory as soon as the file is there: who waits for the reader waits for good.
PROGRAM = """
import os, sys
from storage.turns.fair_threads import FairThreads

begin, mark = FairThreads._begin, sys.argv.pop()

async def fails(self, loop, thread):
    if os.path.exists(mark):
        raise MemoryError
    await begin(self, loop, thread)

FairThreads._begin = fails

from maild.cli.program import main
main()
"""


async def test_a_task_that_ends_for_it_ends_the_process_which_is_started_anew(tmp_path: Path) -> None:
    async with asyncio.timeout(GIVES_UP_S), aiohttp.ClientSession() as client:
        daemon = Daemon(tmp_path, dns_port=9)
        await daemon.init()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, "serve", "--config", str(daemon.config), str(tmp_path / "mark"),
            cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        url = json.loads(await process.stdout.readline())["http"]
        (tmp_path / "mark").touch()
        asking = asyncio.create_task(client.get(f"{url}/health"))
        _, told = await process.communicate()
        await asyncio.wait([asking])
        if asking.exception() is None:
            assert (await asking).status == 503
    assert process.returncode in (1, -signal.SIGALRM), "systemd starts both anew"
    assert b"MemoryError" in told


async def test_what_is_too_large_for_it_comes_later_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The limit is what the process has already, so that nothing of any size can be had."""
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Daemon(tmp_path, dns_port=dns.port) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        before = resource.prlimit(daemon.pid, resource.RLIMIT_AS)
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (1 << 20, before[1]))
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False)
        await client.connect()
        replies = []
        for raw in (LARGE, b"Subject: small\r\n\r\nwords\r\n"):
            try:
                replies.append((await client.sendmail("ada@there.test", [f"bot@{DOMAIN}"], raw))[1])
            except aiosmtplib.SMTPResponseException as error:
                assert 400 <= error.code < 500, error
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, before)
        _, last = await client.sendmail("ada@there.test", [f"bot@{DOMAIN}"], LARGE)
        kept = {one["id"] for one in await daemon.api.get("/v1/messages", inboxId=inbox["id"])}
        assert kept == {reply.split()[-1] for reply in (*replies, last)}
        client.close()


async def test_a_process_that_computes_and_is_killed_at_it_costs_no_mail(tmp_path: Path) -> None:
    """As the kernel does, where the machine's memory is used up."""
    parts = b"--b\r\nContent-Type: text/html\r\n\r\n" + b"<p>x</p>" * 2000 + b"\r\n"
    slow = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + parts * 200 + b"--b--\r\n"
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Daemon(tmp_path, dns_port=dns.port) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        sending = asyncio.create_task(
            aiosmtplib.send(
                slow, sender="ada@there.test", recipients=[f"bot@{DOMAIN}"],
                hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False,
            )
        )  # fmt: skip
        os.kill(await child_of(daemon.pid), signal.SIGKILL)
        _, reply = await sending
        (message,) = await daemon.api.get("/v1/messages", inboxId=inbox["id"])
        assert message["id"] == reply.split()[-1]
        assert '"cpu_process_died"' in daemon.log.read_text()


async def child_of(pid: int) -> int:
    """The process that it begins."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task")
    while True:
        for thread in threads.iterdir():
            found = (thread / children.name).read_text().split()
            if found:
                return int(found[0])
        await asyncio.sleep(0)


async def test_a_system_without_room_for_threads_is_tried_again(tmp_path: Path) -> None:
    program = "\n".join(
        (
            "import threading",
            "def refuse(thread):",
            '    raise RuntimeError("can\'t start new thread")',
            "from maild import descriptors",
            "make_room = descriptors.make_room",
            "def and_then(settings):",
            "    threading.Thread.start = refuse",
            "    return make_room(settings)",
            "descriptors.make_room = and_then",
            "from maild.cli.program import main",
            "main()",
        )
    )
    async with asyncio.timeout(GIVES_UP_S):
        daemon = Daemon(tmp_path, dns_port=9)
        await daemon.init()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, "serve", "--config", str(daemon.config),
            cwd=ROOT, env=environment(), stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, told = await process.communicate()
    assert process.returncode == 1
    assert told.decode().splitlines()[-1].startswith("maild: no room for another thread")
