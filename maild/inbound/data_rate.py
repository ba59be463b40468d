"""How fast the octets of DATA come: a client slower than the least rates is told so, and cut off."""

from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable

from conf.settings import Smtp

RATE_CHECK_S = 10
AVERAGE_CHECKS = 12  # the average is that of two minutes


class DataRate:
    """The watch over one transfer, from its making to `stop`. RFC 5321 §4.5.3.2 wants patience, and gets it while
    the client keeps both rates: the least of the last RATE_CHECK_S, and the least average of AVERAGE_CHECKS of them.

    `octets`: how many the connection has brought so far. `too_slow` is called once, and nothing after it.
    """

    def __init__(
        self, limits: Smtp, loop: AbstractEventLoop, octets: Callable[[], int], too_slow: Callable[[], None]
    ) -> None:
        self._limits = limits
        self._loop = loop
        self._octets = octets
        self._too_slow = too_slow
        self._marks = deque([octets()], maxlen=AVERAGE_CHECKS)  # what had come at the last checks
        self._timer: TimerHandle = loop.call_later(RATE_CHECK_S, self._check)

    def stop(self) -> None:
        """Idempotent."""
        self._timer.cancel()

    def _check(self) -> None:
        octets = self._octets()
        if self._is_slow(octets):
            self._too_slow()
            return
        self._marks.append(octets)
        self._timer = self._loop.call_later(RATE_CHECK_S, self._check)

    def _is_slow(self, octets: int) -> bool:
        lately, in_all = octets - self._marks[-1], octets - self._marks[0]
        is_average_due = len(self._marks) == AVERAGE_CHECKS
        return lately < self._limits.data_min_bytes_per_s * RATE_CHECK_S or (
            is_average_due
            and in_all < self._limits.data_min_average_bytes_per_s * AVERAGE_CHECKS * RATE_CHECK_S
        )
