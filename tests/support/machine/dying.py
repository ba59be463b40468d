"""A process that kills itself at a line of some files, for torture tests that kill at every line in turn."""

import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

Trace = Callable[[FrameType, str, Any], Any]


def dying_at(number: int, traced: tuple[str, ...]) -> Trace:
    """For sys.settrace: SIGKILL at the `number`th line of the files whose names end so."""
    left = [number]

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.endswith(traced):
            return None
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    return trace
