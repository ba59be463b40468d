"""How often each line of the log was said since the process began, whether its level is written or not.

Of lines that a stranger brings about at will not all are written (`conf/strangers.py`): those that are left out count
when their number is told, a minute later at most. Lines of level `debug` are not counted.
"""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

import structlog
from structlog.typing import FilteringBoundLogger

from conf.log_events import LogEvent

LEVELS = ("info", "warning", "error", "critical")  # `exception` says an error
OF_LIBRARY = "library"  # a line that a library said in its own words

_LEVELS_OF = {str(event): event.level for event in LogEvent}

Say = Callable[..., Any]


class LogCounts:
    """Counts lines from any thread."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def note(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """A line is said."""
        with self._lock:
            self._counts[level, event] += 1
            if "suppressed" in fields:
                left_out = fields.get("of", event)
                self._counts[_level_of(left_out, level), left_out] += fields["suppressed"]

    def note_of_library(self, level: str) -> None:
        """A library says a line: its words may be a peer's, so they name no count."""
        self.note(level, OF_LIBRARY, {})

    def counted(self) -> list[tuple[str, str, int]]:
        """Level, event, and how often; every decision (`LogEvent`) is there from the beginning, with 0."""
        with self._lock:
            told = dict(self._counts)
        never = {(level, event): 0 for event, level in _LEVELS_OF.items() if level in LEVELS}
        return [(*names, count) for names, count in sorted((never | told).items())]


def counting_logger(least_level: int, counts: LogCounts) -> type[FilteringBoundLogger]:
    """structlog's logger that writes lines from a level on, and has all of LEVELS counted."""
    writing = structlog.make_filtering_bound_logger(least_level)
    said = {level: _counted(level, getattr(writing, level), counts) for level in LEVELS}
    return cast(type[FilteringBoundLogger], type("CountingLogger", (writing,), said))


def _counted(level: str, write: Say, counts: LogCounts) -> Say:
    def say(logger: FilteringBoundLogger, event: str, *args: Any, **fields: Any) -> Any:
        counts.note(level, event, fields)
        return write(logger, event, *args, **fields)

    return say


def _level_of(event: str, otherwise: str) -> str:
    return _LEVELS_OF.get(event, otherwise)
