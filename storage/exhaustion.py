"""A want of file descriptors or memory, of this process or of the machine: it passes, and nobody else is at fault.

What fails for it is tried again soon, and counts against nobody: no host, no endpoint, no stored message.
"""

import errno
import os
import resource
import time

import structlog

log = structlog.get_logger("maild.daemon")

_ERRNOS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
FEW = 32  # descriptors that are left
QUIET_S = 60.0


class Exhausted(Exception):
    """What could not be begun for such a want; where there is an error of the system, it is the cause."""


def is_exhaustion(error: BaseException) -> bool:
    """Does the error tell of such a want? SQLite's is a MemoryError too."""
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    return isinstance(error, MemoryError | Exhausted)


class WantLog:
    """Tells what waits for such a want. Failures that follow each other within QUIET_S are one, which is told once."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last = float("-inf")

    def note(self, error: BaseException) -> None:
        """It has failed again."""
        now = time.monotonic()
        if now - self._last > QUIET_S:
            log.error("exhausted", what=self._what, reason=str(error) or "out of memory")
        self._last = now


def is_short_of_descriptors() -> bool:
    """Are fewer than FEW descriptors left to this process?"""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        lowest = os.dup(0)  # the kernel gives the lowest that is free
    except OSError:
        return True
    os.close(lowest)
    return limit != resource.RLIM_INFINITY and lowest >= limit - FEW
