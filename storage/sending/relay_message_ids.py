"""Message-IDs that smarthosts gave to what an inbox sent, one for each transaction: whoever got it knows it by that one
alone, so answers name it."""

from collections.abc import Sequence

from storage.engine.tx import Tx
from storage.visibility import VISIBLE

_KEEP = f"""INSERT INTO relay_message_ids (inbox_id, message_id_header, message_id)
    SELECT inbox_id, ?, id FROM messages WHERE id = ? AND {VISIBLE} ON CONFLICT DO NOTHING"""


def keep(tx: Tx, given: Sequence[tuple[str, str]]) -> None:
    """`given`: pairs of the Message-ID and the message."""
    tx.run_many(_KEEP, given)


def of_message(tx: Tx, message_id: str) -> str | None:
    """One that the message has; None where it went out under its own alone."""
    found: str | None = tx.value(
        "SELECT min(message_id_header) FROM relay_message_ids WHERE message_id = ?", (message_id,)
    )
    return found
