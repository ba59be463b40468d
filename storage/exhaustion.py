"""A want of file descriptors, ports or memory, of this process or of the machine: it passes, and nobody else is at
fault.

What fails for it is tried again soon, and counts against nobody: no host, no endpoint, no stored message.
"""

import errno
import os
import resource
import socket
import time

import structlog

log = structlog.get_logger("maild.daemon")

_ERRNOS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
# What a socket of UDP, one of TCP, and one with a source address hear where no port is free. All of it can mean
# something else.
_PERHAPS_PORTS = frozenset({errno.EAGAIN, errno.EADDRNOTAVAIL, errno.EADDRINUSE})
FEW = 32  # descriptors that are left
QUIET_S = 60.0


class Exhausted(Exception):
    """What could not be begun for such a want; where there is an error of the system, it is the cause."""


def is_exhaustion(error: BaseException) -> bool:
    """Does the error tell of such a want? SQLite's is a MemoryError too."""
    if isinstance(error, OSError):
        return error.errno in _ERRNOS or (error.errno in _PERHAPS_PORTS and is_out_of_ports())
    return isinstance(error, MemoryError | Exhausted)


class Spells:
    """Of what happens again and again: is it the first time after QUIET_S without it?"""

    def __init__(self) -> None:
        self._last = float("-inf")

    def begins(self) -> bool:
        """It has happened again."""
        last, self._last = self._last, time.monotonic()
        return self._last - last > QUIET_S


class WantLog:
    """Tells what waits for such a want. Failures that follow each other within QUIET_S are one, which is told once."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._spells = Spells()

    def note(self, error: BaseException) -> None:
        """It has failed again."""
        if self._spells.begins():
            log.error("exhausted", what=self._what, reason=str(error) or "out of memory")


def is_out_of_ports() -> bool:
    """Is there a kind of socket that gets no port of the kernel's choice (net.ipv4.ip_local_port_range)?"""
    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM)
    return not all(_has_port(family, kind) for family in (socket.AF_INET, socket.AF_INET6) for kind in kinds)


def _has_port(family: socket.AddressFamily, kind: socket.SocketKind) -> bool:
    try:
        with socket.socket(family, kind) as asking:
            asking.bind(("", 0))
    except OSError as error:  # of a version that the machine does not have, another
        return error.errno != errno.EADDRINUSE
    return True


def is_short_of_descriptors() -> bool:
    """Are fewer than FEW descriptors left to this process?"""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        lowest = os.dup(0)  # the kernel gives the lowest that is free
    except OSError:
        return True
    os.close(lowest)
    return limit != resource.RLIM_INFINITY and lowest >= limit - FEW
