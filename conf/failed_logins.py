"""Who failed to log in, and how often lately: whoever did so too often is not even looked at for a while.

In memory and bounded: an address (of IPv6 a /64) that is forgotten early is one that others have outnumbered.
"""

from collections import OrderedDict, deque
from collections.abc import Callable

from conf.addresses import network_of

NETWORKS_MAX = 10_000


class FailedLogins:
    """`most` failures within `window_s` are too many. `now`: a monotonic clock in seconds."""

    def __init__(self, most: int, window_s: float, now: Callable[[], float]) -> None:
        self._max = most
        self._window_s = window_s
        self._now = now
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def has_too_many(self, peer: str) -> bool:
        """Has the peer's address used up its failures?"""
        whose = network_of(peer)
        times = self._failures.get(whose)
        if times is None:
            return False
        while times and times[0] <= self._now() - self._window_s:
            times.popleft()
        if not times:
            del self._failures[whose]
        return len(times) >= self._max

    def note(self, peer: str) -> None:
        """Count a login that failed."""
        whose = network_of(peer)
        self._failures.setdefault(whose, deque(maxlen=self._max)).append(self._now())
        self._failures.move_to_end(whose)
        if len(self._failures) > NETWORKS_MAX:
            self._failures.popitem(last=False)
