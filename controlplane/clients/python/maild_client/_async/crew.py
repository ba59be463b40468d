"""What a worker needs of its world: places for those who work at once, someone beside them, and signals.

`maild_client/_sync/crew.py` is the same in threads, by hand.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

import httpx2

from maild_client.errors import ConfigurationError

AsyncStop = asyncio.Event
HOME = "event loop: make one for each asyncio.run()"
SIGNALS = (signal.SIGTERM, signal.SIGINT)
_stops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []  # of all who work in the main thread
_handlers: dict[int, Any] = {}  # that stood where ours do


def home() -> object:
    """What connections belong to: in another loop they would fail now and then."""
    return asyncio.get_running_loop()


def wake_reader(answer: httpx2.Response) -> None:
    """Have whoever reads of it stop: tasks do when it is closed."""


def check_handler(handle: object) -> None:
    """ConfigurationError for what can't handle a message, before any is claimed."""
    if not callable(handle):
        raise ConfigurationError("the handler is a function: async def handle(message, claim)")


async def wait_until(stop: asyncio.Event, timeout_s: float) -> bool:
    """Was it set within the time?"""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await stop.wait()
    return stop.is_set()


class AsyncCrew:
    """So many at work at once. Whoever leaves it waits for all of them."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None or issubclass(kind, Exception):
                await self._all_done()
        finally:  # cancelled: so is the work
            for task in self._tasks:
                task.cancel()
            await self._all_done()

    async def free(self) -> int:
        """How many places are free, once one is."""
        while len(self._tasks) >= self._places:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        return self._places - len(self._tasks)

    def start(self, work: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Take a place and begin; `work` raises nothing but what ends it."""

        async def working() -> None:
            await work(*arguments)

        task = asyncio.create_task(working())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _all_done(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks)


@asynccontextmanager
async def beside(work: Callable[[asyncio.Event], Awaitable[None]]) -> AsyncIterator[None]:
    """`work(stop)` beside what is done within; then it is told to stop, and waited for."""
    stop = asyncio.Event()

    async def working() -> None:
        await work(stop)

    task = asyncio.create_task(working())
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait({task})


@contextmanager
def stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """SIGTERM and Ctrl-C set `stop` and those of all others who work, the first time; in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    working = asyncio.get_running_loop(), stop
    # Not the loop's own, of which each is the only one, and what was there before is lost.
    if not _handlers:
        _handlers.update({number: signal.signal(number, _stop_all) for number in SIGNALS})
    _stops.append(working)
    try:
        yield
    finally:
        _stops.remove(working)
        if all(loop.is_closed() for loop, _ in _stops):
            _forget_signals()


def _stop_all(number: int, frame: FrameType | None) -> None:
    _forget_signals()
    for loop, stop in _stops:
        if not loop.is_closed():  # as one may be whose tasks were not done
            loop.call_soon_threadsafe(stop.set)


def _forget_signals() -> None:
    while _handlers:
        number, before = _handlers.popitem()
        if signal.getsignal(number) is _stop_all:  # else the program has another by now
            signal.signal(number, before)
