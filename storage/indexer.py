"""Moves new messages into the search index, behind their commit.

A batch of 4 KiB messages holds the writer for 20 to 40 ms. When nobody else writes, the indexer goes on
without rest. Beside others it rests after each batch, the longer the busier they keep the writer: a burst
of mail is accepted first and indexed after. But the longer a backlog lasts the shorter the rests become, so
that a load that never ends can't make it grow for ever. What waits is found by search all the same
(`storage.search`).
"""

import structlog

from storage.clock import Clock
from storage.database import Database
from storage.search import index
from storage.search_index import merge
from storage.service import Enduring, LoopService

BATCH = 16
LOOK_S = 0.25  # how long a message waits after its commit, when nothing else does
REST = 40  # times the last batch, beside others who keep the writer busy all the time
REST_MAX_S = 2.0
PATIENCE_S = 15.0  # a backlog of this age halves the rest
RETRY_S = 5.0

log = structlog.get_logger("maild.search")


class SearchIndexer(LoopService):
    """Indexes in small batches, and rests between them the longer, the busier other writers are."""

    name = "search indexer"

    def __init__(self, db: Database, clock: Clock) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._after = ""

    async def run(self) -> None:
        done_at = -1  # the count of written units at which nothing was left to do
        backlog_since = looked_at = self._clock.monotonic()
        others_s = self._db.writing_s
        while True:
            if self._db.units_written == done_at:
                await self.pause(LOOK_S)
                backlog_since = self._clock.monotonic()
                continue
            began, writing_s = self._clock.monotonic(), self._db.writing_s
            busy = min(1.0, (writing_s - others_s) / max(began - looked_at, LOOK_S))
            written = self._db.units_written
            worked = None
            with Enduring(log, "indexing_failed"):  # mail goes on, and is found in the tail
                worked = await self._step()
            if worked is None:
                await self.pause(RETRY_S)
                continue
            looked_at, others_s = self._clock.monotonic(), self._db.writing_s
            if not worked:
                backlog_since = looked_at
                if self._db.units_written == written + 2:  # nobody but this step
                    done_at = self._db.units_written
                await self.pause(LOOK_S)  # whatever others write meanwhile: a step takes the writer from them
                continue
            patience = 1 + (looked_at - backlog_since) / PATIENCE_S
            await self.pause(min(REST_MAX_S, (looked_at - began) * REST * busy / patience))

    async def _step(self) -> bool:
        """One batch and one step of tidying up; False when there was nothing to do."""
        done = await self._db.write_apart(index, BATCH, self._after)
        self._after = done.last_organization
        is_merging = await self._db.write_apart(merge)
        return done.moved > 0 or is_merging
