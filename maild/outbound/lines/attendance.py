"""Since when somebody has looked at the queue all the time."""

GAP_MS = 60_000


class Attendance:
    """It begins anew where nobody could look: the host was off or asleep, the operator had paused the queue, or the
    clock has jumped ahead, so that there was no time in between. `since_ms`: Unix milliseconds, 0 before any look.
    """

    def __init__(self) -> None:
        self.since_ms = 0
        self._ahead_ms: float | None = None  # of the wall clock, less the monotonic one, at the last look

    def look(self, now_ms: int, monotonic_s: float) -> None:
        """It is looked at now, by the wall clock and by one that stands still while the host sleeps."""
        ahead_ms = now_ms - monotonic_s * 1000
        if self._ahead_ms is None or ahead_ms - self._ahead_ms > GAP_MS:
            self.since_ms = now_ms
        self._ahead_ms = ahead_ms

    def end(self) -> None:
        """Nobody looks until the next `look`."""
        self._ahead_ms = None
