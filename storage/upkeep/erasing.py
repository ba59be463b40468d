"""Brings about that deleted organizations go (storage/tenants/erasure.py): slice after slice, with a rest after each.

Whoever wrote the mark (`maild org delete`) is another process, so it looks for it by itself. Each round goes through
all steps from the first; those that have nothing left to do cost a look-up. So a kill leaves nothing but what the next
round finds, here or where the command has no daemon beside it and does the same. Files of messages go behind the commit
that removes their rows, and what a kill leaves of them the sweep at the start takes (storage.mail.blobs).

What is being delivered when an organization is closed ends as it ends; it is waited for, so that once the organization
is gone nothing of it leaves the host.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import structlog

from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine import migrate
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail.blobs import Blobs
from storage.service import Enduring, LoopService
from storage.tenants import erasure
from storage.tenants.erasure import ErasedSlice

log = structlog.get_logger("maild.erasing")

Slice = Callable[[Tx], ErasedSlice]


class ErasingPace(NamedTuple):
    """How many rows a unit removes at most, and for how long; how many times as long as it took is rested, and where
    nobody else wrote meanwhile; how long it is between two looks where nothing goes, where something has to be waited
    for, and where something failed."""

    rows: int = 500
    slice_s: float = 0.008
    rest: float = 4
    quiet_rest: float = 1
    look_s: float = 1.0
    wait_s: float = 0.25
    retry_s: float = 60.0


def nothing_leaves(_organization_id: str) -> bool:
    """Where no queue runs."""
    return False


class Eraser(LoopService):
    """`is_delivering`: is mail of the organization on its way to a host at this moment? `shared_domains`: those of the
    configuration."""

    name = "erasing"

    def __init__(
        self,
        db: Database,
        blobs: Blobs,
        clock: Clock,
        ids: Ids,
        records: Records,
        is_delivering: Callable[[str], bool],
        shared_domains: Collection[str],
        pace: ErasingPace = ErasingPace(),
    ) -> None:
        super().__init__()
        self._db = db
        self._blobs = blobs
        self._clock = clock
        self._ids = ids
        self._records = records
        self._is_delivering = is_delivering
        self._shared_domains = shared_domains
        self._pace = pace

    async def run(self) -> None:
        while True:
            pause_s = self._pace.retry_s
            with Enduring(log, "erasing_failed"):
                pause_s = await self.round()
            await self.pause(pause_s)

    async def round(self) -> float:
        """Remove what goes; in how many seconds to look again. What fails for one organization holds up no other."""
        pauses_s = [self._pace.look_s]
        for organization_id in await self._db.peek(erasure.deleted):
            pause_s = self._pace.retry_s
            with Enduring(log, "erasing_failed", organization_id=organization_id):
                pause_s = self._pace.look_s if await self.erase(organization_id) else self._pace.wait_s
            pauses_s.append(pause_s)
        # What has failed is tried again with the others where those are looked at soon.
        return min(pauses_s) if self._pace.wait_s in pauses_s else max(pauses_s)

    async def erase(self, organization_id: str) -> bool:
        """Remove all of it, in slices; False where something has to be waited for."""
        for work in self._until_inboxes(organization_id):
            await self._slices(work)
        if self._is_delivering(organization_id):
            return False
        await self._slices(
            partial(erasure.remove_inboxes, organization_id=organization_id, limit=self._pace.rows),
            references=False,
        )
        for family in erasure.BEHIND_INBOXES:
            await self._slices(self._of(organization_id, family))
        erased = await self._db.write_apart(
            erasure.finish, organization_id, self._ids.new("evt"), self._records
        )
        if erased is not None:
            log.info("organization_erased", organization_id=organization_id, erased=erased)
        return erased is not None

    def _until_inboxes(self, organization_id: str) -> Iterator[Slice]:
        now_ms = self._clock.now_ms()
        yield partial(erasure.close_inboxes, organization_id=organization_id, now_ms=now_ms)
        yield from (self._of(organization_id, family) for family in erasure.BEFORE_MESSAGES)
        yield partial(self._remove_messages, organization_id=organization_id)
        yield from (self._of(organization_id, family) for family in erasure.BEHIND_MESSAGES)
        yield partial(erasure.remove_domains, organization_id=organization_id, but=self._shared_domains)

    def _of(self, organization_id: str, family: erasure.Family) -> Slice:
        return partial(self._remove, organization_id=organization_id, family=family)

    def _remove(self, tx: Tx, organization_id: str, family: erasure.Family) -> ErasedSlice:
        is_over = self._clock.ends_in(self._pace.slice_s)
        return erasure.remove(tx, organization_id, family, self._pace.rows, is_over)

    def _remove_messages(self, tx: Tx, organization_id: str) -> ErasedSlice:
        return erasure.remove_messages(tx, organization_id, self._clock.ends_in(self._pace.slice_s))

    async def _slices(self, work: Slice, *, references: bool = True) -> None:
        has_more, rest = True, self._pace.rest
        while has_more:
            began, written = self._clock.monotonic(), self._db.units_written
            done = await self._slice(work, references)
            has_more = done.has_more
            if done.rows or has_more:
                await asyncio.sleep((self._clock.monotonic() - began) * rest)
            is_quiet = self._db.units_written <= written + 1  # its own
            rest = self._pace.quiet_rest if is_quiet else self._pace.rest

    async def _slice(self, work: Slice, references: bool) -> ErasedSlice:
        if not references:
            return await asyncio.to_thread(self._without_references, work)
        done = await self._db.write_apart(work)
        if done.files:
            await asyncio.to_thread(self._remove_files, done.files)
        return done

    def _without_references(self, work: Slice) -> ErasedSlice:
        """On a connection of its own, as a command: the daemon's own always checks them."""
        with migrate.transaction(self._db.path, checks_references=False) as tx:
            return work(tx)

    def _remove_files(self, files: Sequence[str]) -> None:
        for blob_id in files:
            self._blobs.remove(blob_id)
