"""The life of every long-running part: it starts once, stops once, and never dies quietly.

`Service.start()` and `.stop()` are idempotent. A subclass of `LoopService` gives `run()`, a loop that ends when it
is cancelled; if it ends otherwise, the process must not go on as if nothing had happened, so
`Supervisor.watch` raises ServiceDied with the reason, and the composition root stops everything.

A store that refuses (because of a full disk, for example) must not end a loop: each round of it runs inside
`with Enduring(…)`.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import structlog

from storage.engine.failures import in_words, is_outage, is_refused
from storage.engine.writer import DatabaseClosed

STORE_RETRY_S = 1.0  # how long a loop waits for a store that refused

log = structlog.get_logger("maild.service")


class Service(ABC):
    """One part of the daemon: `start`, then `stop`, each idempotent."""

    name: str = "service"

    @abstractmethod
    async def start(self) -> None:
        """Return when the part is ready; raise when it can't be."""

    @abstractmethod
    async def stop(self) -> None:
        """Take nothing new, finish or give back what is begun, release everything."""

    def died(self) -> "asyncio.Future[None] | None":
        """A future that ends only if the part died, or None for parts that can't."""
        return None


class LoopService(Service):
    """A service that is one task. `wake()` may be called from the event loop at any time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()

    @abstractmethod
    async def run(self) -> None:
        """The loop; it is cancelled at stop."""

    def wake(self) -> None:
        """End the present `pause`, or the next one where the loop is at work; any number of wakes counts as one."""
        self._woken.set()

    async def pause(self, timeout_s: float | None) -> None:
        """Sleep until woken, at most `timeout_s` (None: without end)."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._woken.wait()
        except TimeoutError:
            pass
        self._woken.clear()

    async def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self.run(), name=self.name)

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])

    def died(self) -> "asyncio.Future[None] | None":
        return self._task


def tell_failure(log: Any, event: str, error: Exception, **fields: Any) -> None:
    """In one line where the machine refuses, which is no fault of what failed; else with a traceback."""
    if is_refused(error):
        log.error(event, error=in_words(error), **fields)
    else:
        log.exception(event, exc_info=error, **fields)


class Enduring:
    """`with Enduring(log, "retention_failed"): await self.round()`: the loop goes on, whatever the round raised.

    The exception is logged under this name, with these fields (`tell_failure`), and the statement after the block is
    next. DatabaseClosed and a cancellation go through: they end the loop.
    """

    def __init__(self, log: Any, event: str, **fields: Any) -> None:
        self._log = log
        self._event = event
        self._fields = fields

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, DatabaseClosed):
            return False
        tell_failure(self._log, self._event, error, **self._fields)
        return True


class EnduringOutages(Enduring):
    """`Enduring` for rounds that follow each other closely; it is entered again and again.

    A store or a disk that refuses fails one round after the other: that is one line, with the cause and without a
    traceback, until a round ends well or the cause is another.
    """

    _told: str | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            self._told = None
        if not isinstance(error, Exception) or not is_outage(error):
            return super().__exit__(kind, error, trace)
        cause = in_words(error)
        if cause != self._told:
            self._log.error(self._event, error=cause, **self._fields)
        self._told = cause
        return True


class ServiceDied(Exception):
    """A part ended by itself; the process stops."""


class Supervisor:
    """Starts parts in order, watches them, stops them in the opposite order.

    `lines` are stopped before all others, and at once, since each part may take seconds to finish what it
    began; within a line, in the order in which it is given.
    """

    def __init__(self, services: Sequence[Service], lines: Sequence[Sequence[Service]] = ()) -> None:
        self._services = services
        self._lines = lines
        self._started: list[Service] = []

    async def start(self) -> None:
        """Start all, in order; when one raises, stop those that have started and raise the same."""
        try:
            for service in self._services:
                await service.start()
                self._started.append(service)
        except BaseException:
            await self.stop()
            raise

    async def watch(self, until: "asyncio.Future[None]") -> None:
        """Return when `until` ends; raise ServiceDied when a part ends before it."""
        lives = {future: part for part in self._started if (future := part.died()) is not None}
        await asyncio.wait([until, *lives], return_when=asyncio.FIRST_COMPLETED)
        for future, part in lives.items():
            if future.done():
                cause = None if future.cancelled() else future.exception()
                raise ServiceDied(f"{part.name} ended unexpectedly") from cause

    async def stop(self) -> None:
        """Stop all that have started; a part whose stop raises is logged, and the others are stopped all the same."""
        await asyncio.gather(*(self._stop(line) for line in self._lines))
        await self._stop(self._started[::-1])

    async def _stop(self, services: Sequence[Service]) -> None:
        for service in services:
            if service not in self._started:
                continue
            self._started.remove(service)
            try:
                await service.stop()
            except Exception as error:
                tell_failure(log, "stop_failed", error, service=service.name)
