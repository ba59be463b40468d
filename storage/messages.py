"""Messages and their attachments. A message's rows change in the transaction of what caused it."""

from collections.abc import Sequence
from typing import Any

from storage.database import Tx
from storage.ids import Ids
from storage.records import Attachment, Message, Recipient, columns, dump

_SELECT = f"SELECT {columns(Message)} FROM messages"
# Lists leave the bodies out: NULL in the place of text_body.
_LISTED = columns(Message).replace("text_body", "NULL", 1)
_LISTED = _LISTED.replace("extracted_text", "coalesce(extracted_text, text_body)")
_SELECT_LISTED = f"SELECT {_LISTED} FROM messages"
_INSERT = f"""INSERT INTO messages ({columns(Message)})
    VALUES ({", ".join("?" for _ in Message._fields)})"""
_INSERT_ATTACHMENT = f"""INSERT INTO attachments ({columns(Attachment)})
    VALUES ({", ".join("?" for _ in Attachment._fields)})"""


def insert(tx: Tx, message: Message, attachments: Sequence[Attachment] = ()) -> None:
    tx.run(_INSERT, message)
    for attachment in attachments:
        tx.run(_INSERT_ATTACHMENT, attachment)


def get(tx: Tx, organization_id: str, message_id: str) -> Message | None:
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (message_id, organization_id))
    return Message(*row) if row else None


def by_id(tx: Tx, message_id: str) -> Message | None:
    """For our own rooms alone: what serves a key asks with its organization (`get`)."""
    row = tx.one(f"{_SELECT} WHERE id = ?", (message_id,))
    return Message(*row) if row else None


def newest_of_thread(tx: Tx, organization_id: str, thread_id: str) -> Message | None:
    row = tx.one(
        f"{_SELECT} WHERE thread_id = ? AND organization_id = ? ORDER BY id DESC LIMIT 1",
        (thread_id, organization_id),
    )
    return Message(*row) if row else None


def of_thread(tx: Tx, thread_id: str) -> list[Message]:
    """All of them with their bodies, oldest first."""
    return [Message(*row) for row in tx.all(f"{_SELECT} WHERE thread_id = ? ORDER BY id", (thread_id,))]


def page(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    inbox_id: str | None = None,
    thread_id: str | None = None,
    direction: str | None = None,
    from_part: str | None = None,
    since_ms: int | None = None,
    until_ms: int | None = None,
    before: str | None = None,
) -> list[Message]:
    """Newest first, without text bodies; every filter that is given must hold."""
    conditions = ["organization_id = :organization_id"]
    parameters: dict[str, Any] = {"organization_id": organization_id, "limit": limit}
    for condition, name, value in (
        ("inbox_id = :inbox_id", "inbox_id", inbox_id),
        ("thread_id = :thread_id", "thread_id", thread_id),
        ("direction = :direction", "direction", direction),
        ("instr(lower(from_address), lower(:from_part)) > 0", "from_part", from_part),
        ("created_at >= :since_ms", "since_ms", since_ms),
        ("created_at < :until_ms", "until_ms", until_ms),
        ("id < :before", "before", before),
    ):
        if value is not None:
            conditions.append(condition)
            parameters[name] = value
    rows = tx.all(
        f"{_SELECT_LISTED} WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT :limit", parameters
    )
    return [Message(*row) for row in rows]


def attachments_of(tx: Tx, message_ids: Sequence[str]) -> dict[str, list[Attachment]]:
    """Message id → its attachments in order."""
    found: dict[str, list[Attachment]] = {message_id: [] for message_id in message_ids}
    rows = tx.all(
        f"""SELECT {columns(Attachment)} FROM attachments
            WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, position""",
        (dump(list(message_ids)),),
    )
    for row in rows:
        attachment = Attachment(*row)
        found[attachment.message_id].append(attachment)
    return found


def recipients_of(tx: Tx, message_ids: Sequence[str]) -> dict[str, list[Recipient]]:
    """Message id → its recipients in order (outbound messages only)."""
    found: dict[str, list[Recipient]] = {message_id: [] for message_id in message_ids}
    rows = tx.all(
        f"""SELECT {columns(Recipient)} FROM recipients
            WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, position""",
        (dump(list(message_ids)),),
    )
    for row in rows:
        recipient = Recipient(*row)
        found[recipient.message_id].append(recipient)
    return found


def attachment(tx: Tx, organization_id: str, attachment_id: str) -> tuple[Attachment, Message] | None:
    """The attachment and the message that it stands in."""
    row = tx.one(
        f"""SELECT {columns(Attachment, "a")}, {columns(Message, "m")}
            FROM attachments a JOIN messages m ON m.id = a.message_id
            WHERE a.id = ? AND m.organization_id = ?""",
        (attachment_id, organization_id),
    )
    if row is None:
        return None
    width = len(Attachment._fields)
    return Attachment(*row[:width]), Message(*row[width:])


def attachment_rows(
    ids: Ids, message_id: str, parts: Sequence[tuple[str, str, int, str | None, bool, int, int, str]]
) -> list[Attachment]:
    """Rows for the parts of one message, each (filename, content type, size in bytes, content id,
    inline?, offset, length, encoding), in their order."""
    return [
        Attachment(ids.new("att"), message_id, position, *part[:4], int(part[4]), *part[5:])
        for position, part in enumerate(parts)
    ]
