"""What other programs do with signals: a recipe for logrotate that was made for another one sends SIGUSR1 or SIGUSR2,
a parent has blocked some."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.machine.ports import free_port
from tests.support.running import Smtp

BLOCKED = (
    "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM]);"
    " os.execvp(sys.argv[1], sys.argv[1:])"
)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2])
async def test_the_daemon_says_where_everything_is_and_goes_on(tmp_path: Path, number: int) -> None:
    async with Daemon(tmp_path, dns_port=free_port(), more={"log": {"level": "warning"}}) as daemon:
        clients = [await Smtp.connect(f"127.0.0.1:{daemon.smtp_port}") for _ in range(3)]
        for client in clients:
            await client.reply()

        os.kill(daemon.pid, number)
        (line,) = await daemon.until_logged("whereabouts")

        sessions = [
            int(place.split()[0]) for place in line["tasks"] if "SmtpProtocol._handle_client" in place
        ]
        assert sum(sessions) == len(clients), line["tasks"]
        assert line["threads"]
        for client in clients:
            assert (await client.say("EHLO client.test")).startswith("250")
            await client.say("QUIT")


async def test_a_daemon_whose_parent_has_blocked_sigterm_ends_by_it(tmp_path: Path) -> None:
    """Who stops it would wait in vain, and kill it."""
    daemon = Daemon(tmp_path, dns_port=free_port())
    daemon.under = [sys.executable, "-c", BLOCKED]
    async with daemon:
        pass
