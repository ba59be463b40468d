"""Tells when the event loop was held, and by what.

Everybody waits for the loop, so nothing may hold it for more than 20 ms, whatever a peer sends. Tests hold what we
thought of to that; this tells of the rest, where it happens.

A thread looks at the loop's frames each time that the loop's thread has computed for 10 ms (`CpuTimer`), so that an
idle daemon pays nothing, and five times a second besides, for what waits instead of computing (a disk, a lock, the
interpreter). Where a look finds the loop at work, it asks the loop a question (`call_soon_threadsafe`) and looks again
until that is answered. The time from the question to the answer is how long the loop was held, without the 10 ms at
most before the question: what is told was held at least as long. What computes is found when it takes longer than 10 ms
more than the bound, what waits for certain when it takes longer than a fifth of a second.

A pass of the loop that does many short things counts as well: all wait until it is over.
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

from conf.log_events import LogEvent
from conf.strangers import StrangerLog
from conf.tuning import LoopTuning
from maild.cpu_timer import CpuTimer
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


class _Place(NamedTuple):
    where: str
    within: str | None
    callers: tuple[str, ...]


@dataclass(slots=True)
class _Question:
    asked_s: float
    asked_cpu_s: float
    answered: tuple[float, float] | None = None  # when, and the loop's CPU seconds then
    places: Counter[_Place] = field(default_factory=Counter)


class HoldWatch:
    """What the looks make of what they see. `ask` has the loop call something, in its next pass; `answer_s` and
    `cpu_s` are times in seconds: now (monotonic), and what the loop's thread has computed.
    """

    def __init__(
        self,
        ask: Callable[[Callable[[], None]], object],
        now_s: Callable[[], float],
        cpu_s: Callable[[], float],
        held_s: float,
    ) -> None:
        self._ask = ask
        self._now_s = now_s
        self._cpu_s = cpu_s
        self._held_s = held_s
        self._question: _Question | None = None

    @property
    def is_open(self) -> bool:
        """A question is not answered, or its answer was not looked at."""
        return self._question is not None

    def look(self, frame: FrameType | None) -> Hold | None:
        """`frame`: the innermost of the loop's thread, None where the loop runs nothing of Python.

        The hold that has ended since the look before.
        """
        question = self._question
        if question is not None and question.answered is not None:
            self._question = None
            return self._judge(question, *question.answered)
        if question is None:
            question = self._question = _Question(self._now_s(), self._cpu_s())
            self._see(question, frame)
            self._ask(lambda: self._answer(question))
        else:
            self._see(question, frame)
        return None

    def _answer(self, question: _Question) -> None:
        question.answered = self._now_s(), self._cpu_s()

    def _see(self, question: _Question, frame: FrameType | None) -> None:
        question.places[_place(frame)] += 1

    def _judge(self, question: _Question, answered_s: float, cpu_s: float) -> Hold | None:
        held_s = answered_s - question.asked_s
        if held_s <= self._held_s:
            return None
        (place, _), *_ = question.places.most_common(1)
        return Hold(held_s, cpu_s - question.asked_cpu_s, *place, looks=question.places.total())


def _place(frame: FrameType | None) -> _Place:
    if frame is None:
        return _Place(IN_C, None, ())
    ours = [one for one in _outwards(frame) if one.f_code.co_filename.startswith(_OURS)]
    innermost = _named(frame)
    if not ours:
        return _Place(innermost, None, ())
    where, *callers = (_named(one) for one in ours[: CALLERS + 1])
    return _Place(where, innermost if innermost != where else None, tuple(callers))


def _outwards(frame: FrameType) -> Iterator[FrameType]:
    at: FrameType | None = frame
    for _ in range(FRAMES_MAX):
        if at is None:
            return
        yield at
        at = at.f_back


def _named(frame: FrameType) -> str:
    code = frame.f_code
    return f"{code.co_filename.removeprefix(_ROOT)}:{frame.f_lineno} {code.co_qualname}"


class LoopMonitor(Service):
    """Watches the loop that `start` runs on, from a thread. A line for each hold, as often as one of strangers."""

    name = "loop-monitor"

    def __init__(self, clock: Clock, tuning: LoopTuning, strangers: StrangerLog) -> None:
        self._clock = clock
        self._tuning = tuning
        self._strangers = strangers
        self._thread: threading.Thread | None = None
        self._timer: CpuTimer | None = None
        self._watch: HoldWatch
        self._ends = False
        self._day = ""
        self._holds = 0
        self._held_s = 0.0

    async def start(self) -> None:
        if self._thread is not None:
            return
        self._ends = False
        begun = threading.Event()
        loop, base = asyncio.get_running_loop(), await _below_callbacks()
        cpu_clock = time.pthread_getcpuclockid(threading.get_ident())
        self._watch = HoldWatch(
            lambda answer: _call(loop, answer),
            time.monotonic,
            lambda: time.clock_gettime(cpu_clock),
            self._tuning.held_s,
        )
        self._thread = threading.Thread(
            target=self._run, args=(loop, threading.get_ident(), base, begun), name=self.name, daemon=True
        )
        self._thread.start()
        await asyncio.to_thread(begun.wait)

    async def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._ends = True
        if self._timer is not None and thread.is_alive():
            self._timer.wake()
        await asyncio.to_thread(thread.join)

    def today(self) -> dict[str, int]:
        """How often the loop was held since midnight (UTC) or the start, and how long in all, in ms."""
        self._begin_day()
        return {"holds": self._holds, "heldMs": round(self._held_s * 1000)}

    def _run(
        self, loop: asyncio.AbstractEventLoop, watched: int, base: FrameType | None, begun: threading.Event
    ) -> None:
        timer = self._timer = CpuTimer(watched, self._tuning.computed_s)
        begun.set()
        try:
            self._look_again_and_again(loop, watched, base, timer)
        except Exception:
            log.exception("loop_not_watched")  # the daemon serves without it
        finally:
            timer.close()

    def _look_again_and_again(
        self, loop: asyncio.AbstractEventLoop, watched: int, base: FrameType | None, timer: CpuTimer
    ) -> None:
        watch = self._watch
        while not self._ends:
            has_computed = timer.wait(self._tuning.again_s if watch.is_open else self._tuning.look_s)
            frame = sys._current_frames().get(watched)
            is_idle = frame is base and not has_computed
            if watch.is_open or not is_idle:
                hold = watch.look(None if frame is base else frame)
                if hold is not None:
                    _call(loop, lambda hold=hold: self._tell(hold))  # type: ignore[misc]
            frame = None  # it would keep what the function at work holds

    def _tell(self, hold: Hold) -> None:
        self._begin_day()
        self._holds += 1
        self._held_s += hold.held_s
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


def _call(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(what)
    except RuntimeError:
        if not loop.is_closed():  # a loop that ended without its parts being stopped
            raise


async def _below_callbacks() -> FrameType | None:
    """The frame that the loop's callbacks are called from: where the thread is while the loop has nothing to do."""
    found: asyncio.Future[FrameType | None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lambda: found.set_result(sys._getframe().f_back))
    return await found
