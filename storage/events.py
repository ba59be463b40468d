"""The outbox: what happened, and who wants to hear of it.

`publish` runs inside the transaction of the change, so that an event exists exactly when its change
does. It writes one delivery for each webhook that is active and subscribed at that moment. The words
of a message are not copied: `controlplane.webhooks` reads them when it renders the event.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from storage.database import Tx
from storage.records import Event, columns, dump

_INSERT = """INSERT INTO events (id, organization_id, inbox_id, message_id, type, mode, data, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq"""
_SUBSCRIBE = """INSERT INTO webhook_deliveries (webhook_id, event_seq, status, next_attempt_at)
    SELECT id, ?, 'pending', ? FROM webhooks
    WHERE organization_id = ? AND deleted_at IS NULL AND is_active = 1
      AND EXISTS (SELECT 1 FROM json_each(subscribed_events) WHERE value = ?)"""


def publish(
    tx: Tx,
    event_id: str,
    now_ms: int,
    *,
    organization_id: str,
    type: str,
    data: Mapping[str, Any],
    mode: str = "live",
    inbox_id: str | None = None,
    message_id: str | None = None,
) -> int:
    """Write the event and its deliveries; the number of webhooks that will be called.

    `data`: the event's `data` object as decisions.md gives it for the type, less what is read from
    the message on rendering (`text`, `textTruncated`, `extractedText`).
    """
    seq = tx.value(_INSERT, (event_id, organization_id, inbox_id, message_id, type, mode, dump(data), now_ms))
    return tx.run(_SUBSCRIBE, (seq, now_ms, organization_id, type))


def get(tx: Tx, seq: int) -> Event | None:
    row = tx.one(f"SELECT {columns(Event)} FROM events WHERE seq = ?", (seq,))
    return None if row is None else Event(*row)


class Words(NamedTuple):
    """What the message says. `text` None and `is_sliced`: too large for its row, read it from the blob."""

    text: str | None
    is_sliced: bool
    extracted_text: str | None


def words_of(tx: Tx, event: Event) -> Words | None:
    """The words of the event's message; None when it has none, or it was deleted meanwhile."""
    row = tx.one(
        """SELECT text_body, text_body IS NULL AND text_slices IS NOT NULL, extracted_text
           FROM messages WHERE id = ? AND organization_id = ?""",
        (event.message_id, event.organization_id),
    )
    return None if row is None else Words(row[0], bool(row[1]), row[2])
