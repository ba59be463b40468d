"""Moves new messages into the search index, behind their commit, and makes that index where there is none.

A round asks what waits (`search_tail.waiting`), has the index told of it, and when that is committed takes it from the
tail (`search_tail.settle`), which is all that the store's writer has to do with it. The index is told by a thread of
its own, and of much by a process (`storage.searching.index_child`): to find what some hundred messages say hands the
interpreter back and forth with the event loop, which got a quarter less done. One writes at a time. Should the process
fail, the thread does the same, and meets what is at fault.

The index is one transaction a round, hence one segment: after a round that found little the indexer rests, so
that a load makes batches of some hundred messages; while it falls behind it goes on without rest. What waits is found
by search all the same (`storage.searching.search`).

At the start it looks whether the file belongs to the store. If it doesn't, or is damaged then or later, a new one is
begun and all messages are walked through, oldest first; until that is done searches read the messages themselves.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeVar

import structlog

from storage.clock import Clock
from storage.engine.database import Database
from storage.searching import index_child, search_tail
from storage.searching.index_file import IndexLost
from storage.searching.search_index import SearchIndex, Walked
from storage.searching.search_tail import Settlement, Unsettled
from storage.service import EnduringOutages, LoopService
from storage.turns import background
from storage.turns.cpu_process import ComputingFailed, CpuProcess
from storage.turns.fair_threads import OWN
from storage.turns.started_threads import started_threads

T = TypeVar("T")

log = structlog.get_logger("maild.search")


class IndexingPace(NamedTuple):
    """How many messages a round takes at most, from how many bytes of them on the process tells the index, and how long
    a message waits for the next round."""

    batch: int = 500
    apart_bytes: int = 128 * 1024
    look_s: float = 0.25
    retry_s: float = 5.0


class SearchIndexer(LoopService):
    """Each round is one batch; with none to do it rests for `IndexingPace.look_s`, so that batches are large."""

    name = "search indexer"

    def __init__(
        self, db: Database, index: SearchIndex, clock: Clock, pace: IndexingPace = IndexingPace()
    ) -> None:
        super().__init__()
        self._db = db
        self._index = index
        self._clock = clock
        self._pace = pace
        self._after = ""
        self._is_open = False
        self._thread = _thread()
        self._process = _process()
        self._process_fault = ""  # as it was last told
        self._rebuild_began: float | None = None
        self._walked = 0
        self._stops = self._has_ended = False

    async def start(self) -> None:
        if self._has_ended:
            self._thread, self._process, self._has_ended = _thread(), _process(), False
        await super().start()

    async def run(self) -> None:
        done_at = -1  # the count of written units at which nothing was left to do
        enduring = EnduringOutages(log, "indexing_failed")
        while True:
            written = self._db.units_written
            rest_s = self._pace.look_s
            if written != done_at or not self._index.is_complete:
                rest_s = self._pace.retry_s
                with enduring:  # mail goes on, and is found in the tail
                    rest_s = 0 if await self.round() else self._pace.look_s
                    if rest_s and self._db.units_written == written:
                        done_at = written
            await self.pause(rest_s)

    async def round(self) -> bool:
        """One batch, or some tidying up where nothing waits; False when there is nothing to go on with at once."""
        self._db.require_in_place()  # or the folder is another, and no index of ours belongs into it
        try:
            if not self._is_open:
                await self._open()
            walked = await self._in_thread(self._index.walked)
            if walked is not None:
                return await self._walk(walked)
            if not self._index.is_complete:  # condemned
                raise IndexLost("damaged")
            return await self._move()
        except IndexLost as error:
            await self._make(str(error))
            return False  # a disk that damages each one must not keep us busy

    async def empty_caches(self) -> None:
        await self._in_thread(self._index.shrink)

    async def check(self, timeout_s: float) -> bool:
        """Look at the pages of the index, which is made anew where they are damaged; False: that took too long."""
        until = self._clock.monotonic() + timeout_s
        if not self._is_open:
            return True
        try:
            return await self._in_thread(
                self._index.check, lambda: self._stops or self._clock.monotonic() > until
            )
        finally:
            self.wake()

    async def stop(self) -> None:
        if self._has_ended:
            return
        self._stops = True
        await super().stop()
        await self._process.close()  # when it is through with what it is at, and the thread as well
        await self._in_thread(self._index.close)
        self._is_open = False
        self._stops = False
        self._thread.shutdown()
        self._has_ended = True

    async def _open(self) -> None:
        fault = await self._in_thread(self._index.open, await self._db.read(search_tail.mark_of))
        if fault is not None:
            raise IndexLost(fault)
        self._is_open = True

    async def _make(self, why: str) -> None:
        self._is_open = False
        await self._db.write(search_tail.name, await self._in_thread(self._index.make))
        self._is_open = True
        log.info("search_rebuild_begun", why=why)
        self._rebuild_began, self._walked = self._clock.monotonic(), 0

    async def _walk(self, since: Walked) -> bool:
        some = await self._db.read(search_tail.walk, since, self._pace.batch)
        if not some.is_empty:
            self._walked += (await self._tell(some)).messages
            return True
        await self._in_thread(self._index.complete)
        began = self._rebuild_began or self._clock.monotonic()
        log.info("search_rebuilt", messages=self._walked, seconds=round(self._clock.monotonic() - began, 1))
        return True

    async def _move(self) -> bool:
        some = await self._db.read(search_tail.waiting, self._pace.batch, self._after)
        if some.is_empty:
            return await self._in_thread(self._index.merge)
        told = await self._tell(some)
        if some.keys:
            self._after = some.keys[-1][0]
        return some.has_more or told.has_more

    async def _tell(self, some: Unsettled) -> Settlement:
        told = await self._told_apart(some) if some.body_bytes >= self._pace.apart_bytes else None
        if told is None:
            told = await self._in_thread(index_child.tell, self._db.path, self._index, some)
        await self._db.write(search_tail.settle, some, told)
        return told

    async def _told_apart(self, some: Unsettled) -> Settlement | None:
        try:
            work = partial(index_child.tell_apart, self._db.path, self._index.path, some)
            told = await self._process.run(OWN, work)
        except ComputingFailed as error:
            if str(error) != self._process_fault:  # once, and not in each round
                log.error("indexing_process_failed", error=str(error))
            self._process_fault = str(error)
            return None
        self._process_fault = ""
        return told

    async def _in_thread(self, function: Callable[..., T], *args: object) -> T:
        # Shielded: whoever is cancelled meanwhile leaves the thread to its work.
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, function, *args))


def _thread() -> ThreadPoolExecutor:
    return started_threads(1, "search index", background.go_behind, (background.LATER,))


def _process() -> CpuProcess:
    return CpuProcess(niceness=background.LATER)
