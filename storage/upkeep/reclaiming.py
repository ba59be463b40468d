"""Room that deleting has made in the database goes back to the file system.

What is deleted leaves free pages in the file, and what is written takes them again, so some of them are as it should
be. Where they are more than a quarter of it, half of that is kept; where mail or sends are refused for want of room,
all of them go back, for a file of raw messages, or another program, can't have them otherwise.

A slice is a transaction of its own, with a rest after it, so that others wait for one slice at most. What lies at the
file's end moves into free pages, and reads and writes find it there; a crash between two slices leaves the rest.

A page that is free itself is taken out of the list of free pages, which SQLite reads from its beginning for each. So a
page costs the more the more are free (2 ms beside 1.3 GB of them), and a slice has the fewer.
"""

import asyncio
from typing import NamedTuple

import structlog

from storage.clock import Clock
from storage.disk import Disk
from storage.engine.database import Database
from storage.engine.free_pages import FreePages, cutting, free_pages
from storage.service import EnduringOutages, LoopService

ROUND_S = 60
REST = 4  # times what the slice took

log = structlog.get_logger("maild.store")


class Reclaim(NamedTuple):
    """How many pages one slice cuts off at most; through how many places of the list of free ones it looks, some 15 ms;
    and below how many bytes nothing is done: where there is room, and where there is none."""

    slice_pages: int = 128
    slice_looks: int = 2_500_000
    least_bytes: int = 64 * 1024 * 1024
    least_bytes_when_short: int = 1024 * 1024


class Reclaimer(LoopService):
    """Looks every ROUND_S how much of the database is free. A store that can't become smaller is told of while room is
    short (`space_not_given_back`)."""

    name = "reclaimer"

    def __init__(self, db: Database, disk: Disk, clock: Clock, reclaim: Reclaim = Reclaim()) -> None:
        super().__init__()
        self._db = db
        self._disk = disk
        self._clock = clock
        self._reclaim = reclaim
        self._has_told = False

    async def run(self) -> None:
        enduring = EnduringOutages(log, "reclaiming_failed")  # what is free stays for another round
        while True:
            with enduring:
                await self.round()
            await self.pause(ROUND_S)

    async def round(self) -> None:
        """Give back what is more than is kept."""
        found = await self._db.lookup(free_pages)
        kept = self._kept(found, self._disk.is_short)
        if found.free <= kept:
            self._has_told = False
        elif found.can_move:
            await self._give_back(found, kept)
        elif self._disk.is_short and not self._has_told:
            self._has_told = True
            log.warning("space_not_given_back", free_bytes=found.free * found.page_bytes)

    def _kept(self, found: FreePages, is_short: bool) -> int:
        """How many of its free pages the database keeps."""
        least_bytes = self._reclaim.least_bytes_when_short if is_short else self._reclaim.least_bytes
        if found.free * found.page_bytes < least_bytes:
            return found.free
        if is_short:
            return 0
        return found.free if found.free <= found.pages // 4 else found.pages // 8

    async def _give_back(self, found: FreePages, kept: int) -> None:
        left = found
        while left.free > kept:
            began = self._clock.monotonic()
            await self._db.run_script(cutting(min(self._slice_pages(left), left.free - kept)))
            await asyncio.sleep((self._clock.monotonic() - began) * REST)
            left = await self._db.lookup(free_pages)
        log.info("space_given_back", bytes=(found.pages - left.pages) * found.page_bytes)

    def _slice_pages(self, left: FreePages) -> int:
        return max(1, min(self._reclaim.slice_pages, self._reclaim.slice_looks // left.free))
