"""What systemd is told (sd_notify(3)): that the daemon serves, that it ends, and that its event loop goes round.

A loop that stands still serves nobody and can't end itself. Where the unit sets `WatchdogSec=`, systemd sends SIGABRT
to a daemon that has told nothing for so long, and starts it again: nothing is lost that a peer was answered for. What
each thread was at, Python then writes to stderr (`faulthandler`).

Of what a service writes, the journal knows the priority (`journalctl -p`) by a number before each line (sd-daemon(3)),
which it takes away.
"""

import asyncio
import os
import socket
from typing import TextIO

import structlog

PRIORITIES = {"debug": "<7>", "info": "<6>", "warning": "<4>", "error": "<3>", "critical": "<2>"}
DAY_US = 24 * 60 * 60 * 1_000_000
BEATS = 3  # within the time that systemd waits: one that comes late is none of its business

log = structlog.get_logger("maild.service")


def notify(state: str) -> None:
    """Tell systemd (`Type=notify`) how the daemon is; nothing happens where there is none."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
            sock.sendto(state.encode(), address)
    except OSError as error:  # of the socket, too: descriptors may be used up
        log.error("systemd_not_notified", state=state, error=str(error))


def wait_for_a_day() -> None:
    """The start goes on, however long the unit gives it (units from before `TimeoutStartSec=infinity`: 90 seconds)."""
    notify(f"EXTEND_TIMEOUT_USEC={DAY_US}")


def is_journal(stream: TextIO) -> bool:
    """Does what is written there go to the journal, and nowhere else? systemd.exec(5), `$JOURNAL_STREAM`."""
    told = os.environ.get("JOURNAL_STREAM")
    if not told:
        return False
    file = os.fstat(stream.fileno())
    return told == f"{file.st_dev}:{file.st_ino}"


class Watchdog:
    """Tells that the loop which `start` was called on goes round, where systemd waits for it."""

    def __init__(self) -> None:
        self._next: asyncio.TimerHandle | None = None

    def start(self) -> None:
        if os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid()):
            waits_us = os.environ.get("WATCHDOG_USEC", "")
            if waits_us.isdecimal() and int(waits_us):  # sd_watchdog_enabled(3)
                self._beat(asyncio.get_running_loop(), int(waits_us) / 1e6 / BEATS)

    def stop(self) -> None:
        if self._next is not None:
            self._next.cancel()

    def _beat(self, loop: asyncio.AbstractEventLoop, every_s: float) -> None:
        self._next = loop.call_later(every_s, self._beat, loop, every_s)
        notify("WATCHDOG=1")
