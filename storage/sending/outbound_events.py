"""Events about an outbound message: what each of them says, and `email.failed`, which both planes publish."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from storage.clock import iso_or_none
from storage.engine.tx import Tx
from storage.publishing import events
from storage.publishing.events import NewEvent
from storage.records import RecipientRow, dump, load
from storage.sending import message_outcomes, outbound
from storage.sending.message_outcomes import MessageSummary


def publish(
    tx: Tx,
    event_id: str,
    type: str,
    message_id: str,
    summary: MessageSummary,
    data: Mapping[str, Any],
    now_ms: int,
) -> None:
    """Publish an event about the message. `data`: what `describe` answers, and the members that the type adds."""
    events.publish(
        tx,
        event_id,
        now_ms,
        organization_id=summary.organization_id,
        type=type,
        data=data,
        mode=summary.mode,
        inbox_id=summary.inbox_id,
        message_id=message_id,
    )


def event(
    event_id: str, type: str, message_id: str, summary: MessageSummary, data: Mapping[str, Any]
) -> NewEvent:
    """`publish` for one of several, which `events.publish_all` writes."""
    return NewEvent(
        event_id,
        summary.organization_id,
        summary.inbox_id,
        message_id,
        type,
        summary.mode,
        dump(data),
    )


def publish_failed(tx: Tx, event_id: str, message_id: str, now_ms: int) -> None:
    """Publish `email.failed` with what the message's row says now; nothing when the message is gone.

    The caller publishes it once for each message: in the transaction in which its status becomes `failed`.
    """
    summary = message_outcomes.summary(tx, message_id)
    if summary is None:
        return
    described = describe(message_id, summary, outbound.recipients(tx, message_id))
    data = {**described, "failureReason": summary.failure_reason}
    publish(tx, event_id, "email.failed", message_id, summary, data, now_ms)


def describe(message_id: str, summary: MessageSummary, recipients: Sequence[RecipientRow]) -> dict[str, Any]:
    """What every event about an outbound message says (docs/contract.md, section 6), to be dumped."""
    # Written once: a report may bring an event for each of 150 recipients, and each event shows them all.
    shown = msgspec.Raw(dump([describe_recipient(recipient) for recipient in recipients]).encode())
    return {
        "messageId": message_id,
        "inboxId": summary.inbox_id,
        "threadId": summary.thread_id,
        "fromAddress": summary.from_address,
        "toAddresses": load(summary.to_addresses),
        "subject": summary.subject,
        "sentAt": iso_or_none(summary.sent_at),
        "recipients": shown,
    }


def describe_recipient(recipient: RecipientRow) -> dict[str, Any]:
    """The API's shape of a recipient (docs/contract.md, section 2)."""
    return {
        "address": recipient.address,
        "kind": recipient.kind,
        "status": recipient.status,
        "attempts": recipient.attempts,
        "lastAttemptAt": iso_or_none(recipient.last_attempt_at),
        "nextAttemptAt": iso_or_none(recipient.next_attempt_at),
        "remoteHost": recipient.remote_host,
        "smtpCode": recipient.smtp_code,
        "enhancedCode": recipient.enhanced_code,
        "response": recipient.response,
        "tls": recipient.tls,
    }
