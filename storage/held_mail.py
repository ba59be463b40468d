"""Mail that came in and is held until somebody decides on it (`inbound.hold` of a policy, rules).

A held message is a row of `messages` with its blob, attachments and bytes counted, and nothing else of an arrival: it
is in no conversation (`thread_id` is NULL), has no label, is not in the queue of work nor in the search index, counts
in no figure, and no event tells of it. `release` does the rest of the arrival, in one transaction and as of then.
`reject` leaves it as it is; retention deletes it KEEP_REJECTED_MS later.
"""

from collections.abc import Callable

from storage.clock import DAY_MS
from storage.database import Tx
from storage.records import MessageRow

KEEP_REJECTED_MS = 30 * DAY_MS


def get(tx: Tx, organization_id: str, message_id: str) -> MessageRow | None:
    """The organization's held message, rejected or not; None where it has none of that id, or it was released."""
    raise NotImplementedError


def release(tx: Tx, organization_id: str, message_id: str, new_id: Callable[[str], str], now_ms: int) -> bool:
    """Let the message arrive now: thread, counters, label `unread`, work, search, `email.received`. False where it is
    not held (any more), or was rejected. `new_id`: makes an id with that prefix."""
    raise NotImplementedError


def reject(tx: Tx, organization_id: str, message_id: str, now_ms: int) -> bool:
    """It stays held until it is deleted. False where it is not held (any more), or was rejected before."""
    raise NotImplementedError
