"""Looks at mail that came in, behind its commit and behind everything else.

Each round takes a few messages that the log tells of (storage/mail/evidence.py), looks at them one by one, and writes
what was found with the mark in one unit. Then it rests a multiple of what that took: while much else is written, nearly
all of the time, and as soon as that ends it goes on. Whoever asks for a message's evidence does not wait for it.
"""

import structlog

from conf.tuning import EvidenceTuning
from controlplane.mail.evidence import Examiner
from maild.message.evidence.finding import VERSION
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.failures import StoreFailure
from storage.engine.tx import Tx
from storage.exhaustion import is_exhaustion
from storage.mail import evidence
from storage.mail.evidence import EvidenceRow
from storage.service import EnduringOutages, LoopService

log = structlog.get_logger("maild.evidence")


class EvidenceFollower(LoopService):
    """Each round is one batch; a message that can't be looked at is told of once and left to whoever asks for it."""

    name = "evidence follower"

    def __init__(self, db: Database, examiner: Examiner, clock: Clock, pace: EvidenceTuning) -> None:
        super().__init__()
        self._db = db
        self._examiner = examiner
        self._clock = clock
        self._pace = pace

    async def run(self) -> None:
        enduring = EnduringOutages(log, "evidence_failed")
        done_at = -1  # the count of written units at which nothing was left to do
        while True:
            began, written = self._clock.monotonic(), self._db.units_written
            rest_s = self._pace.look_s
            if written != done_at:
                rest_s = self._pace.retry_s
                with enduring:
                    looked_at = await self.round()
                    rest_s = (self._clock.monotonic() - began) * self._pace.rest
                    if looked_at < self._pace.batch:  # no more waits
                        rest_s = max(self._pace.look_s, rest_s)
                    if looked_at == 0 and self._db.units_written == written:
                        done_at = written
            await self._rest(rest_s, began, written)

    async def _rest(self, rest_s: float, began: float, written: int) -> None:
        """Rest that long, and on for as long as others write much, up to what `busy_rest` says."""
        now = self._clock.monotonic()
        until = now + (now - began) * self._pace.busy_rest
        await self.pause(rest_s)
        while (now := self._clock.monotonic()) < until:
            if self._db.units_written - written <= self._pace.busy_units * (now - began):
                return
            began, written = now, self._db.units_written
            await self.pause(self._pace.look_s)

    async def round(self) -> int:
        """Look at a batch of what waits; how many messages that were."""
        some = await self._db.read(evidence.waiting, self._pace.batch, VERSION)
        if some.until is None:
            return 0
        found: list[tuple[str, str, EvidenceRow]] = []
        for organization_id, message_id in some.messages:
            try:
                row = await self._examiner.look(organization_id, message_id)
            except StoreFailure:
                raise  # all of the batch is for another round
            except Exception as error:
                if is_exhaustion(error):
                    raise
                log.exception("evidence_failed", message_id=message_id)
                continue
            if row is not None:
                found.append((organization_id, message_id, row))
        await self._db.write(_keep, found, some.until)
        return len(some.messages)


def _keep(tx: Tx, found: list[tuple[str, str, EvidenceRow]], until: int) -> None:
    for organization_id, message_id, row in found:
        evidence.put(tx, organization_id, message_id, row)
    evidence.move_mark(tx, until)
