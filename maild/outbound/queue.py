"""The outbound queue's loop: lease what is due, spread it over destinations, deliver, settle.

What is durable when: a lease is committed before a connection is made, with its attempt counted and the next
one scheduled; an outcome is committed as soon as the remote host has answered (`settle.py`).

`wake()` is called from the event loop, after a commit that made something due. What is held in
memory is leased and bounded (`window.py`); a destination that is full has its further rows left in the store, and so
has an organization that has its share (`due_scan.py`: how the look goes past these).

What a crash leaves: leases, which `start` frees. `stop` leases nothing more, lets running
deliveries finish for DRAIN_S, and gives the rest back: what was not begun is due at once, what
was cut off is tried again on schedule.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import structlog

from conf.tuning import QueueTuning
from maild.message.delivery_evidence import NOT_TRIED, pack
from maild.message.envelope_sender import untagged
from maild.outbound.closings import SenderClosed
from maild.outbound.delivery import Deliverer, Lane
from maild.outbound.lines.destination_queues import (
    DestinationKey,
    DestinationKind,
    DestinationQueue,
    DestinationQueues,
    destination_of,
)
from maild.outbound.lines.due_scan import DueScan
from maild.outbound.lines.queue_leases import QueueLeases, due_ms
from maild.outbound.lines.window import Window
from maild.outbound.pace.pacing import Postponed
from maild.outbound.settle import INTERNAL, NOT_THEIRS, Outcome, Settler, finish
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.simulator import Simulator
from maild.outcomes.verdict import Verdict
from maild.ports import LocalMail, QueuePorts
from storage.clock import Clock
from storage.exhaustion import WantLog, is_exhaustion
from storage.mail.blobs import BlobMissing
from storage.sending.leases import Due, Leased
from storage.service import STORE_RETRY_S, LoopService
from storage.turns.rounds import Kind, Rounds

LEASE_ROWS = 256
LEASE_ROWS_BESIDE_REQUESTS = 32  # a millisecond of the event loop
LEASE_ROWS_MIN = 64  # with less room than this, wait for more
SKIPPING_PAUSE_MAX_S = 0.25  # between leases that step over destinations whose queues are full
PAUSE_MAX_S = 60  # a clock that was set back must not hold up the mail
POSTPONED_S = 30.0  # for what destinations that may hang have no room for
EXHAUSTED_S = 5.0  # for what there were no descriptors or memory for
DRAIN_S = 7.0

log = structlog.get_logger("maild.outbound")
want = WantLog("deliveries")

_SUPPRESSED = Verdict("suppressed", None, None, "the address is on the suppression list")
_NOT_TRIED = pack(NOT_TRIED)


class OutboundQueue(LoopService):
    """The loop over what is due, and the workers of the destinations. What is durable: see the module."""

    name = "outbound queue"

    def __init__(
        self,
        clock: Clock,
        *,
        leases: QueueLeases,
        ports: QueuePorts,
        destinations: DestinationQueues,
        deliverer: Deliverer,
        simulator: Simulator,
        settler: Settler,
        recipient_headers: RecipientHeaders,
        rounds: Rounds,
        tuning: QueueTuning,
    ) -> None:
        super().__init__()
        self._clock = clock
        self._leases = leases
        self._prepare_local = ports.prepare_local
        self._is_local = ports.is_local
        self._may_send = ports.may_send
        self._destinations = destinations
        self._deliverer = deliverer
        self._simulator = simulator
        self._settler = settler
        self._recipient_headers = recipient_headers
        self._rounds = rounds
        self._tuning = tuning
        self._window = Window(tuning.window_rows)
        self._is_full = False
        self._scan = DueScan()
        self._workers: set[asyncio.Task[None]] = set()
        self._delivering: Counter[str] = Counter()  # by organization
        self._stopping = False

    def is_delivering(self, organization_id: str) -> bool:
        """Is mail of the organization on its way at this moment, whatever is said of its rows by now?"""
        return self._delivering[organization_id] > 0

    async def start(self) -> None:
        if self._task is None:
            self._stopping = False
            await self._leases.free_all()
        await super().start()

    async def run(self) -> None:
        while not self._stopping:
            room = self._window.room
            self._is_full = room < LEASE_ROWS_MIN
            if self._is_full:
                await self.pause(PAUSE_MAX_S)
                continue
            limit = LEASE_ROWS_BESIDE_REQUESTS if self._rounds.has_requests() else min(LEASE_ROWS, room)
            full = self._destinations.full_lines(self._window)
            since = self._scan.since(full, self._clock.now_ms())
            began = self._clock.monotonic()
            leased = await self._leases.take(limit, full, since)
            cost_s = self._clock.monotonic() - began if any(full) else 0
            if leased is None or not await self._distribute(leased.rows):
                await self.pause(STORE_RETRY_S)
                continue
            self._scan.looked(full, since, leased, limit)
            if len(leased.rows) < limit:
                await self._wait_for_due(leased, cost_s)

    async def _wait_for_due(self, leased: Leased, cost_s: float) -> None:
        """Nothing more is due, or may be had: wait for a wake, or for what is due next.

        `cost_s`: what it took to step over lines that are full, not to be the writer's main work.
        """
        await asyncio.sleep(min(cost_s * 4, SKIPPING_PAUSE_MAX_S))
        if leased.scanned_to is not None:
            return
        timeout_s = self._tuning.paused_look_s if leased.is_paused else self._tuning.look_again_s
        if leased.next_due_at is not None:
            timeout_s = min(timeout_s, max(0, leased.next_due_at - self._clock.now_ms()) / 1000)
        await self.pause(timeout_s)

    # From leases to destinations ------------------------------------------------------------------

    async def _distribute(self, rows: Sequence[Due]) -> bool:
        """Group by message and next hop, and put each group in its destination's queue; False if the store failed."""
        local, unknown = await self._local_domains({row.domain for row in rows if row.mode == "live"})
        groups: dict[tuple[str, int, str, DestinationKey], list[Due]] = {}
        for row in rows:
            if row.domain in unknown:
                continue
            copy = row.position if row.unsubscribe else 0  # a copy of one's own is a transaction of its own
            key = self._destination_key(row, local)
            # Each domain has an envelope sender of its own; behind a relay several share a destination.
            sender = row.domain if key.kind is DestinationKind.RELAY else ""
            groups.setdefault((row.message_id, copy, sender, key), []).append(row)
        too_many: list[Due] = []
        postponed: list[Due] = []
        for (_, _, _, key), group in groups.items():
            destination = self._destinations.queue(key)
            if not self._destinations.has_room_for(destination, group):
                too_many += group
                continue
            if self._destinations.must_wait_for_share(destination, group):
                postponed += group
                continue
            self._destinations.enter(destination, group)
            self._window.counts.enter(group)
            destination.waiting.put(group)
            self._prepare(destination, group)
            self._start_workers(destination)
        is_let_go = await self._leases.let_go([row for row in rows if row.domain in unknown])
        is_given_back = await self._leases.give_back(too_many)
        return is_given_back and await self._leases.give_back(postponed, POSTPONED_S) and is_let_go

    async def _local_domains(self, domains: set[str]) -> tuple[frozenset[str], frozenset[str]]:
        """The domains that are ours, and those of which the look-up failed."""
        ordered = list(domains)
        answers = await asyncio.gather(
            *(self._is_local(domain) for domain in ordered), return_exceptions=True
        )
        told = dict(zip(ordered, answers, strict=True))
        for domain, answer in told.items():
            if isinstance(answer, BaseException):
                log.error("local_domain_unknown", domain=domain, exc_info=answer)
        unknown = frozenset(domain for domain, answer in told.items() if isinstance(answer, BaseException))
        return frozenset(domain for domain, answer in told.items() if answer is True), unknown

    def _destination_key(self, row: Due, local: frozenset[str]) -> DestinationKey:
        relay = self._deliverer.relay_of(row.domain, row.sender_domain)
        return destination_of(row.mode, row.domain, row.domain in local, relay)

    def _start_workers(self, destination: DestinationQueue) -> None:
        while not self._stopping and self._destinations.wants_worker(destination):
            self._destinations.worker_began(destination)
            worker = asyncio.create_task(self._work(destination))
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    def _prepare(self, destination: DestinationQueue, group: list[Due]) -> None:
        """Have a message prepared that waits where hosts answer, and not one that is the only one."""
        if self._window.rows > len(group) and self._destinations.answers(destination):
            self._deliverer.prepare(group)

    # From destinations to outcomes ----------------------------------------------------------------

    async def _work(self, destination: DestinationQueue) -> None:
        try:
            async with self._deliverer.lane() as lane:
                while destination.waiting and not self._stopping:
                    rows = destination.waiting.take()
                    await self._rounds.begin(Kind.DELIVERY)
                    organization_id = rows[0].organization_id
                    self._delivering[organization_id] += 1
                    try:
                        await self._process(destination, lane, rows)
                    finally:
                        self._delivering[organization_id] -= 1
                    self._start_workers(destination)
        finally:
            self._destinations.worker_ended(destination)

    async def _process(self, destination: DestinationQueue, lane: Lane, rows: list[Due]) -> None:
        began = self._clock.monotonic()
        outcome, willing = Outcome(rows, {}), rows
        try:
            now = await self._leases.look_again(rows)
            if now.is_paused:
                await self._leases.give_back(rows)
                self._settled(destination, rows, is_deferred=False)
                self.wake()  # the loop has not heard of the pause yet, nor would it of its end
                return
            if now.is_closed:
                raise SenderClosed(rows[0].message_id)
            willing = now.willing
            outcome.verdicts |= {row.position: _SUPPRESSED for row in now.suppressed}
            # A verdict on what is gone changes nothing and publishes nothing.
            outcome.verdicts |= {row.position: INTERNAL for row in now.gone}
            if willing:
                await self._deliver(destination, lane, willing, outcome)
        except Postponed as later:
            await self._come_again(destination, rows, later.wait_s)
            return
        except SenderClosed:
            await self._leave_to_withdrawal(destination, rows)
            return
        except Exception as error:
            if is_exhaustion(error):  # nobody's fault, and no attempt
                want.note(error)
                await self._come_again(destination, rows, EXHAUSTED_S)
                return
            log.exception("delivery_failed", message_id=rows[0].message_id)
            outcome.verdicts |= {row.position: INTERNAL for row in willing}
        outcome.duration_ms = int((self._clock.monotonic() - began) * 1000)
        await self._settler.settle(outcome, partial(self._settled, destination, outcome.rows))
        if outcome.surplus:
            await self._deliver_next(destination, outcome.surplus, len(outcome.rows))

    async def _come_again(self, destination: DestinationQueue, rows: list[Due], wait_s: float) -> None:
        """They were not tried, and will be soon."""
        life_s = (rows[0].expires_at - self._clock.now_ms()) / 1000
        await self._leases.give_back(rows, min(wait_s, life_s) if life_s > 0 else wait_s)
        self._settled(destination, rows, is_deferred=True)

    async def _leave_to_withdrawal(self, destination: DestinationQueue, rows: list[Due]) -> None:
        """They were not tried, and are not looked at before their next time."""
        await self._leases.give_back(rows, (rows[0].next_attempt_at - self._clock.now_ms()) / 1000)
        self._settled(destination, rows, is_deferred=False)

    async def _deliver_next(self, destination: DestinationQueue, rows: Sequence[Due], together: int) -> None:
        """The rest of a message, so many recipients at once; their leases go on."""
        if self._stopping:
            self._settled(destination, list(rows), is_deferred=False)
            await self._leases.give_back(rows)
            return
        groups = [list(rows[at : at + together]) for at in range(0, len(rows), together)]
        destination.waiting.put_first(groups)

    async def _deliver(
        self, destination: DestinationQueue, lane: Lane, rows: list[Due], outcome: Outcome
    ) -> None:
        if not await self._may_send(rows[0].organization_id, rows[0].sender_domain):
            outcome.verdicts |= {row.position: NOT_THEIRS for row in rows}
        elif destination.key.kind is DestinationKind.LOCAL:
            outcome.deliver_local = await self._prepare_local(self._local_mail(rows))
        elif destination.key.kind is DestinationKind.SIMULATOR:
            played = await self._simulator.play(rows)
            outcome.verdicts |= played.verdicts
            outcome.follow_ups = played.follow_ups
        else:
            outcome.attempted = rows
            outcome.verdicts |= await self._verdicts(destination, lane, rows, outcome)

    async def _verdicts(
        self, destination: DestinationQueue, lane: Lane, rows: list[Due], outcome: Outcome
    ) -> Mapping[int, Verdict]:
        await self._destinations.try_again_if_asked(destination, rows[0].domain)
        if self._destinations.is_dead(destination) and destination.last_verdict is not None:
            outcome.evidence = _NOT_TRIED
            words = replace(destination.last_verdict, has_left=False)  # that was another message
            return {row.position: words for row in rows}
        postponed = self._destinations.postponed(destination)
        if postponed is not None:
            return self._put_off(rows, postponed)
        is_doubtful, is_alone = self._destinations.is_doubtful(destination), self._window.rows == len(rows)
        delivery = await self._deliverer.deliver(rows, lane, is_doubtful, is_alone)
        if delivery.postponed is not None:
            if delivery.postponed.is_back_off:
                self._destinations.put_off(destination, delivery.postponed)
            return self._put_off(rows, delivery.postponed)
        outcome.evidence = delivery.evidence
        outcome.tls_sessions = delivery.tls_sessions
        outcome.set_apart(delivery.surplus)
        if delivery.lost_after_data:
            self._destinations.lost(destination, delivery.group)
        elif delivery.was_reached:
            self._destinations.reached(destination, delivery.group)
        elif delivery.group is not None:
            self._destinations.silent(destination, delivery.group)
        elif (verdict := delivery.verdicts[rows[0].position]).status == "deferred":
            self._destinations.no_way(destination, verdict)
        return delivery.verdicts

    def _put_off(self, rows: Sequence[Due], postponed: Postponed) -> Mapping[int, Verdict]:
        """Verdicts for what is not tried now; Postponed where it waits so shortly that nobody need be told."""
        now_ms = self._clock.now_ms()
        if not self._destinations.is_told(postponed) and now_ms < rows[0].expires_at:
            raise replace(postponed)  # anew: it would know this frame, which knows it
        until_ms = postponed.until_ms or due_ms(now_ms, postponed.wait_s)
        not_before = min(until_ms, max(now_ms, rows[0].expires_at))
        words = replace(postponed.words, has_left=False, not_before=not_before)
        return {row.position: words for row in rows}

    def _local_mail(self, rows: Sequence[Due]) -> LocalMail:
        row = rows[0]
        if row.blob_id is None:
            raise BlobMissing(row.message_id)
        return LocalMail(
            message_id=row.message_id,
            organization_id=row.organization_id,
            inbox_id=row.inbox_id,
            sender_domain=row.sender_domain,
            blob_id=row.blob_id,
            envelope_from=row.envelope_from or untagged(row.bounce_token or "", row.sender_domain),
            recipients=tuple(one.address for one in rows),
            mode=row.mode,
            recipient_headers=self._recipient_headers.of(row),
        )

    def _settled(self, destination: DestinationQueue, rows: list[Due], is_deferred: bool) -> None:
        if not is_deferred:
            self._deliverer.forget(rows)
        self._destinations.leave(destination, rows)
        self._window.counts.leave(rows)
        organization_id = rows[0].organization_id
        may_refill = self._window.may_refill(organization_id)
        may_refill = self._destinations.may_refill(destination, organization_id) or may_refill
        # A deferred row may be due before anything that the loop waits for; a queue may have room again.
        if is_deferred or may_refill or (self._is_full and self._window.is_half_empty()):
            self.wake()

    # The end -------------------------------------------------------------------------------

    async def stop(self) -> None:
        if self._task is not None:
            self._stopping = True
            self.wake()
            await asyncio.wait([self._task])  # a lease that is on its way comes in, and is given back
        await super().stop()
        await self._give_back_waiting()
        await finish(self._workers, DRAIN_S)
        await self._settler.drain()
        await self._deliverer.close()

    async def _give_back_waiting(self) -> None:
        rows: list[Due] = []
        for destination in self._destinations.occupied():
            for group in destination.waiting.empty():
                self._deliverer.forget(group)
                rows += group
                self._destinations.leave(destination, group)
                self._window.counts.leave(group)
        await self._leases.give_back(rows)
