"""What became of a recipient, and all that follows from it, in one transaction.

A verdict changes the recipient's row and its message's status, and brings the attempt's record, the
counters, the suppression and the events with it; either all of it is committed, or none. The steps
stand in `record`. A row that is gone, or was changed meanwhile, changes nothing and publishes nothing; what a host
refused of a message that was deleted or withdrawn counts all the same (`_answer_for`).

Test messages change their own rows and publish events, and touch no counter and no suppression. Ids are
made inside the transaction, on the event loop or on the writer's thread; `Ids` may be asked from both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from maild.message.reports.bounces import Bounce
from maild.outcomes import deleted
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.sent_message import RecipientFailure, SentMessage
from maild.outcomes.verdict import Settled, Verdict, is_final, settlement
from storage import states
from storage.clock import iso
from storage.engine.tx import Tx
from storage.sending import deleted_mail, message_outcomes, settlements
from storage.sending.leases import Due
from storage.usage import Counts

_REASONS = {"deferred": "expired", "suppressed": "recipient_suppressed", "failed": "domain_not_verified"}


def record(
    tx: Tx,
    rows: Sequence[Due],
    verdicts: Mapping[int, Verdict],
    context: OutcomeContext,
    duration_ms: int,
    counts: Counts | None = None,
) -> Sequence[Settled]:
    """Settle the leased rows, all of one message; those whose verdict counted.

    `counts`: the unit's, which the caller writes in the end; without it they are written at once.
    """
    told = [_as_told(row, verdicts[row.position], context.now_ms) for row in rows]
    settled, noted = _settle(tx, told, verdicts, context.now_ms, duration_ms)
    gathered = Counts() if counts is None else counts
    _follow(tx, settled, context, gathered)
    if counts is None:
        gathered.write(tx)
    if len(settled) < len(told):
        _answer_for(tx, told, noted, verdicts, context)
    return settled


def _as_told(row: Due, verdict: Verdict, now_ms: int) -> Due:
    """The row as its verdict leaves it: what was put off was not an attempt, and what failed is tried again so long
    after its end as it was to be after its beginning."""
    if verdict.not_before is not None:
        return row._replace(attempts=row.attempts - 1, next_attempt_at=verdict.not_before)
    if verdict.status != "deferred":
        return row
    due_ms = now_ms + row.next_attempt_at - row.leased_at
    return row._replace(next_attempt_at=min(due_ms, row.expires_at))


def _settle(
    tx: Tx, rows: Sequence[Due], verdicts: Mapping[int, Verdict], now_ms: int, duration_ms: int
) -> tuple[list[Settled], list[Due]]:
    """Those whose verdict counted; and of whom a host was told, though they were withdrawn."""
    made = [(row, settlement(row, verdicts[row.position], now_ms, duration_ms)) for row in rows]
    settled, noted = [], []
    for row, one in made:
        if settlements.settle(tx, one, now_ms):
            settled.append(Settled(row, verdicts[row.position], one.outcome))
        elif message_outcomes.note_withdrawn(tx, one, now_ms):
            noted.append(row)
    return settled, noted


def _follow(tx: Tx, settled: Sequence[Settled], context: OutcomeContext, counts: Counts) -> None:
    message = SentMessage.load(tx, settled[0].row.message_id, context, counts) if settled else None
    if message is None:
        return
    now_ms = context.now_ms
    failures = [_failure(row, verdict) for row, verdict, _ in settled if is_final(row, verdict, now_ms)]
    message.count("delivered", sum(one.verdict.status in states.RECIPIENT_ACCEPTED for one in settled))
    was_sent = message.summary.sent_at is not None
    has_failed = message.follow(failures)
    if message.summary.sent_at is not None and not was_sent:
        message.publish("email.sent")
    for row, verdict, _ in settled:
        # No row ever goes back to `queued`: this is its first deferral.
        if row.status == "queued" and verdict.status == "deferred" and not is_final(row, verdict, now_ms):
            message.publish("email.delayed", _delay(row, verdict))
    message.fail(failures, has_failed)


def _answer_for(
    tx: Tx,
    rows: Sequence[Due],
    noted: Sequence[Due],
    verdicts: Mapping[int, Verdict],
    context: OutcomeContext,
) -> None:
    """For those of the rows who were refused, where the message was deleted meanwhile, or was withdrawn from those that
    are `noted`. It was told then that they do not get it."""
    final = [row for row in rows if is_final(row, verdicts[row.position], context.now_ms)]
    bounces = {row.position: _bounce(verdicts[row.position]) for row in final}
    gone = deleted_mail.find(tx, rows[0].bounce_token)
    if gone is not None:
        deleted.bounced(tx, gone, bounces, context)
        return
    counts = Counts()
    message = SentMessage.load(tx, rows[0].message_id, context, counts) if noted else None
    if message is not None:
        message.answer_for([(row.address, bounces[row.position]) for row in noted if row.position in bounces])
    counts.write(tx)


def _failure(row: Due, verdict: Verdict) -> RecipientFailure:
    reason = verdict.failure or _REASONS.get(verdict.status, "bounced")
    return RecipientFailure(row.position, row.address, _bounce(verdict), reason, verdict)


def _bounce(verdict: Verdict) -> Bounce:
    found = verdict.bounce
    assert found is not None  # what was accepted is no failure
    return found


def _delay(row: Due, verdict: Verdict) -> dict[str, Any]:
    meaning = _bounce(verdict)
    return {
        "recipient": row.address,
        "attempts": row.attempts,
        "nextAttemptAt": iso(row.next_attempt_at),
        "class": meaning.bounce_class,
        "advice": meaning.advice,
        "smtpCode": verdict.code,
        "enhancedCode": verdict.enhanced,
        "diagnostic": verdict.text,
    }
