"""Room for a file descriptor for each connection that the configuration allows; a way out for what cannot be written.

Shells and containers begin processes with 1024 and let them have many more; a unit says what it wants (LimitNOFILE).
Where connections of strangers to port 25 use up what there is, the API hears nothing more, /health included, and no
large message can be stored or sent. So where there are fewer than the configuration allows, it allows fewer.
"""

import os
import resource
import sys
from dataclasses import replace
from typing import TextIO

import structlog

from conf.log_events import LogEvent, tell
from conf.settings import Settings
from conf.tuning import HttpTuning
from maild.outbound.sessions.places import SESSIONS_PER_PLACE
from maild.resolver import QUERIES_IN_FLIGHT, queries_of

STDOUT, STDERR = 1, 2
OWN = 256  # the store's, the processes', files' that are read and written
LEAST = 128  # a third of which is open before anybody comes

log = structlog.get_logger("maild.daemon")


class TooFewDescriptors(Exception):
    """Nobody could be served with so few."""


def make_room(settings: Settings) -> Settings:
    """Have as many as may be wanted at one time, as far as the system lets us. Where it does not, that is told, and the
    settings that are given back allow no more connections than there is room for. TooFewDescriptors."""
    wanted = _wanted(settings)
    limit = _raised(wanted)
    if _covers(limit, wanted):
        return settings
    if limit < LEAST:
        raise TooFewDescriptors(
            f"this process may open {limit} files, maild wants {wanted} and needs {LEAST}: "
            "raise LimitNOFILE of the unit, or ulimit -n"
        )
    fitted = _fitted(settings, (limit - _beside(limit)) / (wanted - _beside(wanted)))
    tell(
        log,
        LogEvent.FEW_DESCRIPTORS,
        limit=limit,
        wanted=wanted,
        smtp_sessions=fitted.smtp.max_sessions,
        http_connections=fitted.http.max_connections,
        outbound_connections=fitted.outbound.max_connections,
        webhooks_concurrent=fitted.webhooks.max_concurrent,
    )
    return fitted


def _raised(wanted: int) -> int:
    """The limit, which is what is wanted where the system lets us have that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _covers(soft, wanted):
        return soft
    allowed = wanted if _covers(hard, wanted) else hard
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):  # a sandbox forbids the call
        return soft
    return allowed


def _fitted(settings: Settings, share: float) -> Settings:
    """The same, with that share of their connections."""

    def part(connections: int) -> int:
        return max(1, int(connections * share))

    smtp, http = settings.smtp, settings.http
    outbound, webhooks = settings.outbound, settings.webhooks
    return replace(
        settings,
        smtp=replace(smtp, max_sessions=part(smtp.max_sessions)),
        http=replace(http, max_connections=part(http.max_connections)),
        outbound=replace(outbound, max_connections=part(outbound.max_connections)),
        webhooks=replace(webhooks, max_concurrent=part(webhooks.max_concurrent)),
    )


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
        + outbound.max_connections * SESSIONS_PER_PLACE
        + settings.webhooks.max_concurrent
        + OWN
        + HttpTuning().heard_out
        + QUERIES_IN_FLIGHT
    )


def _beside(limit: int) -> int:
    """What is kept of so many for all but connections."""
    own = OWN + HttpTuning().heard_out
    return min(own, max(LEAST // 2, limit // 4)) + queries_of(limit)


def _covers(limit: int, wanted: int) -> bool:
    return limit == resource.RLIM_INFINITY or limit >= wanted
