"""What became of an attempt to deliver to one recipient: its row, and the attempt's record.

`settle` ends a lease together with what became of it. It changes a row only from the status that it was leased in, so
that a message deleted meanwhile stays deleted. Of mail that was withdrawn meanwhile the attempt alone is recorded
(`note_withdrawn`): a host was told of it, and may have it. Called by the queue of the one process that serves this
store.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from storage.engine.tx import Tx
from storage.sending import relay_message_ids
from storage.sending.leases import NOT_TRIED
from storage.states import RECIPIENT

_SETTLE = """UPDATE recipients SET lease = NULL, status = ?, next_attempt_at = ?, remote_host = ?,
      smtp_code = ?, enhanced_code = ?, response = ?, tls = ?
    WHERE message_id = ? AND position = ? AND status = ?"""
_ATTEMPT = """INSERT INTO delivery_attempts (message_id, position, attempt, outcome, remote_host, smtp_code,
      enhanced_code, response, tls, duration_ms, created_at, has_left, next_attempt_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# A withdrawal takes the attempt off that the lease had counted.
_ATTEMPTED_YET = """UPDATE recipients SET attempts = ?, last_attempt_at = ?
    WHERE message_id = ? AND position = ? AND status = 'failed' AND attempts < ?"""


class RecipientSettlement(NamedTuple):
    """What became of one recipient in one attempt: its new row, and the attempt's record."""

    message_id: str
    position: int
    from_status: str
    status: str
    outcome: str
    attempt: int
    next_attempt_at: int | None
    remote_host: str | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None
    tls: str | None
    duration_ms: int
    has_left: bool = False  # some host was told MAIL FROM
    was_tried: bool = True  # else it is no attempt, and has no record
    known_as: str | None = None  # the Message-ID that a smarthost gave it


def settle(tx: Tx, settlement: RecipientSettlement, now_ms: int) -> bool:
    """End the lease and record the attempt; False when the row is gone or has another status by now."""
    if not tx.run(_SETTLE, _settled(settlement)):
        return False
    if settlement.was_tried:
        tx.run(_ATTEMPT, _attempted(settlement, now_ms))
        _keep_message_ids(tx, [settlement])
    else:
        key = (settlement.message_id, settlement.position)
        tx.run(f"UPDATE recipients SET {NOT_TRIED} WHERE message_id = ? AND position = ?", key)
    return True


def note_withdrawn(tx: Tx, it: RecipientSettlement, now_ms: int) -> bool:
    """Record an attempt whose recipient was withdrawn while a host was told of the message; False where it was not."""
    if not it.has_left:
        return False
    if not tx.run(_ATTEMPTED_YET, (it.attempt, now_ms, it.message_id, it.position, it.attempt)):
        return False
    tx.run(_ATTEMPT, _attempted(it, now_ms))
    _keep_message_ids(tx, [it])
    return True


def settle_all(tx: Tx, settlements: Sequence[RecipientSettlement], now_ms: int) -> None:
    """`settle` of attempts whose rows the same unit has found in the status that they were leased in."""
    tx.run_many(_SETTLE, [_settled(one) for one in settlements])
    tx.run_many(_ATTEMPT, [_attempted(one, now_ms) for one in settlements])
    _keep_message_ids(tx, settlements)


def _keep_message_ids(tx: Tx, settlements: Sequence[RecipientSettlement]) -> None:
    given = [(one.known_as, one.message_id) for one in settlements if one.known_as is not None]
    if given:
        relay_message_ids.keep(tx, given)


def _settled(it: RecipientSettlement) -> tuple[Any, ...]:
    """For _SETTLE."""
    if it.status != it.from_status and it.status not in RECIPIENT[it.from_status]:
        raise ValueError(f"a recipient can't go from {it.from_status} to {it.status}")
    facts = (it.remote_host, it.smtp_code, it.enhanced_code, it.response, it.tls)
    return (it.status, it.next_attempt_at, *facts, it.message_id, it.position, it.from_status)


def _attempted(it: RecipientSettlement, now_ms: int) -> tuple[Any, ...]:
    """For _ATTEMPT."""
    facts = (it.remote_host, it.smtp_code, it.enhanced_code, it.response, it.tls)
    told = (it.duration_ms, now_ms, int(it.has_left), it.next_attempt_at)
    return (it.message_id, it.position, it.attempt, it.outcome, *facts, *told)
