"""One message inside one transaction, and what follows for it from what became of its recipients: its status, the
counters, suppressions, events, and the look at its sender's reputation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from maild.message.fields.address import normalize
from maild.message.reports.bounces import Bounce
from maild.outcomes.verdict import Verdict
from storage import states
from storage.audit.acts import Act, system
from storage.audit.trail import Records, address_hash
from storage.clock import day_of, month_of
from storage.engine.tx import Tx
from storage.records import RecipientRow
from storage.sending import message_outcomes, outbound, outbound_events, suppressions
from storage.sending.message_outcomes import MessageSummary
from storage.tenants import circuit_breaker
from storage.usage import Counts

NewId = Callable[[str], str]  # a prefix → a fresh id

OUTCOMES = system("outcomes")


class OutcomeContext(NamedTuple):
    """What the outcomes of one unit of work are written with, at one moment."""

    new_id: NewId
    audit: Records
    now_ms: int


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
        self._new_id, self._audit, self._now_ms = context
        self._counts = counts
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
        is_live = self.summary.mode == "live"
        self.count("complained")
        if is_live:
            self._suppress(address, "complaint", "feedback_loop")
        more = {"recipient": address, "feedbackType": feedback_type, "suppressed": is_live}
        self.publish("email.complained", more)
        self._check_reputation()

    def publish(self, type: str, more: Mapping[str, Any] | None = None) -> None:
        if self._described is None:  # once for all events of a transaction: there may be hundreds
            self._described = outbound_events.describe(self._id, self.summary, self._recipients)
        data = {**self._described, **(more or {})}
        outbound_events.publish(
            self._tx, self._new_id("evt"), type, self._id, self.summary, data, self._now_ms
        )

    def count(self, metric: str, amount: int = 1) -> None:
        if amount and self.summary.is_counted:
            for period in (day_of(self._now_ms), month_of(self._now_ms)):
                self._counts.add(self.summary.organization_id, period, metric, amount)

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
            self._check_reputation()
        if has_failed:
            outbound_events.publish_failed(self._tx, self._new_id("evt"), self._id, self._now_ms)

    def _bounce(self, failure: RecipientFailure) -> None:
        verdict, bounce = failure.verdict, failure.bounce
        self.count("bounced", int(bounce.is_hard))
        suppressed = failure.reason == "recipient_suppressed"
        if bounce.blames_address and self.summary.mode == "live":
            suppressed = True
            self._suppress(failure.address, "hard_bounce", "bounce")
        self.publish("email.bounced", bounced(failure.address, bounce, verdict, suppressed))

    def _check_reputation(self) -> None:
        if self.summary.is_counted:
            organization_id = self.summary.organization_id
            self._counts.write(self._tx)  # which it reads
            circuit_breaker.check(self._tx, self._new_id("evt"), self._audit, organization_id, self._now_ms)

    def _suppress(self, address: str, reason: str, source: str) -> None:
        organization_id, email, fresh = self.summary.organization_id, normalize(address), self._new_id("sup")
        kept = suppressions.add(
            self._tx,
            fresh,
            self._now_ms,
            organization_id=organization_id,
            email=email,
            reason=reason,
            source=source,
        )
        if kept == fresh:  # else it was suppressed before
            hashed = address_hash(organization_id, email)
            told = {"addressHash": hashed, "reason": reason, "source": source, "messageId": self._id}
            self._audit.record(self._tx, organization_id, Act.SUPPRESSION_ADDED, OUTCOMES, fresh, told)


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
