"""Moves new messages into the search index, behind their commit.

A batch holds the writer for some 20 ms. While others write, the indexer rests several times as long as
it worked, so that it takes a small part of the writer's time; what waits meanwhile is found by search
all the same (`storage.search`). When nobody writes it catches up without rest.
"""

import structlog

from storage.clock import Clock
from storage.database import Database, DatabaseClosed
from storage.search import index, merge
from storage.service import LoopService

BATCH = 24
LOOK_S = 0.25  # how long a message waits after its commit, when nothing else does
REST = 6  # times the last batch, while others write
REST_MAX_S = 1.0
STORE_RETRY_S = 5.0

log = structlog.get_logger("maild.search")


class SearchIndexer(LoopService):
    name = "search indexer"

    def __init__(self, db: Database, clock: Clock) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._after = ""

    async def run(self) -> None:
        done_at = -1  # the count of written units at which nothing was left to do
        while True:
            written = self._db.units_written
            if written == done_at:
                await self.pause(LOOK_S)
                continue
            began = self._clock.monotonic()
            try:
                units, worked = await self._step()
            except DatabaseClosed:
                raise
            except Exception:
                # A full disk, say: mail goes on, and is found in the tail.
                log.exception("indexing_failed")
                await self.pause(STORE_RETRY_S)
                continue
            others = self._db.units_written - written - units
            if others:
                await self.pause(min(REST_MAX_S, (self._clock.monotonic() - began) * REST))
            elif not worked:
                done_at = self._db.units_written

    async def _step(self) -> tuple[int, bool]:
        """One batch and one step of tidying up: units written, and whether there was anything to do."""
        done = await self._db.write_apart(index, BATCH, self._after)
        self._after = done.last_organization
        is_merging = await self._db.write_apart(merge)
        return 2, done.moved > 0 or is_merging
