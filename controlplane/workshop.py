"""Threads for work on what is too large for the event loop: decoding, rendering and sanitising bodies.

A step is a few milliseconds; who needs many takes them one by one. Organizations take turns (storage.fair_threads), and
each has all threads but one at most, so whoever asks for many large messages at once waits behind itself.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from storage.fair_threads import FairThreads, Serve
from storage.service import Service

T = TypeVar("T")

THREADS = 2
_END = object()


class Workshop(Service):
    name = "workshop"

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, "workshop")
        self._threads: FairThreads[Callable[[], Any], Any] = FairThreads(
            [self._thread for _ in range(THREADS)], share=THREADS - 1
        )

    async def do(self, organization_id: str, work: Callable[[], T]) -> T:
        """The result of `work`, done in the organization's turn."""
        result: T = await self._threads.submit(organization_id, work)
        return result

    async def steps(self, organization_id: str, steps: Iterator[T]) -> AsyncIterator[T]:
        """What each step gives, each done in a turn of its own."""
        while (result := await self.do(organization_id, lambda: next(steps, _END))) is not _END:
            yield result  # type: ignore[misc]

    def _thread(self, serve: Serve[Callable[[], Any], Any]) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(self._pool, serve, _call)

    async def start(self) -> None:
        """The threads come with their first work."""

    async def stop(self) -> None:
        await self._threads.finish()
        self._pool.shutdown(wait=False)


def _call(work: Callable[[], Any]) -> Any:
    return work()
