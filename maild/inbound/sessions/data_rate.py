"""How fast the octets of DATA come: a client slower than the least rates is told so, and cut off."""

from asyncio import AbstractEventLoop, TimerHandle
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from conf.settings import Smtp
from conf.tuning import SmtpTuning

JUDGED_SHARE = 0.05  # of a time that was the client's: timers are not exact enough to judge less


class DataRate:
    """The watch over one transfer, from its making to `stop`. RFC 5321 §4.5.3.2 wants patience, and gets it while
    the client keeps the least rate over `average_checks` times `rate_check_s`: TCP on a line that lost all packets for
    half a minute is silent for a whole one. Where room is scarce that rate is judged in each `rate_check_s`, and over
    all of them the least average. Time in which nothing more was read, since the disk or others had what came to be
    done with, is not the client's.

    `octets`: how many the connection has brought so far. `ours_s`: for how long so far it was we who were slow.
    `is_scarce`: may others need what it has? `too_slow` is called once, and nothing after it.
    """

    def __init__(
        self,
        limits: Smtp,
        tuning: SmtpTuning,
        loop: AbstractEventLoop,
        octets: Callable[[], int],
        ours_s: Callable[[], float],
        is_scarce: Callable[[], bool],
        too_slow: Callable[[], None],
    ) -> None:
        self._limits = limits
        self._tuning = tuning
        self._loop = loop
        self._octets = octets
        self._ours_s = ours_s
        self._is_scarce = is_scarce
        self._too_slow = too_slow
        self._marks = deque([_Mark(octets(), ours_s())], maxlen=tuning.average_checks)  # of the last checks
        self._timer: TimerHandle = loop.call_later(tuning.rate_check_s, self._check)

    def stop(self) -> None:
        """Idempotent."""
        self._timer.cancel()

    def _check(self) -> None:
        mark = _Mark(self._octets(), self._ours_s())
        if self._is_slow(mark):
            self._too_slow()
            return
        self._marks.append(mark)
        self._timer = self._loop.call_later(self._tuning.rate_check_s, self._check)

    def _is_slow(self, mark: "_Mark") -> bool:
        check_s, checks = self._tuning.rate_check_s, self._tuning.average_checks
        is_average_due = len(self._marks) == checks
        least, least_average = self._limits.data_min_bytes_per_s, self._limits.data_min_average_bytes_per_s
        if not self._is_scarce():
            return is_average_due and mark.is_behind(self._marks[0], checks * check_s, least)
        return mark.is_behind(self._marks[-1], check_s, least) or (
            is_average_due and mark.is_behind(self._marks[0], checks * check_s, least_average)
        )


class _Mark(NamedTuple):
    octets: int
    ours_s: float

    def is_behind(self, before: "_Mark", seconds: float, rate: int) -> bool:
        """Did less come within these seconds than the rate wants of what of them was the client's?"""
        theirs_s = seconds - (self.ours_s - before.ours_s)
        if theirs_s < seconds * JUDGED_SHARE:
            return False
        return self.octets - before.octets < rate * theirs_s
