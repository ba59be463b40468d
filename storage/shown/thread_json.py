"""Threads as the JSON of the contract, but for the messages of one (storage/shown/message_json.py).

Lists use what was rendered before (storage/shown/kept_json.py). A thread's state is everything that its JSON is made
of: all its columns, and the different arrays of labels of its messages. Gathering the labels of those took half of the
time.
"""

from functools import partial
from typing import Any, NamedTuple

from storage.engine.dialect import (
    THEN_JOIN,
    array_of,
    by_index,
    count_of,
    each_of,
    elements,
    flag,
    joined,
    moment,
    object_of,
    octets,
    unindexed,
    value,
)
from storage.engine.tx import Tx
from storage.records import dump
from storage.searching.labels import LABELLED_MAX, UNREAD, ThreadPlace, WantedThreads
from storage.shown.kept_json import KeptJson
from storage.shown.message_json import Part, known, rendered
from storage.visibility import VISIBLE

PARTICIPANTS_MAX = 50
WALKED = 5000  # places in an index that one unit of work passes over; a few milliseconds
FIRST = ThreadPlace(2**62, "~")  # before the latest thread
# Of each thread LABELLED_MAX messages are looked at, and of so many in all before others have their turn.
SLICE_LABELLED = 2000
LABELS_MAX = 100
_LATEST = f"""(SELECT value FROM
    (SELECT key, value FROM {elements("t.participants")} ORDER BY key DESC LIMIT {PARTICIPANTS_MAX}) ORDER BY key)"""
_PARTICIPANTS = f"""CASE WHEN {count_of("t.participants")} <= {PARTICIPANTS_MAX} THEN t.participants
    ELSE {array_of(value("value"), _LATEST)} END"""
_LABELS = f"""(SELECT label FROM (SELECT l.value AS label
      FROM (SELECT labels FROM messages WHERE thread_id = t.id AND {VISIBLE} ORDER BY id DESC LIMIT {LABELLED_MAX}) m,
        {elements("m.labels")} l
      UNION SELECT '{UNREAD}' WHERE t.unread_count > 0)
    ORDER BY label LIMIT {LABELS_MAX})"""
_THREAD = {
    "id": value("t.id"),
    "organizationId": value("t.organization_id"),
    "inboxId": value("t.inbox_id"),
    "subject": value("t.subject"),
    "snippet": value("t.snippet"),
    "participants": _PARTICIPANTS,
    "labels": array_of(value("label"), _LABELS),
    "messageCount": value("t.message_count"),
    "unreadCount": value("t.unread_count"),
    "lastMessageAt": moment("t.last_message_at"),
    "isArchived": flag("t.is_archived"),
    "createdAt": moment("t.created_at"),
}
COLUMNS = (
    "organization_id", "inbox_id", "subject", "snippet", "participants", "message_count", "unread_count",
    "last_message_at", "is_archived", "created_at",
)  # fmt: skip
_LABELLINGS = f"""(SELECT {joined("labels")} FROM (SELECT DISTINCT labels FROM
    (SELECT labels FROM messages WHERE thread_id = t.id AND {VISIBLE} ORDER BY id DESC LIMIT {LABELLED_MAX})))"""
_STATE = f"t.id, {', '.join(f't.{column}' for column in COLUMNS)}, {_LABELLINGS}"
_ONE = (
    f"SELECT {octets(object_of(_THREAD))}, t.inbox_id FROM threads t WHERE t.id = ? AND t.organization_id = ?"
)


class ShownThread(NamedTuple):
    """A thread's JSON, and where it is."""

    json: bytes
    inbox_id: str


def get(tx: Tx, organization_id: str, thread_id: str) -> ShownThread | None:
    """The organization's thread, archived or not, or None."""
    row = tx.one(_ONE, (thread_id, organization_id))
    return ShownThread(*row) if row else None


def list_threads(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    inbox_id: str | None,
    before: tuple[int, str] = FIRST,
    is_archived: bool | None = None,
    kept: KeptJson | None = None,
) -> Part:
    """Latest first; `before` is the (lastMessageAt, id) of the last one seen."""
    found = _found(tx, organization_id, inbox_id, before, is_archived, limit)
    return some(tx, organization_id, [(row[0], row[1]) for row in found], kept)


def places(
    tx: Tx, wanted: WantedThreads, before: ThreadPlace, limit: int
) -> tuple[list[ThreadPlace], ThreadPlace | None]:
    """So many threads of the owner behind `before`, archived or not as wanted, and unread or not, whatever their
    labels; and how far that looked, None where there are no more. Of those that are not as wanted WALKED are passed
    over at most, so there may be none among these."""
    if wanted.is_unread is not None:
        return _walked(tx, wanted, before, limit)
    rows = _found(tx, *wanted.owner, before, wanted.is_archived, limit)
    found = [ThreadPlace(row[2], row[0]) for row in rows]
    return found, found[-1] if found else None


def _walked(
    tx: Tx, wanted: WantedThreads, before: ThreadPlace, limit: int
) -> tuple[list[ThreadPlace], ThreadPlace | None]:
    """`places`, passing over others in an index alone."""
    walk = _WALKS[wanted.owner.inbox_id is not None]
    given = {
        **wanted.owner._asdict(),
        **before._asdict(),
        "unread": wanted.is_unread,
        "limit": limit,
        "walked": WALKED,
    }
    found: list[ThreadPlace] = []
    ends: list[ThreadPlace] = []
    for kind in (False, True) if wanted.is_archived is None else (wanted.is_archived,):
        found += [ThreadPlace(*row) for row in tx.all(walk.wanted, {**given, "archived": kind})]
        ends += [ThreadPlace(*row) for row in tx.all(walk.end, {**given, "archived": kind})]
    end = max(ends, default=None)  # one kind was not walked through any further
    found = sorted((one for one in found if end is None or one >= end), reverse=True)
    return found[:limit], found[limit - 1] if len(found) >= limit else end


def _found(
    tx: Tx,
    organization_id: str,
    inbox_id: str | None,
    before: tuple[int, str],
    is_archived: bool | None,
    limit: int,
) -> list[tuple[Any, ...]]:
    """(id, messages, lastMessageAt) of a page."""
    return tx.all(
        _PAGES[inbox_id is not None, is_archived is not None],
        {
            "organization_id": organization_id,
            "inbox_id": inbox_id,
            "last_at": before[0],
            "last_id": before[1],
            "archived": is_archived,
            "limit": limit,
        },
    )


def some(tx: Tx, organization_id: str, found: list[tuple[str, int]], kept: KeptJson | None = None) -> Part:
    """The first of these threads (id, how many messages), in their order, less those that went meanwhile."""
    count = labelled = 0
    while count < len(found) and (not count or labelled < SLICE_LABELLED):
        labelled += min(found[count][1], LABELLED_MAX)
        count += 1
    states = tx.all(_STATES, (dump([thread_id for thread_id, _ in found[:count]]), organization_id))
    json = rendered(tx, _RENDERED, organization_id, states, known(states, kept), kept)
    rest = partial(some, organization_id=organization_id, found=found[count:], kept=kept)
    return Part(json, rest if count < len(found) else None)


def _page(owner: str, *kinds: str) -> str:
    """Each kind stands in an order of its own in the index: so many of each, and of all those the latest."""
    found = " UNION ALL ".join(
        f"""SELECT * FROM (SELECT id, last_message_at FROM threads t
              WHERE {owner} AND t.is_archived = {kind} AND (t.last_message_at, t.id) < (:last_at, :last_id)
              ORDER BY t.last_message_at DESC, t.id DESC LIMIT :limit)"""
        for kind in kinds
    )
    return f"""SELECT t.id, t.message_count, latest.last_message_at
        FROM (SELECT * FROM ({found}) ORDER BY last_message_at DESC, id DESC LIMIT :limit) latest
        {THEN_JOIN} threads t ON t.id = latest.id ORDER BY latest.last_message_at DESC, latest.id DESC"""


class _PlaceWalk(NamedTuple):
    """Through the first WALKED places of an owner's threads, archived or not, in an index alone. `wanted`: those that
    are unread, or are not; `end`: the last of so many."""

    wanted: str
    end: str


def _walk(owner: str, index: str) -> _PlaceWalk:
    behind = f"""FROM threads {by_index(index)}
        WHERE {owner} AND is_archived = :archived AND (last_message_at, id) < (:at_ms, :id)
        ORDER BY last_message_at DESC, id DESC LIMIT"""
    return _PlaceWalk(
        f"""SELECT last_message_at, id FROM (SELECT last_message_at, id, unread_count {behind} :walked)
            WHERE (unread_count > 0) = :unread LIMIT :limit""",
        f"SELECT last_message_at, id {behind} 1 OFFSET :walked - 1",
    )


_STATES = f"""SELECT {_STATE} FROM {elements("?")} one
    {THEN_JOIN} threads t ON t.id = one.value AND t.organization_id = ? ORDER BY one.key"""
_RENDERED = f"""SELECT t.id, {octets(object_of(_THREAD))} FROM threads t
    WHERE {unindexed("t.organization_id")} = ? AND t.id IN {each_of("?")}"""
_OF_ORGANIZATION = "t.organization_id = :organization_id"
_OF_INBOX = f"t.inbox_id = :inbox_id AND {unindexed('t.organization_id')} = :organization_id"
_PAGES = {
    (is_of_inbox, is_of_a_kind): _page(owner, *kinds)
    for is_of_inbox, owner in ((False, _OF_ORGANIZATION), (True, _OF_INBOX))
    for is_of_a_kind, kinds in ((False, ("0", "1")), (True, (":archived",)))
}
# The inbox is the organization's, which no index of its threads knows.
_OF_ITS_INBOX = """inbox_id = :inbox_id
    AND EXISTS (SELECT 1 FROM inboxes WHERE id = :inbox_id AND organization_id = :organization_id)"""
_WALKS = {
    False: _walk("organization_id = :organization_id", "threads_by_organization"),
    True: _walk(_OF_ITS_INBOX, "threads_by_inbox"),
}
