"""What the messages of a conversation say, for those who read it as a whole: rows of words, newest first."""

from typing import NamedTuple

from storage.engine.dialect import array, array_of
from storage.engine.tx import Tx
from storage.shown import message_json
from storage.visibility import VISIBLE

ATTACHMENTS_MAX = 50


class SpokenRow(NamedTuple):
    """A message's words: what its author added, else all that is known of its text. `has_more`: there are more in the
    raw message. `recipients`, `attachments` (id, filename, content type, size in bytes): JSON arrays.
    `risk`: what was found in it, None where nobody has looked yet. `reply_to`, `reply_to_addresses`: as in its row."""

    id: str
    direction: str
    status: str
    is_auto_reply: int
    auth: str | None
    from_address: str
    from_name: str | None
    recipients: str
    subject: str
    words: str
    has_more: int
    created_at: int
    attachments: str
    risk: str | None
    reply_to: str | None
    reply_to_addresses: str | None


_ATTACHMENTS = array_of(
    array("a.id", "a.filename", "a.content_type", "a.size_bytes"),
    f"(SELECT * FROM attachments WHERE message_id = m.id ORDER BY position LIMIT {ATTACHMENTS_MAX}) a",
)
_COLUMNS = f"""SELECT m.id, m.direction, m.status, m.is_auto_reply, m.auth, m.from_address, m.from_name, m.to_addresses,
      m.subject, {{words}}, m.text_slices IS NOT NULL, m.created_at, {_ATTACHMENTS}, {message_json.RISK},
      m.reply_to, m.reply_to_addresses"""
_WORDS = "LEFT JOIN search_words w ON w.message_id = m.id"
_NEW_WORDS = "coalesce(nullif(m.extracted_text, ''), m.text_body, w.words, '')"
_ALL_WORDS = "coalesce(w.words, m.text_body, m.extracted_text, '')"
_SPOKEN = f"""{_COLUMNS.format(words=_NEW_WORDS)} FROM messages m {_WORDS}
    WHERE m.thread_id = :thread AND m.organization_id = :organization AND m.{VISIBLE}"""
_WHOLE = f"""{_COLUMNS.format(words=_ALL_WORDS)}, m.thread_id FROM messages m {_WORDS}
    WHERE m.id = :message AND m.organization_id = :organization AND m.{VISIBLE}"""
_BEFORE = f"{_SPOKEN} AND m.id < :before ORDER BY m.id DESC LIMIT :limit"
_FIRST = f"{_SPOKEN} ORDER BY m.id LIMIT 1"
_ONE = f"{_SPOKEN} AND m.id = :message"


def before(tx: Tx, organization_id: str, thread_id: str, before: str, limit: int) -> list[SpokenRow]:
    """The newest messages of the conversation that are older than this id."""
    given = {"thread": thread_id, "organization": organization_id, "before": before, "limit": limit}
    return [SpokenRow(*row) for row in tx.all(_BEFORE, given)]


def first(tx: Tx, organization_id: str, thread_id: str) -> SpokenRow | None:
    """The message that began the conversation; None without one."""
    row = tx.one(_FIRST, {"thread": thread_id, "organization": organization_id})
    return SpokenRow(*row) if row else None


def one(tx: Tx, organization_id: str, thread_id: str, message_id: str) -> SpokenRow | None:
    """A message of this very conversation, or None."""
    given = {"thread": thread_id, "organization": organization_id, "message": message_id}
    row = tx.one(_ONE, given)
    return SpokenRow(*row) if row else None


def whole(tx: Tx, organization_id: str, message_id: str) -> tuple[SpokenRow, str] | None:
    """A message with all of its words, quotes and signature too, and its conversation; None: there is no such."""
    row = tx.one(_WHOLE, {"message": message_id, "organization": organization_id})
    return (SpokenRow(*row[:-1]), row[-1]) if row else None
