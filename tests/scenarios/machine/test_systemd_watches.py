"""The daemon under a unit of `Type=notify` with `WatchdogSec=`: what it tells, and shows when it is killed."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.older_stores import make_older


class Manager:
    """What systemd hears."""

    def __init__(self, socket_path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(socket_path))
        self._socket.setblocking(False)

    async def hears(self) -> str:
        async with asyncio.timeout(GIVES_UP_S):
            return (await asyncio.get_running_loop().sock_recv(self._socket, 1000)).decode()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    path = tmp_path / "notify"
    manager = Manager(path)
    monkeypatch.setenv("NOTIFY_SOCKET", str(path))
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    yield manager
    manager.close()


async def test_it_tells_that_it_serves_lives_and_ends(manager: Manager, tmp_path: Path) -> None:
    async with Daemon(tmp_path, dns_port=9):
        assert [await manager.hears() for _ in range(4)] == ["READY=1", *["WATCHDOG=1"] * 3]
    told = []
    while "STOPPING=1" not in told:
        told.append(await manager.hears())
    assert set(told) <= {"WATCHDOG=1", "STOPPING=1"}


async def test_a_start_that_migrates_has_the_time_that_it_needs(manager: Manager, tmp_path: Path) -> None:
    """A unit from before `TimeoutStartSec=infinity` gives 90 seconds: killed within a long step, it would begin that
    again without end."""
    daemon = Daemon(tmp_path, dns_port=9)
    await daemon.init()
    make_older(daemon.data_dir / "maild.sqlite3", 20)
    try:
        await daemon.start()
        assert [await manager.hears() for _ in range(2)] == ["EXTEND_TIMEOUT_USEC=86400000000", "READY=1"]
    finally:
        await daemon.kill()


async def test_what_is_killed_for_its_silence_shows_where_it_stood(manager: Manager, tmp_path: Path) -> None:
    daemon = Daemon(tmp_path, dns_port=9)
    await daemon.init()
    try:
        await daemon.start()
        os.kill(daemon.pid, signal.SIGABRT)  # systemd's, when the time is over
        assert await daemon.ended() == -signal.SIGABRT
    finally:
        await daemon.kill()
    log = daemon.log.read_text()
    assert "Fatal Python error: Aborted" in log and "in serve" in log
