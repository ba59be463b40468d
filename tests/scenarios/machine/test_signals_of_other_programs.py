"""A recipe for logrotate that was made for other programs sends SIGUSR1 or SIGUSR2: nobody is lost by it, and the log
says where everything is."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.machine.ports import free_port
from tests.support.running import Smtp


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
