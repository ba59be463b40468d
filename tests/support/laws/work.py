"""How much a reader of strangers' texts does, counted in steps of Python: the same on every machine.

What a pattern does is one step here, however long it takes. So a text is read at its full size as well: what is
quadratic inside a pattern takes hours of a megabyte, and meets the limit of time that every test has.
"""

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, Generic, TypeVar

FULL_SIZE = 1_000_000  # characters or octets
UNITS = 1000
BESIDE = UNITS  # steps of what happens to run within, as a pattern that is compiled anew

Text = TypeVar("Text", str, bytes)


@dataclass(frozen=True)
class Bomb(Generic[Text]):
    """A text that repeats one unit, which every reading of it may begin anew at."""

    unit: Text
    before: Text
    after: Text

    def of(self, units: int) -> Text:
        return self.before + self.unit * units + self.after

    def whole(self) -> Text:
        """As many units as the full size holds."""
        return self.of((FULL_SIZE - len(self.before) - len(self.after)) // len(self.unit))


def bomb(unit: str, before: str = "", after: str = "") -> Bomb[str]:
    return Bomb(unit, before, after)


def steps(read: Callable[[], object]) -> int:
    """Lines that run, calls and returns, in all functions below this call."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # what it would end here is other tests' garbage, and its steps
    sys.settrace(trace)
    try:
        read()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def assert_proportional(read: Callable[[Text], object], bomb: Bomb[Text]) -> None:
    """Twice the text takes about twice the steps, or fewer where a limit cuts it. What is quadratic takes four times as
    many, and hundreds of times BESIDE; it does so each time, unlike something that happens to run within."""
    for _ in range(2):
        once, twice = (steps(partial(read, bomb.of(units))) for units in (UNITS, 2 * UNITS))
        if 0 < twice <= 3 * once + BESIDE:
            return
    raise AssertionError(f"{once} steps, and {twice} of twice the text")
