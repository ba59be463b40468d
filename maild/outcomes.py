"""What became of a recipient, and all that follows from it, in one transaction.

A verdict changes the recipient's row and its message's status, and brings the attempt's record, the
counters, the suppression and the events with it; either all of it is committed, or none. The steps
stand in `record`. A row that is gone, or was changed meanwhile, counts for nothing and tells nobody.

Test messages change their own rows and publish events, and touch no counter and no suppression.
Ids are minted by the caller before the transaction (`Ids` belongs to the event loop).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from maild.message.address import normalize
from storage import events, outbound, states, suppressions, usage
from storage.clock import day_of, iso, month_of
from storage.database import Tx
from storage.ids import Ids
from storage.outbound import Due, Envelope, Settlement
from storage.records import Recipient, load

BounceType = Literal["permanent", "transient", "undetermined"]

# RFC 3463 §3.2, RFC 7505 §4: the address is no good, whatever the message; not policy (5.7.x), not content.
_ADDRESS_FAULTS = frozenset({"5.1.1", "5.1.2", "5.1.6", "5.1.10", "5.2.1"})
_ADDRESS_CODES = frozenset({550, 551, 553})  # RFC 5321 §4.2.3, where no enhanced code says more
_NO_SUCH_USER = re.compile(
    r"user (is )?unknown|unknown (user|recipient|mailbox)|no such (user|recipient|mailbox|address)"
    r"|(user|recipient|mailbox|address|account) (does not exist|doesn't exist|not found|is disabled)"
    r"|invalid (recipient|mailbox)",
    re.IGNORECASE,
)


_REASONS = {"deferred": "expired", "suppressed": "recipient_suppressed", "failed": "domain_not_verified"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One recipient's fate in one attempt.

    `sent`: a smarthost took it; `delivered`: its own MX or a local inbox did; `deferred`: again later,
    or never if its time is over; `bounced`: refused for good; `suppressed`: we did not even try, and for
    `failed` neither: the sender's domain is no longer theirs to send from.
    """

    status: Literal["sent", "delivered", "deferred", "bounced", "suppressed", "failed"]
    code: int | None
    enhanced: str | None
    text: str
    host: str | None = None  # who said so; None when no other host was reached
    tls: str | None = None

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
        elif 500 <= code < 600:
            status = "bounced"
        return cls(status, code, enhanced, text, host, tls)

    def is_address_fault(self) -> bool:
        """Is it the address that is no good, so that writing to it again would be wrong?"""
        if self.status != "bounced":
            return False
        if self.enhanced is not None:
            return self.enhanced in _ADDRESS_FAULTS
        return self.code in _ADDRESS_CODES and _NO_SUCH_USER.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Minted:
    """Ids for one `record`: an event for the message, and an event and a suppression for each failure."""

    sent_event: str
    bounce_events: tuple[str, ...]
    suppressions: tuple[str, ...]

    @classmethod
    def by(cls, ids: Ids, failures: int) -> "Minted":
        return cls(
            ids.new("evt"),
            tuple(ids.new("evt") for _ in range(failures)),
            tuple(ids.new("sup") for _ in range(failures)),
        )


@dataclass(frozen=True, slots=True)
class _Failure:
    position: int
    address: str
    bounce_type: BounceType
    reason: str
    code: int | None
    enhanced: str | None
    text: str
    is_address_fault: bool


def record(
    tx: Tx,
    rows: Sequence[Due],
    verdicts: Mapping[int, Verdict],
    minted: Minted,
    now_ms: int,
    duration_ms: int,
) -> int:
    """Settle the leased rows, all of one message; the number of webhook deliveries that follow."""
    message_id = rows[0].message_id
    settled = [
        (row, verdicts[row.position])
        for row in rows
        if outbound.settle(tx, _settlement(row, verdicts[row.position], now_ms, duration_ms), now_ms)
    ]
    envelope = outbound.envelope(tx, message_id) if settled else None
    if envelope is None:
        return 0
    recipients = outbound.recipients(tx, message_id)
    failures = [_failure(row, verdict) for row, verdict in settled if _is_final(row, verdict, now_ms)]
    taken = sum(verdict.status in states.RECIPIENT_ACCEPTED for _, verdict in settled)
    _count(tx, envelope, "delivered", taken, now_ms)
    sent_at = _move_message(tx, message_id, envelope, recipients, failures, now_ms)
    told = 0
    if sent_at is not None and envelope.sent_at is None:
        data = _describe(message_id, envelope, recipients, sent_at)
        told = _publish(tx, minted.sent_event, "email.sent", message_id, envelope, data, now_ms)
    for number, failure in enumerate(failures):
        told += _bounce(
            tx,
            message_id,
            envelope,
            recipients,
            sent_at,
            failure,
            (minted.bounce_events[number], minted.suppressions[number]),
            now_ms,
        )
    return told


def bounced_later(
    tx: Tx,
    message_id: str,
    position: int,
    verdict: Verdict,
    bounce_type: BounceType,
    minted: Minted,
    now_ms: int,
) -> int | None:
    """A recipient that had been accepted bounced after all (a DSN said so); None when it does not count.

    The caller has made sure that the report is about this message and this recipient.
    """
    envelope = outbound.envelope(tx, message_id)
    if envelope is None or not outbound.bounce_later(
        tx, message_id, position, verdict.code, verdict.enhanced, verdict.text
    ):
        return None
    recipients = outbound.recipients(tx, message_id)
    address = next(one.address for one in recipients if one.position == position)
    failure = _Failure(
        position,
        address,
        bounce_type,
        "bounced",
        verdict.code,
        verdict.enhanced,
        verdict.text,
        verdict.is_address_fault() and bounce_type == "permanent",
    )
    _move_message(tx, message_id, envelope, recipients, [failure], now_ms)
    minted_pair = (minted.bounce_events[0], minted.suppressions[0])
    return _bounce(tx, message_id, envelope, recipients, envelope.sent_at, failure, minted_pair, now_ms)


def give_back_quota(tx: Tx, envelope: Envelope) -> None:
    """Uncount a message that never left the host: in its day and month, and in its domain's day."""
    if envelope.mode != "live":
        return
    day, month = envelope.periods
    usage.give_back(tx, envelope.organization_id, day, "messages")
    usage.give_back(tx, envelope.organization_id, month, "messages")
    domain = envelope.from_address.rpartition("@")[2]
    usage.give_back(tx, envelope.organization_id, day, "messages", scope=domain)


def failures_at(rows: Sequence[Due], verdicts: Mapping[int, Verdict], now_ms: int) -> int:
    """How many of the rows end for good, at most: what to mint ids for. One without a verdict yet may."""
    return sum(row.position not in verdicts or _is_final(row, verdicts[row.position], now_ms) for row in rows)


def _is_final(row: Due, verdict: Verdict, now_ms: int) -> bool:
    if verdict.status == "deferred":
        return now_ms >= row.expires_at
    return verdict.status not in states.RECIPIENT_ACCEPTED


def _settlement(row: Due, verdict: Verdict, now_ms: int, duration_ms: int) -> Settlement:
    expired = verdict.status == "deferred" and now_ms >= row.expires_at
    status = "failed" if expired else verdict.status
    return Settlement(
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
    )


def _failure(row: Due, verdict: Verdict) -> _Failure:
    types: Mapping[str, BounceType] = {"deferred": "transient", "failed": "undetermined"}
    bounce_type = types.get(verdict.status, "permanent")
    reason = _REASONS.get(verdict.status, "bounced")
    facts = (verdict.code, verdict.enhanced, verdict.text)
    return _Failure(row.position, row.address, bounce_type, reason, *facts, verdict.is_address_fault())


def _move_message(
    tx: Tx,
    message_id: str,
    envelope: Envelope,
    recipients: Sequence[Recipient],
    failures: Sequence[_Failure],
    now_ms: int,
) -> int | None:
    """The message's status follows its recipients'; when it was sent, if it was."""
    status = states.message_status({recipient.status for recipient in recipients})
    sent_at = envelope.sent_at
    if sent_at is None and status in ("sent", "delivered"):
        sent_at = now_ms
    if status not in states.MESSAGE[envelope.status]:
        return envelope.sent_at
    reason = failures[-1].reason if status == "failed" and failures else None
    outbound.move_message(tx, message_id, envelope.status, status, sent_at, reason)
    if status == "failed" and envelope.status == "queued" and not outbound.left_the_host(tx, message_id):
        give_back_quota(tx, envelope)
    return sent_at


def _bounce(
    tx: Tx,
    message_id: str,
    envelope: Envelope,
    recipients: Sequence[Recipient],
    sent_at: int | None,
    failure: _Failure,
    minted: tuple[str, str],
    now_ms: int,
) -> int:
    event_id, suppression_id = minted
    suppressed = failure.reason == "recipient_suppressed"
    if failure.bounce_type == "permanent" and not suppressed:
        _count(tx, envelope, "bounced", 1, now_ms)
    if failure.is_address_fault and envelope.mode == "live":
        suppressed = True
        suppressions.add(
            tx,
            suppression_id,
            now_ms,
            organization_id=envelope.organization_id,
            email=normalize(failure.address),
            reason="hard_bounce",
            source="bounce",
        )
    data = _describe(message_id, envelope, recipients, sent_at) | {
        "recipient": failure.address,
        "bounceType": failure.bounce_type,
        "smtpCode": failure.code,
        "enhancedCode": failure.enhanced,
        "diagnostic": failure.text,
        "suppressed": suppressed,
    }
    return _publish(tx, event_id, "email.bounced", message_id, envelope, data, now_ms)


def _count(tx: Tx, envelope: Envelope, metric: str, amount: int, now_ms: int) -> None:
    if amount and envelope.mode == "live":
        usage.add(tx, envelope.organization_id, day_of(now_ms), metric, amount)
        usage.add(tx, envelope.organization_id, month_of(now_ms), metric, amount)


def _publish(
    tx: Tx,
    event_id: str,
    type: str,
    message_id: str,
    envelope: Envelope,
    data: Mapping[str, Any],
    now_ms: int,
) -> int:
    return events.publish(
        tx,
        event_id,
        now_ms,
        organization_id=envelope.organization_id,
        type=type,
        data=data,
        mode=envelope.mode,
        inbox_id=envelope.inbox_id,
        message_id=message_id,
    )


def _describe(
    message_id: str, envelope: Envelope, recipients: Sequence[Recipient], sent_at: int | None
) -> dict[str, Any]:
    """What every event about an outbound message says (decisions.md, Webhook)."""
    return {
        "messageId": message_id,
        "inboxId": envelope.inbox_id,
        "threadId": envelope.thread_id,
        "fromAddress": envelope.from_address,
        "toAddresses": load(envelope.to_addresses),
        "subject": envelope.subject,
        "sentAt": _iso(sent_at),
        "recipients": [describe_recipient(recipient) for recipient in recipients],
    }


def describe_recipient(recipient: Recipient) -> dict[str, Any]:
    """The API's shape of a recipient (decisions.md, Message)."""
    return {
        "address": recipient.address,
        "kind": recipient.kind,
        "status": recipient.status,
        "attempts": recipient.attempts,
        "lastAttemptAt": _iso(recipient.last_attempt_at),
        "nextAttemptAt": _iso(recipient.next_attempt_at),
        "remoteHost": recipient.remote_host,
        "smtpCode": recipient.smtp_code,
        "enhancedCode": recipient.enhanced_code,
        "response": recipient.response,
        "tls": recipient.tls,
    }


def _iso(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)
