"""Threads for what takes a fraction of a millisecond: several jobs in one hand-over.

Handing work to a thread and taking its result back wakes two threads, which costs the event loop a good part of what a
signature takes. So jobs that wait at the same moment go over together, BATCH at most, and what somebody waits for goes
before what is done ahead. The methods are called on the event loop; the jobs are pure computation.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from storage.turns import background
from storage.turns.started_threads import started_threads

THREADS = 2
BATCH = 4

T = TypeVar("T")


class SigningJob(Generic[T]):
    """Work that is to be done, or is being done. `done`: its result, or what it raised."""

    __slots__ = ("_work", "done")

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self.done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    @property
    def has_begun(self) -> bool:
        return self._work is None

    def begin(self) -> Callable[[], T]:
        """The work, which is kept no longer than that: its result may be, and a message is much larger than that."""
        work, self._work = self._work, None
        assert work is not None
        return work


class SigningThreads:
    """The threads, and what waits for them."""

    def __init__(self) -> None:
        self._pool = started_threads(THREADS, "sign", background.go_behind, (background.BESIDE,))
        self._waiting: deque[SigningJob[Any]] = deque()
        self._running = 0
        self._is_called = False

    def ahead(self, job: SigningJob[Any]) -> None:
        """Have it done when nobody waits for anything else."""
        self._waiting.append(job)
        self._call()

    async def now(self, job: SigningJob[T]) -> T:
        """Its result; what others have done ahead waits meanwhile."""
        if job.done.done():
            return job.done.result()
        if not job.has_begun:
            self._waiting.appendleft(job)  # it may stand further back as well, and is passed over there
            self._call()
        return await asyncio.shield(job.done)  # others may wait for it too

    def close(self) -> None:
        """End the threads; what was not begun is cancelled, and the result of the rest is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        while self._waiting:
            self._waiting.popleft().done.cancel()

    def _call(self) -> None:
        if not self._is_called:  # in a moment: others may bring more by then
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._is_called = False
        while self._running < THREADS and (batch := self._take()):
            self._running += 1
            works = [job.begin() for job in batch]
            handed = asyncio.get_running_loop().run_in_executor(self._pool, _run, works)
            handed.add_done_callback(partial(self._ended, batch))

    def _take(self) -> list[SigningJob[Any]]:
        share = min(BATCH, -(-len(self._waiting) // THREADS))
        batch: list[SigningJob[Any]] = []
        while self._waiting and len(batch) < share:
            job = self._waiting.popleft()
            if not job.has_begun and not job.done.done() and job not in batch:
                batch.append(job)
        return batch

    def _ended(
        self, batch: Sequence[SigningJob[Any]], handed: "asyncio.Future[list[Any | Exception]]"
    ) -> None:
        self._running -= 1
        if handed.cancelled():
            for job in batch:
                job.done.cancel()
            return
        self._begin()
        for job, result in zip(batch, handed.result(), strict=True):
            if job.done.done():  # cancelled, by `close`
                continue
            if isinstance(result, Exception):
                job.done.set_exception(result)
                job.done.exception()  # nobody may ever ask for what was done ahead
            else:
                job.done.set_result(result)


def _run(works: Sequence[Callable[[], Any]]) -> list[Any | Exception]:
    return [_result(work) for work in works]


def _result(work: Callable[[], Any]) -> Any | Exception:
    try:
        return work()
    except Exception as error:
        return error
