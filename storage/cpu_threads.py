"""A thread for work that only computes, and that strangers make long: a mail of a thousand parts, a body of 20 MB.

One, for the interpreter runs one thread at a time: two would be no faster, and the event loop would wait for both
each time it wants the interpreter back, which is at every statement and every socket it reads. While the thread works
the loop waits `SWITCH_S` for it and not Python's usual time: fifty such waits are a mail, from its greeting to its 250.
It is another thread than those that wait for the disk, so that an fsync never waits behind a stranger's mail. Owners
(an address, an organization) take turns at it (storage.fair_threads); who needs many steps takes them one by one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from storage.fair_threads import FairThreads, Serve

T = TypeVar("T")

SWITCH_S = 0.00005  # a fifth of it costs more in switches than it spares in waits
_END = object()


class CpuThreads:
    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "cpu")
        self._turns: FairThreads[Callable[[], Any], Any] = FairThreads([self._thread], share=1)
        self._usual_s = sys.getswitchinterval()

    async def run(self, owner: str, work: Callable[[], T]) -> T:
        """What `work` gives, or raises, when its owner's turn came; it is not begun once its caller is gone."""
        result: T = await self._turns.submit(owner, work)
        return result

    async def steps(self, owner: str, steps: Iterator[T]) -> AsyncIterator[T]:
        """What each step gives, each done in a turn of its own."""
        while (result := await self.run(owner, lambda: next(steps, _END))) is not _END:
            yield result  # type: ignore[misc]

    def _thread(self, serve: Serve[Callable[[], Any], Any]) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(self._executor, serve, self._call)

    def _call(self, work: Callable[[], Any]) -> Any:
        sys.setswitchinterval(SWITCH_S)
        try:
            return work()
        finally:
            sys.setswitchinterval(self._usual_s)

    async def close(self) -> None:
        """Return when all that was begun or waits has run."""
        await self._turns.finish()
        self._executor.shutdown()
