"""The process gets no memory: what is asked for comes later, and what would wait for good ends with the process."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import aiohttp
import aiosmtplib
import pytest

from tests.support.daemon import DOMAIN, ROOT, Daemon, environment
from tests.support.peers.dns_server import DnsServer
from tests.support.waiting import GIVES_UP_S

LARGE = b"Subject: large\r\n\r\n" + b"words and words and words\r\n" * 200_000
# What `{patched}` does ends for want of memory as long as the file is there.
PROGRAM = """
import os, sys
from {room} import {owner}

does, mark = {owner}.{patched}, sys.argv.pop()

def fails(self, *given):
    if os.path.exists(mark):
        raise MemoryError
    return does(self, *given)

{owner}.{patched} = fails

from maild.cli.program import main
main()
"""


async def serving(daemon: Daemon, mark: Path, **patched: str) -> tuple[Process, dict[str, Any]]:
    """A daemon whose memory ends at one place, and what it says when it is ready."""
    await daemon.init()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM.format(**patched), "serve", "--config", str(daemon.config), str(mark),
        cwd=ROOT, env=environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    return process, json.loads(await process.stdout.readline())


async def test_a_task_that_ends_for_it_ends_the_process_which_is_started_anew(tmp_path: Path) -> None:
    """Who waits for a reader whose task has ended waits for good."""
    mark = tmp_path / "mark"
    async with asyncio.timeout(GIVES_UP_S), aiohttp.ClientSession() as client:
        process, ready = await serving(
            Daemon(tmp_path, dns_port=9),
            mark,
            room="storage.turns.fair_threads",
            owner="FairThreads",
            patched="_serve",
        )
        mark.touch()
        ending = asyncio.create_task(process.communicate())
        statuses = set()
        while not ending.done():  # a reader that was at it already may still take the first of them
            with contextlib.suppress(aiohttp.ClientError):
                async with client.get(f"{ready['http']}/health") as answer:
                    statuses.add(answer.status)
        _, told = await ending
    assert statuses <= {200, 503}
    assert process.returncode in (1, -signal.SIGALRM), "systemd starts both anew"
    assert b"MemoryError" in told


async def test_a_connection_that_finds_none_for_what_comes_is_closed_and_that_is_all(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns:
        process, ready = await serving(
            Daemon(tmp_path, dns_port=dns.port), mark,
            room="maild.inbound.wire.smtp_protocol", owner="SmtpProtocol", patched="data_received",
        )  # fmt: skip
        port = int(ready["smtp"][0].rpartition(":")[2])
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            mark.touch()
            with pytest.raises(aiosmtplib.SMTPServerDisconnected):
                await client.noop()
        mark.unlink()
        async with aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=False) as client:
            await client.noop()
        process.terminate()
        await process.communicate()
    assert process.returncode == 0


async def test_what_is_too_large_for_it_comes_later_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The limit is what the process has already, so that nothing of any size can be had."""
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, Daemon(tmp_path, dns_port=dns.port) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        before = resource.prlimit(daemon.pid, resource.RLIMIT_AS)
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, (1 << 20, before[1]))
        accepted = await accepted_of(daemon, LARGE) | await accepted_of(
            daemon, b"Subject: small\r\n\r\nwords\r\n"
        )
        resource.prlimit(daemon.pid, resource.RLIMIT_AS, before)
        last = await accepted_of(daemon, LARGE)
        kept = {one["id"] for one in await daemon.api.get("/v1/messages", inboxId=inbox["id"])}
        assert last
        assert kept == accepted | last


async def accepted_of(daemon: Daemon, raw: bytes) -> set[str]:
    """The id of the mail, or nothing where it is to come again: so says a 4xx, or a connection that is closed."""
    try:
        _, reply = await aiosmtplib.send(
            raw, sender="ada@there.test", recipients=[f"bot@{DOMAIN}"],
            hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False,
        )  # fmt: skip
    except aiosmtplib.SMTPRecipientsRefused as error:
        assert all(400 <= one.code < 500 for one in error.recipients), error
    except aiosmtplib.SMTPResponseException as error:
        assert 400 <= error.code < 500, error
    except ConnectionError:
        pass
    else:
        return {reply.split()[-1]}
    return set()


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


@pytest.mark.parametrize("refused", ["asyncio", "cpu process", "sign", "search index"])
async def test_a_system_without_room_for_threads_is_tried_again(tmp_path: Path, refused: str) -> None:
    """Whichever is the first that finds none."""
    program = "\n".join(
        (
            "import threading",
            "begin, most = threading.Thread.start, []",
            "def refuse(thread):",
            f"    if thread.name.startswith({refused!r}):",
            "        most.append(threading.active_count())",
            "    if most and threading.active_count() >= most[0]:",
            '        raise RuntimeError("can\'t start new thread")',
            "    begin(thread)",
            "threading.Thread.start = refuse",
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
