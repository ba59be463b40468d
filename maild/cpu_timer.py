"""A timer that runs while one thread computes, and wakes another one: nothing is woken while that thread rests.

Python has setitimer(2), which counts the whole process and interrupts the main thread; timer_create(2) counts one
thread and tells another (SIGEV_THREAD_ID, Linux). The signal is blocked in the thread that waits, and no other gets it.
"""

import ctypes
import signal
import sys
import threading
import time

SIGEV_THREAD_ID = 4  # Linux, sigevent(3type)


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


class _TimerSpec(ctypes.Structure):
    _fields_ = (("interval", _TimeSpec), ("first", _TimeSpec))


class CpuTimer:
    """Made and used on the thread that waits; `wake` may be called on any.

    Where the system has no such timer, `wait` is a plain wait with a timeout.
    """

    def __init__(self, watched: int, every_s: float) -> None:
        """`watched`: the identifier of the thread whose computing is counted."""
        self._own = threading.get_ident()
        self._signal = signal.SIGRTMIN + 5 if sys.platform == "linux" else signal.SIGUSR2
        signal.pthread_sigmask(signal.SIG_BLOCK, [self._signal])
        self._timer: ctypes.c_void_p | None = None
        self._library = ctypes.CDLL(None)
        if sys.platform == "linux" and hasattr(self._library, "timer_create"):
            self._begin(time.pthread_getcpuclockid(watched), every_s)

    def _begin(self, clock: int, every_s: float) -> None:
        event = _SigEvent(None, self._signal, SIGEV_THREAD_ID, threading.get_native_id())
        timer = ctypes.c_void_p()
        if self._library.timer_create(clock, ctypes.byref(event), ctypes.byref(timer)) == 0:
            self._timer = timer
            every = _TimeSpec(0, int(every_s * 1e9))
            self._library.timer_settime(timer, 0, ctypes.byref(_TimerSpec(every, every)), None)

    def wait(self, timeout_s: float) -> bool:
        """True once the watched thread has computed for `every_s` more, or after `wake`; False after `timeout_s`."""
        return signal.sigtimedwait([self._signal], timeout_s) is not None

    def wake(self) -> None:
        """End the wait. The thread that waits must still be there."""
        signal.pthread_kill(self._own, self._signal)

    def close(self) -> None:
        """Count no more."""
        timer, self._timer = self._timer, None
        if timer is not None:
            self._library.timer_delete(timer)
