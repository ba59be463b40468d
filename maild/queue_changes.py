"""What the operator does to what waits in the outbound queue, from the command line or over HTTP."""

from collections.abc import Callable, Mapping
from itertools import groupby

from maild import outcomes
from maild.outcomes import NewId, Verdict
from storage import queue_selection
from storage.clock import Clock
from storage.database import Tx
from storage.queue_selection import QueueSelection

DROPPED = Verdict("failed", None, None, "the operator took it out of the queue", failure="dropped")


class QueueChanges:
    """Units of work by their verb. Each changes `queue_selection.ROWS_AT_ONCE` recipients at most, and says how many;
    one that changes fewer has come to the end.
    """

    def __init__(self, clock: Clock, new_id: NewId) -> None:
        self._clock = clock
        self._new_id = new_id
        self._units: Mapping[str, Callable[[Tx, QueueSelection, int], int]] = {
            "retry": queue_selection.retry,
            "hold": queue_selection.hold,
            "release": queue_selection.release,
            "drop": self._drop,
        }

    def change(self, tx: Tx, verb: str, selection: QueueSelection) -> int:
        """`verb`: retry, hold, release or drop."""
        return self._units[verb](tx, selection, self._clock.now_ms())

    def _drop(self, tx: Tx, selection: QueueSelection, now_ms: int) -> int:
        """Some of them fail for good, with all that follows from that."""
        rows = queue_selection.some(tx, selection)
        for _, group in groupby(sorted(rows), key=lambda row: row.message_id):
            of_message = [row._replace(attempts=row.attempts + 1) for row in group]
            verdicts = {row.position: DROPPED for row in of_message}
            outcomes.record(tx, of_message, verdicts, self._new_id, now_ms, duration_ms=0)
        return len(rows)
