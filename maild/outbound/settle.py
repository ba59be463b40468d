"""From a verdict to the store, with the smallest window for a second copy.

Between a host's 250 and our commit stands the only window in which a crash means that a message is
sent twice. So an outcome is handed to the writer at once, without waiting for its neighbours in the
destination, and many share one commit; but at most UNSETTLED_MAX may wait for the disk. When the store
refuses, each is tried until it is written, and deliveries pause meanwhile: a success that can't be
noted would be a duplicate.

What fails for any other reason would fail again, and holds no place: it takes one step of `_less` after the other,
down to leases that end without a verdict, so that the rows come again on schedule. Every row of an outcome
gets one verdict, INTERNAL where it was not given any.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from conf.log_events import LogEvent, clean, tell
from maild import outcomes
from maild.outbound.simulator import FollowUp
from maild.outcomes import NewId, Settled, Verdict
from maild.ports import DeliverLocal
from storage import outbound
from storage.clock import Clock, iso
from storage.database import Database, DatabaseClosed, Tx
from storage.failures import is_outage
from storage.ids import Ids
from storage.outbound import Due
from storage.service import STORE_RETRY_S, Enduring

UNSETTLED_MAX = 64
DRAIN_S = 1.0
INTERNAL = Verdict("deferred", 451, "4.3.0", "internal error")

log = structlog.get_logger("maild.outbound")


@dataclass
class Outcome:
    """Rows of one message, all leased. What has no verdict yet gets one from `deliver_local`; `follow_ups`
    are what else happens because of it."""

    rows: list[Due]
    verdicts: dict[int, Verdict]
    deliver_local: DeliverLocal | None = None
    follow_ups: Sequence[FollowUp] = ()
    duration_ms: int = 0

    is_internal: bool = False  # its verdicts were given up already

    def is_deferred(self) -> bool:
        """Is any of its recipients to be tried again later?"""
        return any(verdict.status == "deferred" for verdict in self.verdicts.values())

    def has_units(self) -> bool:
        """Does writing it run more than the verdicts: a local delivery, or what follows from one?"""
        return self.deliver_local is not None or bool(self.follow_ups)

    def less(self) -> bool:
        """Leave out what may be the reason that it can't be written; False when nothing is left to leave out."""
        if self.is_internal:
            return False
        later = {row.position: INTERNAL for row in self.rows}
        # What hangs on a unit is tried again later; a host's verdicts stand as long as there was a unit to blame.
        keeps = self.deliver_local is not None and not self.follow_ups
        self.is_internal = not self.has_units()
        self.verdicts = later | self.verdicts if keeps else later
        self.deliver_local, self.follow_ups = None, ()
        return True


class Settler:
    """Writes outcomes beside the deliveries, UNSETTLED_MAX at a time. `store_retry_s`: before a refused one's retry."""

    def __init__(self, db: Database, clock: Clock, ids: Ids, store_retry_s: float = STORE_RETRY_S) -> None:
        self._store_retry_s = store_retry_s
        self._db = db
        self._clock = clock
        self._ids = ids
        self._slots = asyncio.Semaphore(UNSETTLED_MAX)
        self._tasks: set[asyncio.Task[None]] = set()

    async def settle(self, outcome: Outcome, settled: Callable[[bool], None]) -> None:
        """Have it written; returns when it is on its way. `settled(is_deferred)` is called afterwards."""
        await self._slots.acquire()
        task = asyncio.create_task(self._settle(outcome, settled))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait up to DRAIN_S for what is being written; the leases of what is not are freed at the next start."""
        await finish(self._tasks, DRAIN_S)

    async def _settle(self, outcome: Outcome, settled: Callable[[bool], None]) -> None:
        try:
            for one in await self._store(outcome):
                _tell_settled(one, outcome.duration_ms, self._clock.now_ms())
        except DatabaseClosed:
            log.error("outcome_lost", message_id=outcome.rows[0].message_id, reason="the store was closed")
        finally:
            self._slots.release()
            settled(outcome.is_deferred())

    async def _store(self, outcome: Outcome) -> Sequence[Settled]:
        """Write it, as often as it takes."""
        while True:
            now_ms = self._clock.now_ms()
            try:
                outcome.verdicts, settled = await self._db.write(_record, outcome, self._ids.new, now_ms)
                return settled
            except DatabaseClosed:
                raise
            except Exception as error:
                log.exception("outcome_not_stored", message_id=outcome.rows[0].message_id)
                if is_outage(error) and not outcome.has_units():
                    await asyncio.sleep(self._store_retry_s)
                elif not outcome.less():
                    await self._let_go(outcome.rows)
                    return ()

    async def _let_go(self, rows: Sequence[Due]) -> None:
        """End the leases without a verdict: the time of the next attempt was written when they began."""
        with Enduring(log, "leases_kept", message_id=rows[0].message_id):  # the next start ends them
            await self._db.write(outbound.let_go, [(row.message_id, row.position) for row in rows])


def _record(
    tx: Tx, outcome: Outcome, new_id: NewId, now_ms: int
) -> tuple[dict[int, Verdict], Sequence[Settled]]:
    """The verdicts, with those of the local unit, and what was settled by them."""
    verdicts = outcome.verdicts
    if outcome.has_units() and not outbound.holds(tx, outcome.rows):
        return verdicts, ()  # the message was deleted meanwhile: it must not arrive
    if outcome.deliver_local is not None:
        replies = outcome.deliver_local(tx)
        verdicts = {
            row.position: replace(
                Verdict.of(reply.code, reply.enhanced, reply.text), stored_as=reply.message_id
            )
            for row in outcome.rows
            if (reply := replies.get(row.address)) is not None
        } | verdicts
    missing = {row.position: INTERNAL for row in outcome.rows if row.position not in verdicts}
    if missing:
        log.error("no_verdict", message_id=outcome.rows[0].message_id, recipients=len(missing))
    verdicts = verdicts | missing
    settled = outcomes.record(tx, outcome.rows, verdicts, new_id, now_ms, outcome.duration_ms)
    for follow_up in outcome.follow_ups:
        follow_up(tx)
    return verdicts, settled


def _tell_settled(settled: Settled, duration_ms: int, now_ms: int) -> None:
    """After the commit, which it is about."""
    row, verdict, outcome = settled
    more: dict[str, Any] = {}
    if verdict.host is not None:
        more |= {"host": verdict.host, "tls": verdict.tls}
    if verdict.stored_as is not None:
        more["stored_as"] = verdict.stored_as
    if outcome == "deferred":
        more["next_attempt_at"] = iso(row.next_attempt_at)
    tell(
        log,
        LogEvent[outcome.upper()],
        message_id=row.message_id,
        recipient=row.address,
        organization_id=row.organization_id,
        code=verdict.code,
        enhanced=verdict.enhanced,
        reason=clean(verdict.text),
        attempt=row.attempts,
        duration_ms=duration_ms,
        age_s=max(0, now_ms - row.created_at) // 1000,
        **more,
    )


async def finish(tasks: set[asyncio.Task[None]], timeout_s: float) -> None:
    """Let them end by themselves for so long, then cancel them."""
    if not tasks:
        return
    _, late = await asyncio.wait(set(tasks), timeout=timeout_s)
    for task in late:
        task.cancel()
    if late:
        log.warning("cut_off_at_stop", tasks=len(late))
        await asyncio.wait(late)
