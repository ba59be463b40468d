"""The running daemon looks after its store, so that damage is told before a request meets it, as a rule.

Once a day its pages are looked at (`integrity.pages`), on a connection of its own and for `Portions.pages_s` at most;
once an hour `Portions.blobs_bytes` of stored messages are compared with their hashes, from a random place on and then
from where the hour before ended, so that all have their turn. Damage is an error line for each round that finds some,
and for the first statement that meets some (`storage.engine.damage`), and `is_damaged` until the next start, which
`/health` shows. Nothing is mended, and nothing that still works is
refused. The search index, which is derived, is looked at as well: damaged, it is just made anew.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import structlog

from storage.clock import DAY_MS, Clock
from storage.engine.damage import ADVICE
from storage.engine.database import Database
from storage.mail import blobs
from storage.mail.blobs import Blob, BlobMissing, Blobs
from storage.service import Enduring, LoopService
from storage.upkeep import integrity
from storage.upkeep.integrity import Damage

log = structlog.get_logger("maild.store")

ROUND_S = 3600.0
TOLD_MAX = 10


class Portions(NamedTuple):
    """When the first round begins, and how much one round looks at."""

    first_s: float = 30.0  # after the start, which has other things to do
    pages_s: float = 60.0  # some gigabytes; reading so long keeps the WAL from being used anew
    index_s: float = 10.0  # nothing is indexed meanwhile
    blobs_bytes: int = 64 * 1024 * 1024
    blobs_slice: int = 20


class SelfCheck(LoopService):
    """Pages and blobs are read off the event loop."""

    name = "self-check"

    def __init__(
        self,
        db: Database,
        store: Blobs,
        path: Path,
        clock: Clock,
        randomness: random.Random,
        check_index: Callable[[float], Awaitable[bool]],
        portions: Portions = Portions(),
    ) -> None:
        super().__init__()
        self._db = db
        self._has_found = False
        self._store = store
        self._path = path
        self._clock = clock
        self._randomness = randomness
        self._check_index = check_index
        self._portions = portions
        self._pages_due_ms = 0
        self._after: str | None = None

    @property
    def is_damaged(self) -> bool:
        """Has this process found damage, by looking for it or by meeting it?"""
        return self._has_found or self._db.is_damaged

    async def run(self) -> None:
        await self.pause(self._portions.first_s)
        while True:
            with Enduring(log, "self_check_failed"):
                await self.round()
            await self.pause(ROUND_S)

    async def round(self) -> None:
        """Look at the pages if the last look is a day old, and at the next portion of blobs; log what is damaged."""
        damage: list[Damage] = []
        now_ms = self._clock.now_ms()
        if now_ms >= self._pages_due_ms or self._pages_due_ms > now_ms + DAY_MS:  # the clock was set back
            damage += await self._pages()
            self._pages_due_ms = now_ms + DAY_MS
        damage += await self._blobs()
        if damage:
            self._has_found = True
            log.error("store_damaged", found=len(damage), first=damage[:TOLD_MAX], advice=ADVICE)

    async def _pages(self) -> list[Damage]:
        if not await self._check_index(self._portions.index_s):
            log.info("self_check_unfinished", seconds=self._portions.index_s)
        damage = await integrity.pages_within(self._path, self._portions.pages_s)
        if damage is None:
            log.info("self_check_unfinished", seconds=self._portions.pages_s)
        return damage or []

    async def _blobs(self) -> list[Damage]:
        if self._after is None:
            self._after = await self._db.read(integrity.somewhere, self._randomness.random())
        damage: list[Damage] = []
        seen_bytes = 0
        while seen_bytes < self._portions.blobs_bytes:
            some = await self._db.read(integrity.blobs_after, self._after, self._portions.blobs_slice)
            for blob in some:
                seen_bytes += blob.size_bytes
                damage += await self._blob(blob)
            self._after = some[-1].id if some else ""
            if len(some) < self._portions.blobs_slice:  # the end: the next round begins anew
                self._after = ""
                break
        return damage

    async def _blob(self, blob: Blob) -> list[Damage]:
        try:
            await asyncio.to_thread(self._store.check, blob)
        except BlobMissing as error:
            if await self._db.read(blobs.get, blob.id) is not None:  # otherwise it was removed meanwhile
                return [Damage("blob", blob.id, str(error))]
        return []
