"""Where decisions about held mail come in while the daemon runs: room in the queue, the unit of work, who is woken.

`ReviewDesk` is called for keys; `ReviewKeeper` turns down what nobody has decided in time. Nothing is held in memory:
what is due stands in rows, so a restart neither forgets nor repeats. It is woken by commits that hold something; the
wall clock decides, and may jump, so it is looked at every LOOK_AGAIN_S while anything is held.
"""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from controlplane.contract.refusals import Refusal
from controlplane.contract.work.policies import EXPIRES_AFTER_S_MAX
from controlplane.sending.admitting.admission import Refused, SendingWakes
from controlplane.sending.preparing import Preparation, refuse_when_paused
from controlplane.sending.reviews.reviewing import Approval, Decided, Decider, Reviewing, with_lineage
from storage.agents import reviews
from storage.audit.acts import Actor
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import messages
from storage.records import MessageRow, ReviewRow, recipients_of
from storage.service import STORE_RETRY_S, EnduringOutages, LoopService
from storage.set_aside import SetAside

BATCH = 8  # that wait to be written at a time: they share commits, and others stand behind no more
AHEAD_AT_ONCE = 100
LOOK_AGAIN_S = 0.5
LONGEST_MS = EXPIRES_AFTER_S_MAX * 1000

log = structlog.get_logger("maild.reviews")


class ReviewDesk:
    """What keys decide of held mail, and the room that it finds in the queue."""

    def __init__(
        self, preparation: Preparation, reviewing: Reviewing, clock: Clock, wakes: SendingWakes
    ) -> None:
        self._preparation = preparation
        self._reviewing = reviewing
        self._clock = clock
        self._wakes = wakes

    async def approve(
        self, db: Database, organization_id: str, review_id: str, decider: Decider, approval: Approval
    ) -> ReviewRow:
        """Let the message go, durably; Refusal, and then it is held as before."""
        decider = await db.read_for(organization_id, with_lineage, organization_id, review_id, decider)
        recipients = await db.lookup(self._entering, organization_id, review_id)
        if recipients is None:
            decided = await db.write(self._approve, organization_id, review_id, decider, approval)
            return self._settled(decided).review
        await self._preparation.refuse_when_full()
        with self._preparation.room.place(recipients) as place:
            decided = self._settled(
                await db.write(self._let_enter, organization_id, review_id, decider, approval)
            )
            is_queued = decided.message is not None and decided.message.status == "queued"
            place.is_taken = is_queued
        (self._wakes.queue if is_queued else self._wakes.scheduler)()
        return decided.review

    async def reject(
        self, db: Database, organization_id: str, review_id: str, decider: Decider, note: str | None
    ) -> ReviewRow:
        """Turn the message down, durably; Refusal."""
        decided = await db.write(self._reject, organization_id, review_id, decider, note)
        return self._settled(decided).review

    async def withdraw(
        self, db: Database, organization_id: str, message_id: str, by: Actor, may: Callable[[ReviewRow], None]
    ) -> None:
        """Take a held message back, durably; Refusal `message_not_found`, `not_held`. `may`: raises where it may not
        be."""
        self._settled(await db.write(self._withdraw, organization_id, message_id, by, may))

    def withdraw_deleted(self, tx: Tx, message: MessageRow, by: Actor) -> None:
        """Inside the transaction that deletes a held message."""
        review = reviews.of_message(tx, message.organization_id, message.id)
        if review is not None:
            self._reviewing.withdraw(tx, review, by)

    def _settled(self, decided: Decided | Refused) -> Decided:
        try:
            if isinstance(decided, Refused):
                raise decided.error
            decided.tell(log)
            return decided
        finally:
            del decided  # its error knows this frame

    # Units of work -----------------------------------------------------------------------------

    def _entering(self, tx: Tx, organization_id: str, review_id: str) -> int | None:
        """How many recipients an approval lets into the queue now; None: it is about mail that came in."""
        review = find(tx, organization_id, review_id)
        message = messages.get(tx, organization_id, review.message_id)
        if review.direction == "inbound" or review.status != "pending" or message is None:
            return None
        return 0 if (message.scheduled_at or 0) > self._clock.now_ms() else len(recipients_of(message))

    def _let_enter(
        self, tx: Tx, organization_id: str, review_id: str, decider: Decider, approval: Approval
    ) -> Decided | Refused:
        """Approve what goes into the queue, unless that was paused meanwhile."""
        refuse_when_paused(tx)
        return self._approve(tx, organization_id, review_id, decider, approval)

    def _approve(
        self, tx: Tx, organization_id: str, review_id: str, decider: Decider, approval: Approval
    ) -> Decided | Refused:
        return self._reviewing.approve(tx, find(tx, organization_id, review_id), decider, approval)

    def _reject(
        self, tx: Tx, organization_id: str, review_id: str, decider: Decider, note: str | None
    ) -> Decided:
        return self._reviewing.reject(tx, find(tx, organization_id, review_id), decider, note)

    def _withdraw(
        self, tx: Tx, organization_id: str, message_id: str, by: Actor, may: Callable[[ReviewRow], None]
    ) -> Decided:
        message = messages.get(tx, organization_id, message_id)
        if message is None:
            raise Refusal("message_not_found")
        review = reviews.of_message(tx, organization_id, message_id)
        if message.status != "held" or review is None:
            raise Refusal("not_held", details={"status": message.status})
        may(review)
        return self._reviewing.withdraw(tx, review, by)


def find(tx: Tx, organization_id: str, review_id: str) -> ReviewRow:
    """The organization's review; Refusal `review_not_found`."""
    review = reviews.get(tx, organization_id, review_id)
    if review is None:
        raise Refusal("review_not_found")
    return review


class ReviewKeeper(LoopService):
    """Turns down what is held and was not decided in time."""

    name = "reviews"

    def __init__(self, db: Database, clock: Clock, reviewing: Reviewing) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._reviewing = reviewing
        self._set_aside = SetAside(clock, log, "review_not_expired", "review_id")

    async def run(self) -> None:
        enduring = EnduringOutages(log, "reviews_not_expired")
        while True:
            rest_s: float | None = STORE_RETRY_S
            with enduring:
                rest_s = await self.round()
            await self.pause(rest_s)

    async def round(self) -> float | None:
        """Do what is due now; how long there is nothing to do (None: until it is woken)."""
        await self._begin_anew(self._clock.now_ms())
        while over := await self._db.lookup(self._over):
            # All at once, to share their commits.
            attempts = (self._set_aside.attempt(one, self._expire(owner, one)) for owner, one in over)
            if not all(await asyncio.gather(*attempts)):
                return STORE_RETRY_S
        next_ms = await self._db.lookup(reviews.next_end, self._set_aside.keys())
        if next_ms is None:
            return self._set_aside.rest_s
        return min(LOOK_AGAIN_S, max(0.0, (next_ms - self._clock.now_ms()) / 1000))

    async def _begin_anew(self, now_ms: int) -> None:
        """A clock that was set back must not hold mail for as long as it was ahead."""
        while await self._db.lookup(reviews.is_from_ahead, now_ms, LONGEST_MS):
            await self._db.write(reviews.begin_anew, now_ms, LONGEST_MS, AHEAD_AT_ONCE)

    def _over(self, tx: Tx) -> Sequence[tuple[str, str]]:
        return reviews.over(tx, self._clock.now_ms(), BATCH, self._set_aside.keys())

    async def _expire(self, organization_id: str, review_id: str) -> None:
        decided = await self._db.write(self._reviewing.expire, organization_id, review_id)
        if decided is not None:
            decided.tell(log)
