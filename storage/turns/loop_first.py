"""How a thread that computes stands back for the event loop, which shares the interpreter with it.

A thread that computes makes each step of the loop wait: at every statement and every socket the loop gives the
interpreter up, and has to get it back. While the loop has nothing to do that costs nobody anything. While it has, a
request of two milliseconds becomes one of ten, and whoever keeps the thread busy with large mail slows everybody down.

So the thread rests between two pieces of work when the loop computed during the last one: for as long as the loop goes
on, and at most `REST_TIMES` what the piece took and `REST_S`, so that its work is slow then but never stands still, not
even where a piece is as long as signing 20 MB. It looks often whether the loop has come to rest, since the loop itself
may only wait for the next piece.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

REST_TIMES = 20
REST_S = 0.2
BUSY_SHARE = 0.2  # of the time that was looked at; one session that brings a large mail is a tenth
LOOK_S = 0.005  # at most, and not longer than the piece took
SHORTEST_LOOK_S = 0.0003  # less is not slept


class Clocks(NamedTuple):
    """`now`: monotonic, in seconds. `loop_s`: CPU seconds of the loop's thread so far. `sleep`: for so many seconds."""

    now: Callable[[], float]
    loop_s: Callable[[], float]
    sleep: Callable[[float], None]


def clocks_of_this_thread() -> Clocks:
    """Called on the event loop's thread."""
    clock = time.pthread_getcpuclockid(threading.get_ident())
    return Clocks(time.perf_counter, lambda: time.clock_gettime(clock), time.sleep)


class LoopFirst:
    """Called on the thread that computes, by turns: `begin`, `end`, `begin`, …"""

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._began = self._loop_s = self._took = 0.0
        self._rests_until = float("-inf")

    def begin(self) -> None:
        """Return when the next piece may begin."""
        now, loop_s, sleep = self._clocks
        while (left := self._rests_until - (since := now())) > 0:
            computed = loop_s()
            sleep(min(left, LOOK_S, max(SHORTEST_LOOK_S, self._took)))
            if not _is_busy(loop_s() - computed, now() - since):
                break
        self._began, self._loop_s = now(), loop_s()

    def end(self) -> None:
        """The piece that began last is done."""
        at = self._clocks.now()
        self._took = at - self._began
        was_busy = _is_busy(self._clocks.loop_s() - self._loop_s, self._took)
        self._rests_until = at + min(REST_S, REST_TIMES * self._took) if was_busy else float("-inf")


def _is_busy(computed_s: float, span_s: float) -> bool:
    return computed_s > BUSY_SHARE * span_s
