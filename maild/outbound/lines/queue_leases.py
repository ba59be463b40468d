"""The rows of the queue that this process has leased: which it takes, which of them are still to be sent, and how
leases end without an outcome.

What is durable when: a lease is committed before anything is done with its rows, their attempt counted and the next
one scheduled (`storage.sending.leases`). What a crash leaves is leases, which `free_all` ends at the next start. Where
the store refuses to take rows or to end leases, nothing is raised: the mail stays where it is, and so do the leases
until that start.
"""

from collections.abc import Sequence
from functools import partial

import structlog

from conf.log_events import LogEvent, tell
from maild.message.fields.address import suppression_keys
from maild.outbound.lines.attendance import Attendance
from maild.outbound.lines.schedule import Schedule
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.sending import leases, outbound
from storage.sending.leases import Due, FullLines, Leased, QueuePlace, Wanted
from storage.service import EnduringOutages

log = structlog.get_logger("maild.outbound")


class QueueLeases:
    """`lease_id`: marks this process's leases."""

    def __init__(self, db: Database, clock: Clock, lease_id: str, schedule: Schedule) -> None:
        self._db = db
        self._clock = clock
        self._lease_id = lease_id
        self._schedule = schedule
        self._attendance = Attendance()
        self._enduring = EnduringOutages(log, "lease_failed")

    async def free_all(self) -> None:
        """At the start: end those of a process that died."""
        freed = await self._db.write(leases.free_all)
        if freed:
            tell(log, LogEvent.LEASES_FREED, recipient_count=freed)

    async def take(self, limit: int, full: FullLines, since: QueuePlace) -> Leased | None:
        """Lease what is due; None when the store refuses."""
        with self._enduring:
            leased = await self._db.write(self._take_due, limit, full, since)
            if leased.is_paused:
                self._attendance.end()
            return leased
        return None

    def _take_due(self, tx: Tx, limit: int, full: FullLines, since: QueuePlace) -> Leased:
        now_ms = self._clock.now_ms()
        # Of the same moment: a clock that jumps while the writer is waited for would end the life of what waits.
        self._attendance.look(now_ms, self._clock.monotonic())
        retry_at = partial(self._schedule.retry_at, now_ms)
        outbound.bring_back(tx, now_ms, self._schedule.longest_ms, retry_at)
        if self._attendance.may_follow_ahead:
            self._attendance.may_follow_ahead = outbound.bring_back_from_ahead(tx, now_ms, retry_at)
        expiry = partial(self._schedule.expiry, now_ms, self._attendance.since_ms)
        return leases.lease(tx, self._lease_id, now_ms, limit, retry_at, full, since, expiry)

    async def look_again(self, rows: Sequence[Due]) -> Wanted:
        """Which of the rows are still to be sent."""
        look = self._db.peek if len(rows) == 1 else self._db.lookup  # one row is one statement
        return await look(leases.look_again, rows, suppression_keys)

    async def let_go(self, rows: Sequence[Due]) -> bool:
        """End leases of what can't be routed now: its next attempt is on schedule, and holds up no other mail."""
        if not rows:
            return True
        try:
            await self._db.write(leases.let_go, [(row.message_id, row.position) for row in rows])
        except Exception:
            log.exception("leases_not_ended", recipient_count=len(rows))
            return False
        return True

    async def give_back(self, rows: Sequence[Due], wait_s: float = 0) -> bool:
        """End leases of what was not begun, which is due then; False if the store failed."""
        if not rows:
            return True
        try:
            keys = [(row.message_id, row.position) for row in rows]
            await self._db.write(leases.give_back, keys, due_ms(self._clock.now_ms(), wait_s))
        except Exception:
            log.exception("leases_not_given_back", recipient_count=len(rows))
            return False
        return True


def due_ms(now_ms: int, wait_s: float) -> int:
    """Unix milliseconds, on a whole second unless it is now: what comes due together is leased together."""
    return now_ms if wait_s <= 0 else -(-(now_ms + int(wait_s * 1000)) // 1000) * 1000
