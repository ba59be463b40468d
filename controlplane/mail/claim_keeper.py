"""Time passes for claims: leases that are over are settled, what was put off is offered again, who waits is told.

Nothing is held in memory: what is due stands in the rows, so a restart neither forgets nor repeats; and a lease that is
over ends nothing late (storage.agents.claims), so it does not matter when this looks. It is woken by commits that
change what is offered; the wall clock decides, and may jump, so it is looked at every LOOK_AGAIN_S while anything waits
for it.
"""

from collections.abc import Callable, Collection

import structlog

from conf.log_events import LogEvent, tell
from controlplane.contract.work.claims import DELAY_S_MAX, LEASE_S_MAX
from storage.agents import claims, work
from storage.agents.claims import EXPIRED_AT_ONCE, EndedClaim
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.service import STORE_RETRY_S, EnduringOutages, LoopService

DELAYS_AT_ONCE = 100
LOOK_AGAIN_S = 0.5
LEASE_MS_MAX = LEASE_S_MAX * 1000
DELAY_MS_MAX = DELAY_S_MAX * 1000

log = structlog.get_logger("maild.claims")


class ClaimKeeper(LoopService):
    """`awaited`: the inboxes whose work somebody waits for; `hear`: tells those who wait for some of them."""

    name = "claims"

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        awaited: Callable[[], Collection[str]],
        hear: Callable[[Collection[str]], None],
    ) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids
        self._awaited = awaited
        self._hear = hear

    async def run(self) -> None:
        enduring = EnduringOutages(log, "claims_not_settled")  # they are over all the same
        while True:
            rest_s: float | None = STORE_RETRY_S
            with enduring:
                rest_s = await self.round()
            await self.pause(rest_s)

    async def round(self) -> float | None:
        """Do what is due now; how long there is nothing to do (None: until it is woken)."""
        next_ms = await self._db.lookup(_next_due, self._clock.now_ms())
        if next_ms is not None and next_ms <= self._clock.now_ms():
            for one in await self._db.write(self._settle):
                _tell(one)
            next_ms = await self._db.lookup(_next_due, self._clock.now_ms())
        await self._tell_waiting()
        if next_ms is None:
            return None
        return min(LOOK_AGAIN_S, max(0.0, (next_ms - self._clock.now_ms()) / 1000))

    def _settle(self, tx: Tx) -> list[EndedClaim]:
        now_ms = self._clock.now_ms()
        claims.end_leases_behind(tx, now_ms + LEASE_MS_MAX, now_ms, EXPIRED_AT_ONCE)
        work.end_delays_behind(tx, now_ms + DELAY_MS_MAX, now_ms, DELAYS_AT_ONCE)
        work.end_delays(tx, now_ms, DELAYS_AT_ONCE)
        return claims.expire(tx, self._ids.new, now_ms, EXPIRED_AT_ONCE)

    async def _tell_waiting(self) -> None:
        awaited = self._awaited()
        if awaited:
            self._hear(await self._db.lookup(work.ready_among, sorted(awaited)))


def _next_due(tx: Tx, now_ms: int) -> int | None:
    # Nobody may have so long: the clock has been set back since, and who holds it may be gone.
    if claims.is_lease_behind(tx, now_ms + LEASE_MS_MAX) or work.is_delay_behind(tx, now_ms + DELAY_MS_MAX):
        return now_ms
    times = (claims.next_lease_ends_at(tx), work.next_delay_ends_at(tx))
    return min((one for one in times if one is not None), default=None)


def _tell(ended: EndedClaim) -> None:
    claim = ended.claim
    tell(
        log,
        LogEvent.CLAIM_DEAD if ended.is_dead else LogEvent.CLAIM_EXPIRED,
        claim_id=claim.id,
        message_id=claim.message_id,
        inbox_id=claim.inbox_id,
        attempt=claim.attempt,
        organization_id=claim.organization_id,
    )
