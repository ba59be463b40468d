"""The outbound queue: recipients that are `queued` or `deferred`, when each is due, and how many there are.

A row enters the queue in the transaction that makes its message leave (`enqueue`). From then on it is due at
`next_attempt_at`, leased while it is delivered (`storage.sending.leases`), and out of the queue with the status that
ends it (`storage.sending.settlements`).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import idna

from storage.clock import BEHIND_MS
from storage.engine.dialect import THEN_JOIN, lesser
from storage.engine.tx import Tx
from storage.records import RecipientRow, columns

HASTENED_ROWS = 1000  # the rest is tried when its own time comes
SCAN_ROWS = 10_000  # looked at in one unit: some milliseconds

PENDING = "status IN ('queued', 'deferred') AND lease IS NULL"
_AHEAD = f"""SELECT message_id, position, attempts, expires_at FROM recipients
    WHERE {PENDING} AND next_attempt_at > ? LIMIT {{}}"""
_BRING_BACK = f"""UPDATE recipients SET next_attempt_at = ?, last_attempt_at = {lesser("last_attempt_at", "?")}
    WHERE message_id = ? AND position = ?"""
_FROM_AHEAD = f"""SELECT r.message_id, r.position, r.attempts, r.expires_at
    FROM (SELECT message_id, position, attempts, expires_at, last_attempt_at FROM recipients
          WHERE {PENDING} AND next_attempt_at > ? ORDER BY next_attempt_at DESC LIMIT {SCAN_ROWS}) r
      {THEN_JOIN} messages m ON m.id = r.message_id
    WHERE coalesce(r.last_attempt_at, m.created_at) > ? LIMIT {HASTENED_ROWS}"""
_HASTEN = f"""UPDATE recipients SET next_attempt_at = ?
    WHERE message_id = ? AND position = ? AND {PENDING} AND next_attempt_at > ?"""
_RECIPIENTS = f"SELECT {columns(RecipientRow)} FROM recipients WHERE message_id = ? ORDER BY position"
_ENQUEUE = """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
      next_attempt_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?)"""

_WAITING = f"FROM recipients WHERE {PENDING} AND next_attempt_at"
_BACKLOG = f"""SELECT (SELECT count(*) {_WAITING} <= :now_ms), (SELECT count(*) {_WAITING} > :now_ms),
      (SELECT count(*) {_WAITING} IS NULL), (SELECT count(*) FROM recipients WHERE lease IS NOT NULL),
      (SELECT min(next_attempt_at) {_WAITING} <= :now_ms)"""


def enqueue(
    tx: Tx,
    message_id: str,
    organization_id: str,
    recipients: Sequence[tuple[str, str]],
    now_ms: int,
    expires_at: int,
) -> list[RecipientRow]:
    """Put a message's recipients, (kind, address) each, into the queue; they are due at once. Answers their rows."""
    rows = [
        RecipientRow(
            message_id=message_id,
            position=position,
            organization_id=organization_id,
            address=address,
            domain=destination(address),
            kind=kind,
            status="queued",
            attempts=0,
            last_attempt_at=None,
            next_attempt_at=now_ms,
            expires_at=expires_at,
            remote_host=None,
            smtp_code=None,
            enhanced_code=None,
            response=None,
            tls=None,
        )
        for position, (kind, address) in enumerate(recipients)
    ]
    tx.run_many(_ENQUEUE, [(*row[:6], row.next_attempt_at, row.expires_at) for row in rows])
    return rows


def destination(address: str) -> str:
    """The address's domain as an A-label in lower case: what the queue groups by."""
    domain = address.rpartition("@")[2].rstrip(".").lower()
    return domain if domain.isascii() else idna.encode(domain, uts46=True).decode()


def bring_back(tx: Tx, now_ms: int, longest_ms: int, retry_at: Callable[[int, int], int]) -> None:
    """Put rows that are due later than `longest_ms` from now back to the time that they would have if they failed now.

    No schedule makes a row wait so long: it was put off while the clock was ahead. Rows that were never tried are due
    now. `retry_at`: as for `lease`. As a rule there are no such rows, which costs one look into the index; it changes
    HASTENED_ROWS at a time.
    """
    _bring_back(tx, tx.all(_AHEAD.format(HASTENED_ROWS), (now_ms + longest_ms,)), now_ms, retry_at)


def bring_back_from_ahead(tx: Tx, now_ms: int, retry_at: Callable[[int, int], int]) -> bool:
    """As `bring_back`, of what was tried, or sent and not tried, later than now: a clock that was ahead by less than
    `longest_ms` put it off. Of the SCAN_ROWS that are due last; may there be more?"""
    rows = tx.all(_FROM_AHEAD, (now_ms, now_ms + BEHIND_MS))
    _bring_back(tx, rows, now_ms, retry_at)
    return len(rows) == HASTENED_ROWS


def _bring_back(
    tx: Tx, rows: Sequence[tuple[str, int, int, int]], now_ms: int, retry_at: Callable[[int, int], int]
) -> None:
    for message_id, position, attempts, expires_at in rows:
        due_ms = retry_at(attempts, expires_at) if attempts else now_ms
        tx.run(_BRING_BACK, (due_ms, now_ms, message_id, position))


def of_domain(tx: Tx, organization_id: str, domain: str, now_ms: int) -> list[tuple[str, int]]:
    """What waits for a later time of mail from the organization's inboxes on the domain, HASTENED_ROWS at most: the
    message of each recipient, and its position.

    Of a long queue only the SCAN_ROWS that are due first are looked at; the rest is tried when its own time comes.
    """
    return tx.all(
        f"""SELECT r.message_id, r.position
            FROM (SELECT message_id, position, organization_id FROM recipients
                  WHERE {PENDING} AND next_attempt_at > :now
                  ORDER BY next_attempt_at LIMIT {SCAN_ROWS}) r
              {THEN_JOIN} messages m ON m.id = r.message_id {THEN_JOIN} inboxes i ON i.id = m.inbox_id
            WHERE r.organization_id = :organization AND i.domain = :domain LIMIT {HASTENED_ROWS}""",
        {"now": now_ms, "organization": organization_id, "domain": domain},
    )


def hasten(tx: Tx, rows: Sequence[tuple[str, int]], now_ms: int) -> None:
    """Make these due, as far as they still wait for a later time."""
    tx.run_many(_HASTEN, [(now_ms, *row, now_ms) for row in rows])


def recipients(tx: Tx, message_id: str) -> list[RecipientRow]:
    """The message's recipients in all statuses, in the order in which they were given."""
    return [RecipientRow(*row) for row in tx.all(_RECIPIENTS, (message_id,))]


class QueueBacklog(NamedTuple):
    """Recipients over all organizations: `due` by now, `later`, `held` until somebody releases them, and `delivering`,
    which are leased. `oldest_due_at`: Unix milliseconds, None where none is due."""

    due: int
    later: int
    held: int
    delivering: int
    oldest_due_at: int | None


def backlog(tx: Tx, now_ms: int) -> QueueBacklog:
    """What waits, and for what."""
    [found] = tx.all(_BACKLOG, {"now_ms": now_ms})
    return QueueBacklog(*found)


def depth(tx: Tx) -> int:
    """How many recipients wait or are being delivered, over all organizations."""
    waiting: int = tx.value(f"SELECT count(*) FROM recipients WHERE {PENDING}")
    leased: int = tx.value("SELECT count(*) FROM recipients WHERE lease IS NOT NULL")
    return waiting + leased
