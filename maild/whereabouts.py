"""Where everything is at this moment: for an operator who sees the daemon do nothing, or too much."""

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from maild.loop_monitor import named, outwards


def whereabouts() -> dict[str, list[str]]:
    """`tasks` of this event loop and `threads` but this one: how many are at each place, most first, and the functions
    that lead there, from the outermost on."""
    own = threading.get_ident()
    frames = sys._current_frames().items()
    return {
        "tasks": _counted(_down(task.get_coro()) for task in asyncio.all_tasks()),
        "threads": _counted(
            reversed(list(outwards(frame, None))) for thread, frame in frames if thread != own
        ),
    }


def _down(awaited: Any) -> Iterator[FrameType]:
    """What a coroutine awaits, and what that does: `Task.get_stack` ends at the first."""
    while awaited is not None:
        if (frame := getattr(awaited, "cr_frame", None)) is not None:
            yield frame
        awaited = getattr(awaited, "cr_await", None)


def _counted(stacks: Iterable[Iterable[FrameType]]) -> list[str]:
    places = Counter(" > ".join(map(named, stack)) for stack in stacks)
    return [f"{count} at {place}" for place, count in places.most_common()]
