"""What reports of other hosts say became of recipients that had been accepted, and what follows, in one transaction.

The caller has made sure that a report is about the message and these recipients. Each counts once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from maild.message.reports import bounces
from maild.message.reports.bounces import Bounce
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.sent_message import RecipientFailure, SentMessage
from maild.outcomes.verdict import Verdict
from storage.engine.tx import Tx
from storage.sending import recipient_reports
from storage.usage import Counts


@dataclass(frozen=True, slots=True)
class Late:
    """A recipient that had been accepted and failed after all, as a report says."""

    position: int
    verdict: Verdict

    @property
    def bounce(self) -> Bounce:
        """What it means."""
        return bounces.of_report(self.verdict.code, self.verdict.enhanced, self.verdict.text)


def settled_later(
    tx: Tx,
    message_id: str,
    arrived: Sequence[int],
    failed: Sequence[Late],
    context: OutcomeContext,
) -> bool:
    """A report says what became of recipients that had been accepted; did one arrive by it?

    `arrived`: positions that a smarthost had taken. What was not accepted, or has failed, stays as it is: a
    report counts once. The caller has made sure that it is about this message and these recipients.
    """
    counted = [recipient_reports.deliver_later(tx, message_id, position) for position in arrived]
    bounced = [
        one
        for one in failed
        if recipient_reports.bounce_later(
            tx, message_id, one.position, one.verdict.code, one.verdict.enhanced, one.verdict.text
        )
    ]
    counts = Counts()
    message = SentMessage.load(tx, message_id, context, counts) if any(counted) or bounced else None
    if message is None:
        return False
    failures = [
        RecipientFailure(
            one.position,
            message.address_of(one.position),
            one.bounce,
            "bounced",
            one.verdict,
        )
        for one in bounced
    ]
    message.fail(failures, message.follow(failures))
    counts.write(tx)
    return any(counted)


def complained(tx: Tx, message_id: str, position: int, feedback_type: str, context: OutcomeContext) -> bool:
    """A recipient that had got the message called it spam; False when it does not count.

    At most once for each recipient of a message. The caller has made sure that the report is about it.
    """
    if not recipient_reports.complain(tx, message_id, position, context.now_ms):
        return False
    counts = Counts()
    message = SentMessage.load(tx, message_id, context, counts)
    if message is None:
        return False
    message.complain(position, feedback_type)
    counts.write(tx)
    return True
