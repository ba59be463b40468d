"""What held the event loop is told, with its place, and an idle loop is left alone."""

import asyncio
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TypeVar

import pytest
import structlog

from conf.strangers import LINES_PER_MINUTE, StrangerLog
from conf.tuning import LoopTuning
from maild import loop_monitor
from maild.loop_monitor import IN_C, Hold, HoldWatch, LoopMonitor
from storage.clock import DAY_MS, Clock

ROOT = Path(loop_monitor.__file__).parents[1]
T = TypeVar("T")
TUNING = LoopTuning(held_s=0.0, computed_s=0.002, look_s=0.002, again_s=0.002)


class Loop:
    """What a look asks the loop of, with times that are moved by hand."""

    def __init__(self, held_s: float = 0.02) -> None:
        self.now_s = 100.0
        self.cpu_s = 7.0
        self.asked: list[Callable[[], None]] = []
        self.watch = HoldWatch(self.asked.append, lambda: self.now_s, lambda: self.cpu_s, held_s)

    def go_on(self, seconds: float, cpu_s: float = 0.0) -> None:
        self.now_s += seconds
        self.cpu_s += cpu_s

    def answer(self) -> None:
        self.asked.pop()()


def function_of(file: str, name: str, calls: Callable[[], T]) -> Callable[[], T]:
    """A function of that name that `calls` another one, as if its source were that file."""
    space: dict[str, Callable[[], T]] = {"calls": calls}
    exec(compile(f"def {name}():\n    return calls()", str(ROOT / file), "exec"), space)
    return space[name]


def frame_of(file: str, name: str, calls: Callable[[], FrameType] = sys._getframe) -> FrameType:
    return function_of(file, name, calls)()


def held(loop: Loop, seconds: float, *frames: FrameType | None, cpu_s: float = 0.0) -> Hold | None:
    """What is told when each of these frames was seen while one piece of work held the loop for so long."""
    for frame in frames:
        assert loop.watch.look(frame) is None
    loop.go_on(seconds, cpu_s)
    loop.answer()
    return loop.watch.look(None)


def test_a_hold_is_told_with_the_place_that_was_seen_most_often() -> None:
    slow, other = frame_of("maild/message/slow.py", "read"), frame_of("storage/quick.py", "write")
    hold = held(Loop(), 0.5, other, slow, slow, cpu_s=0.4)
    assert hold is not None
    assert hold.where == "maild/message/slow.py:2 read"
    assert (round(hold.held_s, 3), round(hold.cpu_s, 3), hold.looks) == (0.5, 0.4, 3)


def test_the_place_is_ours_though_it_calls_a_library() -> None:
    inner = frame_of(
        "maild/inbound/outer.py",
        "accept",
        lambda: frame_of("storage/inner.py", "parse", lambda: frame_of("../json/decoder.py", "decode")),
    )
    hold = held(Loop(), 0.03, inner)
    assert hold is not None
    assert hold.where == "storage/inner.py:2 parse"
    assert hold.callers == ("maild/inbound/outer.py:2 accept",)
    assert hold.within is not None and hold.within.endswith("json/decoder.py:2 decode")


def test_work_without_a_frame_has_a_name_too() -> None:
    hold = held(Loop(), 0.03, None)
    assert hold is not None and hold.where == IN_C


def test_what_is_no_longer_than_the_bound_is_not_told() -> None:
    loop = Loop(held_s=0.25)
    assert held(loop, 0.25, None) is None
    assert held(loop, 0.2500001, None) is not None


def test_one_question_is_open_at_a_time_however_often_it_is_looked() -> None:
    loop = Loop()
    for _ in range(1000):
        loop.watch.look(None)
    assert len(loop.asked) == 1
    loop.answer()
    assert loop.watch.is_open, "its answer was not looked at"
    loop.watch.look(None)
    assert not loop.watch.is_open


def test_a_deep_stack_is_read_no_further_than_it_must() -> None:
    def deep(levels: int) -> FrameType:
        return deep(levels - 1) if levels else sys._getframe()

    seen = 0

    def count(frame: FrameType) -> FrameType:
        nonlocal seen
        seen += 1
        return frame

    for frame in loop_monitor._outwards(deep(500)):
        count(frame)
    assert seen == loop_monitor.FRAMES_MAX


# With the real loop ------------------------------------------------------------------------------


class DayClock(Clock):
    at_ms = 0

    def now_ms(self) -> int:
        return self.at_ms


async def monitor_of(looks: list[str], tuning: LoopTuning = TUNING) -> LoopMonitor:
    """Started. `looks`: gets the place of each look that was not spared."""
    monitor = LoopMonitor(Clock(), tuning, StrangerLog(lambda: 0.0))
    await monitor.start()
    real = monitor._watch.look

    def look(frame: FrameType | None) -> Hold | None:
        looks.append(loop_monitor._place(frame).where)
        return real(frame)

    monitor._watch.look = look  # type: ignore[method-assign]
    return monitor


@pytest.fixture
def looks() -> list[str]:
    return []


def until_seen(looks: list[str], name: str, rest: Callable[[], object]) -> Callable[[], None]:
    """A function of ours that holds the loop until looks have found it there, more often than what was before."""

    def hold() -> None:
        while sum(name in one for one in looks) < 5:
            rest()

    return function_of("maild/made_up.py", name, hold)


async def the_line(lines: list[structlog.typing.EventDict], where: str) -> structlog.typing.EventDict:
    async with asyncio.timeout(5):
        while True:
            for line in lines:
                if line["where"] == where:
                    return line
            await asyncio.sleep(0)


async def test_a_function_that_computes_on_the_real_loop_is_named(looks: list[str]) -> None:
    monitor = await monitor_of(looks, replace(TUNING, look_s=60.0))
    with structlog.testing.capture_logs() as lines:
        until_seen(looks, "compute", lambda: None)()
        line = await the_line(lines, "maild/made_up.py:2 compute")
    await monitor.stop()
    assert (line["event"], line["log_level"]) == ("loop_held", "warning")
    assert monitor.today()["holds"] >= 1


async def test_a_function_that_waits_on_the_real_loop_is_named(looks: list[str]) -> None:
    """It computes nothing, so no timer of computing finds it."""
    monitor = await monitor_of(looks, replace(TUNING, computed_s=0.9))
    never = threading.Event()
    with structlog.testing.capture_logs() as lines:
        until_seen(looks, "wait", lambda: never.wait(0.001))()
        await the_line(lines, "maild/made_up.py:2 wait")
    await monitor.stop()


async def test_an_idle_loop_is_asked_nothing(looks: list[str]) -> None:
    """Looks by the clock alone come while the loop sleeps in the kernel, and leave it there."""
    monitor = await monitor_of(looks, replace(TUNING, held_s=60.0, computed_s=0.9))
    waits = 0
    assert monitor._timer is not None
    real = monitor._timer.wait
    enough = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait(timeout_s: float) -> bool:
        nonlocal waits
        waits += 1
        if waits == 40:
            loop.call_soon_threadsafe(enough.set)
        return real(timeout_s)

    monitor._timer.wait = wait  # type: ignore[method-assign]
    async with asyncio.timeout(5):
        await enough.wait()
    seen = list(looks)
    await monitor.stop()
    assert len(seen) < 20  # some meet what begins and ends this wait


async def test_a_place_that_holds_again_and_again_has_so_many_lines_a_minute() -> None:
    clock = DayClock()
    monitor = LoopMonitor(clock, TUNING, StrangerLog(lambda: 0.0))
    with structlog.testing.capture_logs() as lines:
        for _ in range(100):
            monitor._tell(Hold(0.03, 0.03, "maild/a.py:1 f", None, (), 2))
    assert len(lines) == LINES_PER_MINUTE
    assert monitor.today() == {"holds": 100, "heldMs": 3000}
    clock.at_ms += DAY_MS
    assert monitor.today() == {"holds": 0, "heldMs": 0}


async def test_stopped_it_has_no_thread_left_and_may_start_again() -> None:
    monitor = await monitor_of([])
    thread = monitor._thread
    await monitor.stop()
    await monitor.stop()
    assert thread is not None and not thread.is_alive()
    await monitor.start()
    await monitor.stop()
