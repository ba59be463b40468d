"""Records attempts that ended: those that wait at the same time are one unit of work.

What is durable when: `record` returns after the COMMIT that holds the attempt's record, the delivery's next
state and, where its slot goes on, the lease of what it returns. A unit that fails leaves no trace of any of
them; each caller is told, and may ask again alone.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import AttemptSettlement, LeasedDelivery


class Ended(NamedTuple):
    """An attempt that was made. `goes_on`: its slot may be taken over by the next of its webhook."""

    settlement: AttemptSettlement
    goes_on: bool

    @property
    def webhook_id(self) -> str:
        return self.settlement.delivery.webhook_id


# Leases so many more of each webhook.
Take = Callable[[Tx, Counter[str]], list[LeasedDelivery]]


class Recorder:
    def __init__(self, db: Database, lease: str, keeps_place: Callable[[str], bool], take: Take) -> None:
        self._db = db
        self._lease = lease
        self._keeps_place = keeps_place
        self._take = take
        self._waiting: list[tuple[Ended, asyncio.Future[LeasedDelivery | None]]] = []
        self._task: asyncio.Task[None] | None = None

    async def record(self, ended: Ended) -> LeasedDelivery | None:
        """Return, once it is durable, what was leased in its place."""
        future: asyncio.Future[LeasedDelivery | None] = asyncio.get_running_loop().create_future()
        self._waiting.append((ended, future))
        if self._task is None:
            self._task = asyncio.create_task(self._drain())
        return await future

    async def record_alone(self, ended: Ended) -> LeasedDelivery | None:
        return (await self._db.write(self._conclude, [ended]))[0]

    async def _drain(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._record(batch)
        finally:
            self._task = None

    async def _record(self, batch: Sequence[tuple[Ended, asyncio.Future[LeasedDelivery | None]]]) -> None:
        try:
            following = await self._db.write(self._conclude, [ended for ended, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), one in zip(batch, following, strict=True):
            if not future.done():  # its attempt was abandoned, and stop() gives the lease back
                future.set_result(one)

    def _conclude(self, tx: Tx, batch: Sequence[Ended]) -> list[LeasedDelivery | None]:
        held = webhooks.settle(tx, self._lease, [ended.settlement for ended in batch])
        # Of each: the webhook whose next one takes over its slot, or None.
        goes_on = [
            ended.webhook_id if is_held and ended.goes_on and self._keeps_place(ended.webhook_id) else None
            for ended, is_held in zip(batch, held, strict=True)
        ]
        more = Counter(webhook_id for webhook_id in goes_on if webhook_id is not None)
        taken: dict[str, deque[LeasedDelivery]] = {webhook_id: deque() for webhook_id in more}
        for delivery in self._take(tx, more):
            taken[delivery.webhook_id].append(delivery)
        return [
            taken[webhook_id].popleft() if webhook_id is not None and taken[webhook_id] else None
            for webhook_id in goes_on
        ]
