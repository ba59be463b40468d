"""Recipients that were accepted at the same time, a table at a time.

As a rule nearly all outcomes that end together are of this kind: one recipient of a message, which a host took. What
`attempted.record` does for each of them with ten statements is done here for all with six, of which four run without
Python in between. What it comes to is the same (a test compares the tables); what did not end so well goes that way.
"""

from collections.abc import Sequence
from typing import NamedTuple

from maild.outcomes.outcome_context import NewId
from maild.outcomes.sent_message import followed
from maild.outcomes.verdict import Settled, Verdict, settlement
from storage.clock import day_of, month_of
from storage.engine.tx import Tx
from storage.publishing import events
from storage.publishing.events import NewEvent
from storage.sending import attempts, message_outcomes, outbound_events, settlements
from storage.sending.attempts import OneAttempt
from storage.sending.leases import Due
from storage.sending.message_outcomes import MessageMove, SummaryWithRecipients
from storage.sending.settlements import RecipientSettlement
from storage.usage import Counts


class AcceptedOutcome(NamedTuple):
    """A leased recipient, and the verdict by which it was accepted. `evidence`: packed, of the attempt."""

    row: Due
    verdict: Verdict
    duration_ms: int
    evidence: str | None


def record(
    tx: Tx, accepted: Sequence[AcceptedOutcome], new_id: NewId, now_ms: int, counts: Counts
) -> list[Settled | None]:
    """Settle all of them; for each what was settled, None where its row is gone or was changed meanwhile."""
    found = message_outcomes.with_recipients(tx, sorted({one.row.message_id for one in accepted}))
    work = _Work(new_id, now_ms, counts)
    settled = [work.add(found, one) for one in accepted]
    work.write(tx)
    return settled


class _Work:
    """What is to be written in the end. A message whose recipients come one after the other is followed in memory."""

    def __init__(self, new_id: NewId, now_ms: int, counts: Counts) -> None:
        self._new_id = new_id
        self._now_ms = now_ms
        self._counts = counts
        self._periods = (day_of(now_ms), month_of(now_ms))
        self._settlements: list[RecipientSettlement] = []
        self._unsettled: list[RecipientSettlement] = []
        self._moves: list[MessageMove] = []
        self._events: list[NewEvent] = []
        self._evidence: list[tuple[str, OneAttempt, str]] = []

    def add(self, found: dict[str, SummaryWithRecipients], one: AcceptedOutcome) -> Settled | None:
        row, verdict = one.row, one.verdict
        message = found.get(row.message_id)
        made = settlement(row, verdict, self._now_ms, one.duration_ms)
        if message is None or not message.settle(made):
            self._unsettled.append(made)
            return None
        self._settlements.append(made)
        if one.evidence is not None:
            self._evidence.append((row.message_id, OneAttempt(row.position, row.attempts), one.evidence))
        if message.summary.is_counted:
            for period in self._periods:
                self._counts.add(message.summary.organization_id, period, "delivered", 1)
        found[row.message_id] = self._follow(row.message_id, message)
        return Settled(row, verdict, made.outcome)

    def _follow(self, message_id: str, message: SummaryWithRecipients) -> SummaryWithRecipients:
        was, recipients = message
        now = followed(was, recipients, self._now_ms)
        if now is None:
            return message
        self._moves.append(MessageMove(now.status, now.sent_at, now.failure_reason, message_id, was.status))
        if was.sent_at is None and now.sent_at is not None:
            data = outbound_events.describe(message_id, now, recipients)
            event_id = self._new_id("evt")
            self._events.append(outbound_events.event(event_id, "email.sent", message_id, now, data))
        return SummaryWithRecipients(now, recipients)

    def write(self, tx: Tx) -> None:
        settlements.settle_all(tx, self._settlements, self._now_ms)
        for one in self._unsettled:
            message_outcomes.note_withdrawn(tx, one, self._now_ms)
        attempts.keep_evidence_of_each(tx, self._evidence)
        message_outcomes.move_messages(tx, self._moves)
        events.publish_all(tx, self._now_ms, self._events)
