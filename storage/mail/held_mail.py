"""Mail that came in and is held until somebody decides on it (by policies and rules).

A held message is a row of `messages` with its blob, attachments and bytes counted, and nothing else of an arrival: it
is in no conversation (`thread_id` is NULL), has no label, is not in the queue of work, counts in no figure, and no
event tells of it. The search index has it, for its numbers go by age, and search shows none of it. `release` does the
rest of the arrival, in one transaction and as of then. `reject` leaves it as it is; retention deletes it
KEEP_REJECTED_MS later.

Where it will be is found out when it comes: the conversation that it answers, a held message's too, or one of its own.
Visible mail never joins what is held.
"""

from collections.abc import Sequence

from storage import usage
from storage.agents import reviews
from storage.clock import DAY_MS
from storage.engine.dialect import committed_now
from storage.engine.tx import Tx
from storage.mail import arrivals, inboxes, messages, threads
from storage.mail.arrivals import ConversationClues, NewId, ThreadEntry
from storage.records import AttachmentRow, MessageRow, columns, dump, load
from storage.searching import search_tail
from storage.searching.labels import UNREAD
from storage.visibility import HELD

KEEP_REJECTED_MS = 30 * DAY_MS

_GET = f"SELECT {columns(MessageRow)} FROM messages WHERE id = ? AND organization_id = ? AND {HELD}"
_ATTACHMENT = f"""SELECT {columns(AttachmentRow, "a")}, {columns(MessageRow, "m")}
    FROM attachments a JOIN messages m ON m.id = a.message_id
    WHERE a.id = ? AND m.organization_id = ? AND m.{HELD}"""
_RELEASE = f"""UPDATE messages SET held_at = NULL, thread_id = ?, labels = ?, {committed_now("messages")}
    WHERE id = ? AND {HELD}"""
_REJECT = f"""UPDATE held_mail SET rejected_at = ? WHERE message_id = ? AND rejected_at IS NULL
    AND EXISTS (SELECT 1 FROM messages WHERE id = held_mail.message_id AND organization_id = ? AND {HELD})"""
_REJECTED = """SELECT message_id FROM held_mail WHERE rejected_at IS NOT NULL AND rejected_at < ?
    ORDER BY rejected_at LIMIT ?"""
_BETWEEN = f"""SELECT id FROM messages WHERE organization_id = ? AND id > ? AND id < ? AND {HELD}
    ORDER BY id LIMIT ?"""
_STORED = f"SELECT organization_id, blob_id, size_bytes FROM messages WHERE id = ? AND {HELD}"


def hold(
    tx: Tx,
    message: MessageRow,
    attachments: Sequence[AttachmentRow],
    words: str | None,
    clues: ConversationClues,
    new_id: NewId,
) -> None:
    """Write what has come in, to be held from now on. `words`: as `messages.insert` takes them."""
    now_ms = message.created_at
    held = message._replace(held_at=now_ms, thread_id="", labels="[]")
    messages.insert(tx, held, attachments, words)
    usage.hold_bytes(tx, held.organization_id, held.size_bytes)
    tx.run(
        "INSERT INTO held_mail (message_id, inbox_id, thread_id, header, conversation) VALUES (?, ?, ?, ?, ?)",
        (
            held.id,
            held.inbox_id,
            _find_thread(tx, held, clues, now_ms) or new_id("thd"),
            held.message_id_header,
            dump(clues),
        ),
    )


def get(tx: Tx, organization_id: str, message_id: str) -> MessageRow | None:
    """The organization's held message, rejected or not; None where it has none of that id, or it was released."""
    row = tx.one(_GET, (message_id, organization_id))
    return _held(row) if row else None


def thread_to_be(tx: Tx, message_id: str) -> str | None:
    """The conversation in which the held message will be, which may not be there yet."""
    found: str | None = tx.value("SELECT thread_id FROM held_mail WHERE message_id = ?", (message_id,))
    return found


def attachment(tx: Tx, organization_id: str, attachment_id: str) -> tuple[AttachmentRow, MessageRow] | None:
    """As `messages.attachment`, of a held message."""
    row = tx.one(_ATTACHMENT, (attachment_id, organization_id))
    if row is None:
        return None
    width = len(AttachmentRow._fields)
    return AttachmentRow(*row[:width]), _held(row[width:])


def release(tx: Tx, organization_id: str, message_id: str, new_id: NewId, now_ms: int) -> bool:
    """Let the message arrive now: thread, counters, label `unread`, work, `email.received`. False where it is not held
    (any more), or was rejected."""
    message = get(tx, organization_id, message_id)
    if message is None:
        return False
    place = tx.one(
        "SELECT thread_id, conversation, rejected_at FROM held_mail WHERE message_id = ?", (message_id,)
    )
    if place is None or place[2] is not None:
        return False
    clues = ConversationClues(*load(place[1]))
    is_work = inboxes.released(tx, message.inbox_id, now_ms)
    thread_id = _join(tx, message, clues, place[0], new_id, now_ms)
    arrived = message._replace(thread_id=thread_id, labels=dump([UNREAD]), held_at=None)
    tx.run(_RELEASE, (thread_id, arrived.labels, message_id))
    tx.run("DELETE FROM held_mail WHERE message_id = ?", (message_id,))
    if message.blob_id is not None:
        usage.hold_bytes(tx, organization_id, -message.size_bytes)
    arrivals.announce(tx, arrived, messages.attachments(tx, message_id), is_work, new_id, now_ms)
    return True


def reject(tx: Tx, organization_id: str, message_id: str, now_ms: int) -> bool:
    """It stays held until it is deleted. False where it is not held (any more), or was rejected before."""
    return tx.run(_REJECT, (now_ms, message_id, organization_id)) == 1


def rejected_before(tx: Tx, before_ms: int, limit: int) -> list[str]:
    """Ids of messages that were rejected so long ago, the first of them first."""
    return [message_id for (message_id,) in tx.all(_REJECTED, (before_ms, limit))]


def ids_between(tx: Tx, organization_id: str, *, after: str, until: str, limit: int) -> list[str]:
    """The organization's held messages between the two ids, oldest first."""
    return [message_id for (message_id,) in tx.all(_BETWEEN, (organization_id, after, until, limit))]


def delete(tx: Tx, message_ids: Sequence[str]) -> list[str]:
    """Delete those of these messages that are held; the blobs whose files the caller removes after the commit."""
    return [file for one in message_ids if (file := _delete(tx, one)) is not None]


def _delete(tx: Tx, message_id: str) -> str | None:
    row = tx.one(_STORED, (message_id,))
    if row is None:
        return None
    organization_id, blob_id, size_bytes = row
    search_tail.forget(tx, organization_id, message_id)
    tx.run("DELETE FROM messages WHERE id = ?", (message_id,))
    reviews.forget_words(tx, message_id)
    if blob_id is None:
        return None
    usage.keep_bytes(tx, organization_id, -size_bytes)
    usage.hold_bytes(tx, organization_id, -size_bytes)
    return messages.release_blob(tx, blob_id)


def _find_thread(tx: Tx, held: MessageRow, clues: ConversationClues, now_ms: int) -> str | None:
    """Where the message will be, unless it begins a conversation."""
    known = arrivals.find_thread(tx, held.inbox_id, clues, now_ms)
    if known is not None:
        return known
    for header in clues.references:
        found: str | None = tx.value(
            "SELECT thread_id FROM held_mail WHERE inbox_id = ? AND header = ? LIMIT 1",
            (held.inbox_id, header),
        )
        if found is not None:
            return found
    return None


def _join(
    tx: Tx, message: MessageRow, clues: ConversationClues, foreseen: str, new_id: NewId, now_ms: int
) -> str:
    """As it was foreseen; where that conversation was never begun, or is gone, what has come since may name another."""
    if threads.get(tx, message.organization_id, foreseen) is not None:
        known: str | None = foreseen
    else:
        known = arrivals.find_thread(tx, message.inbox_id, clues, now_ms)
    entry = ThreadEntry(
        message.organization_id, message.inbox_id, message.mode, message.subject, message.snippet
    )
    return arrivals.join_thread(tx, entry, clues, known, new_id, now_ms, begun_as=foreseen)


def _held(row: Sequence[object]) -> MessageRow:
    return MessageRow(*row)._replace(thread_id="")  # type: ignore[arg-type]
