"""Requests of an organization in any 60 seconds, exactly, over all its keys."""

import math
from collections import deque
from typing import NamedTuple

from storage.clock import Clock

WINDOW_MS = 60_000


class Verdict(NamedTuple):
    allowed: bool
    limit: int
    remaining: int
    reset_at: int  # Unix seconds: when the oldest counted request leaves the window
    retry_after_s: int

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset_at),
        }


class RateLimit:
    """A rolling window per organization. What is refused is not counted."""

    def __init__(self, clock: Clock, per_minute: int) -> None:
        self._clock = clock
        self._limit = per_minute
        self._windows: dict[str, deque[int]] = {}

    def count(self, organization_id: str) -> Verdict:
        """Count one request; whether it may proceed."""
        now_ms = self._clock.now_ms()
        window = self._windows.setdefault(organization_id, deque())
        while window and window[0] <= now_ms - WINDOW_MS:
            window.popleft()
        allowed = len(window) < self._limit
        if allowed:
            window.append(now_ms)
        leaves_ms = window[0] + WINDOW_MS
        return Verdict(
            allowed,
            self._limit,
            self._limit - len(window),
            math.ceil(leaves_ms / 1000),
            max(1, math.ceil((leaves_ms - now_ms) / 1000)),
        )
