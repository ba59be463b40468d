"""From a verdict to the store, with the smallest window for a second copy.

Between a host's 250 and our commit stands the only window in which a crash means that a message is
sent twice. So an outcome is handed to the writer at once, without waiting for its neighbours in the
destination; those that come while the writer is busy are one unit of work, of TOGETHER recipients at most (a quarter
of them where events tell of each), and many units share one commit; but at most UNSETTLED_MAX outcomes may wait for
the disk. When a unit can't be written, each of its outcomes is tried by itself until it is, and deliveries pause
meanwhile: a success that can't be noted would be a duplicate. What brings a local delivery, a follow-up or many events
with it is a unit of its own from the beginning.

What fails for any other reason would fail again, and holds no place: it takes one step of `_less` after the other,
down to leases that end without a verdict, so that the rows come again on schedule. Every row of an outcome
gets one verdict, INTERNAL where it was not given any.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from conf.log_events import LogEvent, clean, tell
from maild.outbound.simulator import FollowUp
from maild.outcomes import accepted, attempted
from maild.outcomes.accepted import AcceptedOutcome
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.verdict import Settled, Verdict
from maild.ports import DeliverLocal, Reply
from storage.audit.trail import Records
from storage.clock import DAY_MS, Clock, iso
from storage.engine.database import Database
from storage.engine.failures import is_outage
from storage.engine.tx import Tx
from storage.engine.writer import DatabaseClosed
from storage.ids import Ids
from storage.sending import attempts, leases, tls_sessions
from storage.sending.leases import Due
from storage.sending.tls_sessions import TlsSession
from storage.service import STORE_RETRY_S, Enduring, tell_failure
from storage.states import RECIPIENT_ACCEPTED
from storage.usage import Counts

UNSETTLED_MAX = 64
TOGETHER = 16
TOLD = 4  # a recipient of whom an event tells is as much work as so many: it shows all of the message's
TOGETHER_BESIDE_REQUESTS = 4  # some half a millisecond of the event loop
# Each shows all recipients of its message: half a millisecond, where there are 150.
APART_EVENTS = 8
DRAIN_S = 1.0
INTERNAL = Verdict("deferred", 451, "4.3.0", "internal error")
NOT_THEIRS = Verdict("failed", None, None, "the sender's domain was deleted, or is not verified any more")

log = structlog.get_logger("maild.outbound")


@dataclass
class Outcome:
    """Rows of one message, all leased. What has no verdict yet gets one from `deliver_local`; `follow_ups`
    are what else happens because of it. `evidence`: packed, of what was attempted for `attempted` of the rows.
    `tls_sessions`, `surplus`: see DeliveryResult."""

    rows: list[Due]
    verdicts: dict[int, Verdict]
    deliver_local: DeliverLocal | None = None
    follow_ups: Sequence[FollowUp] = ()
    duration_ms: int = 0
    evidence: str | None = None
    attempted: Sequence[Due] = ()
    tls_sessions: Sequence[TlsSession] = ()
    surplus: Sequence[Due] = ()

    is_internal: bool = False  # its verdicts were given up already

    def set_apart(self, surplus: Sequence[Due]) -> None:
        """These rows are no part of it any more."""
        self.surplus = surplus
        self.rows = [row for row in self.rows if row not in surplus]
        self.attempted = [row for row in self.attempted if row not in surplus]

    def is_deferred(self) -> bool:
        """Is any of its recipients to be tried again later?"""
        return any(verdict.status == "deferred" for verdict in self.verdicts.values())

    def has_units(self) -> bool:
        """Does writing it run more than the verdicts: a local delivery, or what follows from one?"""
        return self.deliver_local is not None or bool(self.follow_ups)

    def is_accepted(self) -> bool:
        """Is it of one recipient, whom a host has accepted, and nothing else follows from it?"""
        if len(self.rows) != 1 or self.has_units() or self.tls_sessions:
            return False
        verdict = self.verdicts.get(self.rows[0].position)
        return verdict is not None and verdict.status in RECIPIENT_ACCEPTED

    def takes_long(self) -> bool:
        """Is it of many recipients who failed, are deferred for the first time, or get copies in inboxes of ours?"""
        return len(self.rows) > APART_EVENTS and self._events() > APART_EVENTS

    def work(self) -> int:
        """How much it is to write, in recipients that were accepted."""
        return len(self.rows) + (TOLD - 1) * self._events()

    def _events(self) -> int:
        verdicts = [(row, self.verdicts.get(row.position)) for row in self.rows]
        return sum(one is None or _is_told(row, one) for row, one in verdicts)

    def as_accepted(self) -> AcceptedOutcome:
        """The same, where it `is_accepted`."""
        (row,) = self.rows
        evidence = self.evidence if row in self.attempted else None
        return AcceptedOutcome(row, self.verdicts[row.position], self.duration_ms, evidence)

    def less(self) -> bool:
        """Leave out what may be the reason that it can't be written; False when nothing is left to leave out."""
        if self.evidence is not None or self.tls_sessions:
            self.evidence, self.tls_sessions = None, ()
            return True
        if self.is_internal:
            return False
        later = {row.position: INTERNAL for row in self.rows}
        # What hangs on a unit is tried again later; a host's verdicts stand as long as there was a unit to blame.
        keeps = self.deliver_local is not None and not self.follow_ups
        self.is_internal = not self.has_units()
        self.verdicts = later | self.verdicts if keeps else later
        self.deliver_local, self.follow_ups = None, ()
        return True


_Waiting = tuple[Outcome, Callable[[bool], None]]


def _units(waiting: Sequence[_Waiting]) -> list[list[_Waiting]]:
    """Those that are written together: as much work as TOGETHER recipients at most, or one."""
    units: list[list[_Waiting]] = []
    room = 0
    for one in waiting:
        work = one[0].work()
        if work > room:
            units.append([])
            room = TOGETHER
        room -= work
        units[-1].append(one)
    return units


def _is_told(row: Due, verdict: Verdict) -> bool:
    """Does the verdict on this recipient bring an event of its own?"""
    was_told = verdict.status == "deferred" and row.status == "deferred"
    return not was_told and verdict.status not in RECIPIENT_ACCEPTED


class Settler:
    """Writes outcomes beside the deliveries, UNSETTLED_MAX at a time. `has_requests`: does anybody wait for the loop?
    `store_retry_s`: before a refused one's retry."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        audit: Records,
        has_requests: Callable[[], bool],
        store_retry_s: float = STORE_RETRY_S,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._has_requests = has_requests
        self._store_retry_s = store_retry_s
        self._slots = asyncio.Semaphore(UNSETTLED_MAX)
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[_Waiting] = []
        self._is_writing = False

    async def settle(self, outcome: Outcome, settled: Callable[[bool], None]) -> None:
        """Have it written; returns when it is on its way. `settled(is_deferred)` is called afterwards."""
        await self._slots.acquire()
        if outcome.has_units() or outcome.takes_long():
            self._begin(self._settle(outcome, settled))
            return
        self._waiting.append((outcome, settled))
        if not self._is_writing:
            self._is_writing = True
            self._begin(self._settle_waiting())

    def _begin(self, settling: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(settling)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self) -> None:
        """Wait up to DRAIN_S for what is being written; the leases of what is not are freed at the next start."""
        await finish(self._tasks, DRAIN_S)

    async def _settle_waiting(self) -> None:
        try:
            while self._waiting:
                taken = TOGETHER_BESIDE_REQUESTS if self._has_requests() else len(self._waiting)
                waiting, self._waiting = self._waiting[:taken], self._waiting[taken:]
                await asyncio.gather(*map(self._settle_together, _units(waiting)))
        finally:
            self._is_writing = False

    async def _settle_together(self, unit: Sequence[_Waiting]) -> None:
        now_ms = self._clock.now_ms()
        try:
            outcomes_of_unit = [outcome for outcome, _ in unit]
            context = OutcomeContext(self._ids.new, self._audit, now_ms)
            recorded = await self._db.write(_record_together, outcomes_of_unit, context)
        except Exception:  # which of them is at fault, each shows by itself
            await asyncio.gather(*(self._settle(outcome, settled) for outcome, settled in unit))
            return
        for (outcome, settled), (verdicts, rows) in zip(unit, recorded, strict=True):
            outcome.verdicts = verdicts
            try:
                for one in rows:
                    _tell_settled(one, outcome.duration_ms, now_ms)
            finally:
                self._slots.release()
                settled(outcome.is_deferred())

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
        """Write it, as often as it takes. A store that refuses is told of once."""
        told: str | None = None
        while True:
            context = OutcomeContext(self._ids.new, self._audit, self._clock.now_ms())
            write = self._db.write_apart if outcome.takes_long() else self._db.write
            try:
                outcome.verdicts, settled = await write(_record, outcome, context)
                return settled
            except DatabaseClosed:
                raise
            except Exception as error:
                if str(error) != told:
                    tell_failure(log, "outcome_not_stored", error, message_id=outcome.rows[0].message_id)
                told = str(error)
                if is_outage(error) and not outcome.has_units():
                    await asyncio.sleep(self._store_retry_s)
                elif not outcome.less():
                    await self._let_go(outcome.rows)
                    return ()

    async def _let_go(self, rows: Sequence[Due]) -> None:
        """End the leases without a verdict: the time of the next attempt was written when they began."""
        with Enduring(log, "leases_kept", message_id=rows[0].message_id):  # the next start ends them
            await self._db.write(leases.let_go, [(row.message_id, row.position) for row in rows])


Recorded = tuple[dict[int, Verdict], Sequence[Settled]]


def _record_together(
    tx: Tx, outcomes_of_unit: Sequence[Outcome], context: OutcomeContext
) -> Sequence[Recorded]:
    counts = Counts()
    well = [outcome for outcome in outcomes_of_unit if outcome.is_accepted()]
    ended = [outcome.as_accepted() for outcome in well]
    told = accepted.record(tx, ended, context.new_id, context.now_ms, counts)
    recorded: dict[int, Recorded] = {
        id(outcome): (outcome.verdicts, () if settled is None else (settled,))
        for outcome, settled in zip(well, told, strict=True)
    }
    for outcome in outcomes_of_unit:
        if id(outcome) not in recorded:
            recorded[id(outcome)] = _record(tx, outcome, context, counts)
    counts.write(tx)
    return [recorded[id(outcome)] for outcome in outcomes_of_unit]


def _record(tx: Tx, outcome: Outcome, context: OutcomeContext, counts: Counts | None = None) -> Recorded:
    """The verdicts, with those of the local unit, and what was settled by them."""
    verdicts = outcome.verdicts
    if outcome.has_units() and not leases.holds(tx, outcome.rows):
        return verdicts, ()  # the message was deleted meanwhile: it must not arrive
    if outcome.deliver_local is not None:
        verdicts = _of_inboxes(outcome.rows, outcome.deliver_local(tx)) | verdicts
    missing = {row.position: INTERNAL for row in outcome.rows if row.position not in verdicts}
    if missing:
        log.error("no_verdict", message_id=outcome.rows[0].message_id, recipient_count=len(missing))
    verdicts = verdicts | missing
    settled = attempted.record(tx, outcome.rows, verdicts, context, outcome.duration_ms, counts)
    if outcome.evidence is not None:
        _keep_evidence(tx, outcome.evidence, outcome.attempted, settled)
    for session in outcome.tls_sessions:
        tls_sessions.note(tx, context.now_ms // DAY_MS, outcome.rows[0].domain, session)
    for follow_up in outcome.follow_ups:
        follow_up(tx)
    return verdicts, settled


def _of_inboxes(rows: Sequence[Due], replies: Mapping[str, Reply] | None) -> dict[int, Verdict]:
    if replies is None:
        return {row.position: NOT_THEIRS for row in rows}
    return {
        row.position: replace(
            Verdict.of(reply.code, reply.enhanced, reply.text),
            stored_as=reply.message_id,
            refused_for=reply.refused_for,
        )
        for row in rows
        if (reply := replies.get(row.address)) is not None
    }


def _keep_evidence(tx: Tx, evidence: str, attempted: Sequence[Due], settled: Sequence[Settled]) -> None:
    """With the rows that were attempted and are still there."""
    positions = {row.position for row in attempted}
    told = [
        attempts.OneAttempt(one.row.position, one.row.attempts)
        for one in settled
        if one.row.position in positions
    ]
    if told:
        attempts.keep_evidence(tx, settled[0].row.message_id, told, evidence)


def _tell_settled(settled: Settled, duration_ms: int, now_ms: int) -> None:
    """After the commit, which it is about."""
    row, verdict, outcome = settled
    more: dict[str, Any] = {}
    if verdict.host is not None:
        more |= {"host": verdict.host, "tls": verdict.tls}
    if verdict.stored_as is not None:
        more["stored_as"] = verdict.stored_as
    if verdict.refused_for:
        more["refused_for"] = verdict.refused_for
    if outcome == "deferred":
        more["next_attempt_at"] = iso(row.next_attempt_at)
    if (bounce := verdict.bounce) is not None:
        more |= {"class": bounce.bounce_class, "advice": bounce.advice}
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
