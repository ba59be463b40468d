"""What strangers do is told in the log without their words, and not as often as they do it."""

from collections.abc import Callable
from typing import Any

import structlog

log = structlog.get_logger("maild.api")

LINES_PER_MINUTE = 10  # of each event
MINUTE_S = 60.0


class StrangerLog:
    """`info` lines about what needs no key: so many a minute, then the next minute's first says how many more."""

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds, monotonic."""
        self._now = now
        self._minutes: dict[str, tuple[float, int]] = {}  # event → when its minute began, how many since

    def note(self, event: str, **fields: Any) -> None:
        """`event` is one of our own words; `fields` hold nothing that the stranger chose but his address."""
        now = self._now()
        began, count = self._minutes.get(event, (now, 0))
        if now - began >= MINUTE_S:
            if count > LINES_PER_MINUTE:
                fields["suppressed"] = count - LINES_PER_MINUTE
            began, count = now, 0
        self._minutes[event] = began, count + 1
        if count < LINES_PER_MINUTE:
            log.info(event, **fields)
