"""What strangers (any SMTP peer, any HTTP client) do is told in the log, and not as often as they do it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from conf.addresses import network_of
from conf.log_events import LogEvent, tell

LINES_PER_MINUTE = 10  # of each event, about one peer or organization
LINES_PER_MINUTE_IN_ALL = 300  # of each event, about all of them
MINUTE_S = 60.0

Later = Callable[[float, Callable[[], None]], object]  # seconds, what to do then: a loop's `call_later`


@dataclass(slots=True)
class _Minute:
    began: float
    lines: int = 0
    left_out: int = 0
    of: Counter[str] = field(
        default_factory=Counter
    )  # lines by peer; it has LINES_PER_MINUTE_IN_ALL keys at most


class StrangerLog:
    """Lines about what a peer can bring about at will: so many a minute, and then how many more there were.

    That number is told when the minute is over (`left_out`), or, without `later`, by the next line of its kind.
    """

    def __init__(
        self, now: Callable[[], float], logger: str = "maild.api", later: Later | None = None
    ) -> None:
        """`now`: seconds, monotonic."""
        self._now = now
        self._later = later
        self._log = structlog.get_logger(logger)
        self._minutes: dict[str, _Minute] = {}

    def note(self, event: str, whose: str | None = None, **fields: Any) -> None:
        """Write the line, or count it. `whose`: the share of lines that it takes from, by default that of `peer`.

        Words of a peer in `fields` went through `log_events.clean` before.
        """
        now = self._now()
        minute = self._minutes.get(event)
        if minute is None or now - minute.began >= MINUTE_S:
            if minute is not None and minute.left_out:
                fields["suppressed"] = minute.left_out
            minute = self._minutes[event] = _Minute(now)
        who = network_of(fields.get("peer", "")) if whose is None else whose
        if minute.lines < LINES_PER_MINUTE_IN_ALL and minute.of[who] < LINES_PER_MINUTE:
            minute.lines += 1
            minute.of[who] += 1
            if isinstance(event, LogEvent):
                tell(self._log, event, **fields)
            else:
                self._log.info(event, **fields)
            return
        minute.left_out += 1
        if minute.left_out == 1 and self._later is not None:
            self._later(max(0.0, minute.began + MINUTE_S - now), partial(self._end, event, minute))

    def _end(self, event: str, minute: _Minute) -> None:
        """Tell the number of lines left out, unless the next line of the event has told it."""
        if self._minutes.get(event) is minute:
            del self._minutes[event]
            self._log.info(LogEvent.LEFT_OUT, of=event, suppressed=minute.left_out)
