"""Where in the queue to look for what is due, while lines of it are full: not again and again at a hundred thousand
rows of which nothing is to be leased.

A pass goes from the beginning of the queue to its end, one look after the other. What becomes due, or is put back,
stands behind all that was due before; so the rows in front of the place that a pass has come to are mail of lines that
were full, and as long as all of these still are, there is nothing to be found among them. When one has room again,
every other look is at the beginning, where its mail stands as a rule, and the pass goes on in between; a pass that has
come to the end then begins anew. All of it may be forgotten at any time.
"""

from storage.sending.leases import FullLines, Leased, QueuePlace

LATE_MS = 10_000  # a row is written with the time at which its unit of work began
KNOWN_FOR_MS = 60_000

_BEGINNING = QueuePlace()


class DueScan:
    """One pass after the other."""

    def __init__(self) -> None:
        self._place = _BEGINNING  # all due rows in front of it are of lines that were stepped over
        self._stepped_over = FullLines()
        self._is_through = False
        self._ended_ms = 0
        self._was_at_beginning = False

    def since(self, full: FullLines, now_ms: int) -> QueuePlace:
        """Behind which place to look now."""
        is_old = self._is_through and not self._ended_ms <= now_ms <= self._ended_ms + KNOWN_FOR_MS
        if is_old or not any(full):
            self._place, self._stepped_over, self._is_through = _BEGINNING, FullLines(), False
        if full.include(self._stepped_over) or (self._was_at_beginning and not self._is_through):
            return self._place
        return _BEGINNING

    def looked(self, full: FullLines, since: QueuePlace, leased: Leased, limit: int) -> None:
        """What the look from `since` on has found, of `limit` rows at most."""
        self._was_at_beginning = since == _BEGINNING
        has_more_here = len(leased.rows) == limit
        is_beside_the_pass = since != self._place and not self._is_through and leased.scanned_to is not None
        if has_more_here or is_beside_the_pass or leased.is_paused or not any(full):
            return
        if since == _BEGINNING:
            self._stepped_over = FullLines()
        self._stepped_over = self._stepped_over.union(full)
        self._is_through = leased.scanned_to is None
        self._ended_ms = leased.at_ms
        self._place = leased.scanned_to or max(since, QueuePlace(leased.at_ms - LATE_MS))
