"""Messages as the JSON of the contract, each list one statement or a few that the store answers with one text each.

What a message shows is said here once: lists, the answer to a send, GET and threads differ only in what
they add. Bodies are not in it: they may lie in the raw message, which no statement can decode.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from storage.database import Tx
from storage.dialect import (
    array_of,
    bytes_of,
    each_of,
    elements,
    flag,
    item,
    joined,
    moment,
    object_of,
    octets,
    stored,
    value,
)
from storage.records import dump
from storage.search import Scope

# Senders decide how many recipients and attachments a message has: a list goes out in parts where these are many.
SLICE_MESSAGES = 25
PART_BYTES = 512 * 1024

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
    "recipients": f"CASE WHEN m.direction = 'outbound' THEN {_RECIPIENTS} ELSE '[]' END",
    "attachments": _ATTACHMENTS,
    "failureReason": value("m.failure_reason"),
    "scheduledAt": moment("m.scheduled_at"),
    "sentAt": moment("m.sent_at"),
    "createdAt": moment("m.created_at"),
}
# An element of a thread's `messages` has short names beside the long ones.
_OF_THREAD = {**_MESSAGE, "from": value("m.from_address"), "to": stored("m.to_addresses")}
_ROWS = f"SELECT {object_of(_MESSAGE)} AS json, m.id AS id FROM messages m"
_BODIES = "m.inbox_id, m.text_body, m.text_slices, m.html_slices, m.blob_id, m.direction = 'inbound'"
_ONE = f"""SELECT {octets(object_of(_MESSAGE))}, {_BODIES} FROM messages m
    WHERE m.id = ? AND m.organization_id = ?"""
_SOME_OF_THREAD = f"""SELECT {octets(object_of(_OF_THREAD))}, {_BODIES} FROM messages m
    WHERE m.organization_id = ? AND m.id IN {each_of("?")} ORDER BY m.id"""
# What a message brings to an answer, before it is read. Slices are counted as they lie in the raw message.
_BODY_BYTES = " + ".join(
    [
        bytes_of("coalesce(m.text_body, '')"),
        *(
            f"coalesce((SELECT sum({item('value', 1)}) FROM {elements(f'm.{slices}')}), 0)"
            for slices in ("text_slices", "html_slices")
        ),
    ]
)
_ROW_BYTES = 400  # of an attachment or a recipient, as JSON
_OTHER_BYTES = " + ".join(
    [
        *(f"length({text})" for text in ("m.to_addresses", "m.cc_addresses", "m.reference_ids")),
        "coalesce(length(m.extracted_text), 0)",
        f"{_ROW_BYTES} * (SELECT count(*) FROM attachments WHERE message_id = m.id)",
        f"{_ROW_BYTES} * (SELECT count(*) FROM recipients WHERE message_id = m.id)",
    ]
)
_WEIGHTS = f"""SELECT m.id, {_BODY_BYTES}, {_OTHER_BYTES} FROM messages m
    WHERE m.thread_id = :thread AND m.organization_id = :organization AND m.id < :before
    ORDER BY m.id DESC LIMIT :limit"""


class ShownMessage(NamedTuple):
    """A message's JSON but for its bodies, and where those are."""

    json: bytes
    inbox_id: str
    text_body: str | None
    text_slices: str | None
    html_slices: str | None
    blob_id: str | None
    is_inbound: int


def get(tx: Tx, organization_id: str, message_id: str) -> ShownMessage | None:
    """The organization's message in any status, or None."""
    row = tx.one(_ONE, (message_id, organization_id))
    return ShownMessage(*row) if row else None


class Weight(NamedTuple):
    """A message of a thread, the bytes of its bodies, and about how many the rest of its JSON has."""

    id: str
    body_bytes: int
    other_bytes: int


def weigh_thread(
    tx: Tx, organization_id: str, thread_id: str, before: str | None, limit: int
) -> list[Weight]:
    """The thread's newest messages older than `before`, newest first."""
    rows = tx.all(
        _WEIGHTS,
        {"thread": thread_id, "organization": organization_id, "before": before or "~", "limit": limit},
    )
    return [Weight(*row) for row in rows]


def some_of_thread(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[ShownMessage]:
    """These of a thread's messages, oldest first, as the thread shows them."""
    return [ShownMessage(*row) for row in tx.all(_SOME_OF_THREAD, (organization_id, dump(list(message_ids))))]


class Part(NamedTuple):
    """Elements of an array, without its brackets, and the unit of work that reads the rest, where there is one."""

    json: bytes
    rest: "Callable[[Tx], Part] | None"


def list_messages(tx: Tx, scope: Scope, before: str | None, limit: int) -> Part:
    """The scope's messages older than `before`, newest first; no more of them at once than PART_BYTES suggests."""
    statement = _page(scope.conditions() + (" AND m.id < :before" if before is not None else ""))
    parameters = {**scope._asdict(), "before": before, "limit": min(limit, SLICE_MESSAGES)}
    json, last, count = _slice(tx, statement, parameters)
    if count < SLICE_MESSAGES or count == limit:
        return Part(json, None)
    rest = partial(list_messages, scope=scope, before=last, limit=limit - count)
    return _with_rest(tx, json, rest)


def of(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> Part:
    """These, in this order, which is that of their ages: newest first."""
    some, others = message_ids[:SLICE_MESSAGES], message_ids[SLICE_MESSAGES:]
    json, _, _ = _slice(tx, _OF, {"organization_id": organization_id, "ids": dump(list(some))})
    if not others:
        return Part(json, None)
    return _with_rest(tx, json, partial(of, organization_id=organization_id, message_ids=others))


def _with_rest(tx: Tx, json: bytes, rest: Callable[[Tx], Part]) -> Part:
    if len(json) > PART_BYTES:
        return Part(json, rest)
    more = rest(tx)
    return Part(b",".join(filter(None, (json, more.json))), more.rest)


def _slice(tx: Tx, statement: str, parameters: Mapping[str, Any]) -> tuple[bytes, str | None, int]:
    row = tx.one(statement, parameters)
    assert row is not None
    json, last, count = row
    return json, last, count


@cache  # one for each combination of filters
def _page(conditions: str) -> str:
    return _elements(f"WHERE {conditions} ORDER BY m.id DESC LIMIT :limit")


def _elements(selection: str) -> str:
    return f"""SELECT {octets(joined("json"))}, min(id), count(*) FROM ({_ROWS} {selection})"""


_OF = _elements(
    f"WHERE m.organization_id = :organization_id AND m.id IN {each_of(':ids')} ORDER BY m.id DESC"
)
