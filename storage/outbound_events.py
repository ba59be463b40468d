"""Events about an outbound message: what each of them says, and `email.failed`, which both planes publish."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from storage import events, outbound
from storage.clock import iso_or_none
from storage.engine.tx import Tx
from storage.events import NewEvent
from storage.outbound import MessageSummary
from storage.records import RecipientRow, dump, load


def publish(
    tx: Tx,
    event_id: str,
    type: str,
    message_id: str,
    envelope: MessageSummary,
    data: Mapping[str, Any],
    now_ms: int,
) -> None:
    """Publish an event about the message. `data`: what `describe` answers, and the members that the type adds."""
    events.publish(
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


def event(
    event_id: str, type: str, message_id: str, envelope: MessageSummary, data: Mapping[str, Any]
) -> NewEvent:
    """`publish` for one of several, which `events.publish_all` writes."""
    return NewEvent(
        event_id,
        envelope.organization_id,
        envelope.inbox_id,
        message_id,
        type,
        envelope.mode,
        dump(data),
    )


def publish_failed(tx: Tx, event_id: str, message_id: str, now_ms: int) -> None:
    """Publish `email.failed` with what the message's row says now; nothing when the message is gone.

    The caller publishes it once for each message: in the transaction in which its status becomes `failed`.
    """
    envelope = outbound.envelope(tx, message_id)
    if envelope is None:
        return
    described = describe(message_id, envelope, outbound.recipients(tx, message_id))
    data = {**described, "failureReason": envelope.failure_reason}
    publish(tx, event_id, "email.failed", message_id, envelope, data, now_ms)


def describe(message_id: str, envelope: MessageSummary, recipients: Sequence[RecipientRow]) -> dict[str, Any]:
    """What every event about an outbound message says (docs/contract.md, section 6), to be dumped."""
    # Written once: a report may bring an event for each of 150 recipients, and each event shows them all.
    shown = msgspec.Raw(dump([describe_recipient(recipient) for recipient in recipients]).encode())
    return {
        "messageId": message_id,
        "inboxId": envelope.inbox_id,
        "threadId": envelope.thread_id,
        "fromAddress": envelope.from_address,
        "toAddresses": load(envelope.to_addresses),
        "subject": envelope.subject,
        "sentAt": iso_or_none(envelope.sent_at),
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
