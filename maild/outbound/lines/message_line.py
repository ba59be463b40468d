"""The messages in line for one destination: organizations take turns, however much each of them sends.

The first READY have their places for good; behind them an organization that sends a thousand stands behind each other
one once, not the reverse.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from storage.sending.leases import Due
from storage.turns.fair_line import FairLine

READY = 50


class MessageLine:
    """Groups of rows, each of one message. False when nobody waits."""

    def __init__(self) -> None:
        self._ready: deque[list[Due]] = deque()
        self._behind: FairLine[list[Due]] = FairLine()

    def __bool__(self) -> bool:
        return bool(self._ready)

    def put(self, group: list[Due]) -> None:
        """Let it stand in line."""
        self._behind.put(group[0].organization_id, group)
        self._move_up()

    def take(self) -> list[Due]:
        """The first one; somebody must wait."""
        first = self._ready.popleft()
        self._move_up()
        return first

    def put_first(self, groups: Sequence[list[Due]]) -> None:
        """Let them go before all others, in this order."""
        self._ready.extendleft(reversed(groups))

    def empty(self) -> Iterator[list[Due]]:
        """Every group; nobody waits any more."""
        while self._ready:
            yield self.take()

    def _move_up(self) -> None:
        if len(self._ready) < READY and self._behind:
            self._ready.append(self._behind.take())
