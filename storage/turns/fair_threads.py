"""A few threads that many owners share: each owner has a line of its own, and the lines take turns.

An owner that asks often waits behind its own work, and does not hold up others: a free thread takes a piece of work
of an owner that does not have a thread yet, else of one that has the fewest, in turn; and no owner has more than
`share` threads at a time, so that one is soon free for the others. Work without an owner (`OWN`) is the daemon's: it
comes first, and its threads are not limited.

`submit` is called from the event loop; the work runs on one of the threads, which go on while anything may run. Waking
the loop costs as much as a small piece of work does, so results are handed over together: those of one owner, held
for `held_s` at most and the piece of work that follows. An owner's answer never waits for another owner's work.

Two threads hand the interpreter back and forth at each statement, and small pieces of work cost twice as much on two as
on one. So an owner whose thread is at work gets another only when a piece takes longer than `HELP_S` while others wait.
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
HELP_S = 0.004
Run = Callable[[Work], T]
Serve = Callable[[Run[Work, T]], None]
Thread = Callable[[Serve[Work, T]], Awaitable[None]]
Settle = Callable[[], None]


class FairOrder(Generic[Work]):
    """The work that waits, by owner, and how many threads work for each owner. Callers hold a lock: it has none."""

    def __init__(self, share: int) -> None:
        self._share = share
        self._lines: OrderedDict[str, deque[Work]] = OrderedDict()
        self._served: Counter[str] = Counter()
        self.taken = 0  # pieces of work so far

    def unserved(self) -> int:
        """For how many owners of work that waits no thread works: one that does looks for more when it is done."""
        return sum(not self._served[owner] for owner in self._lines)

    def may_take(self) -> bool:
        """Is there something to `take`?"""
        return self._next() is not None

    def put(self, owner: str, work: Work) -> None:
        """Add to the end of the owner's line."""
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
        self.taken += 1
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
        """A piece of work that `take` gave for this owner has ended."""
        self._served[owner] -= 1
        if not self._served[owner]:
            del self._served[owner]


class _Job(NamedTuple, Generic[Work, T]):
    work: Work
    future: "asyncio.Future[T]"


class FairThreads(Generic[Work, T]):
    """`threads`: each calls the function it is given on a thread of its own, with what runs a piece of work there.
    `held_s`: 0 where a thread takes its time between two pieces."""

    def __init__(self, threads: "Sequence[Thread[Work, T]]", share: int, held_s: float = HELD_S) -> None:
        self._held_s = held_s
        self._idle = list(threads)
        self._turns: FairOrder[_Job[Work, T]] = FairOrder(share)
        self._lock = threading.Lock()  # held for a few steps of FairOrder
        self._running: set[asyncio.Future[None]] = set()
        self._coming = 0  # threads that were woken and have not looked for work yet
        self._helping: asyncio.TimerHandle | None = None

    def submit(self, owner: str, work: Work) -> "asyncio.Future[T]":
        """What the work gives or raises, as a future; work is not begun once its future is cancelled."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        with self._lock:
            self._turns.put(owner, _Job(work, future))
            is_wanted = self._idle and (owner == OWN or self._turns.unserved() > self._coming)
            thread = self._called() if is_wanted else None
        if thread is not None:
            self._wake(loop, thread)
        elif self._helping is None and self._idle:
            self._helping = loop.call_later(HELP_S, self._help, loop, self._turns.taken)
        return future

    def _help(self, loop: asyncio.AbstractEventLoop, taken: int) -> None:
        """Wake another thread where work waits behind a long piece; look again while work waits."""
        with self._lock:
            is_waiting = bool(self._idle) and self._turns.may_take()
            is_stuck = is_waiting and self._turns.taken == taken
            thread = self._called() if is_stuck else None
            taken = self._turns.taken
        if thread is not None:
            self._wake(loop, thread)
        self._helping = loop.call_later(HELP_S, self._help, loop, taken) if is_waiting else None

    def _called(self) -> "Thread[Work, T]":
        self._coming += 1
        return self._idle.pop()

    def _wake(self, loop: asyncio.AbstractEventLoop, thread: "Thread[Work, T]") -> None:
        running = asyncio.ensure_future(self._begin(loop, thread))
        self._running.add(running)
        running.add_done_callback(self._running.discard)

    async def _begin(self, loop: asyncio.AbstractEventLoop, thread: "Thread[Work, T]") -> None:
        last: list[Settle] = []
        await thread(lambda run: self._serve(loop, thread, run, last))
        _all(last)

    async def finish(self) -> None:
        """Return when nothing waits or runs any more."""
        while self._running:
            await asyncio.wait(self._running)
        if self._helping is not None:
            self._helping.cancel()

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
            if held and (owner != before or owner == OWN or time.perf_counter() - since > self._held_s):
                loop.call_soon_threadsafe(_all, held)
                held = []
            if job.future.cancelled():  # its caller does not wait for it any more
                continue
            try:
                settle: Settle = partial(_give, job.future, run(job.work))
            except BaseException as error:
                settle = partial(_raise, job.future, error)
            if not held:
                since = time.perf_counter()
            held.append(settle)
            # An exception knows this frame: with what knows the exception that is a circle, and the work is in it.
            del taken, job, settle
        last.extend(held)
        del held

    def _next(self, done: str | None, thread: "Thread[Work, T]") -> "tuple[str, _Job[Work, T]] | None":
        """The next piece of work for a thread that has done one of that owner (None: it was woken); without one it is
        idle."""
        with self._lock:
            if done is None:
                self._coming -= 1
            else:
                self._turns.done(done)
            taken = self._turns.take()
            if taken is None:
                self._idle.append(thread)
            return taken


def _all(settles: list[Settle]) -> None:
    for settle in settles:
        settle()
    settles.clear()  # who called knows the list


def _give(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():  # else the caller was cancelled; its work was not
        future.set_result(result)


def _raise(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
