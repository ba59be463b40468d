"""How many bytes peers may make the daemon hold in memory at one time: one account for each kind of traffic.

The account is divided so that no holder can use it up: a holder may take more only while that leaves as much free
for all others as it then holds itself (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on
Networking 6(2), 1998). One greedy holder gets half of the account, n of them 1/(n+1) each, and a newcomer always
finds as much free as the greediest holds. No share has to be configured.

Nothing here is durable or waits: a caller that is refused tells its peer to come again. Called from the event loop
alone.
"""


class ByteAccount:
    """`limit_bytes` in all; holders are names such as `org_…` or an IP address."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._held: dict[str, int] = {}
        self._total = 0

    @property
    def held_bytes(self) -> int:
        """What all holders have together."""
        return self._total

    @property
    def is_half_used(self) -> bool:
        """Have all holders together half of it, or more?"""
        return 2 * self._total >= self._limit

    def has_room(self, count: int, *holders: str) -> bool:
        """Could each of these take so much? Nothing is counted."""
        free_after = self._limit - self._total - count
        if free_after < 0:
            return False
        return all(self._held.get(holder, 0) + count <= free_after for holder in holders)

    def take(self, count: int, *holders: str) -> bool:
        """Count the bytes in all and for each holder; False, and nothing is counted, when one has its share."""
        if not self.has_room(count, *holders):
            return False
        self._total += count
        for holder in holders:
            self._held[holder] = self._held.get(holder, 0) + count
        return True

    def give(self, count: int, *holders: str) -> None:
        """Give back what was taken, by the same holders; it may be done in parts."""
        self._total -= count
        for holder in holders:
            left = self._held.get(holder, 0) - count
            if left > 0:
                self._held[holder] = left
            else:
                self._held.pop(holder, None)
