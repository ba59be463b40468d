"""Recipients that the operator takes out of the queue, a table at a time.

They go by thousands, while all other mail waits for the store. What `attempted.record` does for each of them with
fifteen statements is done here for all with eight, and one for each counter. What it comes to is the same (a test
compares the tables): nobody is suppressed, and no sender's rates change, for no host has refused anything.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from maild.message.reports import bounces
from maild.outcomes.outcome_context import NewId
from maild.outcomes.sent_message import bounced, followed
from maild.outcomes.verdict import Verdict, settlement
from storage.engine.tx import Tx
from storage.publishing import events
from storage.publishing.events import NewEvent
from storage.sending import message_outcomes, outbound_events, settlements
from storage.sending.leases import Due
from storage.sending.message_outcomes import MessageMove, MessageSummary, SummaryWithRecipients
from storage.sending.settlements import RecipientSettlement

DROPPED: Final = Verdict("failed", None, None, bounces.TAKEN_OUT, failure="dropped")


def record(tx: Tx, rows: Sequence[Due], new_id: NewId, now_ms: int) -> None:
    """Fail rows that wait, as the same unit has found them."""
    found = message_outcomes.with_recipients(tx, sorted({row.message_id for row in rows}))
    work = _Drop(new_id, now_ms)
    for message_id, of_message in groupby(sorted(rows, key=_place), key=lambda row: row.message_id):
        work.add(message_id, found[message_id], list(of_message))
    work.write(tx)


def _place(row: Due) -> tuple[str, int]:
    return row.message_id, row.position


class _Drop:
    """What is to be written in the end."""

    def __init__(self, new_id: NewId, now_ms: int) -> None:
        self._new_id = new_id
        self._now_ms = now_ms
        self._settlements: list[RecipientSettlement] = []
        self._moves: list[MessageMove] = []
        self._unsent: dict[str, MessageSummary] = {}
        self._events: list[NewEvent] = []

    def add(self, message_id: str, message: SummaryWithRecipients, rows: Sequence[Due]) -> None:
        for row in rows:
            tried = row._replace(attempts=row.attempts + 1)
            made = settlement(tried, DROPPED, self._now_ms, duration_ms=0)
            message.settle(made)
            self._settlements.append(made)
        was, now = message.summary, self._follow(message_id, message)
        told = list[tuple[str, dict[str, Any]]]()
        if now.sent_at is not None and was.sent_at is None:
            told.append(("email.sent", {}))
        told += [("email.bounced", _bounced(row.address)) for row in rows]
        if now.status == "failed" != was.status:
            told.append(("email.failed", {"failureReason": now.failure_reason}))
        described = outbound_events.describe(message_id, now, message.recipients)
        for type, more in told:
            data = {**described, **more}
            self._events.append(outbound_events.event(self._new_id("evt"), type, message_id, now, data))

    def _follow(self, message_id: str, message: SummaryWithRecipients) -> MessageSummary:
        """The message as its recipients leave it."""
        was = message.summary
        now = followed(was, message.recipients, self._now_ms)
        if now is None:
            return was
        if now.status == "failed":
            now = now._replace(failure_reason=DROPPED.failure)
            if was.status == "queued":
                self._unsent[message_id] = was
        self._moves.append(MessageMove(now.status, now.sent_at, now.failure_reason, message_id, was.status))
        return now

    def write(self, tx: Tx) -> None:
        settlements.settle_all(tx, self._settlements, self._now_ms)
        message_outcomes.move_messages(tx, self._moves)
        message_outcomes.give_back_unless_left(tx, self._unsent)
        events.publish_all(tx, self._now_ms, self._events)


def _bounced(address: str) -> dict[str, Any]:
    return bounced(address, bounces.TAKEN_OUT_BOUNCE, DROPPED, suppressed=False)
