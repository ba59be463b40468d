"""A few threads that many owners share: each owner has a line of its own, and the lines take turns.

Whoever asks often waits behind itself, not before others: a thread that is free takes a piece of work of an owner
that has no thread yet, else of one that has the fewest, in turn; and no owner has more than `share` threads at a time,
so that one is soon free for everybody else. Work without an owner (`OWN`) is the daemon's: it comes first and has no
share.

`submit` is called from the event loop; the work runs on one of the threads, which go on while anything may run. To wake
the loop for each piece of work costs as much as a small one does, so results are told together: those of one owner,
for `HELD_S` at most and the piece of work that follows. Nobody's answer waits for another owner's work.
"""

import asyncio
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

Work = TypeVar("Work")
T = TypeVar("T")

OWN = ""
HELD_S = 0.002
Run = Callable[[Work], T]
Serve = Callable[[Run[Work, T]], None]
Thread = Callable[[Serve[Work, T]], Awaitable[None]]
Settle = Callable[[], None]


class FairOrder(Generic[Work]):
    """What waits, by owner, and for whom threads are at work. Not safe for threads by itself."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._lines: OrderedDict[str, deque[Work]] = OrderedDict()
        self._served: Counter[str] = Counter()

    def put(self, owner: str, work: Work) -> None:
        line = self._lines.get(owner)
        if line is None:
            line = self._lines[owner] = deque()
            if owner == OWN:
                self._lines.move_to_end(OWN, last=False)
        line.append(work)

    def take(self) -> tuple[str, Work] | None:
        """The next in turn, of those that have the fewest threads; `done` gives the thread back."""
        owner = self._next()
        if owner is None:
            return None
        line = self._lines[owner]
        work = line.popleft()
        self._served[owner] += 1
        if not line:
            del self._lines[owner]
        elif owner != OWN:
            self._lines.move_to_end(owner)
        return owner, work

    def _next(self) -> str | None:
        chosen, fewest = None, self._share
        for owner in self._lines:
            served = self._served[owner]
            if owner == OWN or not served:
                return owner
            if served < fewest:
                chosen, fewest = owner, served
        return chosen

    def done(self, owner: str) -> None:
        self._served[owner] -= 1
        if not self._served[owner]:
            del self._served[owner]


class _Job(NamedTuple, Generic[Work, T]):
    work: Work
    future: "asyncio.Future[T]"


class FairThreads(Generic[Work, T]):
    """`threads`: each calls what it is given on a thread of its own, with what runs a piece of work there."""

    def __init__(self, threads: "Sequence[Thread[Work, T]]", share: int) -> None:
        self._idle = list(threads)
        self._turns: FairOrder[_Job[Work, T]] = FairOrder(share)
        self._lock = threading.Lock()  # held for a few steps of Turns
        self._running: set[asyncio.Future[None]] = set()

    def submit(self, owner: str, work: Work) -> "asyncio.Future[T]":
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            self._turns.put(owner, _Job(work, future))
            thread = self._idle.pop() if self._idle else None
        if thread is not None:
            running = asyncio.ensure_future(self._begin(loop, thread))
            self._running.add(running)
            running.add_done_callback(self._running.discard)
        return future

    async def _begin(self, loop: asyncio.AbstractEventLoop, thread: "Thread[Work, T]") -> None:
        last: list[Settle] = []
        await thread(lambda run: self._serve(loop, thread, run, last))
        _all(last)

    async def finish(self) -> None:
        """Return when nothing waits or runs any more."""
        while self._running:
            await asyncio.wait(self._running)

    def _serve(
        self,
        loop: asyncio.AbstractEventLoop,
        thread: "Thread[Work, T]",
        run: Run[Work, T],
        last: "list[Settle]",
    ) -> None:
        """Work while there is some; what is not told yet at the end is left in `last`, as the loop is woken anyway."""
        owner: str | None = None
        held: list[Settle] = []
        since = 0.0
        while (taken := self._next(owner, thread)) is not None:
            before, (owner, job) = owner, taken
            if held and (owner != before or owner == OWN or time.perf_counter() - since > HELD_S):
                loop.call_soon_threadsafe(_all, held)
                held = []
            if job.future.cancelled():  # nobody waits for it any more
                continue
            try:
                settle: Settle = partial(_give, job.future, run(job.work))
            except BaseException as error:
                settle = partial(_raise, job.future, error)
            if not held:
                since = time.perf_counter()
            held.append(settle)
        last.extend(held)

    def _next(self, done: str | None, thread: "Thread[Work, T]") -> "tuple[str, _Job[Work, T]] | None":
        """The next piece of work for a thread that has done one of that owner; without one it is idle."""
        with self._lock:
            if done is not None:
                self._turns.done(done)
            taken = self._turns.take()
            if taken is None:
                self._idle.append(thread)
            return taken


def _all(settles: list[Settle]) -> None:
    for settle in settles:
        settle()


def _give(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():  # else the caller was cancelled; its work was not
        future.set_result(result)


def _raise(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
