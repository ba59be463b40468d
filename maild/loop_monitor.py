"""Tells when the event loop was held, and by what.

Everybody waits for the loop, so nothing may hold it for more than 20 ms, whatever a peer sends. Tests hold what we
thought of to that; this tells of the rest, where it happens.

Two timers interrupt the loop's thread to look where it is (`ThreadTimer`). One does each time that the thread has
computed for 10 ms, so that an idle daemon pays nothing. The other does where the loop has let a fifth of a second pass
without a beat, which tells of what waits instead of computing (a disk, a lock, the interpreter). Where a look finds the
loop at work, it asks the loop a question (`call_soon_threadsafe`); further looks see where the loop is until that is
answered. The time from the question to the answer is how long the loop was held, without what came before the question:
what is told was held at least as long. A thread that waits for the disk lets no interrupt in until that has answered,
so there the time counts from the beat that did not come; what is seen then is the place that it waited at, or the next
step. What computes is found when it takes longer than 10 ms more than the bound, what waits for certain when it takes
longer than a quarter of a second.

A pass of the loop that does many short things counts as well: all wait until it is over.

It watches a loop on the main thread, as the daemon's is; elsewhere it counts nothing.
"""

import asyncio
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import structlog
import uvloop._noop

from conf.log_events import LogEvent
from conf.strangers import StrangerLog
from conf.tuning import LoopTuning
from maild import thread_timer
from maild.thread_timer import ThreadTimer
from storage.clock import Clock, day_of
from storage.service import Service

IN_C = "no function of Python (TLS, the event loop itself)"
FRAMES_MAX = 100
CALLERS = 3
_ROOT = f"{Path(__file__).parents[1]}{os.sep}"
_OURS = tuple(f"{_ROOT}{room}{os.sep}" for room in ("maild", "controlplane", "storage", "conf"))

log = structlog.get_logger("maild.loop")


class Hold(NamedTuple):
    """`where`: file:line function of ours that was seen most often; `within`: what that called at the time, or None;
    `callers`: of ours, nearest first. `cpu_s`: what the loop's thread computed meanwhile; where it is much less than
    `held_s`, the loop waited.
    """

    held_s: float
    cpu_s: float
    where: str
    within: str | None
    callers: tuple[str, ...]
    looks: int


class Place(NamedTuple):
    """Of the loop's thread, as in `Hold`."""

    where: str
    within: str | None
    callers: tuple[str, ...]


class Moment(NamedTuple):
    """`at_s`: monotonic; `cpu_s`: what the loop's thread had computed by then."""

    at_s: float
    cpu_s: float


@dataclass(slots=True)
class _Question:
    asked_s: float
    asked_cpu_s: float
    places: Counter[Place] = field(default_factory=Counter)


class HoldWatch:
    """What the looks make of what they see. `ask` has the loop call something, in its next pass; `tell` gets what has
    held it, then. `now_s` and `cpu_s` are times in seconds: now (monotonic), and what the loop's thread has computed.
    """

    def __init__(
        self,
        ask: Callable[[Callable[[], None]], object],
        tell: Callable[[Hold], None],
        now_s: Callable[[], float],
        cpu_s: Callable[[], float],
        held_s: float,
    ) -> None:
        self._ask = ask
        self._tell = tell
        self._now_s = now_s
        self._cpu_s = cpu_s
        self._held_s = held_s
        self._question: _Question | None = None

    def look(self, place: Place, since: Moment | None = None) -> None:
        """The loop's thread is at work there. `since`: no later than when the loop was last known to go round; None: it
        may have done until now."""
        question = self._question
        if question is None:
            question = self._question = _Question(*(since or self.now()))
            self._ask(self._answer)
        elif since is not None and since.at_s < question.asked_s:
            question.asked_s, question.asked_cpu_s = since
        question.places[place] += 1

    def now(self) -> Moment:
        """This one, on the loop's thread."""
        return Moment(self._now_s(), self._cpu_s())

    def _answer(self) -> None:
        question, self._question = self._question, None
        assert question is not None, "each question is answered once"
        held_s = self._now_s() - question.asked_s
        if held_s > self._held_s:
            (place, _), *_ = question.places.most_common(1)
            cpu_s = self._cpu_s() - question.asked_cpu_s
            self._tell(Hold(held_s, cpu_s, *place, looks=question.places.total()))


def place_of(frame: FrameType | None, base: FrameType | None) -> Place | None:
    """Where the callback is that `frame` belongs to; None where no callback runs. `base`: what calls the callbacks."""
    frames = list(_outwards(frame, base))
    if not frames or frames[-1].f_code in _OF_THE_WATCH:
        return None
    ours = [one for one in frames if one.f_code.co_filename.startswith(_OURS)]
    innermost = named(frames[0])
    if not ours:
        return Place(innermost, None, ())
    where, *callers = (named(one) for one in ours[: CALLERS + 1])
    return Place(where, innermost if innermost != where else None, tuple(callers))


def _outwards(frame: FrameType | None, base: FrameType | None) -> Iterator[FrameType]:
    """The frame and its callers, up to `base`."""
    at = frame
    for _ in range(FRAMES_MAX):
        if at is None or at is base:
            return
        yield at
        at = at.f_back


def named(frame: FrameType) -> str:
    """file:line function."""
    code = frame.f_code
    return placed(code.co_filename, frame.f_lineno, code.co_qualname)


def placed(file: str, line: int | str, function: str) -> str:
    """file:line function; of ours without the folder that holds the program."""
    return f"{file.removeprefix(_ROOT)}:{line} {function}"


class LoopMonitor(Service):
    """Watches the loop that `start` runs on. A line for each hold, as often as one of strangers."""

    name = "loop-monitor"

    def __init__(self, clock: Clock, tuning: LoopTuning, strangers: StrangerLog) -> None:
        self._clock = clock
        self._tuning = tuning
        self._strangers = strangers
        self._loop: asyncio.AbstractEventLoop
        self._base: FrameType | None
        self._watch: HoldWatch
        self._computed: ThreadTimer | None = None
        self._waited: ThreadTimer | None = None
        self._next_beat: asyncio.TimerHandle | None = None
        self._beat_due = Moment(0.0, 0.0)
        self._day = ""
        self._holds = 0
        self._held_s = 0.0
        self._holds_in_all = 0
        self._held_s_in_all = 0.0

    async def start(self) -> None:
        if self._computed is not None or not thread_timer.are_to_be_had():
            return
        self._loop, self._base = asyncio.get_running_loop(), await _below_callbacks()
        cpu_clock = time.pthread_getcpuclockid(threading.get_ident())
        self._watch = HoldWatch(
            self._loop.call_soon_threadsafe,  # an interrupt may come while the loop sleeps
            self._tell,
            time.monotonic,
            lambda: time.clock_gettime(cpu_clock),
            self._tuning.held_s,
        )
        self._computed = ThreadTimer(cpu_clock, self._look_at_computing)
        self._computed.set(self._tuning.computed_s, self._tuning.computed_s)
        self._waited = ThreadTimer(time.CLOCK_MONOTONIC, self._look_at_waiting)
        self._beat()

    async def stop(self) -> None:
        for timer in (self._computed, self._waited):
            if timer is not None:
                timer.close()
        self._computed = self._waited = None
        if self._next_beat is not None:
            self._next_beat.cancel()

    def _beat(self) -> None:
        if self._waited is not None:
            at_s, cpu_s = self._watch.now()
            self._beat_due = Moment(at_s + self._tuning.beat_s, cpu_s)
            self._waited.set(self._tuning.beat_s + self._tuning.held_s, self._tuning.again_s)
            self._next_beat = self._loop.call_later(self._tuning.beat_s, self._beat)

    def _look_at_computing(self, frame: FrameType | None) -> None:
        if self._loop.is_running():
            self._watch.look(place_of(frame, self._base) or Place(IN_C, None, ()))

    def _look_at_waiting(self, frame: FrameType | None) -> None:
        place = place_of(frame, self._base)
        # Without one, the loop itself comes late: other processes had the processor.
        if place is not None and self._loop.is_running():
            self._watch.look(place, self._beat_due)

    def today(self) -> dict[str, int]:
        """How often the loop was held since midnight (UTC) or the start, and how long in all, in ms."""
        self._begin_day()
        return {"holds": self._holds, "heldMs": round(self._held_s * 1000)}

    @property
    def in_all(self) -> tuple[int, float]:
        """How often the loop was held since the start, and for how many seconds."""
        return self._holds_in_all, self._held_s_in_all

    def _tell(self, hold: Hold) -> None:
        self._begin_day()
        self._holds += 1
        self._held_s += hold.held_s
        self._holds_in_all += 1
        self._held_s_in_all += hold.held_s
        self._strangers.note(
            LogEvent.LOOP_HELD,
            whose=hold.where.partition(":")[0],
            held_ms=round(hold.held_s * 1000),
            cpu_ms=round(hold.cpu_s * 1000),
            where=hold.where,
            within=hold.within,
            callers=list(hold.callers),
            looks=hold.looks,
            today=self._holds,
        )

    def _begin_day(self) -> None:
        day = day_of(self._clock.now_ms())
        if day != self._day:
            self._day, self._holds, self._held_s = day, 0, 0.0


async def _below_callbacks() -> FrameType | None:
    """The frame that the loop's callbacks are called from: where the thread is while the loop has nothing to do."""
    found: asyncio.Future[FrameType | None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: found.set_result(sys._getframe().f_back))
    return await found


# What the loop runs to let an interrupt in, and what notes that it is alive, hold up nobody.
_OF_THE_WATCH = frozenset({uvloop._noop.noop.__code__, LoopMonitor._beat.__code__})
