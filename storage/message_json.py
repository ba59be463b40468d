"""Messages as the JSON of the contract, each list one statement that SQLite answers with one text.

What a message shows is said here once: lists, the answer to a send, GET and threads differ only in what
they add. Bodies are not in it: they may lie in the raw message, which no statement can decode.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from storage.database import Tx
from storage.records import dump
from storage.row_json import array_of, flag, moment, object_of, stored, value

_ATTACHMENT = {
    "id": value("a.id"),
    "filename": value("a.filename"),
    "contentType": value("a.content_type"),
    "sizeBytes": value("a.size_bytes"),
    "contentId": value("a.content_id"),
    "isInline": flag("a.is_inline"),
}
_RECIPIENT = {
    "address": value("r.address"),
    "kind": value("r.kind"),
    "status": value("r.status"),
    "attempts": value("r.attempts"),
    "lastAttemptAt": moment("r.last_attempt_at"),
    "nextAttemptAt": moment("CASE WHEN r.status IN ('queued', 'deferred') THEN r.next_attempt_at END"),
    "remoteHost": value("r.remote_host"),
    "smtpCode": value("r.smtp_code"),
    "enhancedCode": value("r.enhanced_code"),
    "response": value("r.response"),
    "tls": value("r.tls"),
}
_ATTACHMENTS = array_of(
    object_of(_ATTACHMENT), "(SELECT * FROM attachments WHERE message_id = m.id ORDER BY position) a"
)
_RECIPIENTS = array_of(
    object_of(_RECIPIENT), "(SELECT * FROM recipients WHERE message_id = m.id ORDER BY position) r"
)
_MESSAGE = {
    "id": value("m.id"),
    "inboxId": value("m.inbox_id"),
    "threadId": value("m.thread_id"),
    "direction": value("m.direction"),
    "mode": value("m.mode"),
    "status": value("m.status"),
    "fromAddress": value("m.from_address"),
    "fromName": value("m.from_name"),
    "toAddresses": stored("m.to_addresses"),
    "ccAddresses": stored("m.cc_addresses"),
    "bccAddresses": stored("m.bcc_addresses"),
    "replyTo": value("m.reply_to"),
    "subject": value("m.subject"),
    "snippet": value("m.snippet"),
    "extractedText": value("coalesce(m.extracted_text, m.text_body)"),
    "messageIdHeader": value("m.message_id_header"),
    "inReplyTo": value("m.in_reply_to"),
    "references": stored("m.reference_ids"),
    "labels": stored("m.labels"),
    "isAutoReply": flag("m.is_auto_reply"),
    "isSpam": flag("m.is_spam"),
    "auth": stored("m.auth"),
    "recipients": f"iif(m.direction = 'outbound', {_RECIPIENTS}, '[]')",
    "attachments": _ATTACHMENTS,
    "failureReason": value("m.failure_reason"),
    "scheduledAt": moment("m.scheduled_at"),
    "sentAt": moment("m.sent_at"),
    "createdAt": moment("m.created_at"),
}
# An element of a thread's `messages` has short names beside the long ones.
_OF_THREAD = {**_MESSAGE, "from": value("m.from_address"), "to": stored("m.to_addresses")}
_LISTED = f"SELECT {object_of(_MESSAGE)} AS json FROM messages m"
# Aggregated from the ordered rows; as bytes, for nobody here reads it.
_ARRAY = "SELECT CAST('[' || coalesce(group_concat(json), '') || ']' AS BLOB) FROM"
_BODIES = "m.inbox_id, m.text_body, m.text_slices, m.html_slices, m.blob_id"
_ONE = f"{_LISTED} WHERE m.id = ? AND m.organization_id = ?"
_GET = f"SELECT {object_of(_MESSAGE)}, {_BODIES} FROM messages m WHERE m.id = ? AND m.organization_id = ?"
_THREAD = f"SELECT {object_of(_OF_THREAD)}, {_BODIES} FROM messages m WHERE m.thread_id = ? ORDER BY m.id"
_NAMED = f"""{_ARRAY} ({_LISTED} WHERE m.organization_id = ? AND
    m.id IN (SELECT value FROM json_each(?)) ORDER BY m.id DESC)"""
_FILTERS = {
    "inbox_id": "m.inbox_id = :inbox_id",
    "thread_id": "m.thread_id = :thread_id",
    "direction": "m.direction = :direction",
    "since_ms": "m.created_at >= :since_ms",
    "until_ms": "m.created_at < :until_ms",
    "before": "m.id < :before",
}


class Shown(NamedTuple):
    """A message's JSON but for its bodies, and where those are."""

    json: str
    inbox_id: str
    text_body: str | None
    text_slices: str | None
    html_slices: str | None
    blob_id: str | None


def listed(tx: Tx, organization_id: str, message_id: str) -> str | None:
    """The message as lists and the answer to a send show it."""
    json: str | None = tx.value(_ONE, (message_id, organization_id))
    return json


def get(tx: Tx, organization_id: str, message_id: str) -> Shown | None:
    row = tx.one(_GET, (message_id, organization_id))
    return Shown(*row) if row else None


def of_thread(tx: Tx, thread_id: str) -> list[Shown]:
    """All of a thread's messages, oldest first."""
    return [Shown(*row) for row in tx.all(_THREAD, (thread_id,))]


def page(tx: Tx, organization_id: str, *, limit: int, **filters: str | int | None) -> bytes:
    """A JSON array, newest first; every filter (of _FILTERS) that is given must hold."""
    given = {name: value for name, value in filters.items() if value is not None}
    json: bytes = tx.value(_page(tuple(given)), {**given, "organization_id": organization_id, "limit": limit})
    return json


def of(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> bytes:
    """A JSON array of these, newest first."""
    json: bytes = tx.value(_NAMED, (organization_id, dump(list(message_ids))))
    return json


@cache
def _page(filters: tuple[str, ...]) -> str:
    # The plus keeps the planner from walking over the whole organization's mail for one quiet inbox.
    owner = ("+" if "inbox_id" in filters else "") + "m.organization_id = :organization_id"
    conditions = " AND ".join([owner, *(_FILTERS[name] for name in filters)])
    return f"{_ARRAY} ({_LISTED} WHERE {conditions} ORDER BY m.id DESC LIMIT :limit)"
