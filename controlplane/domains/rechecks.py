"""Time passes for domains: verified ones are checked every hour, pending ones given up after 72 hours.

What is due stands in the rows, so a restart neither forgets nor repeats. Many that become due at once are spread, and
an hour later they are due as they were spread.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from controlplane.domains.lifecycle import WINDOW_MS
from controlplane.domains.registry import Registry
from storage.clock import Clock
from storage.domains import domains
from storage.domains.domains import DomainRow
from storage.engine.database import Database
from storage.service import Enduring, LoopService
from storage.set_aside import SetAside

CHECK_EVERY_MS = 3_600_000
POLL_S = 60
BATCH = 50
AT_ONCE = 8  # of the resolvers' places, which owners ask for as well (doh.HEARINGS_MAX)
# From one to the next. A check is two milliseconds of the event loop, and after an outage all are due. Each waits from
# when the one before began: of times that were laid out before, a loop that was held up would find many over at once.
BETWEEN_S = 0.01
# Where a batch is due and none for long yet: some seven thousand go in half of the time until they are due again.
BETWEEN_MANY_S = 0.25
LONG_MS = CHECK_EVERY_MS // 2

log = structlog.get_logger("maild.domains")


class Rechecks(LoopService):
    """Makes the checks that no owner asks for, over all organizations (`round`)."""

    name = "domain checks"

    def __init__(self, db: Database, clock: Clock, registry: Registry) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._registry = registry
        self._set_aside = SetAside(clock, log, "domain_not_checked", "domain_id")
        self._places = asyncio.Semaphore(AT_ONCE)
        self._beginning = asyncio.Lock()
        self._between_s = BETWEEN_S

    async def run(self) -> None:
        while True:
            is_more_due = False
            with Enduring(log, "domain_checks_failed"):  # the domains stay as they are
                is_more_due = await self.round()
            if not is_more_due:
                await self.pause(POLL_S)

    async def round(self) -> bool:
        """At most BATCH of each that is due now; may there be more?"""
        now_ms, but = self._clock.now_ms(), self._set_aside.keys()
        overdue = await self._db.read(domains.pending_since, now_ms - WINDOW_MS, BATCH, but)
        due = await self._db.read(domains.due_for_check, now_ms, CHECK_EVERY_MS, BATCH, but)
        is_for_long = any(now_ms - (row.last_checked_at or 0) >= CHECK_EVERY_MS + LONG_MS for row in due)
        self._between_s = BETWEEN_MANY_S if len(due) == BATCH and not is_for_long else BETWEEN_S
        checks = [(row, self._registry.expire) for row in overdue]
        checks += [(row, self._registry.recheck) for row in due]
        are_done = await asyncio.gather(*(self._make(*check) for check in checks))
        return all(are_done) and BATCH in (len(overdue), len(due))

    async def _make(self, row: DomainRow, check: Callable[[DomainRow], Awaitable[None]]) -> bool:
        """The check in its turn; False: the store refused it."""
        async with self._places:
            async with self._beginning:
                await asyncio.sleep(self._between_s)
            return await self._set_aside.attempt(row.id, check(row))
