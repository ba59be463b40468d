"""When to try again. Pure, but for the randomness that it is given.

The n-th attempt that fails is followed after `first_retry_s` times the n-th of STEPS, give or take
a tenth; the last step repeats. The last attempt of all is made when the recipient expires.
"""

import random

from conf.settings import Outbound
from maild.outbound.pace.rate import PLANNED_S
from storage.clock import DAY_MS

STEPS = (1, 5, 15, 30, 60, 120, 240, 480)
JITTER = 0.1
LATE_LIFE_MS = 3_600_000


class Schedule:
    """All times in ms since the epoch."""

    def __init__(self, settings: Outbound, randomness: random.Random) -> None:
        self._first_retry_ms = settings.first_retry_s * 1000
        self._give_up_after_ms = settings.give_up_after_s * 1000
        self._randomness = randomness
        has_rates = any(rule.messages_per_minute for rule in settings.pace.values())
        self._put_off_ms = DAY_MS + 1000 if settings.warmup else int(has_rates * PLANNED_S * 1000) + 1000

    def retry_at(self, now_ms: int, attempts: int, expires_at: int) -> int:
        """When to try again, if the attempts-th attempt, made now, fails."""
        step = STEPS[min(attempts, len(STEPS)) - 1]
        delay_ms = step * self._first_retry_ms * self._randomness.uniform(1 - JITTER, 1 + JITTER)
        at_ms = now_ms + int(delay_ms)
        return min(at_ms, expires_at) if expires_at > now_ms else at_ms

    @property
    def longest_ms(self) -> int:
        """No attempt is put off for longer."""
        return max(int(STEPS[-1] * self._first_retry_ms * (1 + JITTER)) + 1, self._put_off_ms)

    def expires_at(self, created_at: int) -> int:
        """When a recipient that is still deferred is given up."""
        return created_at + self._give_up_after_ms

    def expiry(self, now_ms: int, attended_since: int, expires_at: int) -> int:
        """When a recipient is given up that is looked at now, and was to be at `expires_at`.

        What nobody could look at when its time ended, before `attended_since`, has LATE_LIFE_MS from now on: its hosts
        may put it off once more, want little at a time, or be out of reach while our own network comes up. Nothing has
        longer than a new one has: it came while the clock was ahead.
        """
        if expires_at < min(now_ms, attended_since):
            return now_ms + min(LATE_LIFE_MS, self._give_up_after_ms)
        return min(expires_at, now_ms + self._give_up_after_ms)
