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
from maild import loop_monitor, thread_timer
from maild.loop_monitor import IN_C, Hold, HoldWatch, LoopMonitor, Moment, Place, place_of
from storage.clock import DAY_MS, Clock
from tests.support.waiting import GIVES_UP_S

ROOT = Path(loop_monitor.__file__).parents[1]
T = TypeVar("T")
TUNING = LoopTuning(held_s=0.0, computed_s=0.002, again_s=0.002, beat_s=0.002)
NEVER_S = 3600.0


class Loop:
    """What a look asks the loop of, with times that are moved by hand."""

    def __init__(self, held_s: float = 0.02) -> None:
        self.now_s = 100.0
        self.cpu_s = 7.0
        self.asked: list[Callable[[], None]] = []
        self.told: list[Hold] = []
        self.watch = HoldWatch(
            self.asked.append, self.told.append, lambda: self.now_s, lambda: self.cpu_s, held_s
        )

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


def place(frame: FrameType) -> Place:
    found = place_of(frame, None)
    assert found is not None
    return found


def held(loop: Loop, seconds: float, *places: Place, cpu_s: float = 0.0) -> Hold | None:
    """What is told when each of these places was seen while one piece of work held the loop for so long."""
    for one in places:
        loop.watch.look(one)
    assert not loop.told
    loop.go_on(seconds, cpu_s)
    loop.answer()
    return loop.told.pop() if loop.told else None


SOMEWHERE = Place("maild/here.py:1 f", None, ())


def test_a_hold_is_told_with_the_place_that_was_seen_most_often() -> None:
    slow, other = (
        place(frame_of("maild/message/slow.py", "read")),
        place(frame_of("storage/quick.py", "write")),
    )
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
    hold = held(Loop(), 0.03, place(inner))
    assert hold is not None
    assert hold.where == "storage/inner.py:2 parse"
    assert hold.callers == ("maild/inbound/outer.py:2 accept",)
    assert hold.within is not None and hold.within.endswith("json/decoder.py:2 decode")


def test_what_is_no_longer_than_the_bound_is_not_told() -> None:
    loop = Loop(held_s=0.25)
    assert held(loop, 0.25, SOMEWHERE) is None
    assert held(loop, 0.2500001, SOMEWHERE) is not None


@pytest.mark.parametrize("looks_before", [0, 1])
def test_what_let_no_interrupt_in_was_held_since_the_beat_that_did_not_come(looks_before: int) -> None:
    """As a read that waits for the disk: it is looked at when it is over, perhaps first for what it computed."""
    loop = Loop()
    due = loop.watch.now()
    loop.go_on(30, cpu_s=0.001)
    for _ in range(looks_before):
        loop.watch.look(SOMEWHERE)
    loop.watch.look(SOMEWHERE, due)
    loop.go_on(0.001)
    loop.answer()
    (hold,) = loop.told
    assert (round(hold.held_s, 3), round(hold.cpu_s, 3)) == (30.001, 0.001)


def test_one_question_is_open_at_a_time_however_often_it_is_looked() -> None:
    loop = Loop()
    for _ in range(1000):
        loop.watch.look(SOMEWHERE)
    assert len(loop.asked) == 1
    loop.answer()
    loop.watch.look(SOMEWHERE)
    assert len(loop.asked) == 1


def test_what_lies_below_the_callbacks_is_no_place() -> None:
    def below() -> tuple[FrameType, FrameType]:
        return sys._getframe(), frame_of("maild/inbound/outer.py", "accept")

    base, inner = below()
    assert place_of(base, base) is None
    found = place_of(inner, base)
    assert found == Place("maild/inbound/outer.py:2 accept", None, ())


def test_a_deep_stack_is_read_no_further_than_it_must() -> None:
    def deep(levels: int) -> FrameType:
        return deep(levels - 1) if levels else sys._getframe()

    seen = 0

    def count(frame: FrameType) -> FrameType:
        nonlocal seen
        seen += 1
        return frame

    for frame in loop_monitor._outwards(deep(500), None):
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

    def look(place: Place, since: Moment | None = None) -> None:
        looks.append(place.where)
        real(place, since)

    monitor._watch.look = look  # type: ignore[method-assign]
    return monitor


@pytest.fixture
def looks() -> list[str]:
    return []


def until_seen(looks: list[str], name: str, rest: Callable[[], object], times: int = 5) -> Callable[[], None]:
    """A function of ours that holds the loop until looks have found it there so often."""

    def hold() -> None:
        while sum(name in one for one in looks) < times:
            rest()

    return function_of("maild/made_up.py", name, hold)


async def the_line(lines: list[structlog.typing.EventDict], where: str) -> structlog.typing.EventDict:
    async with asyncio.timeout(GIVES_UP_S):
        while True:
            for line in lines:
                if line["where"] == where:
                    return line
            await asyncio.sleep(0)


async def test_a_function_that_computes_on_the_real_loop_is_named(looks: list[str]) -> None:
    monitor = await monitor_of(looks, replace(TUNING, beat_s=NEVER_S))
    with structlog.testing.capture_logs() as lines:
        until_seen(looks, "compute", lambda: None)()
        line = await the_line(lines, "maild/made_up.py:2 compute")
    await monitor.stop()
    assert (line["event"], line["log_level"]) == ("loop_held", "warning")
    assert monitor.today()["holds"] >= 1


async def test_a_function_that_waits_on_the_real_loop_is_named(looks: list[str]) -> None:
    """It computes nothing, so no timer of computing finds it."""
    monitor = await monitor_of(looks, replace(TUNING, computed_s=NEVER_S))
    never = threading.Event()
    with structlog.testing.capture_logs() as lines:
        until_seen(looks, "wait", lambda: never.wait(0.001))()
        await the_line(lines, "maild/made_up.py:2 wait")
    await monitor.stop()


async def test_an_idle_loop_is_asked_nothing(looks: list[str]) -> None:
    """Also where the loop itself comes late, which the interrupts of each beat here make believe."""
    monitor = await monitor_of(looks, replace(TUNING, computed_s=NEVER_S, beat_s=0.01))
    assert monitor._waited is not None
    beats = 0
    enough = asyncio.Event()
    real = monitor._waited.set

    def set_early(first_s: float, every_s: float) -> None:
        nonlocal beats
        beats += 1
        if beats == 20:
            enough.set()
        real(0.001, every_s)

    monitor._waited.set = set_early  # type: ignore[method-assign]
    looks.clear()
    async with asyncio.timeout(GIVES_UP_S):
        await enough.wait()
    await monitor.stop()
    assert len(looks) < beats / 2  # some meet a beat, or what ends this wait


async def test_computing_without_a_frame_has_a_name_too(looks: list[str]) -> None:
    monitor = await monitor_of(looks, replace(TUNING, beat_s=NEVER_S))
    monitor._look_at_computing(monitor._base)
    await monitor.stop()
    assert looks == [IN_C]


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


async def test_stopped_it_has_no_timer_left_and_may_start_again() -> None:
    before = list(thread_timer._made)
    for _ in range(100):
        monitor = await monitor_of([])
        assert len(thread_timer._made) == len(before) + 2
        await monitor.stop()
        await monitor.stop()
        assert thread_timer._made == before


async def test_many_monitors_interrupt_without_interrupting_each_other(looks: list[str]) -> None:
    """Each signal that comes while another is handled takes kilobytes of a stack that may have sixteen."""
    monitors = [await monitor_of(looks, replace(TUNING, computed_s=0.001)) for _ in range(30)]
    until_seen(looks, "compute", lambda: None, times=300)()
    for monitor in monitors:
        await monitor.stop()


async def test_two_monitors_of_a_thread_leave_each_other_alone(looks: list[str]) -> None:
    other_looks: list[str] = []
    one, other = await monitor_of(looks), await monitor_of(other_looks)
    until_seen(looks, "compute", lambda: None)()
    until_seen(other_looks, "compute", lambda: None)()
    await one.stop()
    other_looks.clear()
    until_seen(other_looks, "again", lambda: None)()
    await other.stop()


async def test_a_loop_that_is_not_on_the_main_thread_goes_unwatched() -> None:
    def elsewhere() -> dict[str, int]:
        async def start_and_stop() -> dict[str, int]:
            monitor = await monitor_of_nothing()
            await monitor.stop()
            return monitor.today()

        return asyncio.run(start_and_stop())

    assert await asyncio.to_thread(elsewhere) == {"holds": 0, "heldMs": 0}


async def monitor_of_nothing() -> LoopMonitor:
    monitor = LoopMonitor(Clock(), TUNING, StrangerLog(lambda: 0.0))
    await monitor.start()
    return monitor
