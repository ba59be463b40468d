"""A timer that interrupts the thread that made it: by the clock, or by what that thread has computed.

Python has setitimer(2), one for the process; timer_create(2) makes any number, tells one thread (SIGEV_THREAD_ID,
Linux) and may count one thread's computing. Its signal comes where Python lets signals in, between two steps of the
main thread, which alone may have handlers. So the frame that the handler is given is at rest: reading the frames of
another thread is not as safe (`sys._current_frames` may deadlock the process or corrupt it where allocating a frame
begins a garbage collection, CPython gh-106883).

Each timer has a real-time signal of its own, so that timers know nothing of each other.
"""

import ctypes
import signal
import sys
import threading
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


_free_signals = list(range(signal.SIGRTMIN, signal.SIGRTMAX)) if sys.platform == "linux" else []


def are_to_be_had() -> bool:
    """Whether this thread can have a timer: it is the main one, of a Linux, and a signal is left."""
    return threading.current_thread() is threading.main_thread() and bool(_free_signals)


class ThreadTimer:
    """Made, set and closed on the main thread, where `interrupt` is called with the frame that was at work.

    `clock`: `time.CLOCK_MONOTONIC`, or what `time.pthread_getcpuclockid` gives. `interrupt` may come between any two
    steps, also between those of another interrupt.
    """

    def __init__(self, clock: int, interrupt: Interrupt) -> None:
        """OSError where the system has no timer left."""
        self._library = ctypes.CDLL(None, use_errno=True)
        self._signal = _free_signals.pop()
        signal.signal(self._signal, lambda _, frame: interrupt(frame))
        event = _SigEvent(None, self._signal, SIGEV_THREAD_ID, threading.get_native_id())
        self._timer = ctypes.c_void_p()
        if self._library.timer_create(clock, ctypes.byref(event), ctypes.byref(self._timer)) != 0:
            self._give_signal_back()
            raise OSError(ctypes.get_errno(), "timer_create")

    def set(self, first_s: float, every_s: float) -> None:
        """Interrupt after `first_s`, then after each `every_s` more, instead of what was set before."""
        spec = _TimerSpec(_TimeSpec.of(every_s), _TimeSpec.of(first_s))
        self._library.timer_settime(self._timer, 0, ctypes.byref(spec), None)

    def close(self) -> None:
        """Interrupt no more."""
        self._library.timer_delete(self._timer)
        self._give_signal_back()

    def _give_signal_back(self) -> None:
        # Not to the default, which ends the process, should one still be on its way; and not ignored, which programs
        # that this process starts would inherit.
        signal.signal(self._signal, lambda _, __: None)
        _free_signals.append(self._signal)
