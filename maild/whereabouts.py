"""Where everything is at this moment: for an operator who sees the daemon do nothing, or too much."""

import asyncio
import faulthandler
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from maild.loop_monitor import named, placed

_OWN_THREAD = "Current thread"
_FRAME = re.compile(r'  File "(.*)", line (\S+) in (.*)')


def whereabouts() -> dict[str, list[str]]:
    """`tasks` of this event loop and `threads` but this one: how many are at each place, most first, and the functions
    that lead there, from the outermost on."""
    return {
        "tasks": _counted(_down(task.get_coro()) for task in asyncio.all_tasks()),
        "threads": _counted(_threads()),
    }


def _down(awaited: Any) -> Iterator[str]:
    """What a coroutine awaits, and what that does: `Task.get_stack` ends at the first."""
    while awaited is not None:
        if (frame := getattr(awaited, "cr_frame", None)) is not None:
            yield named(frame)
        awaited = getattr(awaited, "cr_await", None)


def _threads() -> Iterator[list[str]]:
    """As faulthandler tells of them: CPython 3.11 does not survive for certain that one reads another's frames."""
    with open(os.memfd_create("threads"), "w+b") as told:
        faulthandler.dump_traceback(told)
        told.seek(0)
        threads = told.read().decode(errors="replace").split("\n\n")
    for thread in threads:
        if not thread.startswith(_OWN_THREAD):
            yield [placed(*frame.groups()) for frame in _FRAME.finditer(thread)][::-1]


def _counted(stacks: Iterable[Iterable[str]]) -> list[str]:
    places = Counter(" > ".join(stack) for stack in stacks)
    return [f"{count} at {place}" for place, count in places.most_common()]
