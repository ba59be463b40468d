"""Threads for work that only computes, and that strangers make long: a mail of a thousand parts, a body of 20 MB.

They are few, for every thread that computes makes the event loop wait for the interpreter, and others than those
that wait for the disk, so that an fsync never waits behind a stranger's mail. Owners (an address, an organization)
take turns at them (storage.fair_threads), each with one thread at a time; who needs many steps takes them one by one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from storage.fair_threads import FairThreads, Serve

T = TypeVar("T")

THREADS = 2
SHARE = 1
_END = object()


class CpuThreads:
    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(THREADS, "cpu")
        self._turns: FairThreads[Callable[[], Any], Any] = FairThreads([self._thread] * THREADS, SHARE)

    async def run(self, owner: str, work: Callable[[], T]) -> T:
        """What `work` gives, or raises, when its owner's turn came; it is not begun once its caller is gone."""
        result: T = await self._turns.submit(owner, work)
        return result

    async def steps(self, owner: str, steps: Iterator[T]) -> AsyncIterator[T]:
        """What each step gives, each done in a turn of its own."""
        while (result := await self.run(owner, lambda: next(steps, _END))) is not _END:
            yield result  # type: ignore[misc]

    def _thread(self, serve: Serve[Callable[[], Any], Any]) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(self._executor, serve, _call)

    async def close(self) -> None:
        """Return when all that was begun or waits has run."""
        await self._turns.finish()
        self._executor.shutdown()


def _call(work: Callable[[], Any]) -> Any:
    return work()
