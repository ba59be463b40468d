"""Messages and their attachments. A message's rows change in the transaction of what caused it."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from storage import id_spans, idempotency, usage
from storage.agents import claims, reviews
from storage.engine.dialect import EMPTY_ARRAY, committed_now, each_of, greatest, hops, replaced, unindexed
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs, threads
from storage.records import AttachmentRow, MessageRow, columns, dump, load
from storage.searching import labels, search_tail
from storage.searching.labels import UNREAD
from storage.sending import attempts
from storage.visibility import VISIBLE

_STORED_AS = {"extracted_text": "extracted_apart"}
_SELECT = f"SELECT {columns(MessageRow)} FROM messages"
_STORED = [*(_STORED_AS.get(name, name) for name in MessageRow._fields), "extracted_length"]
_INSERT = f"""INSERT INTO messages ({", ".join(_STORED)})
    VALUES ({", ".join("nullif(?, '')" if name == "thread_id" else "?" for name in _STORED)})"""
_INSERT_ATTACHMENT = f"""INSERT INTO attachments ({columns(AttachmentRow)})
    VALUES ({", ".join("?" for _ in AttachmentRow._fields)})"""
_COUNT_UNREAD_OF_THREAD = (
    f"UPDATE threads SET unread_count = {greatest('0', 'unread_count + ?')} WHERE id = ?"
)
_COUNT_UNREAD_OF_INBOX = f"UPDATE inboxes SET unread_count = {greatest('0', 'unread_count + ?')} WHERE id = ?"
_THAT_SCHEDULED = hops("owners", "organization_id", "FROM messages WHERE status = 'scheduled'", ":after")
_BLANKED = {"subject": "''", "snippet": "''", "attachments": EMPTY_ARRAY}
_FORGET_WORDS = f"UPDATE events SET data = {replaced('data', _BLANKED)} WHERE message_id = ? AND seq > ?"
_NEXT_EVENTS = """SELECT max(seq) FROM
    (SELECT seq FROM events WHERE message_id = ? AND seq > ? ORDER BY seq LIMIT ?)"""
_ANNOUNCED = f"""SELECT m.id, m.from_address, m.subject, m.auth FROM messages m
    WHERE {unindexed("m.organization_id")} = ? AND m.id IN {each_of("?")} AND m.{VISIBLE}"""
MUCH = 50  # rows of one kind that hang on a message; it may be some hundred, of 50 KiB each
_HAS_MUCH = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} WHERE message_id = :message LIMIT 1 OFFSET :much)"
    for table in ("recipients", "events", "attachments")
)
WORDS_AT_ONCE = 20  # events that lose words; some 5 ms where each is of 50 KiB
SAME_HEADER_LOOK = 20  # senders choose their Message-ID, and may choose one again and again
NEAR_LOOK = 20  # messages, the newest: how far behind them one is looked for that is in somebody's mailbox
THREAD_LOOK = 1000  # messages, the newest: senders may make a conversation as long as they like


def insert(
    tx: Tx, message: MessageRow, attachments: Sequence[AttachmentRow] = (), words: str | None = None
) -> None:
    """Write the message and its attachments; its blob's row, where it has one, is there already (`blobs.insert`).

    `words`: what the body says, for search, where neither `text_body` nor `extracted_text` has it.
    """
    tx.run(_INSERT, _stored(message))
    if message.blob_id is not None:
        usage.keep_bytes(tx, message.organization_id, message.size_bytes)
    id_spans.note(tx, message.organization_id, message.id, message.created_at)
    body_bytes = message.size_bytes - sum(one.slice_length for one in attachments)
    search_tail.note(tx, message.organization_id, message.id, body_bytes, words)
    labels.note(tx, message)
    if attachments:
        tx.run_many(_INSERT_ATTACHMENT, attachments)


def _stored(message: MessageRow) -> tuple[Any, ...]:
    """A text that begins with the new words has them. SQLite counts characters as we do, but a text ends at a NUL."""
    text, extracted = message.text_body, message.extracted_text
    if extracted is None or text is None or not text.startswith(extracted) or "\0" in extracted:
        return (*message, None)
    return (*message._replace(extracted_text=None), len(extracted))


def get(tx: Tx, organization_id: str, message_id: str) -> MessageRow | None:
    """The organization's message in any status, or None."""
    row = tx.one(
        f"{_SELECT} WHERE id = ? AND organization_id = ? AND {VISIBLE}", (message_id, organization_id)
    )
    return MessageRow(*row) if row else None


def by_id(tx: Tx, message_id: str) -> MessageRow | None:
    """The message of any organization, or None. For the daemon alone: a request asks with its organization (`get`)."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND {VISIBLE}", (message_id,))
    return MessageRow(*row) if row else None


class Announced(NamedTuple):
    """Who a message is from, and what about. `auth`: JSON."""

    id: str
    from_address: str
    subject: str
    auth: str | None


def newest_before(tx: Tx, id: str) -> str | None:
    """Of all organizations; None: there is none. A text that begins as ids do will do."""
    newest: str | None = tx.value("SELECT max(id) FROM messages WHERE id < ?", (id,))
    return newest


def announced(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[Announced]:
    """Of those of these messages that the organization has, in no order."""
    rows = tx.all(_ANNOUNCED, (organization_id, dump(list(message_ids))))
    return [Announced(*row) for row in rows]


def newest_of_thread(tx: Tx, organization_id: str, thread_id: str, mode: str) -> MessageRow | None:
    """The message of the thread that was stored last, whether it came in or goes out; None without a thread. What waits
    or never left, and to live keys what test keys sent, only where the newest NEAR_LOOK are all so: it is in nobody's
    mailbox. `mode`: of who asks."""
    row = tx.one(
        f"""{_SELECT} WHERE id = (SELECT id FROM
             (SELECT id, status, mode FROM messages WHERE thread_id = ? AND organization_id = ? AND {VISIBLE}
              ORDER BY id DESC LIMIT {NEAR_LOOK})
             ORDER BY status IN ('held', 'scheduled', 'cancelled', 'failed') OR mode NOT IN ('live', ?), id DESC
             LIMIT 1)""",
        (thread_id, organization_id, mode),
    )
    return MessageRow(*row) if row else None


def ids_of_thread(tx: Tx, organization_id: str, thread_id: str, limit: int) -> list[str]:
    """Its messages, oldest first, up to `limit` of them; none where the organization does not have the thread."""
    rows = tx.all(
        f"""SELECT id FROM messages WHERE thread_id = ? AND {unindexed("organization_id")} = ? AND {VISIBLE}
            ORDER BY id LIMIT ?""",
        (thread_id, organization_id, limit),
    )
    return [message_id for (message_id,) in rows]


def test_answers(tx: Tx, thread_id: str) -> int:
    """How many of the conversation's newest messages the simulator wrote."""
    count: int = tx.value(
        f"""SELECT count(*) FROM (SELECT direction, mode FROM messages WHERE thread_id = ? AND {VISIBLE}
             ORDER BY id DESC LIMIT ?) WHERE direction = 'inbound' AND mode = 'test'""",
        (thread_id, THREAD_LOOK),
    )
    return count


def answers_automatic(tx: Tx, message: MessageRow) -> bool:
    """Does the message answer one that a program wrote, by its own account or for want of an envelope sender?"""
    if message.in_reply_to is None:
        return False
    return bool(
        tx.value(
            f"""SELECT count(*) FROM (SELECT direction, is_auto_reply, envelope_from FROM messages
                 WHERE inbox_id = ? AND message_id_header = ? AND {VISIBLE} LIMIT ?)
               WHERE direction = 'inbound' AND (is_auto_reply OR envelope_from = '')""",
            (message.inbox_id, message.in_reply_to, SAME_HEADER_LOOK),
        )
    )


def was_sent(tx: Tx, inbox_id: str, message_id_header: str) -> bool:
    """Has the inbox sent a message with this Message-ID, or one that a smarthost has given it?"""
    return bool(
        tx.value(
            f"""SELECT EXISTS (SELECT 1 FROM relay_message_ids WHERE inbox_id = ? AND message_id_header = ?)
               OR EXISTS (SELECT 1 FROM (SELECT direction FROM messages
                 WHERE inbox_id = ? AND message_id_header = ? AND {VISIBLE} LIMIT ?) WHERE direction = 'outbound')""",
            (inbox_id, message_id_header, inbox_id, message_id_header, SAME_HEADER_LOOK),
        )
    )


def attachment(tx: Tx, organization_id: str, attachment_id: str) -> tuple[AttachmentRow, MessageRow] | None:
    """The attachment and the message that it stands in; None when the organization does not have it."""
    row = tx.one(
        f"""SELECT {columns(AttachmentRow, "a")}, {columns(MessageRow, "m")}
            FROM attachments a JOIN messages m ON m.id = a.message_id
            WHERE a.id = ? AND m.organization_id = ? AND m.{VISIBLE}""",
        (attachment_id, organization_id),
    )
    if row is None:
        return None
    width = len(AttachmentRow._fields)
    return AttachmentRow(*row[:width]), MessageRow(*row[width:])


def attachments(tx: Tx, message_id: str) -> list[AttachmentRow]:
    """Those of a message that the caller has found, in their order."""
    rows = tx.all(
        f"SELECT {columns(AttachmentRow)} FROM attachments WHERE message_id = ? ORDER BY position",
        (message_id,),
    )
    return [AttachmentRow(*row) for row in rows]


def attachment_rows(
    ids: Ids, message_id: str, parts: Sequence[tuple[str, str, int, str | None, bool, int, int, str]]
) -> list[AttachmentRow]:
    """Rows for the parts of one message, each (filename, content type, size in bytes, content id,
    inline?, offset, length, encoding), in their order."""
    return [
        AttachmentRow(ids.new("att"), message_id, position, *part[:4], int(part[4]), *part[5:])
        for position, part in enumerate(parts)
    ]


# Changes -----------------------------------------------------------------------------------------


def set_labels(tx: Tx, message: MessageRow, given: Sequence[str]) -> MessageRow:
    """Replace the labels, and answer the changed row; the counters of unread mail change with them."""
    changed = message._replace(labels=dump(list(given)))
    tx.run("UPDATE messages SET labels = ? WHERE id = ?", (changed.labels, message.id))
    labels.change(tx, message, load(message.labels), given)
    change = (UNREAD in given) - is_unread(message)
    if change:
        tx.run(_COUNT_UNREAD_OF_THREAD, (change, message.thread_id))
        _count_unread(tx, message.inbox_id, change)
    return changed


def is_unread(message: MessageRow) -> bool:
    """Does the message have the label `unread`?"""
    return UNREAD in load(message.labels)


def cancel(tx: Tx, organization_id: str, message_id: str) -> bool:
    """scheduled → cancelled; False when it was not scheduled (any more)."""
    return (
        tx.run(
            """UPDATE messages SET status = 'cancelled'
               WHERE id = ? AND organization_id = ? AND status = 'scheduled'""",
            (message_id, organization_id),
        )
        == 1
    )


def scheduled_until(
    tx: Tx, now_ms: int, limit: int, but: Collection[str] = (), organization_id: str | None = None
) -> list[str]:
    """Ids of scheduled messages that are due (of the organization), the longest overdue first, up to `limit` of them.
    `but`: not these."""
    whose = "" if organization_id is None else "AND organization_id = :organization_id"
    rows = tx.all(
        f"""SELECT id FROM messages WHERE status = 'scheduled' {whose}
              AND scheduled_at <= :now AND id NOT IN {each_of(":but")} ORDER BY scheduled_at LIMIT :limit""",
        {"now": now_ms, "limit": limit, "but": dump(list(but)), "organization_id": organization_id},
    )
    return [message_id for (message_id,) in rows]


def that_scheduled(tx: Tx, after: str, limit: int) -> list[str]:
    """Organizations that have anything scheduled, by their ids, behind `after`."""
    rows = tx.all(
        f"WITH RECURSIVE {_THAT_SCHEDULED} SELECT id FROM owners WHERE id > :after LIMIT :limit",
        {"after": after, "limit": limit},
    )
    return [organization_id for (organization_id,) in rows]


def next_scheduled_at(tx: Tx, but: Collection[str] = ()) -> int | None:
    """When the next scheduled message is due (Unix ms, perhaps past already); None when none is. `but`: not these."""
    found: int | None = tx.value(
        f"""SELECT scheduled_at FROM messages
            WHERE status = 'scheduled' AND scheduled_at > 0 AND id NOT IN {each_of(":but")}
            ORDER BY scheduled_at LIMIT 1""",
        {"but": dump(list(but))},
    )
    return found


def release(tx: Tx, message_id: str, now_ms: int) -> bool:
    """scheduled → queued, to be counted from now on; False when it was not scheduled (any more)."""
    return (
        tx.run(
            """UPDATE messages SET status = 'queued', counted_at = ?
               WHERE id = ? AND status = 'scheduled'""",
            (now_ms, message_id),
        )
        == 1
    )


def fail_scheduled(tx: Tx, message_id: str, reason: str) -> bool:
    """scheduled → failed; False when it was not scheduled (any more)."""
    return (
        tx.run(
            """UPDATE messages SET status = 'failed', failure_reason = ?
               WHERE id = ? AND status = 'scheduled'""",
            (reason, message_id),
        )
        == 1
    )


def hold_scheduled(tx: Tx, message_id: str) -> bool:
    """scheduled → held; False when it was not scheduled (any more)."""
    return (
        tx.run("UPDATE messages SET status = 'held' WHERE id = ? AND status = 'scheduled'", (message_id,))
        == 1
    )


def let_go(tx: Tx, message_id: str, status: str, now_ms: int, if_last: str | None) -> bool:
    """held → queued, to be counted from now on, or scheduled; newer than all that was committed before. False when it
    was not held (any more). `if_last`: what it is sent on from now on."""
    return (
        tx.run(
            f"""UPDATE messages SET status = :status, if_last = :if_last, {committed_now("messages")},
                 counted_at = CASE :status WHEN 'queued' THEN :now_ms END
               WHERE id = :id AND status = 'held'""",
            {"id": message_id, "status": status, "now_ms": now_ms, "if_last": if_last},
        )
        == 1
    )


def end_held(tx: Tx, message_id: str, status: str, reason: str | None) -> bool:
    """held → failed, for that reason, or cancelled; False when it was not held (any more)."""
    return (
        tx.run(
            "UPDATE messages SET status = ?, failure_reason = ? WHERE id = ? AND status = 'held'",
            (status, reason, message_id),
        )
        == 1
    )


def has_much(tx: Tx, message_id: str) -> bool:
    """Hangs so much on the message that its end holds the store for long?"""
    return bool(tx.value(f"SELECT {_HAS_MUCH}", {"message": message_id, "much": MUCH}))


def forget_some_words(tx: Tx, message_id: str, behind: int) -> int | None:
    """The next events of the message lose its words, of those behind that number; the last one's number, None where
    there was none. For messages of which there is much: they are deleted behind it."""
    last: int | None = tx.value(_NEXT_EVENTS, (message_id, behind, WORDS_AT_ONCE))
    if last is not None:
        tx.run(f"{_FORGET_WORDS} AND seq <= ?", (message_id, behind, last))
    return last


def delete(tx: Tx, message: MessageRow, forgotten: int = 0) -> str | None:
    """Remove the message and all that belongs to it, what waits to be sent included. `forgotten`: the event up to which
    its words are gone already.

    Answers the id of a blob whose file the caller removes after the commit (`Blobs.remove`), or None.
    """
    search_tail.forget(tx, message.organization_id, message.id)
    labels.forget(tx, message)
    if message.direction == "inbound":
        claims.forget_message(tx, message.id, message.thread_id, message.mode)
    tx.run("DELETE FROM messages WHERE id = ?", (message.id,))
    # The events stay on record; the words of the message do not.
    tx.run(_FORGET_WORDS, (message.id, forgotten))
    idempotency.forget_words(tx, message.id)
    reviews.forget_words(tx, message.id)
    threads.leave(tx, message.thread_id, is_unread=is_unread(message))
    if is_unread(message):
        _count_unread(tx, message.inbox_id, -1)
    if message.blob_id is None:
        return None
    usage.keep_bytes(tx, message.organization_id, -message.size_bytes)
    return release_blob(tx, message.blob_id)


class Aged(NamedTuple):
    """A message that retention looks at. `is_waiting`: its bytes are still to be sent."""

    id: str
    has_bytes: bool
    is_waiting: bool


_WAITING = """(m.status IN ('held', 'scheduled') OR EXISTS
    (SELECT 1 FROM recipients r WHERE r.message_id = m.id AND r.status IN ('queued', 'deferred')))"""


def with_bytes(tx: Tx, organization_id: str, *, after: str, until: str, limit: int) -> list[Aged]:
    """The organization's messages between the two ids, oldest first."""
    rows = tx.all(
        f"""SELECT m.id, m.blob_id IS NOT NULL, m.blob_id IS NOT NULL AND {_WAITING} FROM messages m
            WHERE m.organization_id = ? AND m.id > ? AND m.id < ? AND m.{VISIBLE} ORDER BY m.id LIMIT ?""",
        (organization_id, after, until, limit),
    )
    return [Aged(row[0], bool(row[1]), bool(row[2])) for row in rows]


def drop_bytes(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> tuple[int, list[str]]:
    """Take the raw bytes, and what is kept of attempts, away from these messages, unless they wait to be sent; their
    rows stay.

    Answers how many messages lost them, and the blobs whose files the caller removes after the commit.
    """
    count, files = 0, []
    for message_id in message_ids:
        row = tx.one(
            f"""SELECT m.blob_id, m.size_bytes FROM messages m
                WHERE m.id = ? AND m.organization_id = ? AND m.{VISIBLE} AND m.blob_id IS NOT NULL
                  AND NOT {_WAITING}""",
            (message_id, organization_id),
        )
        if row is None:
            continue
        tx.run("UPDATE messages SET blob_id = NULL WHERE id = ?", (message_id,))
        attempts.forget_evidence(tx, message_id)
        usage.keep_bytes(tx, organization_id, -row[1])
        file = release_blob(tx, row[0])
        count += 1
        files += [file] if file else []
    return count, files


def _count_unread(tx: Tx, inbox_id: str, change: int) -> None:
    tx.run(_COUNT_UNREAD_OF_INBOX, (change, inbox_id))


def release_blob(tx: Tx, blob_id: str) -> str | None:
    """A message shows it no more; the blob where its file is to be removed after the commit, or None."""
    # Asked, not counted: a count that is wrong would stop who deletes, or leave what nobody shows.
    if tx.one("SELECT 1 FROM messages WHERE blob_id = ? LIMIT 1", (blob_id,)):
        blobs.retain(tx, blob_id, -1)
        return None
    is_file = tx.value("SELECT data IS NULL FROM blobs WHERE id = ?", (blob_id,))
    tx.run("DELETE FROM blobs WHERE id = ?", (blob_id,))
    return blob_id if is_file else None
