"""Since when somebody has looked at the queue all the time."""

from storage.clock import WallSteps

GAP_MS = 60_000


class Attendance:
    """It begins anew where nobody could look: the host was off or asleep, the operator had paused the queue, or the
    clock has jumped ahead, so that there was no time in between. `since_ms`: Unix milliseconds, 0 before any look.
    `may_follow_ahead`: the clock was set back, or may have been while nobody looked, and what it put off before is
    still to be brought back.
    """

    def __init__(self) -> None:
        self.since_ms = 0
        self.may_follow_ahead = True
        self._steps = WallSteps()

    def look(self, now_ms: int, monotonic_s: float) -> None:
        """It is looked at now."""
        step_ms = self._steps.step_ms(now_ms, monotonic_s)
        if step_ms is None or step_ms > GAP_MS:
            self.since_ms = now_ms
        if step_ms is None or step_ms < -GAP_MS:
            self.may_follow_ahead = True

    def end(self) -> None:
        """Nobody looks until the next `look`."""
        self._steps = WallSteps()
