"""Brings about that what waits in deactivated inboxes fails, and what keys have sent that are revoked with their mail
(storage/mail/withdrawal.py), slice after slice with a rest after each, some of each organization's in turn.

Nothing of it leaves meanwhile. The commit that closes an inbox or a key leaves a mark that goes once nothing waits any
more, and wakes this loop; what was closed by a command that was killed then, or by a request that was given up, is
found by a look now and then. So a kill leaves nothing that is not found.
"""

import asyncio

import structlog

from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import withdrawal
from storage.mail.withdrawal import Senders, WithdrawnMail
from storage.service import Enduring, LoopService

FOUND_AT_ONCE = 5000  # messages, in one look
LOOK_S = 60.0  # at an index that is empty but for what is to be withdrawn

log = structlog.get_logger("maild.withdrawing")


class Withdrawer(LoopService):
    """`wake()` is called after each commit that leaves mail to it (`withdrawal.BEHIND`)."""

    name = "withdrawing"

    def __init__(self, db: Database, clock: Clock, ids: Ids) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids

    async def run(self) -> None:
        while True:
            pause_s = LOOK_S
            with Enduring(log, "withdrawing_failed"):
                pause_s = await self.round()
            await self.pause(pause_s)

    async def round(self) -> float:
        """Withdraw some of each organization's mail; in how many seconds to look again. What fails for one organization
        holds up no other."""
        waits_s: list[float] = []
        for organization_id in await self._db.peek(withdrawal.owners):
            wait_s = LOOK_S
            with Enduring(log, "withdrawing_failed", organization_id=organization_id):
                await self._withdraw_some(organization_id)
                wait_s = 0
            waits_s.append(wait_s)
        return min(waits_s, default=LOOK_S)

    async def _withdraw_some(self, organization_id: str) -> None:
        for senders in withdrawal.SENDERS:
            closed = await self._db.peek(senders.closed, organization_id)
            if closed:
                await self._withdraw_of(organization_id, senders, closed)

    async def _withdraw_of(self, organization_id: str, senders: Senders, closed: list[str]) -> None:
        waiting = await self._db.read_for(
            organization_id, senders.find_waiting, organization_id, closed, FOUND_AT_ONCE
        )
        left = waiting
        while left.message_ids:
            began = self._clock.monotonic()
            left = await self._db.write_apart(self._withdraw_slice, left)
            await asyncio.sleep(self._clock.monotonic() - began)  # as long as it took
        if waiting.messages < FOUND_AT_ONCE:  # that was all, and no more comes
            await self._db.write_apart(senders.end, closed)

    def _withdraw_slice(self, tx: Tx, waiting: WithdrawnMail) -> WithdrawnMail:
        is_over = self._clock.ends_in(withdrawal.SLICE_S)
        return withdrawal.withdraw_slice(tx, waiting, self._ids.new, self._clock.now_ms(), is_over)
