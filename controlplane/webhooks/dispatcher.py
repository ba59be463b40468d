"""Delivers events to webhooks: claim, POST, judge, record, next.

What is durable when:
- An event and its deliveries are committed with the change that caused them (storage.publishing.events). `wake()` says
  that there may be some; a wake that is lost, or never comes because another process wrote, costs at most
  `look_again_s` (conf.tuning).
- An attempt is counted, and its delivery leased, before the request leaves; the record of the attempt, the
  delivery's state and the next due time are one transaction after it.

What a crash leaves: leased deliveries. The next start frees them, and the same attempt is made again
with the same `X-Svc-Delivery`, not before the first one's deadline has passed. So a receiver may get an
attempt twice and must dedupe (the contract says so), but none is lost. `stop()` lets requests in flight
finish for `drain_s` (conf.tuning), then abandons them and gives their leases back.

An attempt's slot may go on to the next of the same webhook: then its record and the next lease are one
transaction, and no look-out is needed (slots.keeps_slot says when that is fair).

Order: one endpoint's requests leave oldest first, one after the other (`send_order.py`); up to
`max_concurrent_per_endpoint` may wait for their answers. A retry comes after what happened meanwhile; receivers
that must know order by `createdAt`.

What waits for a webhook that is deleted or inactive is halted beside the slots (`halting.py`); an attempt that was
leased before halts too.

`redeliver` leases and settles like everything else, beside the slots: the caller waits for the answer, and the
rate limit of the API bounds how many ask. A failure is retried as its attempt number says: the fifth and
later ones never.

An attempt that can't be recorded (disk full) is recorded later, holding its slot until then: nothing
new is sent that could not be recorded either. One that can't be made for want of descriptors or memory is made later
likewise, with a new signature, and so is one that can't because this host's own network is away: no endpoint is at
fault, so none loses an attempt. On request it is made all the same, since the caller waits for what comes of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import structlog

from conf.log_events import LogEvent, clean, tell
from conf.settings import Webhooks
from conf.tuning import WebhookTuning
from controlplane.contract.refusals import Refusal
from controlplane.egress.client import OnSent
from controlplane.webhooks import attempts, events, redelivery
from controlplane.webhooks.calling import Caller, EndpointRequest, Sent, record_of
from controlplane.webhooks.halting import HALTED, Halter
from controlplane.webhooks.jobs import Job, Jobs
from controlplane.webhooks.look_out import Look, look
from controlplane.webhooks.recorder import Ended, Recorder
from controlplane.webhooks.send_order import SendOrder, Turn
from controlplane.webhooks.slots import InFlight, SlotLimits, SlowStart, keeps_slot
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.engine.writer import DatabaseClosed
from storage.exhaustion import Exhausted, WantLog, is_exhaustion
from storage.ids import Ids
from storage.publishing import webhooks
from storage.publishing.webhooks import AttemptSettlement, Head, LeasedDelivery
from storage.records import EventRow, WebhookAttempt
from storage.service import Enduring, EnduringOutages, LoopService
from storage.turns.rounds import Kind, Rounds

T = TypeVar("T")

log = structlog.get_logger("maild.webhooks")
want = WantLog("webhooks")

KEEP_PLACE = frozenset({"succeeded", HALTED})


class Made(NamedTuple):
    """An attempt that was made and recorded. `following`: what was leased in its place."""

    record: WebhookAttempt
    following: LeasedDelivery | None


class Dispatcher(LoopService):
    """The one service that makes attempts of deliveries; the module's head says what is durable when."""

    name = "webhooks"

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        caller: Caller,
        settings: Webhooks,
        load_text: events.LoadText,
        rounds: Rounds,
        tuning: WebhookTuning,
    ) -> None:
        super().__init__()
        self._db = db
        self._rounds = rounds
        self._log = log.bind()  # finding the method anew costs more than not writing the line
        self._clock = clock
        self._caller = caller
        self._settings = settings
        self._jobs = Jobs(db, load_text, tuning.kept_bytes)
        self._tuning = tuning
        self._claiming = EnduringOutages(log, "claim_failed")
        self._slots = SlotLimits(settings.max_concurrent, settings.max_concurrent_per_endpoint)
        self._send_order = SendOrder()
        self._slow_start = SlowStart(settings.max_concurrent_per_endpoint)
        self._lease = ids.new("run")
        self._in_flight = InFlight()
        self._heads: Sequence[Head] = ()
        self._look_ahead_at = 0.0
        self._draining = False
        self._idle = asyncio.Event()
        self._recorder = Recorder(db, self._lease, self._keeps_place, self._take)
        self._halter = Halter(db, clock, self._tell)
        self._is_halting = False

    async def start(self) -> None:
        if self._task is None:
            self._draining = False
            self._send_order = SendOrder()
            await self._db.write(webhooks.free_leases)
            await super().start()

    def wake(self) -> None:
        self._idle.clear()
        super().wake()

    async def idle(self) -> None:
        """Return when nothing is due and every attempt that was begun is recorded."""
        await self._idle.wait()

    async def redeliver(self, store: Database, organization_id: str, attempt_id: str) -> WebhookAttempt:
        """Make the next attempt of that attempt's delivery now; its record. Refusal when it can't be.

        `store`: as the caller may use it.
        """
        until_ms = self._until_ms(self._clock.now_ms())
        delivery = await store.write(redelivery.begin, organization_id, attempt_id, self._lease, until_ms)
        try:
            made = await self._make(delivery, self._send_order.none())
        finally:
            self.wake()  # there may be a retry to wait for
        if made is None:
            raise Refusal("event_not_kept")
        return made.record

    async def stop(self) -> None:
        task = self._task
        if task is None:
            return
        self._draining = True
        self.wake()
        await asyncio.wait([task], timeout=self._tuning.drain_s)
        await super().stop()
        await self._db.write(webhooks.give_back, self._lease, self._clock.now_ms())

    async def run(self) -> None:
        # A fault in an attempt's own machinery ends the group, hence the loop, hence the process.
        async with asyncio.TaskGroup() as group:
            while not self._draining:
                await self.pause(await self._begin_due(group))

    async def _begin_due(self, group: asyncio.TaskGroup) -> float:
        """Begin what is due and has a slot; for how many seconds there is nothing more to do."""
        now_ms = self._clock.now_ms()
        claim = None
        with self._claiming:
            claim = await self._claim(now_ms)
        if claim is None:
            return self._tuning.store_retry_s
        seen, taken = claim
        if self._draining:  # stop() gives back what was taken meanwhile
            return 0
        self._heads = seen.heads
        for delivery in taken:
            self._idle.clear()
            self._in_flight.begin(delivery.webhook_id, seen.owners[delivery.webhook_id])
            group.create_task(self._deliver(delivery, self._send_order.take(delivery.webhook_id)))
        if seen.to_halt and not self._is_halting:
            self._is_halting = True
            group.create_task(self._halt(seen.to_halt))
        if seen.rest_s:
            await asyncio.sleep(seen.rest_s)
        return self._rest_s(seen.next_due_ms)

    async def _halt(self, webhook_ids: Sequence[str]) -> None:
        """Some of what waits for each; a look tells whether there is more."""
        rest_s = self._tuning.store_retry_s
        with Enduring(log, "claim_failed"):
            for webhook_id in webhook_ids:
                if not self._draining:
                    await self._halter.halt(webhook_id)
            rest_s = 0
        await asyncio.sleep(rest_s)
        self._is_halting = False
        self.wake()

    async def _claim(self, now_ms: int) -> tuple[Look, list[LeasedDelivery]]:
        """What waits, and what was leased of it. Only what is really begun waits for the writer."""
        await self._bring_back(now_ms)
        seen = await self._db.read(look, now_ms, self._slots, self._in_flight.copy(), self._slow_start)
        return seen, await self._db.write(self._take, seen.begin) if seen.begin else []

    async def _bring_back(self, now_ms: int) -> None:
        """A clock that was set back must not hold up events: what no delay makes wait so long is due."""
        if self._clock.monotonic() < self._look_ahead_at:
            return
        self._look_ahead_at = self._clock.monotonic() + self._tuning.look_again_s
        longest_s = max(self._settings.retry_delays_s, default=0) + self._settings.timeout_s
        ahead = await self._db.read(webhooks.ahead, now_ms + longest_s * 1000)
        if ahead:
            await self._db.write(webhooks.bring_back, ahead, now_ms)

    def _rest_s(self, next_due_ms: int | None) -> float:
        rest_s = self._tuning.look_again_s
        if next_due_ms is not None:
            rest_s = min(max(0.0, (next_due_ms - self._clock.now_ms()) / 1000), self._tuning.look_again_s)
        if not (self._in_flight or self._is_halting) and rest_s > 0 and not self._woken.is_set():
            self._idle.set()
        return rest_s

    def _take(self, tx: Tx, begin: Mapping[str, int]) -> list[LeasedDelivery]:
        now_ms = self._clock.now_ms()
        until_ms = self._until_ms(now_ms)
        taken: list[LeasedDelivery] = []
        for webhook_id, limit in begin.items():
            taken += webhooks.take(tx, webhook_id, now_ms, limit=limit, lease=self._lease, until_ms=until_ms)
        return taken

    def _until_ms(self, now_ms: int) -> int:
        # Not before then if we die in the middle: an endpoint is never hammered by a crash loop.
        return now_ms + self._settings.timeout_s * 1000

    async def _deliver(self, delivery: LeasedDelivery, turn: Turn) -> None:
        following: LeasedDelivery | None = delivery
        try:
            while following is not None:
                made = await self._make(following, turn, goes_on=True)
                following = made.following if made else None
                if following is not None:
                    turn = self._send_order.take(following.webhook_id)
        finally:
            self._in_flight.end(delivery.webhook_id)
            self.wake()

    async def _make(self, delivery: LeasedDelivery, turn: Turn, *, goes_on: bool = False) -> Made | None:
        """Make the attempt that is leased and record it; None when its event is gone.

        `goes_on`: it has a slot, which the next of its webhook may take over with the record.
        """
        try:
            await turn.come()
            await self._rounds.begin(Kind.WEBHOOK)
            while True:
                begun_ms, begun_s = self._clock.now_ms(), self._clock.monotonic()
                job = await self._insist(lambda: self._find(delivery))
                if job is None:
                    return None
                sent = await self._attempt(delivery, job, begun_ms, turn.pass_on)
                if sent.is_starved:
                    want.note(Exhausted(sent.verdict.error))
                    await asyncio.sleep(self._tuning.store_retry_s)
                elif sent.is_cut_off and goes_on:
                    await asyncio.sleep(self._tuning.network_retry_s)
                else:
                    break
        finally:
            turn.pass_on()
        duration_ms = round((self._clock.monotonic() - begun_s) * 1000)
        return await self._settle(delivery, job.event, sent, begun_ms, duration_ms, goes_on)

    async def _find(self, delivery: LeasedDelivery) -> Job | None:
        return await self._jobs.find(delivery)

    async def _attempt(self, delivery: LeasedDelivery, job: Job, now_ms: int, on_sent: OnSent) -> Sent:
        webhook, event = job.webhook, job.event
        if webhook is None or not webhook.is_active:
            return Sent({}, None, None, attempts.halted(deleted=webhook is None))
        try:
            body = await self._jobs.body(job)
        except Exception as error:
            is_starved = is_exhaustion(error)
            if not is_starved:
                log.exception("render_failed", event_id=event.id, attempt=delivery.attempt)
            verdict = self._caller.unanswered("internal error", delivery.attempt)
            return Sent({}, None, None, verdict, is_starved)
        call = EndpointRequest(webhook, event.id, event.type, delivery.attempt, body, now_ms)
        return await self._caller.call(call, on_sent)

    async def _settle(
        self,
        delivery: LeasedDelivery,
        event: EventRow,
        sent: Sent,
        begun_ms: int,
        duration_ms: int,
        goes_on: bool,
    ) -> Made:
        state, _, retry_after_s = sent.verdict
        if state != HALTED and self._slow_start.note(delivery.webhook_id, sent.verdict.is_successful):
            self.wake()
        # The delay counts from the end of this attempt.
        next_ms = None if retry_after_s is None else self._clock.now_ms() + retry_after_s * 1000
        record = record_of(
            sent,
            webhook_id=delivery.webhook_id,
            organization_id=event.organization_id,
            event_id=event.id,
            event_type=event.type,
            attempt=delivery.attempt,
            begun_ms=begun_ms,
            duration_ms=duration_ms,
            next_ms=next_ms,
        )
        # A retry has a time, for which only a look-out sets the alarm; a failed endpoint has no claim to a slot.
        ended = Ended(AttemptSettlement(delivery, state, next_ms, record), goes_on and state in KEEP_PLACE)
        following = await self._record(ended)
        self._tell(record, event.message_id, state)
        return Made(record, following)

    def _tell(self, record: WebhookAttempt, message_id: str | None, state: str) -> None:
        tell(
            self._log,
            LogEvent.WEBHOOK_ATTEMPTED,
            message_id=message_id,
            event_type=record.event_type,
            delivery_id=record.id,
            webhook_id=record.webhook_id,
            event_id=record.event_id,
            attempt=record.attempt,
            code=record.response_status,
            state=state,
            reason=None if record.error is None else clean(record.error),
            organization_id=record.organization_id,
            duration_ms=record.duration_ms,
        )

    async def _record(self, ended: Ended) -> LeasedDelivery | None:
        """Record the attempt; what was leased in its place."""
        try:
            return await self._recorder.record(ended)
        except DatabaseClosed:
            raise
        except Exception:  # one that can't be recorded must not stop those that ended beside it
            return await self._insist(lambda: self._recorder.record_alone(ended))

    def _keeps_place(self, webhook_id: str) -> bool:
        return not self._draining and keeps_slot(
            webhook_id, self._heads, self._in_flight, self._slow_start.slots
        )

    async def _insist(self, unit: Callable[[], Awaitable[T]]) -> T:
        """Run a unit of work until the store takes it: what was sent must not go unrecorded."""
        while True:
            with Enduring(log, "store_failed"):
                return await unit()
            await asyncio.sleep(self._tuning.store_retry_s)
