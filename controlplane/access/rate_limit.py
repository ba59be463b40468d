"""Requests of an organization in any 60 seconds, exactly, over all its keys, also across a restart.

The window is in memory and counts without waiting: the limit is exact under any number of parallel
requests, and follows the monotonic clock, so that setting the wall clock neither opens nor locks it.

What is durable when: counts are written to the store in the background, at once after a pause and then at
most every FLUSH_EVERY_S, whatever the load; so kill -9 forgets what was counted in the last FLUSH_EVERY_S
at most. The request that takes the last place of a window, and those that are refused, are answered
after the window was written: a client that was told to slow down is still told so after a crash. A store that
can't be written never stops a request: the counts wait for the next turn, and the log hears of it once a minute.
"""

import asyncio
import math
from collections import defaultdict, deque
from functools import partial
from itertools import repeat
from typing import NamedTuple

import structlog

from storage import rate_windows
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.failures import StoreFailure
from storage.engine.writer import DatabaseClosed
from storage.service import LoopService

log = structlog.get_logger("maild.api")

WINDOW_S = 60
WINDOW_MS = WINDOW_S * 1000
FLUSH_EVERY_S = 0.25
TELL_EVERY_MS = 60_000


class RateVerdict(NamedTuple):
    """Whether a request may proceed, and what its answer says of the window (docs/contract.md, section 8)."""

    allowed: bool
    limit: int
    remaining: int
    reset_at: int  # Unix seconds: when the oldest counted request leaves the window
    retry_after_s: int

    def headers(self) -> dict[str, str]:
        """The `X-RateLimit-…` fields of an answer."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset_at),
        }


class RateLimit(LoopService):
    """A rolling window per organization. What is refused is not counted."""

    name = "rate_limit"

    def __init__(self, db: Database, clock: Clock, per_minute: int) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._limit = per_minute
        # organization → monotonic milliseconds, oldest first
        self._windows: defaultdict[str, deque[int]] = defaultdict(partial(deque, maxlen=per_minute))
        self._unwritten: dict[str, dict[int, int]] = {}  # organization → Unix second → requests
        self._writing = asyncio.Lock()
        self._forget_at = 0
        self._tell_at: int | None = None  # a store that fails: not before this

    async def count(self, organization_id: str) -> RateVerdict:
        """Count one request; whether it may proceed."""
        verdict = self._count(organization_id)
        if verdict.remaining == 0:
            await self._write_window_of(organization_id)
        return verdict

    async def start(self) -> None:
        if self._task is None:
            await self._restore()
        await super().start()

    async def run(self) -> None:
        while True:
            await self.pause(None)
            await self.flush()
            if self._monotonic_ms() >= self._forget_at:
                self._forget_idle()
            await asyncio.sleep(FLUSH_EVERY_S)

    async def stop(self) -> None:
        await super().stop()
        await self.flush()

    async def flush(self) -> None:
        """Write what was counted since the last time."""
        async with self._writing:
            await self._write()

    def _count(self, organization_id: str) -> RateVerdict:
        now_ms = self._monotonic_ms()
        wall_ms = self._clock.now_ms()
        window = self._windows[organization_id]
        while window and window[0] <= now_ms - WINDOW_MS:
            window.popleft()
        allowed = len(window) < self._limit
        if allowed:
            window.append(now_ms)
            self._note(organization_id, wall_ms // 1000, 1)
        leaves_in_ms = window[0] + WINDOW_MS - now_ms
        return RateVerdict(
            allowed,
            self._limit,
            max(0, self._limit - len(window)),
            math.ceil((wall_ms + leaves_in_ms) / 1000),
            math.ceil(leaves_in_ms / 1000),
        )

    def _note(self, organization_id: str, second: int, requests: int) -> None:
        seconds = self._unwritten.setdefault(organization_id, {})
        seconds[second] = seconds.get(second, 0) + requests
        self.wake()

    async def _write_window_of(self, organization_id: str) -> None:
        async with self._writing:  # also waits for a write under way, which may be about this window
            if organization_id in self._unwritten:
                await self._write()

    async def _write(self) -> None:
        counts, self._unwritten = self._unwritten, {}
        if not counts:
            return
        since = self._clock.now_ms() // 1000 - WINDOW_S
        try:
            await self._db.impatient().write(rate_windows.add, counts, since)
        except (StoreFailure, DatabaseClosed) as error:
            self._tell_of(error)
            for organization_id, seconds in counts.items():
                for second, requests in seconds.items():
                    if second >= since:
                        self._note(organization_id, second, requests)

    def _tell_of(self, error: Exception) -> None:
        now_ms = self._monotonic_ms()
        if self._tell_at is None or now_ms >= self._tell_at:
            self._tell_at = now_ms + TELL_EVERY_MS
            log.error("rate_windows_not_written", error=str(error))

    async def _restore(self) -> None:
        """Go on from what another process counted. Each request counts as one at the end of its second. Where there
        are more than may be, the newest decide when there is a place again."""
        wall_ms, now_ms = self._clock.now_ms(), self._monotonic_ms()
        first, last = wall_ms // 1000 - WINDOW_S, wall_ms // 1000
        await self._db.write(rate_windows.purge, first, last)
        for counted in await self._db.read(rate_windows.between, first, last):
            age_ms = max(0, wall_ms - (counted.second * 1000 + 999))
            self._windows[counted.organization_id].extend(repeat(now_ms - age_ms, counted.requests))

    def _forget_idle(self) -> None:
        now_ms = self._monotonic_ms()
        self._forget_at = now_ms + WINDOW_MS
        since = now_ms - WINDOW_MS
        for organization_id in [one for one, window in self._windows.items() if window[-1] <= since]:
            del self._windows[organization_id]

    def _monotonic_ms(self) -> int:
        return round(self._clock.monotonic() * 1000)
