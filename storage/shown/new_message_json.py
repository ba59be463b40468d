"""A message as the answer to its send shows it, made of what the same transaction has written.

It is what `storage.shown.message_json` would render (a property holds the two together), without asking for it. All of
it is in the rows: nobody has tried to deliver such a message yet, nobody has looked at it for evidence, and it is not
held.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw  # JSON as it stands in its column

from storage.clock import iso, iso_or_none
from storage.records import AttachmentRow, MessageRow, RecipientRow, answers_to
from storage.sending.outbound_events import describe_recipient


def rendered(
    message: MessageRow,
    attachments: Sequence[AttachmentRow],
    recipients: Sequence[RecipientRow],
) -> bytes:
    """`message`: outbound. `recipients`: as they entered the queue."""
    return msgspec.json.encode(
        {
            "id": message.id,
            "inboxId": message.inbox_id,
            "threadId": message.thread_id,
            "direction": message.direction,
            "mode": message.mode,
            "status": message.status,
            "review": None,
            "fromAddress": message.from_address,
            "fromDomain": _domain_of(message.from_address),
            "fromDomainUnicode": message.from_domain_shown,
            "fromName": message.from_name,
            "toAddresses": Raw(message.to_addresses),
            "ccAddresses": Raw(message.cc_addresses),
            "bccAddresses": Raw(message.bcc_addresses),
            "replyTo": message.reply_to,
            "replyToAddresses": answers_to(message.reply_to, message.reply_to_addresses),
            "subject": message.subject,
            "snippet": message.snippet,
            "extractedText": message.text_body if message.extracted_text is None else message.extracted_text,
            "messageIdHeader": message.message_id_header,
            "inReplyTo": message.in_reply_to,
            "references": Raw(message.reference_ids),
            "labels": Raw(message.labels),
            "isAutoReply": bool(message.is_auto_reply),
            "isSpam": bool(message.is_spam),
            "risk": None,
            "auth": None if message.auth is None else Raw(message.auth),
            "forwardOf": message.forward_of,
            "deliveredTo": None,
            "mailingList": None,
            "recipients": [describe_recipient(one) for one in recipients],
            "attachments": [_attachment(one) for one in attachments],
            "failureReason": message.failure_reason,
            "scheduledAt": iso_or_none(message.scheduled_at),
            "sentAt": iso_or_none(message.sent_at),
            "heldAt": None,
            "createdAt": iso(message.created_at),
        }
    )


def _attachment(row: AttachmentRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "filename": row.filename,
        "contentType": row.content_type,
        "sizeBytes": row.size_bytes,
        "contentId": row.content_id,
        "isInline": bool(row.is_inline),
    }


def _domain_of(address: str) -> str | None:
    domain = address.rpartition("@")[2].rstrip(".")
    return domain.lower() if "@" in address and domain and domain.isascii() else None
