"""Scheduled messages, when their time has come: the guards once more, then the queue, or a review that rules and
policies ask for by then.

What is durable when: dispatch is one transaction, which takes the message out of `scheduled` by an UPDATE that
names that status. A cancel does the same, so one of the two wins, and a message is dispatched once however
often the process dies. What was due while it was down leaves when it is up.

Where more is due than goes at once, organizations take turns. A message that fails, though the store is well, is tried
again later, and holds up no other.

`wake()` is called after a commit that scheduled something. The wall clock decides, and may jump: it is
looked at every LOOK_AGAIN_S while anything is scheduled.
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import structlog

from conf.log_events import LogEvent, tell
from controlplane.contract.refusals import Refusal
from controlplane.sending.admitting import guards, holding
from controlplane.sending.admitting.admission import Admission
from controlplane.sending.admitting.guards import Attempt
from controlplane.sending.recording import record_send
from storage import switches
from storage.agents import reviews
from storage.audit.acts import Act, system
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import messages
from storage.records import MessageRow, ReviewRow, recipients_of
from storage.sending import outbound_events
from storage.service import STORE_RETRY_S, EnduringOutages, LoopService
from storage.set_aside import SetAside
from storage.turns.rounds import Kind, Rounds

BATCH = 64
TURNS = 15  # organizations that have a part of a batch
# That wait to be written at a time: enough to share commits, and others who write stand behind no more.
AT_ONCE = 8
LOOK_AGAIN_S = 0.5
SCHEDULER = system("scheduler")
PAUSED_LOOK_S = 2.0  # while the operator has paused the queue

log = structlog.get_logger("maild.scheduler")


class Scheduler(LoopService):
    """Dispatches scheduled messages when they are due. `wake_queue`: called after commits that made recipients due.
    `look_out_s`: between two looks, where nothing is scheduled, whether a command has changed that."""

    name = "scheduler"

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        admission: Admission,
        audit: Records,
        rounds: Rounds,
        wake_queue: Callable[[], None],
        look_out_s: float,
    ) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids
        self._admission = admission
        self._audit = audit
        self._rounds = rounds
        self._wake_queue = wake_queue
        self._look_out_s = look_out_s
        self._last_in_turn = ""
        self._places = asyncio.Semaphore(AT_ONCE)
        self._set_aside = SetAside(clock, log, "not_dispatched", "message_id")

    async def run(self) -> None:
        enduring = EnduringOutages(log, "dispatching_failed")  # what is due stays scheduled
        while True:
            rest_s = STORE_RETRY_S
            with enduring:
                rest_s = await self.round()
            await self.pause(rest_s)

    async def round(self) -> float:
        """Dispatch some of what is due; for how many seconds there is nothing more to do."""
        if await self._db.lookup(switches.off_since, switches.QUEUE) is not None:
            return PAUSED_LOOK_S
        if due := await self._db.lookup(self._due):
            return 0 if await self._dispatch_all(due) else STORE_RETRY_S
        return await self._rest_s()

    def _due(self, tx: Tx) -> Sequence[str]:
        """Up to BATCH messages; where there are more, some of each of TURNS organizations, and the longest overdue."""
        now_ms, but = self._clock.now_ms(), self._set_aside.keys()
        oldest = messages.scheduled_until(tx, now_ms, BATCH, but)
        if len(oldest) < BATCH:
            return oldest
        turn = messages.that_scheduled(tx, self._last_in_turn, TURNS)
        self._last_in_turn = turn[-1] if len(turn) == TURNS else ""
        share = BATCH // (TURNS + 1)
        due = [messages.scheduled_until(tx, now_ms, share, but, one) for one in turn]
        return list(dict.fromkeys([*chain(*due), *oldest]))[:BATCH]

    async def _rest_s(self) -> float:
        next_ms = await self._db.lookup(messages.next_scheduled_at, self._set_aside.keys())
        if next_ms is None:
            return self._look_out_s
        return min(LOOK_AGAIN_S, max(0.0, (next_ms - self._clock.now_ms()) / 1000))

    async def _dispatch_all(self, message_ids: Sequence[str]) -> bool:
        """Some at once, to share their commits; False when the store refused some, which stay scheduled."""
        attempts = (self._set_aside.attempt(one, self._dispatch_one(one)) for one in message_ids)
        are_done = await asyncio.gather(*attempts)
        self._wake_queue()
        return all(are_done)

    async def _dispatch_one(self, message_id: str) -> None:
        async with self._places:
            await self._rounds.begin(Kind.DELIVERY)
            released = await self._db.write(self._dispatch, message_id)
        if released is not None:
            released.tell(message_id)

    def _dispatch(self, tx: Tx, message_id: str) -> "Released | None":
        """None when there is nothing to release any more."""
        now_ms = self._clock.now_ms()
        message = messages.by_id(tx, message_id)
        if message is None or message.status != "scheduled":
            return None  # deleted or cancelled since it was looked up
        if switches.off_since(tx, switches.QUEUE) is not None:
            return None  # paused since then
        attempt = self._admission.attempt_of_stored(
            tx, message, now_ms=now_ms, goes_at_ms=now_ms, if_last=message.if_last
        )
        try:
            inbox = guards.check(tx, attempt)
        except Refusal as refusal:
            if isinstance(refusal, guards.BulkPattern):
                self._admission.trip(tx, attempt)
            messages.fail_scheduled(tx, message_id, refusal.code)
            outbound_events.publish_failed(tx, self._ids.new("evt"), message_id, now_ms)
            told = {"code": refusal.code, "inboxId": message.inbox_id}
            self._audit.record(tx, message.organization_id, Act.MESSAGE_REFUSED, SCHEDULER, message_id, told)
            return Released(message, refusal.code)
        review = self._review(tx, attempt, message)
        if review is not None:
            messages.hold_scheduled(tx, message_id)
            reviews.open_(tx, review, self._ids.new("evt"))
            record_send(
                tx, self._audit, SCHEDULER, Act.MESSAGE_HELD, attempt, inbox, message_id, review=review
            )
            return Released(message, review_id=review.id)
        if not messages.release(tx, message_id, now_ms):
            return None
        self._admission.enqueue(tx, attempt, inbox, message_id)
        record_send(tx, self._audit, SCHEDULER, Act.MESSAGE_DISPATCHED, attempt, inbox, message_id)
        return Released(message)

    def _review(self, tx: Tx, attempt: Attempt, message: MessageRow) -> ReviewRow | None:
        """What the message is to wait for, by rules and policies of now; None: it may go. What was approved once goes.
        Its words were looked at when it was accepted."""
        reasons = holding.reasons_to_hold(tx, attempt, attempt.policies.effective, ())
        if not reasons or reviews.of_message(tx, message.organization_id, message.id) is not None:
            return None
        return holding.review_of(attempt, message, reasons, (), self._ids.new("rev"))


class Released(NamedTuple):
    """What became of a scheduled message. `refusal`: a guard's code. `review_id`: it waits for a review."""

    message: MessageRow
    refusal: str | None = None
    review_id: str | None = None

    @property
    def event(self) -> LogEvent:
        """The line that tells of it."""
        if self.refusal is not None:
            return LogEvent.NOT_QUEUED
        return LogEvent.QUEUED if self.review_id is None else LogEvent.HELD

    def tell(self, message_id: str) -> None:
        """After the commit, which it is about."""
        message = self.message
        tell(
            log,
            self.event,
            message_id=message_id,
            inbox_id=message.inbox_id,
            recipients=[address for _, address in recipients_of(message)],
            mode=message.mode,
            organization_id=message.organization_id,
            **({} if self.refusal is None else {"refusal": self.refusal}),
            **({} if self.review_id is None else {"review_id": self.review_id}),
        )
