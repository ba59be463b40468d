"""Answers kept under the Idempotency-Keys of their requests, so that a request made twice acts once.

`keep` runs in the transaction that made what the answer tells of: either both are there or neither. The
primary key is the claim: of two requests with one key the second finds the first's row, whatever process it runs in.
"""

from typing import Final, NamedTuple

from storage.engine.dialect import EMPTY_ARRAY, replaced
from storage.engine.tx import Tx

DELETED: Final = "deleted"
_BLANKED = {
    "subject": "''",
    "snippet": "''",
    "extractedText": "NULL",
    "attachments": EMPTY_ARRAY,
    "value": "NULL",
    "shown": "NULL",
}
_FORGET_WORDS = f"UPDATE idempotency SET answer = {replaced('answer', _BLANKED)} WHERE message_id = ?"


class Kept(NamedTuple):
    """The answer that was given to a request, and the hash that a repeated request must have. `status`: of the message
    that the answer tells of, as it is now; DELETED where it is gone, None where the answer tells of none."""

    request_hash: bytes
    answer: str  # JSON, as it was given
    status: str | None


class KeptWhen(NamedTuple):
    """When something was kept, for it to count: at `since_ms` or later, before `until_ms`."""

    since_ms: int
    until_ms: int


EVER: Final = KeptWhen(0, 2**63 - 1)


def find(tx: Tx, organization_id: str, endpoint: str, key: str, when: KeptWhen = EVER) -> Kept | None:
    """What was kept under the key for this endpoint, and counts; None: the request is the first one."""
    row = tx.one(
        f"""SELECT i.request_hash, i.answer,
             CASE WHEN i.message_id IS NOT NULL THEN coalesce(m.status, '{DELETED}') END
           FROM idempotency i LEFT JOIN messages m ON m.id = i.message_id AND m.organization_id = i.organization_id
           WHERE i.organization_id = ? AND i.endpoint = ? AND i.key = ?
             AND i.created_at >= ? AND i.created_at < ?""",
        (organization_id, endpoint, key, *when),
    )
    return Kept(*row) if row else None


def forget(tx: Tx, organization_id: str, endpoint: str, key: str, when: KeptWhen) -> None:
    """Forget what was kept under the key and does not count, so that another answer can be kept."""
    tx.run(
        """DELETE FROM idempotency
           WHERE organization_id = ? AND endpoint = ? AND key = ? AND NOT (created_at >= ? AND created_at < ?)""",
        (organization_id, endpoint, key, *when),
    )


def has_another(tx: Tx, organization_id: str, endpoint: str, prefix: str, request_hash: bytes) -> bool:
    """Does a request of another hash have a key that begins so? All those of one prefix have one hash, if each asked
    this before it was kept. What follows the prefix sorts before `~`."""
    found = tx.value(
        """SELECT request_hash FROM idempotency
           WHERE organization_id = ? AND endpoint = ? AND key >= ? AND key < ? LIMIT 1""",
        (organization_id, endpoint, prefix, f"{prefix}~"),
    )
    return found is not None and found != request_hash


def keep(
    tx: Tx,
    organization_id: str,
    endpoint: str,
    key: str,
    request_hash: bytes,
    answer: str,
    message_id: str | None,
    now_ms: int,
) -> None:
    """Keep `answer` (JSON) under the key, which does not have one yet (`find`).

    `message_id`: the message that the answer tells of, where it tells of one; deleting it blanks the answer's words
    (`forget_words`).
    """
    tx.run(
        """INSERT INTO idempotency (organization_id, endpoint, key, request_hash, answer, message_id, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (organization_id, endpoint, key, request_hash, answer, message_id, now_ms),
    )


def forget_words(tx: Tx, message_id: str) -> None:
    """Blank the words of a deleted message in the kept answer, which stays: a repeated request sends nothing."""
    tx.run(_FORGET_WORDS, (message_id,))
