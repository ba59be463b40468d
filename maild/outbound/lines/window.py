"""The rows that the queue holds in memory, and how many of them are one organization's: at most as many as are free.

So one that sends alone has half of the window, two have a third each, and there is always room for who comes next.
Whoever has its share, has the rest of its mail left in the store until the half of that has gone. Rows for destinations
that have not answered lately have a share of their own (`destination_queues.py`), and are none of this one: mail to
hosts that hang holds up nothing else of its sender.
"""

from collections.abc import Mapping

from maild.outbound.lines.row_counts import RowCounts


class Window:
    """`rows_max`: recipients in memory, all together."""

    def __init__(self, rows_max: int) -> None:
        self._rows_max = rows_max
        self.counts = RowCounts()
        self._doubtful_of: Mapping[str, int] = {}
        self._held_back: set[str] = set()

    @property
    def rows(self) -> int:
        """That are in memory."""
        return self.counts.total

    @property
    def room(self) -> int:
        """How many rows more."""
        return self._rows_max - self.rows

    def is_half_empty(self) -> bool:
        """Is there room for a good many?"""
        return self.rows <= self._rows_max // 2

    def full_organizations(self, doubtful_of: Mapping[str, int]) -> frozenset[str]:
        """Those that have their share; `may_refill` says once of each when it has room again.

        `doubtful_of`: how many rows of each are for destinations that have not answered lately.
        """
        self._doubtful_of = doubtful_of
        full = frozenset(one for one in self.counts.of if self._share_of(one) >= self.room)
        self._held_back |= full
        return full

    def may_refill(self, organization_id: str) -> bool:
        """Once for each time that it was held back: has half of its share gone by now?"""
        if organization_id in self._held_back and self._share_of(organization_id) <= self.room // 2:
            self._held_back.discard(organization_id)
            return True
        return False

    def _share_of(self, organization_id: str) -> int:
        return self.counts.of[organization_id] - self._doubtful_of.get(organization_id, 0)
