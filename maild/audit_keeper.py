"""Looks after the audit log: puts rows that commands left unsealed into their chains, and tells of the chains' heads.

Who holds the disk may cut off a chain's newest rows, and nothing in the store tells of it; a head that was noted
elsewhere does. So once an hour each chain that has grown is told of twice: a line of the log (`audit_head`), and the
event `trail.head` for whoever asked for it. The last such event says how far a chain was told of, so a restart neither
repeats nor skips one.
"""

from typing import NamedTuple

import structlog

from conf.log_events import LogEvent, tell
from conf.tuning import AuditTuning
from storage.audit import trail
from storage.audit.trail import AuditRecorder, ChainHead
from storage.clock import Clock, iso
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.publishing import events
from storage.service import Enduring, LoopService
from storage.tenants import organizations

HOUR_MS = 3_600_000
ORGANIZATIONS_A_UNIT = 50
WAITING_A_UNIT = 100

log = structlog.get_logger("maild.audit")


class _GrownChain(NamedTuple):
    organization_id: str
    head: ChainHead


class AuditKeeper(LoopService):
    """`round` does all that is due now."""

    name = "audit"

    def __init__(
        self,
        db: Database,
        recorder: AuditRecorder,
        clock: Clock,
        ids: Ids,
        tuning: AuditTuning = AuditTuning(),
    ) -> None:
        super().__init__()
        self._db = db
        self._recorder = recorder
        self._clock = clock
        self._ids = ids
        self._tuning = tuning
        self._heads_due_s = clock.monotonic() + tuning.first_heads_s

    async def run(self) -> None:
        while True:
            with Enduring(log, "audit_round_failed"):
                await self.round()
            await self.pause(self._tuning.look_s)

    async def round(self) -> None:
        """Seal what waits; tell of the heads where an hour is over."""
        while await self._db.peek(trail.is_waiting):
            await self._db.write(self._recorder.seal_waiting, WAITING_A_UNIT)
        if self._clock.monotonic() >= self._heads_due_s:
            self._heads_due_s = self._clock.monotonic() + HOUR_MS / 1000
            await self.tell_heads()

    async def tell_heads(self) -> None:
        """Tell of each chain that has grown since it was told of, where that was an hour ago."""
        after = ""
        while some := await self._db.read(organizations.ids_after, after, ORGANIZATIONS_A_UNIT):
            after = some[-1]
            grown = await self._db.read(_grown, some, self._clock.now_ms())
            if not grown:
                continue
            for organization_id, head in await self._db.write(self._publish, grown):
                tell(
                    log,
                    LogEvent.AUDIT_HEAD,
                    organization_id=organization_id,
                    seq=head.seq,
                    hash=head.hash.hex(),
                )

    def _publish(self, tx: Tx, grown: list[_GrownChain]) -> list[_GrownChain]:
        """Those that were told of: not of an organization that is being deleted since it was found."""
        now_ms = self._clock.now_ms()
        there = [one for one in grown if organizations.get(tx, one.organization_id) is not None]
        for organization_id, head in there:
            events.publish(
                tx,
                self._ids.new("evt"),
                now_ms,
                organization_id=organization_id,
                type=events.AUDIT_HEAD,
                data={"seq": head.seq, "hash": head.hash.hex(), "at": iso(head.created_at or 0)},
            )
        return there


def _grown(tx: Tx, organization_ids: list[str], now_ms: int) -> list[_GrownChain]:
    found = []
    for organization_id in organization_ids:
        head = trail.head(tx, organization_id)
        told = events.last_audit_head(tx, organization_id, now_ms + HOUR_MS)  # not by a clock that was ahead
        if head.seq and (told is None or (told.seq < head.seq and told.created_at <= now_ms - HOUR_MS)):
            found.append(_GrownChain(organization_id, head))
    return found
