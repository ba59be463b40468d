"""Records → the JSON of the contract. Every key is always there; what is absent is null."""

from collections.abc import Sequence
from typing import Any

import msgspec

from storage.clock import iso
from storage.records import Attachment, Inbox, Message, Recipient, Thread, Webhook, WebhookAttempt


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)


def _json(text: str) -> Any:
    """A column that holds JSON goes out as it stands."""
    return msgspec.Raw(text.encode())


def _moment(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)


def inbox(row: Inbox) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "address": row.address,
        "username": row.username,
        "domain": row.domain,
        "name": row.name,
        "agentId": row.agent_id,
        "metadata": _json(row.metadata),
        "isActive": bool(row.is_active),
        "unreadCount": row.unread_count,
        "lastMessageAt": _moment(row.last_message_at),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
        "deactivatedAt": _moment(row.deactivated_at),
    }


def attachment(row: Attachment) -> dict[str, Any]:
    return {
        "id": row.id,
        "filename": row.filename,
        "contentType": row.content_type,
        "sizeBytes": row.size_bytes,
        "contentId": row.content_id,
        "isInline": bool(row.is_inline),
    }


def recipient(row: Recipient) -> dict[str, Any]:
    return {
        "address": row.address,
        "kind": row.kind,
        "status": row.status,
        "attempts": row.attempts,
        "lastAttemptAt": _moment(row.last_attempt_at),
        "nextAttemptAt": _moment(row.next_attempt_at) if row.status in ("queued", "deferred") else None,
        "remoteHost": row.remote_host,
        "smtpCode": row.smtp_code,
        "enhancedCode": row.enhanced_code,
        "response": row.response,
        "tls": row.tls,
    }


def listed_message(
    row: Message, attachments: Sequence[Attachment], recipients: Sequence[Recipient]
) -> dict[str, Any]:
    """A message as lists and the answer to a send show it: everything but the bodies."""
    return {
        "id": row.id,
        "inboxId": row.inbox_id,
        "threadId": row.thread_id,
        "direction": row.direction,
        "mode": row.mode,
        "status": row.status,
        "fromAddress": row.from_address,
        "fromName": row.from_name,
        "toAddresses": _json(row.to_addresses),
        "ccAddresses": _json(row.cc_addresses),
        "bccAddresses": _json(row.bcc_addresses),
        "replyTo": row.reply_to,
        "subject": row.subject,
        "snippet": row.snippet,
        "extractedText": row.text_body if row.extracted_text is None else row.extracted_text,
        "messageIdHeader": row.message_id_header,
        "inReplyTo": row.in_reply_to,
        "references": _json(row.reference_ids),
        "labels": _json(row.labels),
        "isAutoReply": bool(row.is_auto_reply),
        "isSpam": bool(row.is_spam),
        "auth": _json(row.auth) if row.auth else None,
        "recipients": [recipient(one) for one in recipients],
        "attachments": [attachment(one) for one in attachments],
        "failureReason": row.failure_reason,
        "scheduledAt": _moment(row.scheduled_at),
        "sentAt": _moment(row.sent_at),
        "createdAt": iso(row.created_at),
    }


def message(
    row: Message,
    attachments: Sequence[Attachment],
    recipients: Sequence[Recipient],
    text: str | None,
    html: str | None,
) -> dict[str, Any]:
    return {**listed_message(row, attachments, recipients), "textBody": text, "htmlBody": html}


def thread_message(whole: dict[str, Any]) -> dict[str, Any]:
    """An element of a thread's `messages`: the message, and the short names beside the long ones."""
    return {
        **whole,
        "from": whole["fromAddress"],
        "to": whole["toAddresses"],
        "text": whole["textBody"],
        "html": whole["htmlBody"],
    }


def thread(row: Thread, labels: Sequence[str]) -> dict[str, Any]:
    return {
        "id": row.id,
        "organizationId": row.organization_id,
        "inboxId": row.inbox_id,
        "subject": row.subject,
        "snippet": row.snippet,
        "participants": _json(row.participants),
        "labels": list(labels),
        "messageCount": row.message_count,
        "unreadCount": row.unread_count,
        "lastMessageAt": iso(row.last_message_at),
        "isArchived": bool(row.is_archived),
        "createdAt": iso(row.created_at),
    }


def webhook(row: Webhook) -> dict[str, Any]:
    """Without the secret: only creating and rotating show it."""
    return {
        "id": row.id,
        "url": row.url,
        "subscribedEvents": _json(row.subscribed_events),
        "isActive": bool(row.is_active),
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }


def webhook_attempt(row: WebhookAttempt) -> dict[str, Any]:
    return {
        "id": row.id,
        "webhookId": row.webhook_id,
        "eventId": row.event_id,
        "eventType": row.event_type,
        "attempt": row.attempt,
        "requestHeaders": _json(row.request_headers),
        "responseStatus": row.response_status,
        "responseBody": row.response_body,
        "isSuccessful": bool(row.is_successful),
        "error": row.error,
        "durationMs": row.duration_ms,
        "nextAttemptAt": _moment(row.next_attempt_at),
        "createdAt": iso(row.created_at),
    }
