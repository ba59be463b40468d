"""One message inside one transaction, and what follows for it from what became of its recipients: its status, the
counters, suppressions, events, and the look at its sender's reputation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from maild.message.reports.bounces import Bounce
from maild.outcomes.outcome_context import OutcomeContext
from maild.outcomes.sender_reputation import SenderReputation
from maild.outcomes.verdict import Verdict
from storage import states
from storage.engine.tx import Tx
from storage.records import RecipientRow
from storage.sending import message_outcomes, outbound, outbound_events
from storage.sending.message_outcomes import MessageSummary
from storage.usage import Counts


@dataclass(frozen=True, slots=True)
class RecipientFailure:
    """A recipient that failed for good. `reason`: the message's `failureReason`, should it fail by this one."""

    position: int
    address: str
    bounce: Bounce
    reason: str
    verdict: Verdict


class SentMessage:
    """One message inside one transaction: its rows as they are now, and what follows from them."""

    def __init__(
        self,
        tx: Tx,
        message_id: str,
        summary: MessageSummary,
        context: OutcomeContext,
        counts: Counts,
    ) -> None:
        self._tx = tx
        self._id = message_id
        self.summary = summary
        self._new_id, self._now_ms = context.new_id, context.now_ms
        self._reputation = SenderReputation(
            tx,
            summary.organization_id,
            message_id,
            context,
            counts,
            is_live=summary.mode == "live",
            is_counted=summary.is_counted,
        )
        self._recipients: Sequence[RecipientRow] = outbound.recipients(tx, message_id)
        self._described: Mapping[str, Any] | None = None

    @classmethod
    def load(cls, tx: Tx, message_id: str, context: OutcomeContext, counts: Counts) -> "SentMessage | None":
        """None where it is gone."""
        summary = message_outcomes.summary(tx, message_id)
        return None if summary is None else cls(tx, message_id, summary, context, counts)

    def address_of(self, position: int) -> str:
        return next(one.address for one in self._recipients if one.position == position)

    def complain(self, position: int, feedback_type: str) -> None:
        address = self.address_of(position)
        suppressed = self._reputation.complained(address)
        more = {"recipient": address, "feedbackType": feedback_type, "suppressed": suppressed}
        self.publish("email.complained", more)
        self._reputation.check()

    def answer_for(self, bounces: Sequence[tuple[str, Bounce]]) -> None:
        """Of these addresses; it was told before that they do not get it."""
        self._reputation.answer_for(bounces)

    def publish(self, type: str, more: Mapping[str, Any] | None = None) -> None:
        if self._described is None:  # once for all events of a transaction: there may be hundreds
            self._described = outbound_events.describe(self._id, self.summary, self._recipients)
        data = {**self._described, **(more or {})}
        outbound_events.publish(
            self._tx, self._new_id("evt"), type, self._id, self.summary, data, self._now_ms
        )

    def count(self, metric: str, amount: int = 1) -> None:
        self._reputation.count(metric, amount)

    def follow(self, failures: Sequence[RecipientFailure]) -> bool:
        """The message's status follows its recipients'; did it become `failed`?"""
        was = self.summary
        now = followed(was, self._recipients, self._now_ms)
        if now is None:
            return False
        if now.status == "failed" and failures:
            now = now._replace(failure_reason=failures[-1].reason)
        message_outcomes.move_message(
            self._tx, self._id, was.status, now.status, now.sent_at, now.failure_reason
        )
        self.summary = now
        if now.status != "failed":
            return False
        if was.status == "queued":
            message_outcomes.give_back_unless_left(self._tx, {self._id: was})
        return True

    def fail(self, failures: Sequence[RecipientFailure], has_failed: bool) -> None:
        """All that follows from recipients, and perhaps the message, that failed."""
        for failure in failures:
            self._bounce(failure)
        if any(failure.bounce.is_hard for failure in failures):
            self._reputation.check()
        if has_failed:
            outbound_events.publish_failed(self._tx, self._new_id("evt"), self._id, self._now_ms)

    def _bounce(self, failure: RecipientFailure) -> None:
        suppressed = self._reputation.bounced(failure.address, failure.bounce)
        suppressed = suppressed or failure.reason == "recipient_suppressed"
        self.publish("email.bounced", bounced(failure.address, failure.bounce, failure.verdict, suppressed))


def followed(was: MessageSummary, recipients: Sequence[RecipientRow], now_ms: int) -> MessageSummary | None:
    """The message once its status has followed its recipients'; None where it stays."""
    status = states.message_status({recipient.status for recipient in recipients})
    if status not in states.MESSAGE[was.status]:
        return None
    sent_at = now_ms if was.sent_at is None and status in ("sent", "delivered") else was.sent_at
    return was._replace(status=status, sent_at=sent_at, failure_reason=None)


def bounced(address: str, bounce: Bounce, verdict: Verdict, suppressed: bool) -> dict[str, Any]:
    """What `email.bounced` says of the recipient that failed."""
    return {
        "recipient": address,
        "bounceType": bounce.type,
        "class": bounce.bounce_class,
        "advice": bounce.advice,
        "smtpCode": verdict.code,
        "enhancedCode": verdict.enhanced,
        "diagnostic": verdict.text,
        "suppressed": suppressed,
    }
