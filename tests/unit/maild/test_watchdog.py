"""What may fail for a moment must not end the signs of life: systemd would kill a daemon that serves."""

import errno
import os
import socket
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from maild import systemd


class Loop:
    """Calls when it is told to."""

    def __init__(self) -> None:
        self.later: list[tuple[float, object, tuple[object, ...]]] = []

    def call_later(self, delay_s: float, call: object, *args: object) -> None:
        self.later.append((delay_s, call, args))


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOBUFS])
def test_a_beat_that_can_not_be_told_is_followed_by_the_next(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> socket.socket:
        raise OSError(number, os.strerror(number))

    monkeypatch.setenv("NOTIFY_SOCKET", "/run/systemd/notify")
    monkeypatch.setattr(socket, "socket", refuses)
    loop = Loop()
    with capture_logs() as told:
        systemd.Watchdog()._beat(loop, 20.0)  # type: ignore[arg-type]
    assert [delay_s for delay_s, *_ in loop.later] == [20.0]
    assert [(one["event"], one["log_level"]) for one in told] == [("systemd_not_notified", "error")]


@pytest.mark.parametrize("told", ["", "-5", "0", "5s"])
async def test_a_time_that_is_none_is_waited_for_by_nobody(
    told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As sd_watchdog_enabled(3) has it. An empty one was a traceback, a negative one had the loop do nothing else."""
    monkeypatch.setenv("WATCHDOG_USEC", told)
    watchdog = systemd.Watchdog()
    watchdog.start()
    assert watchdog._next is None


def test_a_manager_that_is_gone_ends_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    with capture_logs() as told:
        systemd.notify("STOPPING=1")
    assert [one["event"] for one in told] == ["systemd_not_notified"]
