"""How fast the octets of DATA come: a client slower than the least rates is told so, and cut off."""

from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable

from conf.settings import Smtp
from conf.tuning import SmtpTuning


class DataRate:
    """The watch over one transfer, from its making to `stop`. RFC 5321 §4.5.3.2 wants patience, and gets it while
    the client keeps both rates: the least of the last `rate_check_s`, and the least average of `average_checks` such.

    `octets`: how many the connection has brought so far. `too_slow` is called once, and nothing after it.
    """

    def __init__(
        self,
        limits: Smtp,
        tuning: SmtpTuning,
        loop: AbstractEventLoop,
        octets: Callable[[], int],
        too_slow: Callable[[], None],
    ) -> None:
        self._limits = limits
        self._tuning = tuning
        self._loop = loop
        self._octets = octets
        self._too_slow = too_slow
        self._marks = deque([octets()], maxlen=tuning.average_checks)  # what had come at the last checks
        self._timer: TimerHandle = loop.call_later(tuning.rate_check_s, self._check)

    def stop(self) -> None:
        """Idempotent."""
        self._timer.cancel()

    def _check(self) -> None:
        octets = self._octets()
        if self._is_slow(octets):
            self._too_slow()
            return
        self._marks.append(octets)
        self._timer = self._loop.call_later(self._tuning.rate_check_s, self._check)

    def _is_slow(self, octets: int) -> bool:
        lately, in_all = octets - self._marks[-1], octets - self._marks[0]
        check_s, checks = self._tuning.rate_check_s, self._tuning.average_checks
        is_average_due = len(self._marks) == checks
        return lately < self._limits.data_min_bytes_per_s * check_s or (
            is_average_due and in_all < self._limits.data_min_average_bytes_per_s * checks * check_s
        )
