"""The one source of now. Tests hand in a clock that they move by hand."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

DAY_MS = 86_400_000
BEHIND_MS = 60_000  # less than that, and NTP has set it
EARLIEST_MS = 1_767_225_600_000  # 2026: no store is older


class Clock:
    """Wall time in integer milliseconds since 1970 (UTC), and a monotonic time in seconds."""

    def now_ms(self) -> int:
        """Wall time: it may jump either way."""
        return time.time_ns() // 1_000_000

    # Seconds from some moment of this boot, for measuring spans: it never goes back. Asked dozens of times for each
    # message, so it is the function itself.
    monotonic = staticmethod(time.monotonic)

    def ends_in(self, seconds: float) -> Callable[[], bool]:
        """Tells whether so much time has passed from now on: when a slice of much work is over."""
        ends_at = self.monotonic() + seconds
        return lambda: self.monotonic() >= ends_at


def is_clock_behind(now_ms: int, newest_ms: int) -> bool:
    """Is it behind what was made by it at `newest_ms`?"""
    return newest_ms > now_ms + BEHIND_MS


class WallSteps:
    """How far the wall clock steps against the monotonic one, which stands still while the host sleeps."""

    def __init__(self) -> None:
        self._ahead_ms: float | None = None

    def step_ms(self, now_ms: int, monotonic_s: float) -> float | None:
        """Since the call before, ahead or (less than 0) back; None: there was none."""
        before, self._ahead_ms = self._ahead_ms, now_ms - monotonic_s * 1000
        return None if before is None else self._ahead_ms - before


def is_recent(at_ms: int, now_ms: int, span_ms: int) -> bool:
    """Was it less than `span_ms` ago? What lies as far ahead was noted by a clock that has been set back since, and
    would stay recent until then."""
    return abs(now_ms - at_ms) < span_ms


def iso(at_ms: int) -> str:
    """`2026-11-02T00:00:00.000Z`: the form of every timestamp in the API."""
    seconds, ms = divmod(at_ms, 1000)
    return f"{_second(seconds)}.{ms:03d}Z"


def iso_or_none(at_ms: int | None) -> str | None:
    """`iso` of a time that may not have come."""
    return None if at_ms is None else iso(at_ms)


def day_of(at_ms: int) -> str:
    """The UTC day that a counter belongs to: `2026-11-21`."""
    return _day(at_ms // DAY_MS)


def month_of(at_ms: int) -> str:
    """The UTC month that a counter belongs to: `2026-11`."""
    return day_of(at_ms)[:7]


def next_day_ms(at_ms: int) -> int:
    """Midnight (UTC) after `at_ms`: when daily counters start anew."""
    return (at_ms // DAY_MS + 1) * DAY_MS


def next_month_ms(at_ms: int) -> int:
    """The first midnight (UTC) of the next month: when monthly counters start anew."""
    day = datetime.fromtimestamp(at_ms / 1000, UTC)
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return int(datetime(year, month, 1, tzinfo=UTC).timestamp() * 1000)


@lru_cache(maxsize=1024)
def _second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"


@lru_cache(maxsize=64)
def _day(number: int) -> str:
    return f"{datetime.fromtimestamp(number * DAY_MS // 1000, UTC):%Y-%m-%d}"
