"""Brings about that what waits in deactivated inboxes fails, and what keys have sent that are revoked with their mail
(storage/mail/withdrawal.py), slice after slice with a rest after each, some of each organization's in turn.

Nothing of it leaves meanwhile. The commit that closes an inbox or a key wakes this loop, and leaves a mark that goes
once nothing waits any more: so a kill leaves nothing but what the next start finds.
"""

import asyncio
from typing import NamedTuple

import structlog

from storage.clock import Clock
from storage.engine.database import Database
from storage.ids import Ids
from storage.mail import withdrawal
from storage.mail.withdrawal import Senders
from storage.service import Enduring, LoopService

log = structlog.get_logger("maild.withdrawing")


class WithdrawingPace(NamedTuple):
    """How many messages are found in one look; how many times as long as a slice took is rested; how long it is to the
    next try of what failed."""

    found: int = 5000
    rest: float = 1
    retry_s: float = 60.0


class Withdrawer(LoopService):
    """`wake()` is called after each commit that leaves mail to it (`withdrawal.BEHIND`)."""

    name = "withdrawing"

    def __init__(
        self, db: Database, clock: Clock, ids: Ids, pace: WithdrawingPace = WithdrawingPace()
    ) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids
        self._pace = pace

    async def run(self) -> None:
        while True:
            pause_s: float | None = self._pace.retry_s
            with Enduring(log, "withdrawing_failed"):
                pause_s = await self.round()
            await self.pause(pause_s)

    async def round(self) -> float | None:
        """Withdraw some of each organization's mail; in how many seconds to look again, None: once it is woken. What
        fails for one organization holds up no other."""
        has_failed = has_done = False
        for organization_id in await self._db.peek(withdrawal.owners):
            is_done = False
            with Enduring(log, "withdrawing_failed", organization_id=organization_id):
                await self._withdraw_some(organization_id)
                is_done = True
            has_failed, has_done = has_failed or not is_done, has_done or is_done
        if has_done:
            return 0
        return self._pace.retry_s if has_failed else None

    async def _withdraw_some(self, organization_id: str) -> None:
        for senders in withdrawal.SENDERS:
            closed = await self._db.peek(senders.closed, organization_id)
            if closed:
                await self._withdraw_of(organization_id, senders, closed)

    async def _withdraw_of(self, organization_id: str, senders: Senders, closed: list[str]) -> None:
        waiting = await self._db.read_for(
            organization_id, senders.find_waiting, organization_id, closed, self._pace.found
        )
        for some in waiting.slices():
            began = self._clock.monotonic()
            await self._db.write_apart(withdrawal.withdraw_slice, some, self._ids.new, self._clock.now_ms())
            await asyncio.sleep((self._clock.monotonic() - began) * self._pace.rest)
        if waiting.messages < self._pace.found:  # that was all, and no more comes
            await self._db.write(senders.end, closed)
