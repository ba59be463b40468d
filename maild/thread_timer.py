"""A timer that interrupts the thread that made it: by the clock, or by what that thread has computed.

Python has setitimer(2), one for the process; timer_create(2) makes any number, tells one thread (SIGEV_THREAD_ID,
Linux) and may count one thread's computing. Its signal comes where Python lets signals in, between two steps of the
main thread, which alone may have handlers. So the frame that the handler is given is at rest: reading the frames of
another thread is not as safe (`sys._current_frames` may deadlock the process or corrupt it where allocating a frame
begins a garbage collection, CPython gh-106883).

All timers share one signal, so that one handler never interrupts another one in C: each takes some kilobytes of the
stack for signals, which is small where `faulthandler` is on. Each timer knows by its own clock whether it was meant.
"""

import ctypes
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

SIGEV_THREAD_ID = 4  # Linux, sigevent(3type)
Interrupt = Callable[[FrameType | None], None]


class _SigEvent(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread_id", ctypes.c_int),
        ("padding", ctypes.c_char * 44),  # to 64 bytes, as the C library has it
    )


class _TimeSpec(ctypes.Structure):
    _fields_ = (("s", ctypes.c_long), ("ns", ctypes.c_long))

    @classmethod
    def of(cls, seconds: float) -> "_TimeSpec":
        whole = int(seconds)
        return cls(whole, int((seconds - whole) * 1e9))


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _TimeSpec), ("first", _TimeSpec))


_made: "list[ThreadTimer]" = []
_turn = threading.Lock()


def are_to_be_had() -> bool:
    """Whether this thread can have a timer: it is the main one, of a Linux."""
    return sys.platform == "linux" and threading.current_thread() is threading.main_thread()


class ThreadTimer:
    """Made, set and closed on the main thread, where `interrupt` is called with the frame that was at work.

    `clock`: `time.CLOCK_MONOTONIC`, or what `time.pthread_getcpuclockid` gives. `interrupt` may come between any two
    steps, but of no other interrupt.
    """

    def __init__(self, clock: int, interrupt: Interrupt) -> None:
        """OSError where the system has no timer left."""
        self._clock = clock
        self._interrupt = interrupt
        self._due_s = math.inf
        self._every_s = math.inf
        self._library = ctypes.CDLL(None, use_errno=True)
        number = signal.SIGRTMIN + 5
        signal.signal(number, _interrupted)
        event = _SigEvent(None, number, SIGEV_THREAD_ID, threading.get_native_id())
        self._timer = ctypes.c_void_p()
        if self._library.timer_create(clock, ctypes.byref(event), ctypes.byref(self._timer)) != 0:
            raise OSError(ctypes.get_errno(), "timer_create")
        _made.append(self)

    def set(self, first_s: float, every_s: float) -> None:
        """Interrupt after `first_s`, then after each `every_s` more, instead of what was set before."""
        self._due_s, self._every_s = time.clock_gettime(self._clock) + first_s, every_s
        spec = _TimerSpec(_TimeSpec.of(every_s), _TimeSpec.of(first_s))
        self._library.timer_settime(self._timer, 0, ctypes.byref(spec), None)

    def close(self) -> None:
        """Interrupt no more."""
        # The handler stays: the default of the signal, should one still be on its way, ends the process.
        self._library.timer_delete(self._timer)
        _made.remove(self)

    def look(self, frame: FrameType | None) -> None:
        """A timer has come to its end, maybe this one."""
        late_s = time.clock_gettime(self._clock) - self._due_s
        if late_s >= 0:
            self._due_s += (late_s // self._every_s + 1) * self._every_s
            self._interrupt(frame)


def _interrupted(_: int, frame: FrameType | None) -> None:
    # Not where another interrupt is at work: more would come before they end.
    if _turn.acquire(blocking=False):
        try:
            for timer in tuple(_made):
                timer.look(frame)
        finally:
            _turn.release()
