"""A thread for work that only computes, and that peers can make long: a mail of a thousand parts, a body of 20 MB.

There is one thread for that, because the interpreter runs one thread at a time: two would not be faster, and the
event loop would wait for both each time it wants the interpreter back, which is at every statement and every socket
it reads. While the thread works, the loop waits `SWITCH_S` for it instead of Python's usual time: a mail takes about
fifty such waits from its greeting to its 250. The thread is not one of those that wait for the disk, so that an fsync
never waits behind the reading of a mail. Between two pieces of work it stands back for the loop
(storage.turns.loop_first).

Owners (an address, an organization) take turns at it (storage.turns.fair_threads); work of many steps takes a turn for
each.

What is made once, for all, when it is first asked for (the reference, the pages' templates, the modules of MCP) takes a
second in one piece, so it has a thread of its own: who asks first has nobody's mail wait so long.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

from storage.turns.fair_threads import FairThreads, Serve
from storage.turns.loop_first import LoopFirst, clocks_of_this_thread
from storage.turns.started_threads import started_threads

T = TypeVar("T")

SWITCH_S = 0.00005  # a fifth of it costs more in switches than it spares in waits
_END = object()


class CpuThreads:
    """Runs work off the event loop, one piece at a time. `owner`: an address, an organization id, or `OWN`.

    Made on the loop's thread."""

    def __init__(self) -> None:
        self._executor = started_threads(1, "cpu")
        self._once = started_threads(1, "once")
        self._making: set[asyncio.Future[Any]] = set()
        self._turns: FairThreads[Callable[[], Any], Any] = FairThreads([self._thread], share=1, held_s=0)
        self._usual_s = sys.getswitchinterval()
        self._loop_first = LoopFirst(clocks_of_this_thread())

    async def run(self, owner: str, work: Callable[[], T]) -> T:
        """What `work` gives or raises, once it is its owner's turn; work whose caller was cancelled is not begun."""
        result: T = await self._turns.submit(owner, work)
        return result

    async def steps(self, owner: str, steps: Iterator[T]) -> AsyncIterator[T]:
        """What each step gives, each done in a turn of its own."""
        while (result := await self.run(owner, lambda: next(steps, _END))) is not _END:
            yield result  # type: ignore[misc]

    def once(self, work: Callable[[], T]) -> Callable[[], Awaitable[T]]:
        """A function that answers with what `work` gives or raises: done when it is first asked, for all who ask. What
        failed is done again for who asks next."""
        running: asyncio.Future[T] | None = None

        async def given() -> T:
            nonlocal running
            if running is None or _has_failed(running):
                running = asyncio.get_running_loop().run_in_executor(self._once, self._hurried, work)
                self._making.add(running)
                running.add_done_callback(self._making.discard)
            return await asyncio.shield(running)  # who hangs up takes it from nobody else

        return given

    def _thread(self, serve: Serve[Callable[[], Any], Any]) -> Awaitable[None]:
        return asyncio.get_running_loop().run_in_executor(self._executor, serve, self._call)

    def _call(self, work: Callable[[], Any]) -> Any:
        self._loop_first.begin()
        try:
            return self._hurried(work)
        finally:
            self._loop_first.end()

    def _hurried(self, work: Callable[[], T]) -> T:
        """Where two work, the first that ends gives the usual interval back; the loop waits that long then, at most for
        the rest of the other's piece."""
        sys.setswitchinterval(SWITCH_S)
        try:
            return work()
        finally:
            sys.setswitchinterval(self._usual_s)

    async def close(self) -> None:
        """Return when all that was begun or waits has run."""
        await self._turns.finish()
        self._executor.shutdown()
        if self._making:
            await asyncio.wait(self._making)
        self._once.shutdown()


def _has_failed(work: asyncio.Future[Any]) -> bool:
    return work.done() and (work.cancelled() or work.exception() is not None)
