"""Which messages and threads have a label.

What a message's labels are says its own column, a list in the order that the client gave. `message_labels` has a row
for each of them but `unread`, and changes in the transaction in which the column does (`storage.mail.messages`). Nearly
all mail that comes in is `unread`, and nothing else: that label is found by partial indexes of `messages`, so that an
arrival writes no row for it.

A thread has the labels of its newest LABELLED_MAX messages (`storage.shown.thread_json` shows them), and `unread` while
any of its messages is.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from storage.engine.dialect import THEN_JOIN, by_index, elements, holds_word, unindexed
from storage.engine.tx import Tx
from storage.records import MessageRow, dump, load

UNREAD = "unread"
LABELLED_MAX = 200  # of a thread, the newest: senders make a conversation as long as they like
COUNTED_MAX = 1000  # beyond so many messages a label is common
LOOKED_AT = 200  # messages of a label, in one statement: each is read
_PLAIN = frozenset(("[]", dump([UNREAD])))

_ADD = "INSERT INTO message_labels (inbox_id, label, message_id, organization_id) VALUES (?, ?, ?, ?)"
_REMOVE = "DELETE FROM message_labels WHERE inbox_id = ? AND label = ? AND message_id = ?"


def is_unread(alias: str) -> str:
    """The condition of the partial indexes, of `messages` under that name."""
    return holds_word(f"{alias}.labels", UNREAD)


def has_label(message: str, label: str) -> str:
    """Does the message (an alias of `messages`) have the label (an expression), which is not `unread`?"""
    return f"""EXISTS (SELECT 1 FROM message_labels l WHERE l.inbox_id = {message}.inbox_id AND l.label = {label}
        AND l.message_id = {message}.id)"""


def has_all(message: str, labels: str) -> str:
    """The same of all labels of a JSON array."""
    return f"NOT EXISTS (SELECT 1 FROM {elements(labels)} one WHERE NOT {has_label(message, 'one.value')})"


# Writing -----------------------------------------------------------------------------------------


def note(tx: Tx, message: MessageRow) -> None:
    """The message was inserted."""
    if message.labels not in _PLAIN:
        change(tx, message, (), load(message.labels))


def forget(tx: Tx, message: MessageRow) -> None:
    """The message was deleted."""
    if message.labels not in _PLAIN:
        change(tx, message, load(message.labels), ())


def change(tx: Tx, message: MessageRow, before: Iterable[str], after: Iterable[str]) -> None:
    """The message has these labels instead of those."""
    old, new = {*before} - {UNREAD}, {*after} - {UNREAD}
    tx.run_many(_REMOVE, [(message.inbox_id, label, message.id) for label in sorted(old - new)])
    tx.run_many(
        _ADD, [(message.inbox_id, label, message.id, message.organization_id) for label in sorted(new - old)]
    )


# Walking -----------------------------------------------------------------------------------------


class Owner(NamedTuple):
    """Whose messages: an organization's, or those of one of its inboxes."""

    organization_id: str
    inbox_id: str | None = None

    @property
    def by(self) -> str:
        return "organization" if self.inbox_id is None else "inbox"


class Walk(NamedTuple):
    """How an owner's messages `m` with a label are found: FROM, WHERE, and the column of their ids, whose order is the
    index's. Parameters are `organization_id` or `inbox_id`, and `label`."""

    source: str
    condition: str
    at: str


def walk(by: str, label: str) -> Walk:
    """`by`: `Owner.by`."""
    if label == UNREAD:
        index = by_index(f"messages_unread_by_{by}")
        return Walk(f"messages m {index}", f"m.{by}_id = :{by}_id AND {is_unread('m')}", "m.id")
    table = f"message_labels l {by_index('message_labels_by_organization') if by == 'organization' else ''}"
    source = f"{table} {THEN_JOIN} messages m ON m.id = l.message_id"
    return Walk(source, f"l.{by}_id = :{by}_id AND l.label = :label", "l.message_id")


def count(tx: Tx, owner: Owner, label: str, most: int = COUNTED_MAX) -> int:
    """How many of the owner's messages have the label; `most` where there are so many or more."""
    found = walk(owner.by, label)
    table = found.source.partition(THEN_JOIN)[0]  # the messages themselves need not be looked at
    counted: int = tx.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {found.condition} LIMIT :most)",
        {**owner._asdict(), "label": label, "most": most},
    )
    return counted


def rarest(tx: Tx, owner: Owner, labels: Sequence[str]) -> str:
    """The one of these labels that the fewest of the owner's messages have (`count`)."""
    return min(labels, key=lambda label: count(tx, owner, label)) if len(labels) > 1 else labels[0]


# Threads -----------------------------------------------------------------------------------------


class WantedThreads(NamedTuple):
    """Threads of an owner that have all these labels (without `unread`), in a page's order. None: no matter."""

    owner: Owner
    labels: tuple[str, ...] = ()
    is_unread: bool | None = None
    is_archived: bool | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The labels that one of a thread's messages must have."""
        return (*self.labels, UNREAD) if self.is_unread else self.labels


class ThreadPlace(NamedTuple):
    """A thread in the order of a page: (lastMessageAt, id), the latest first."""

    at_ms: int
    id: str


class LabelledLook(NamedTuple):
    """Which of an owner's threads some messages of a label are in, and behind which message to look on; None: those
    were the last."""

    thread_ids: set[str]
    behind: str | None


_PLACES = f"""SELECT t.last_message_at, t.id FROM {elements(":ids")} one {THEN_JOIN} threads t ON t.id = one.value
    WHERE (t.last_message_at, t.id) < (:at_ms, :id)"""


def labelled_threads(tx: Tx, owner: Owner, label: str, behind: str | None) -> LabelledLook:
    """Those of the next LOOKED_AT messages that have the label, older than `behind`."""
    found = walk(owner.by, label)
    rows = tx.all(
        f"""SELECT {found.at}, m.thread_id FROM {found.source}
            WHERE {found.condition} AND {found.at} < :behind ORDER BY {found.at} DESC LIMIT {LOOKED_AT}""",
        {**owner._asdict(), "label": label, "behind": behind or "~"},
    )
    thread_ids = {thread_id for _, thread_id in rows if thread_id is not None}
    return LabelledLook(thread_ids, rows[-1][0] if len(rows) == LOOKED_AT else None)


def places_behind(tx: Tx, thread_ids: Collection[str], before: ThreadPlace) -> list[ThreadPlace]:
    """Where those of these threads stand that are behind `before`, in any order."""
    rows = tx.all(_PLACES, {"ids": dump(list(thread_ids)), **before._asdict()})
    return [ThreadPlace(*row) for row in rows]


_FITTING = f"""SELECT t.id, t.message_count FROM {elements(":ids")} one
    {THEN_JOIN} threads t ON t.id = one.value AND {unindexed("t.organization_id")} = :organization_id
    WHERE (:is_archived IS NULL OR t.is_archived = :is_archived)
      AND (:is_unread IS NULL OR (t.unread_count > 0) = :is_unread)
      AND NOT EXISTS (SELECT 1 FROM {elements(":labels")} wanted WHERE NOT EXISTS (
        SELECT 1 FROM (SELECT id FROM messages WHERE thread_id = t.id ORDER BY id DESC LIMIT {LABELLED_MAX}) m
        {THEN_JOIN} message_labels l
          ON l.inbox_id = t.inbox_id AND l.label = wanted.value AND l.message_id = m.id))
    ORDER BY one.key"""


def fitting(tx: Tx, wanted: WantedThreads, thread_ids: Sequence[str]) -> list[tuple[str, int]]:
    """Those of these threads that are as wanted, in their order, each with the number of its messages."""
    given: dict[str, Any] = {
        "ids": dump(list(thread_ids)),
        "organization_id": wanted.owner.organization_id,
        "labels": dump(list(wanted.labels)),
        "is_unread": wanted.is_unread,
        "is_archived": wanted.is_archived,
    }
    return [(row[0], row[1]) for row in tx.all(_FITTING, given)]
