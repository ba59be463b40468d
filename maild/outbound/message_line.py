"""The messages in line for one destination: organizations take turns, however much each of them sends.

The first READY have their places for good, and are prepared while they wait; behind them an organization that sends a
thousand stands behind each other one once, not the reverse.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from storage.outbound import Due
from storage.turns.fair_line import FairLine

READY = 50


class MessageLine:
    """Groups of rows, each of one message. False when nobody waits."""

    def __init__(self) -> None:
        self._ready: deque[list[Due]] = deque()
        self._behind: FairLine[list[Due]] = FairLine()

    def __bool__(self) -> bool:
        return bool(self._ready)

    def put(self, group: list[Due]) -> list[Due] | None:
        """Let it stand in line; the group that is among the first READY by that."""
        self._behind.put(group[0].organization_id, group)
        return self._move_up()

    def take(self) -> tuple[list[Due], list[Due] | None]:
        """The first one, and the group that is among the first READY by that; somebody must wait."""
        first = self._ready.popleft()
        return first, self._move_up()

    def put_first(self, groups: Sequence[list[Due]]) -> None:
        """Let them go before all others, in this order."""
        self._ready.extendleft(reversed(groups))

    def empty(self) -> Iterator[list[Due]]:
        """Every group; nobody waits any more."""
        while self._ready:
            yield self.take()[0]

    def _move_up(self) -> list[Due] | None:
        if len(self._ready) >= READY or not self._behind:
            return None
        group = self._behind.take()
        self._ready.append(group)
        return group
