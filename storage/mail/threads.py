"""Conversations: which one a message joins, and the counters that change with each message.

Senders may name as many people, and begin as many conversations of one subject, as they like: a conversation keeps the
latest PARTICIPANTS_MAX, and only the newest SUBJECT_LOOK conversations of a subject are looked at, NAMES_LOOK of a
name, and COPIES_LOOK messages of one Message-ID. A conversation has NAMES_MAX names.
"""

from collections.abc import Sequence

from storage.engine.dialect import THEN_JOIN, greatest, holds
from storage.engine.tx import Tx
from storage.records import ThreadRow, columns, dump, load
from storage.visibility import VISIBLE

SUBJECT_WINDOW_MS = 30 * 86_400_000
SUBJECT_LOOK = 100
COPIES_LOOK = 20
NAMES_LOOK = 20
NAMES_MAX = 20
PARTICIPANTS_MAX = 50
PARTICIPANT_CHARS = 320  # RFC 5321 §4.5.3.1: 64 of local part and 255 of domain; no mail reaches a longer one
_SELECT = f"SELECT {columns(ThreadRow)} FROM threads"
_BEGUN_BY_SPAM = f"""coalesce(
        (SELECT is_spam FROM messages WHERE thread_id = found.id AND {VISIBLE} ORDER BY id LIMIT 1), 0)"""
_BY_MESSAGE_ID = f"""SELECT id FROM
      (SELECT thread_id AS id FROM messages WHERE inbox_id = ? AND message_id_header = ? AND {VISIBLE}
        UNION ALL SELECT m.thread_id FROM relay_message_ids given {THEN_JOIN} messages m ON m.id = given.message_id
          WHERE given.inbox_id = ? AND given.message_id_header = ? AND m.{VISIBLE} LIMIT ?) AS found
    ORDER BY {_BEGUN_BY_SPAM}, id LIMIT 1"""
_BY_SUBJECT = f"""SELECT id FROM (SELECT id, participants, last_message_at FROM threads
        WHERE inbox_id = ? AND base_subject = ? AND last_message_at >= ?
        ORDER BY last_message_at DESC LIMIT ?) AS found
    WHERE {holds("participants", "?")}
      AND NOT {_BEGUN_BY_SPAM} ORDER BY last_message_at DESC LIMIT 1"""
_BY_COPY = f"""SELECT id, base_subject FROM
      (SELECT t.id, t.base_subject FROM messages m {THEN_JOIN} threads t ON t.id = m.thread_id
        WHERE m.inbox_id = ? AND m.message_id_header = ? AND m.{VISIBLE} LIMIT ?) AS found
    WHERE NOT {_BEGUN_BY_SPAM}"""
_BY_NAME = f"""SELECT t.id, t.base_subject FROM
      (SELECT thread_id AS id FROM thread_names
        WHERE inbox_id = ? AND name = ? ORDER BY thread_id DESC LIMIT ?) AS found
      {THEN_JOIN} threads t ON t.id = found.id
    WHERE {holds("t.participants", "?")} AND NOT {_BEGUN_BY_SPAM} ORDER BY t.id DESC"""
_NAME = """INSERT INTO thread_names SELECT ?, ?, ?
    WHERE (SELECT count(*) FROM thread_names WHERE thread_id = ?) < ? ON CONFLICT DO NOTHING"""
_JOIN = f"""UPDATE threads SET message_count = message_count + 1, unread_count = unread_count + ?, snippet = ?,
      last_message_at = {greatest("last_message_at", "?")}, participants = ?,
      is_archived = is_archived AND NOT ? WHERE id = ?"""
_LEAVE = f"""UPDATE threads SET message_count = message_count - 1,
      unread_count = {greatest("0", "unread_count - ?")}, snippet = ?, last_message_at = ? WHERE id = ?"""


def by_message_ids(tx: Tx, inbox_id: str, message_ids: Sequence[str]) -> str | None:
    """The thread of the first of these Message-IDs that the inbox knows (ordered by preference); of several the oldest,
    and one that spam began where there is no other."""
    for message_id in message_ids:
        thread_id: str | None = tx.value(
            _BY_MESSAGE_ID, (inbox_id, message_id, inbox_id, message_id, COPIES_LOOK)
        )
        if thread_id is not None:
            return thread_id
    return None


def by_copy(tx: Tx, inbox_id: str, message_id: str, base_subject: str) -> str | None:
    """The thread of this subject that has a message of this Message-ID, and that no spam began. Lists put their name
    before the subject. Some programs write one id for all that they send: what has another subject is another
    message."""
    return _of_subject(tx.all(_BY_COPY, (inbox_id, message_id, COPIES_LOOK)), base_subject)


def by_name(tx: Tx, inbox_id: str, name: str, base_subject: str, correspondent: str) -> str | None:
    """The newest thread of this subject and correspondent (a comparison key) that was called so (`name`). Ticket
    systems put a number before the subject, and what became of the ticket."""
    return _of_subject(tx.all(_BY_NAME, (inbox_id, name, NAMES_LOOK, correspondent)), base_subject)


def _of_subject(found: Sequence[tuple[str, str]], base_subject: str) -> str | None:
    matching = (
        thread_id
        for thread_id, subject in found
        if subject.endswith(base_subject) or base_subject.endswith(subject)
    )
    return next(matching, None)


def by_subject(tx: Tx, inbox_id: str, base_subject: str, correspondent: str, now_ms: int) -> str | None:
    """The newest thread of the last 30 days with this subject and correspondent (a comparison key) that no spam began,
    or None."""
    thread_id: str | None = tx.value(
        _BY_SUBJECT,
        (inbox_id, base_subject, now_ms - SUBJECT_WINDOW_MS, SUBJECT_LOOK, correspondent),
    )
    return thread_id


def name(tx: Tx, inbox_id: str, thread_id: str, root: str) -> None:
    """Call the thread by the first Message-ID of its References, unless that is the id of a message, or the thread has
    NAMES_MAX names."""
    if by_message_ids(tx, inbox_id, [root]) is None:
        tx.run(_NAME, (inbox_id, root, thread_id, thread_id, NAMES_MAX))


def begin(
    tx: Tx,
    thread_id: str,
    now_ms: int,
    *,
    organization_id: str,
    inbox_id: str,
    subject: str,
    base_subject: str,
    snippet: str,
    participants: Sequence[str],
    is_unread: bool,
) -> None:
    """Write a new thread that counts one message, whose row comes in the same transaction."""
    tx.run(
        """INSERT INTO threads (id, organization_id, inbox_id, subject, base_subject, snippet, participants,
             message_count, unread_count, last_message_at, created_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?)""",
        (
            thread_id,
            organization_id,
            inbox_id,
            subject,
            base_subject,
            snippet,
            dump(_latest([], participants)),
            int(is_unread),
            now_ms,
            now_ms,
        ),
    )


def join(
    tx: Tx, thread_id: str, now_ms: int, *, snippet: str, participants: Sequence[str], is_unread: bool
) -> bool:
    """Count one more message in an existing thread; an unread one brings the thread back from the archive: did it?"""
    row = tx.one("SELECT participants, is_archived FROM threads WHERE id = ?", (thread_id,))
    assert row is not None
    tx.run(
        _JOIN,
        (
            int(is_unread),
            snippet,
            now_ms,
            dump(_latest(load(row[0]), participants)),
            int(is_unread),
            thread_id,
        ),
    )
    return bool(row[1] and is_unread)


def _latest(known: Sequence[str], participants: Sequence[str]) -> list[str]:
    """The known participants and then the new ones; where there are too many, the oldest of the known ones go."""
    new = [one for one in participants if len(one) <= PARTICIPANT_CHARS][:PARTICIPANTS_MAX]
    merged = dict.fromkeys(one for one in [*known, *new] if len(one) <= PARTICIPANT_CHARS)
    surplus = len(merged) - PARTICIPANTS_MAX
    gone = [one for one in merged if one not in new][:surplus] if surplus > 0 else []
    return [one for one in merged if one not in gone]


def leave(tx: Tx, thread_id: str, *, is_unread: bool) -> None:
    """Count one message less, whose row is gone already. The thread goes with its last message."""
    newest = tx.one(
        f"SELECT snippet, created_at FROM messages WHERE thread_id = ? AND {VISIBLE} ORDER BY id DESC LIMIT 1",
        (thread_id,),
    )
    if newest is None:
        tx.run("DELETE FROM threads WHERE id = ?", (thread_id,))
        return
    tx.run(
        _LEAVE,
        (int(is_unread), *newest, thread_id),
    )


def archive(tx: Tx, organization_id: str, thread_id: str, is_archived: bool) -> bool:
    """Archive the thread, or bring it back; False where it is so already, or the organization does not have it."""
    return (
        tx.run(
            """UPDATE threads SET is_archived = :to
               WHERE id = :id AND organization_id = :organization AND is_archived <> :to""",
            {"to": int(is_archived), "id": thread_id, "organization": organization_id},
        )
        == 1
    )


def get(tx: Tx, organization_id: str, thread_id: str) -> ThreadRow | None:
    """The organization's conversation, archived or not, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (thread_id, organization_id))
    return ThreadRow(*row) if row else None
