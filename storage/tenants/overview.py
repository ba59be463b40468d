"""How much waits for an organization, for people who look at it all day: each figure costs the same at any size.

A figure stops at COUNTED_MAX: whoever has more needs no exact number.
"""

from typing import NamedTuple

from storage.engine.dialect import by_index
from storage.engine.tx import Tx
from storage.searching import labels
from storage.searching.labels import COUNTED_MAX, UNREAD, Owner
from storage.sending.outbound import PENDING

QUEUE_ROWS_MAX = 5000  # of the host's queue, that are looked through


class WaitingFigures(NamedTuple):
    """What waits: unread messages, reviews of what goes out and of what came in, recipients in the queue. Each stops
    at COUNTED_MAX."""

    unread: int
    held_outbound: int
    held_inbound: int
    queued: int


_PENDING_REVIEWS = """SELECT count(*) FROM (SELECT 1 FROM reviews
    WHERE organization_id = :organization_id AND direction = :direction AND status = 'pending' LIMIT :most)"""
_QUEUED = f"""SELECT count(*) FROM (
      SELECT organization_id FROM recipients {by_index("recipients_due")} WHERE {PENDING} LIMIT :rows)
    WHERE organization_id = :organization_id"""


def waiting(tx: Tx, organization_id: str) -> WaitingFigures:
    """All of it at this moment. Of a queue longer than QUEUE_ROWS_MAX only what stands at its head is counted."""
    given = {"organization_id": organization_id, "most": COUNTED_MAX, "rows": QUEUE_ROWS_MAX}
    return WaitingFigures(
        labels.count(tx, Owner(organization_id), UNREAD),
        tx.value(_PENDING_REVIEWS, {**given, "direction": "outbound"}),
        tx.value(_PENDING_REVIEWS, {**given, "direction": "inbound"}),
        min(COUNTED_MAX, tx.value(_QUEUED, given)),
    )
