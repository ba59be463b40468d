"""Attempts to deliver: one row for each recipient, and what is kept of the attempt beside it.

One attempt may be about many recipients of a message; its evidence is one row, under the first of them. Of the attempts
of a recipient the FIRST_KEPT and the LATEST_KEPT keep theirs. It goes with the message, and before that with its raw
bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from storage.engine.dialect import each_row_of
from storage.engine.tx import Tx
from storage.records import DeliveryAttemptRow, columns, dump, load
from storage.visibility import VISIBLE

FIRST_KEPT = 3
LATEST_KEPT = 7

_KEEP = """INSERT INTO delivery_evidence (message_id, position, attempt, shared, evidence)
    VALUES (?, ?, ?, ?, ?)"""
_FORGET = """DELETE FROM delivery_evidence
    WHERE message_id = ? AND position = ? AND attempt > ? AND attempt <= ?"""
_LISTED = f"""SELECT {columns(DeliveryAttemptRow)}
    FROM (SELECT a.position, a.attempt, r.address, r.domain, r.kind, a.outcome, a.remote_host, a.smtp_code,
            a.enhanced_code, a.response, a.tls, a.duration_ms, a.created_at, a.next_attempt_at
          FROM recipients r JOIN delivery_attempts a USING (message_id, position)
          WHERE r.message_id = ? AND r.organization_id = ?)
    ORDER BY created_at, position, attempt"""
_KEPT = f"""SELECT e.position, e.attempt, e.shared
    FROM messages m JOIN delivery_evidence e ON e.message_id = m.id
    WHERE m.id = ? AND m.organization_id = ? AND m.{VISIBLE}"""
_EVIDENCE = f"""SELECT e.position, e.attempt, e.evidence
    FROM messages m JOIN delivery_evidence e ON e.message_id = m.id
    WHERE m.id = :message_id AND m.organization_id = :organization_id AND m.{VISIBLE}
      AND (e.position, e.attempt) IN {each_row_of(":keys", 2)}"""


class OneAttempt(NamedTuple):
    """The attempt-th attempt of the recipient at a position."""

    position: int
    attempt: int


def keep_evidence(tx: Tx, message_id: str, attempts: Sequence[OneAttempt], evidence: str) -> None:
    """Keep the JSON with an attempt, which is one of each of these recipients."""
    first, *others = attempts
    tx.run(_KEEP, (message_id, *first, dump(others) if others else None, evidence))
    _forget_older(tx, message_id, first)


def keep_evidence_of_each(tx: Tx, told: Sequence[tuple[str, OneAttempt, str]]) -> None:
    """`keep_evidence` of several attempts (message, attempt, JSON) of one recipient each."""
    tx.run_many(_KEEP, [(message_id, *one, None, evidence) for message_id, one, evidence in told])
    for message_id, one, _ in told:
        _forget_older(tx, message_id, one)


def _forget_older(tx: Tx, message_id: str, latest: OneAttempt) -> None:
    if latest.attempt > FIRST_KEPT + LATEST_KEPT:
        tx.run(_FORGET, (message_id, latest.position, FIRST_KEPT, latest.attempt - LATEST_KEPT))


def forget_evidence(tx: Tx, message_id: str) -> None:
    """Drop what is kept of the message's attempts; their rows stay."""
    tx.run("DELETE FROM delivery_evidence WHERE message_id = ?", (message_id,))


def listed(tx: Tx, organization_id: str, message_id: str) -> list[DeliveryAttemptRow]:
    """Every attempt to deliver the organization's message, in the order in which they ended."""
    return [DeliveryAttemptRow(*row) for row in tx.all(_LISTED, (message_id, organization_id))]


def kept(tx: Tx, organization_id: str, message_id: str) -> dict[OneAttempt, OneAttempt]:
    """Which attempts of the organization's message have evidence, and under which it stands."""
    found = {}
    for position, attempt, shared in tx.all(_KEPT, (message_id, organization_id)):
        first = OneAttempt(position, attempt)
        found[first] = first
        found |= {OneAttempt(*other): first for other in (load(shared) if shared else ())}
    return found


def evidence(
    tx: Tx, organization_id: str, message_id: str, firsts: Iterable[OneAttempt]
) -> Mapping[OneAttempt, str]:
    """What stands under these attempts of the organization's message, as JSON."""
    parameters = {
        "message_id": message_id,
        "organization_id": organization_id,
        "keys": dump(sorted(set(firsts))),
    }
    return {OneAttempt(position, attempt): text for position, attempt, text in tx.all(_EVIDENCE, parameters)}
