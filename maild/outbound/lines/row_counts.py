"""How many recipients are held somewhere, all together and of each organization."""

from collections import Counter
from collections.abc import Sequence

from storage.sending.leases import Due


class RowCounts:
    """`of`: by organization; who has none is not there."""

    def __init__(self) -> None:
        self.total = 0
        self.of: Counter[str] = Counter()

    def enter(self, group: Sequence[Due]) -> None:
        """So many rows of one organization more."""
        self.total += len(group)
        self.of[group[0].organization_id] += len(group)

    def leave(self, group: Sequence[Due]) -> None:
        """So many rows of one organization less."""
        organization_id = group[0].organization_id
        self.total -= len(group)
        self.of[organization_id] -= len(group)
        if not self.of[organization_id]:
            del self.of[organization_id]
