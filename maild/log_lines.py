"""Lines on their way to the log.

Each write gives up the interpreter, which another thread takes meanwhile, so that the event loop waits for longer than
the write takes. What the loop says in one turn about mail that leaves, which nobody waits for and where several lines
come together, is therefore written in one go, before the loop waits for anything. All else is written at once, and with
it what was said before; so are warnings, and whatever is worse. A process that is killed loses what it said of mail
that leaves in its last turn.

A stream that takes nothing (its disk is full, its reader is gone or stands still) stops nobody's work: what it did not
take is lost, and counted until it takes lines again. A reader who has not kept up is waited for, but not for long.
"""

import asyncio
import os
import select
import stat
import threading
import time
from contextvars import Context
from typing import BinaryIO

import structlog

from conf.log_events import LogEvent, tell
from maild.descriptors import give_up

log = structlog.get_logger("maild.logs")
SOON = frozenset({"maild.outbound"})  # loggers
PATIENCE_S = 1.0  # everybody waits meanwhile


class LogLines:
    """Lines for a stream, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._called: asyncio.AbstractEventLoop | None = None  # whose turn will end
        self._lock = threading.Lock()
        self._lost = 0
        self._cut = b""  # the rest of a line that was taken in part

    def logger(self, *names: str) -> "LineLogger":
        """For structlog. `names`: at most one, the logger's."""
        return LineLogger(self, names[0] if names else None)

    def write_soon(self, line: bytes) -> None:
        """In the end of this turn of the thread's event loop; at once where it has none."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.write(line)
            return
        with self._lock:
            self._waiting.append(line)
        if self._called is not loop:
            self._called = loop
            loop.call_soon(self._end_turn)

    def _end_turn(self) -> None:
        self._called = None
        self.write()

    def write(self, *lines: bytes) -> None:
        """What waits, and these."""
        with self._lock:
            waiting, self._waiting = [*self._waiting, *lines], []
            if not waiting:
                return
            if not self._write_all(b"\n".join([*waiting, b""])):
                self._lost += len(waiting)
                return
            lost, self._lost = self._lost, 0
        if lost:  # a line of nobody's session or request
            Context().run(tell, log, LogEvent.LOG_LINES_LOST, lines=lost)
            if self._lost:  # that line as well
                self._lost += lost - 1

    def end(self) -> None:
        """What waits, as the process ends. A stream that keeps what it could not pass on is given up."""
        self.write()
        try:
            self._stream.flush()
        except OSError:
            give_up(self._stream.fileno())  # Python from 3.13 on tries once more, and fails: exit code 120

    def _write_all(self, octets: bytes) -> bool:
        """Did the stream take them? What it took and could not pass on, it keeps."""
        octets = left = self._cut + octets
        gives_up_at = time.monotonic() + (0 if self._lost else PATIENCE_S)
        try:
            # Without a buffer it takes a part where a signal comes between, and says None where it can't take any.
            while left:
                if (taken := self._stream.write(left)) is not None:
                    left = left[taken:]
                elif not self._takes_more(gives_up_at - time.monotonic()):
                    raise BlockingIOError
            self._stream.flush()
        except OSError:
            self._keep_whole(octets, left)
            return False
        self._cut = b""
        return True

    def _takes_more(self, wait_s: float) -> bool:
        poll = select.poll()
        poll.register(self._stream, select.POLLOUT)
        return bool(poll.poll(max(0, wait_s * 1000)))

    def _keep_whole(self, octets: bytes, left: bytes) -> None:
        """The line that was cut, for the next write: nobody could read what stands there otherwise."""
        if 0 < len(left) < len(octets):
            is_cut = not octets[: -len(left)].endswith(b"\n")
            self._cut = left[: left.index(b"\n") + 1] if is_cut else b""


def not_waiting(stream: BinaryIO) -> BinaryIO:
    """The same place, which says so where it can't take any: a pipe or a socket (the journal's) whose reader stands
    still would else hold whoever writes."""
    number = stream.fileno()
    mode = os.fstat(number).st_mode
    if stat.S_ISFIFO(mode):
        number = _opened_anew(number)
    elif not stat.S_ISSOCK(mode):
        return stream
    os.set_blocking(number, False)
    return open(number, "wb", buffering=0, closefd=False)


def _opened_anew(number: int) -> int:
    """The pipe may be that of other programs too, which do wait; where this user may not open it, it is shared."""
    try:
        return os.open(f"/proc/self/fd/{number}", os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return number


class LineLogger:
    """What structlog writes a logger's lines with."""

    def __init__(self, lines: LogLines, name: str | None) -> None:
        self.name = name
        self.debug = self.info = lines.write_soon if name in SOON else lines.write
        self.warning = self.error = self.critical = lines.write
