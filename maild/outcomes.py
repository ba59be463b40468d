"""What became of a recipient, and all that follows from it, in one transaction.

A verdict changes the recipient's row and its message's status, and brings the attempt's record, the
counters, the suppression and the events with it; either all of it is committed, or none. The steps
stand in `record`. A row that is gone, or was changed meanwhile, changes nothing and publishes nothing.

Test messages change their own rows and publish events, and touch no counter and no suppression. Ids are
made inside the transaction, on the event loop or on the writer's thread; `Ids` may be asked from both.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from maild import circuit_breaker
from maild.message.fields.address import normalize
from maild.message.reports import bounces
from maild.message.reports.bounces import Bounce
from storage import states
from storage.audit.acts import Act, system
from storage.audit.trail import Records, address_hash
from storage.clock import day_of, iso, month_of
from storage.engine.tx import Tx
from storage.records import RecipientRow
from storage.sending import (
    message_outcomes,
    outbound,
    outbound_events,
    recipient_reports,
    settlements,
    suppressions,
)
from storage.sending.leases import Due
from storage.sending.message_outcomes import MessageSummary
from storage.sending.settlements import RecipientSettlement
from storage.usage import Counts

NewId = Callable[[str], str]  # a prefix → a fresh id

OUTCOMES = system("outcomes")
_REASONS = {"deferred": "expired", "suppressed": "recipient_suppressed", "failed": "domain_not_verified"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One recipient's fate in one attempt.

    `sent`: a smarthost took it; `delivered`: its own MX or a local inbox did; `deferred`: again later,
    or never if its time is over; `bounced`: refused for good; `suppressed`: not tried, the recipient is on
    the suppression list; `failed`: not tried, the sender's domain is not verified any more.
    """

    status: Literal["sent", "delivered", "deferred", "bounced", "suppressed", "failed"]
    code: int | None
    enhanced: str | None
    text: str
    host: str | None = None  # that replied so; None when no other host was reached
    tls: str | None = None
    has_left: bool = False  # a host was told MAIL FROM in this attempt: the message has left this one
    stored_as: str | None = None  # the id of an inbox of ours' copy
    failure: str | None = None  # the API's `failureReason`, where the status does not tell it
    refused_for: Sequence[str] = ()  # why an inbox of ours refused it, for the log
    not_before: int | None = None  # of `deferred`: no host was asked, and this (Unix ms) is when one may be

    @classmethod
    def of(
        cls,
        code: int,
        enhanced: str | None,
        text: str,
        host: str | None = None,
        tls: str | None = None,
        accepted: Literal["sent", "delivered"] = "delivered",
    ) -> "Verdict":
        """The verdict that an SMTP reply means; what is neither 2xx nor 5xx is temporary."""
        status: Literal["sent", "delivered", "deferred", "bounced"] = "deferred"
        if 200 <= code < 300:
            status = accepted
        elif bounces.is_permanent(code):
            status = "bounced"
        return cls(status, code, enhanced, text, host, tls)


class OutcomeContext(NamedTuple):
    """What the outcomes of one unit of work are written with, at one moment."""

    new_id: NewId
    audit: Records
    now_ms: int


class Settled(NamedTuple):
    """A leased row that has its verdict now. `outcome`: the verdict's status, or `expired`."""

    row: Due
    verdict: Verdict
    outcome: str


@dataclass(frozen=True, slots=True)
class Late:
    """A recipient that had been accepted and failed after all, as a report says."""

    position: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Failure:
    position: int
    address: str
    bounce: Bounce
    reason: str
    verdict: Verdict


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
    settled = _settle(tx, told, verdicts, context.now_ms, duration_ms)
    gathered = Counts() if counts is None else counts
    _follow(tx, settled, context, gathered)
    if counts is None:
        gathered.write(tx)
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
) -> list[Settled]:
    made = [(row, settlement(row, verdicts[row.position], now_ms, duration_ms)) for row in rows]
    return [
        Settled(row, verdicts[row.position], one.outcome)
        for row, one in made
        if settlements.settle(tx, one, now_ms)
    ]


def _follow(tx: Tx, settled: Sequence[Settled], context: OutcomeContext, counts: Counts) -> None:
    message = _Message.load(tx, settled[0].row.message_id, context, counts) if settled else None
    if message is None:
        return
    now_ms = context.now_ms
    failures = [_failure(row, verdict) for row, verdict, _ in settled if _is_final(row, verdict, now_ms)]
    message.count("delivered", sum(one.verdict.status in states.RECIPIENT_ACCEPTED for one in settled))
    was_sent = message.summary.sent_at is not None
    has_failed = message.follow(failures)
    if message.summary.sent_at is not None and not was_sent:
        message.publish("email.sent")
    for row, verdict, _ in settled:
        # No row ever goes back to `queued`: this is its first deferral.
        if row.status == "queued" and verdict.status == "deferred" and not _is_final(row, verdict, now_ms):
            message.publish("email.delayed", _delay(row, verdict))
    message.fail(failures, has_failed)


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
    message = _Message.load(tx, message_id, context, counts) if any(counted) or bounced else None
    if message is None:
        return False
    failures = [
        _Failure(
            one.position,
            message.address_of(one.position),
            bounces.of_report(one.verdict.code, one.verdict.enhanced, one.verdict.text),
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
    message = _Message.load(tx, message_id, context, counts)
    if message is None:
        return False
    message.complain(position, feedback_type)
    counts.write(tx)
    return True


class _Message:
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
    def load(cls, tx: Tx, message_id: str, context: OutcomeContext, counts: Counts) -> "_Message | None":
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

    def follow(self, failures: Sequence[_Failure]) -> bool:
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

    def fail(self, failures: Sequence[_Failure], has_failed: bool) -> None:
        """All that follows from recipients, and perhaps the message, that failed."""
        for failure in failures:
            self._bounce(failure)
        if any(failure.bounce.is_hard for failure in failures):
            self._check_reputation()
        if has_failed:
            outbound_events.publish_failed(self._tx, self._new_id("evt"), self._id, self._now_ms)

    def _bounce(self, failure: _Failure) -> None:
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


def _is_final(row: Due, verdict: Verdict, now_ms: int) -> bool:
    if verdict.status == "deferred":
        return now_ms >= row.expires_at
    return verdict.status not in states.RECIPIENT_ACCEPTED


def settlement(row: Due, verdict: Verdict, now_ms: int, duration_ms: int) -> RecipientSettlement:
    """What the verdict makes of the leased row."""
    expired = verdict.status == "deferred" and now_ms >= row.expires_at
    status = "failed" if expired else verdict.status
    return RecipientSettlement(
        row.message_id,
        row.position,
        row.status,
        status,
        "expired" if expired else verdict.status,
        row.attempts,
        row.next_attempt_at if status == "deferred" else None,
        verdict.host,
        verdict.code,
        verdict.enhanced,
        verdict.text,
        verdict.tls,
        duration_ms,
        verdict.has_left,
        was_tried=verdict.not_before is None,
    )


def _failure(row: Due, verdict: Verdict) -> _Failure:
    reason = verdict.failure or _REASONS.get(verdict.status, "bounced")
    return _Failure(row.position, row.address, _bounce(verdict), reason, verdict)


def _bounce(verdict: Verdict) -> Bounce:
    is_ours = verdict.host is None
    found = bounces.of_outcome(verdict.status, verdict.code, verdict.enhanced, verdict.text, is_ours=is_ours)
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
