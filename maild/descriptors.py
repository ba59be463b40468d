"""Room for a file descriptor for each connection that the configuration allows; a way out for what cannot be written.

Shells and containers begin processes with 1024 and let them have many more; a unit says what it wants (LimitNOFILE).
Where connections of strangers to port 25 use up what there is, the API hears nothing more, /health included.
"""

import os
import resource
import sys
from typing import TextIO

import structlog

from conf.log_events import LogEvent, tell
from conf.settings import Settings
from conf.tuning import HttpTuning
from maild.outbound.sessions.places import SESSIONS_PER_PLACE

STDOUT, STDERR = 1, 2
OWN = 256  # the store's, the resolver's, the processes'

log = structlog.get_logger("maild.daemon")


def make_room(settings: Settings) -> None:
    """Have as many as may be wanted at one time, as far as the system lets us; told where it does not."""
    wanted = _wanted(settings)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _covers(soft, wanted):
        return
    allowed = wanted if _covers(hard, wanted) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):  # a sandbox forbids the call
        allowed = soft
    if allowed < wanted:
        tell(log, LogEvent.FEW_DESCRIPTORS, limit=allowed, wanted=wanted)


def fill() -> None:
    """Where a parent closed stdin, stdout or stderr, nothing takes its number: a socket or the store would, and libuv
    aborts when it is to close one of these."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        os.set_inheritable(number, True)  # our children would have none either
    os.close(number)
    sys.stdout, sys.stderr = sys.stdout or _opened(STDOUT), sys.stderr or _opened(STDERR)


def _opened(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", closefd=False)


def give_up(number: int) -> None:
    """Write there no more, or the interpreter's end fails too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _wanted(settings: Settings) -> int:
    smtp, outbound = settings.smtp, settings.outbound
    doors = 2 if smtp.submission_listen or smtp.submission_listen_tls else 1
    return (
        smtp.max_sessions * doors * 2  # its socket, and the file of a large message
        + settings.http.max_connections
        + HttpTuning().heard_out
        + outbound.max_connections * SESSIONS_PER_PLACE
        + settings.webhooks.max_concurrent
        + OWN
    )


def _covers(limit: int, wanted: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= wanted
