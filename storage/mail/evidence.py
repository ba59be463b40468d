"""What was found in messages (`maild.message.evidence` looks for it), and which messages wait to be looked at.

Findings are derived: they can be made anew of the message at any time, and go with it. New mail is found by the events
that tell of it, in the order of commits; how far that went is EVIDENCE_MARK's one row, written with the findings, so
that a crash repeats a batch at most. Nothing of it is in the transaction that accepts a mail.
"""

from typing import NamedTuple

from storage.engine.dialect import holds
from storage.engine.tx import Tx
from storage.records import AttachmentRow, MessageRow, columns, load
from storage.visibility import VISIBLE

WALK = 1000  # events that one look passes over
# What is looked at to tell whether a sender is known: senders decide how much there is.
NEWEST_MESSAGES = 2000
NEWEST_SENT = 100
NEWEST_THREADS = 100  # of each kind, archived and not
DOMAINS = 1000


class EvidenceRow(NamedTuple):
    """`version`: of what was looked for. `items`: JSON of the findings, as the API shows them."""

    version: int
    risk: str
    hidden_characters: int
    is_truncated: int
    items: str


class WaitingMail(NamedTuple):
    """(organization, message) of mail that came in, oldest first, and the event up to which that is all.

    `until` None: there is no event behind the mark.
    """

    messages: list[tuple[str, str]]
    until: int | None


class KnownPeople(NamedTuple):
    """What the inbox knew when the message came: domains of ours, addresses that it had written to, and whether the
    sender had written before."""

    own_domains: frozenset[str]
    written_to: frozenset[str]
    has_written: bool


_ROW = ", ".join(EvidenceRow._fields)
_PUT = f"""INSERT INTO message_evidence (message_id, {_ROW})
    SELECT id, {", ".join("?" for _ in EvidenceRow._fields)} FROM messages WHERE id = ? AND organization_id = ?
    ON CONFLICT (message_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in EvidenceRow._fields)}"""
_NEXT = """SELECT seq, organization_id, message_id,
      type = 'email.received' AND NOT EXISTS (SELECT 1 FROM message_evidence e
        WHERE e.message_id = events.message_id AND e.version = :version)
    FROM events WHERE seq > :after ORDER BY seq LIMIT :walk"""
_SENT = f"""SELECT to_addresses, cc_addresses FROM messages WHERE {VISIBLE} AND id IN (
      SELECT id FROM (SELECT id, direction FROM messages WHERE inbox_id = ? AND {VISIBLE} AND id < ?
        ORDER BY id DESC LIMIT ?)
      WHERE direction = 'outbound' LIMIT ?)"""
_EARLIER = f"""SELECT count(*) FROM (SELECT from_address FROM messages WHERE thread_id = ? AND {VISIBLE} AND id < ?
      ORDER BY id DESC LIMIT ?) WHERE from_address = ?"""
_IN_THREADS = f"""SELECT count(*) FROM (SELECT id, participants, created_at FROM threads
      WHERE inbox_id = ? AND is_archived = ? ORDER BY last_message_at DESC, id DESC LIMIT ?)
    WHERE id <> ? AND created_at < ? AND {holds("participants", "?")}"""


def get(tx: Tx, organization_id: str, message_id: str, *, sees_held: bool = False) -> EvidenceRow | None:
    """What was found in the organization's message; None when it was not looked at."""
    row = tx.one(
        f"""SELECT {", ".join(f"e.{name}" for name in EvidenceRow._fields)} FROM messages m
            JOIN message_evidence e ON e.message_id = m.id
            WHERE m.id = :message AND m.organization_id = :organization AND (m.{VISIBLE} OR :sees_held)""",
        {"message": message_id, "organization": organization_id, "sees_held": sees_held},
    )
    return None if row is None else EvidenceRow(*row)


def put(tx: Tx, organization_id: str, message_id: str, row: EvidenceRow) -> None:
    """Keep it, in place of what was found before; nothing where the message is gone."""
    tx.run(_PUT, (*row, message_id, organization_id))


def attachments(tx: Tx, message_id: str, limit: int) -> list[AttachmentRow]:
    """The message's attachments in their order, at most `limit`."""
    rows = tx.all(
        f"SELECT {columns(AttachmentRow)} FROM attachments WHERE message_id = ? ORDER BY position LIMIT ?",
        (message_id, limit),
    )
    return [AttachmentRow(*row) for row in rows]


def waiting(tx: Tx, limit: int, version: int) -> WaitingMail:
    """Mail behind the mark, at most `limit` of it, that nobody has looked at in this version."""
    rows = tx.all(_NEXT, {"after": _mark(tx), "version": version, "walk": WALK})
    found: list[tuple[str, str]] = []
    until: int | None = None
    for seq, organization_id, message_id, is_waiting in rows:
        if is_waiting and message_id is not None:
            if len(found) == limit:
                break
            found.append((organization_id, message_id))
        until = seq
    return WaitingMail(found, until)


def move_mark(tx: Tx, until: int) -> None:
    """What came up to that event has been looked at."""
    if not tx.run("UPDATE evidence_mark SET seq = ?", (until,)):
        tx.run("INSERT INTO evidence_mark (seq) VALUES (?)", (until,))


def _mark(tx: Tx) -> int:
    found: int | None = tx.value("SELECT seq FROM evidence_mark LIMIT 1")
    return found or 0


def known_people(tx: Tx, message: MessageRow, sender: str) -> KnownPeople:
    """What the message's inbox knew of who wrote. `sender`: their comparison key
    (`maild.message.fields.address.normalize`).

    Looked at are the newest messages and conversations alone, so somebody of long ago may seem new.
    """
    own = tx.all(
        "SELECT domain_name FROM domains WHERE organization_id = ? AND status <> 'deleted' LIMIT ?",
        (message.organization_id, DOMAINS),
    )
    inbox = tx.all(
        "SELECT domain FROM inboxes WHERE id = ? AND organization_id = ?",
        (message.inbox_id, message.organization_id),
    )
    return KnownPeople(
        frozenset(row[0] for row in (*own, *inbox)),
        _written_to(tx, message),
        _has_written(tx, message, sender),
    )


def _written_to(tx: Tx, message: MessageRow) -> frozenset[str]:
    rows = tx.all(_SENT, (message.inbox_id, message.id, NEWEST_MESSAGES, NEWEST_SENT))
    return frozenset(address.lower() for row in rows for column in row for address in load(column))


def _has_written(tx: Tx, message: MessageRow, sender: str) -> bool:
    if tx.value(_EARLIER, (message.thread_id, message.id, NEWEST_MESSAGES, message.from_address)):
        return True
    return any(
        tx.value(
            _IN_THREADS,
            (message.inbox_id, is_archived, NEWEST_THREADS, message.thread_id, message.created_at, sender),
        )
        for is_archived in (0, 1)
    )
