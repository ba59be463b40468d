"""What a conversation has come to: has it gone on since, who takes part in it, what is the newest that came in?

`mode`: of who asks. What test keys send reaches nobody: to live ones it says nothing, and opens no door.

Newer means committed later. Ids tell that too, but for messages that were made after the clock was set back by more
than a day; so places in the order of commits are compared, among the newest LOOK by id, however long senders make a
conversation.
"""

from collections.abc import Iterator
from typing import NamedTuple

from storage.engine.dialect import THEN_JOIN, committed
from storage.engine.tx import Tx
from storage.records import MessageRow, columns
from storage.visibility import VISIBLE

LOOK = 5000  # places in the index alone: a millisecond
NEAR = 20  # of the last places, whose messages are looked at before those of all
NEWER_MAX = 1000
_SAID_TO = "m.mode IN ('live', :mode)"
PARTICIPANTS_LOOK = 500  # messages, the newest
LIST_CHARS = 4096  # of a list of addresses that a stranger wrote; longer ones are not looked into

# docs/contract.md, "Unless the conversation went on": programs that answer by themselves, reports, and what never left
# or waits for its time or a decision say nothing new.
_COUNTS = f"""{_SAID_TO} AND (m.direction = 'inbound' AND NOT m.is_auto_reply
    OR m.direction = 'outbound' AND m.status NOT IN ('held', 'scheduled', 'cancelled', 'failed'))"""
_PLACES = f"""(SELECT p.id, {committed("p")} AS place FROM messages p WHERE p.thread_id = :thread
    ORDER BY p.id DESC LIMIT {LOOK})"""
_NEWER = f"""SELECT m.id, m.direction, m.from_address, m.auth, m.created_at, m.snippet
    FROM {_PLACES} n {THEN_JOIN} messages m ON m.id = n.id AND m.{VISIBLE}
    WHERE m.organization_id = :organization AND {{later}} AND {_COUNTS} ORDER BY n.place DESC LIMIT {NEWER_MAX}"""
_LATER_THAN_PLACE = _NEWER.format(later="n.place > :place")
_LATER_THAN_ID = _NEWER.format(later="m.id > :after")
_LAST = f"(SELECT id, place FROM {_PLACES} ORDER BY place DESC LIMIT :look)"
_NEWEST = f"""SELECT m.id FROM {_LAST} n {THEN_JOIN} messages m ON m.id = n.id AND m.{VISIBLE}
    WHERE m.organization_id = :organization AND {_COUNTS} ORDER BY n.place DESC LIMIT 1"""
_NEWEST_INBOUND = f"""SELECT {columns(MessageRow, "m")}
    FROM {_LAST} n {THEN_JOIN} messages m ON m.id = n.id AND m.{VISIBLE}
    WHERE m.organization_id = :organization AND m.direction = 'inbound'
    ORDER BY NOT {_SAID_TO}, m.is_auto_reply, n.place DESC LIMIT 1"""

# Nobody was written to by what waits for its time or a decision, was cancelled, or was refused when its time came.
_WAS_QUEUED = "EXISTS (SELECT 1 FROM recipients r WHERE r.message_id = m.id)"


class NewerMessage(NamedTuple):
    """A message that came, or was sent, later."""

    id: str
    direction: str
    from_address: str
    auth: str | None  # JSON
    created_at: int
    snippet: str


def newer(tx: Tx, organization_id: str, thread_id: str, message_id: str, mode: str) -> list[NewerMessage]:
    """What counts and was committed after the message, newest first, NEWER_MAX at most. The message need not count
    itself. Where it was deleted since, ids decide."""
    place = _place(tx, organization_id, thread_id, message_id)
    parameters = {
        "organization": organization_id, "thread": thread_id, "place": place, "after": message_id, "mode": mode,
    }  # fmt: skip
    rows = tx.all(_LATER_THAN_ID if place is None else _LATER_THAN_PLACE, parameters)
    return [NewerMessage(*row) for row in rows]


def newest(tx: Tx, organization_id: str, thread_id: str, mode: str) -> str | None:
    """The newest message that counts: behind it the conversation has not gone on. None where none counts."""
    found: str | None = None
    for look in (NEAR, LOOK):
        found = found or tx.value(
            _NEWEST, {"organization": organization_id, "thread": thread_id, "look": look, "mode": mode}
        )
    return found


def has(tx: Tx, organization_id: str, thread_id: str, message_id: str) -> bool:
    """Is the message one of the conversation?"""
    return _place(tx, organization_id, thread_id, message_id) is not None


def newest_inbound(tx: Tx, organization_id: str, thread_id: str, mode: str) -> MessageRow | None:
    """The newest message that came in; one that a program answered by itself, and to live keys one of the simulator,
    only where there is no other."""
    found = None
    for look in (NEAR, LOOK):
        row = tx.one(
            _NEWEST_INBOUND,
            {"organization": organization_id, "thread": thread_id, "look": look, "mode": mode},
        )
        found = MessageRow(*row) if row else None
        if found is not None and not found.is_auto_reply and found.mode in ("live", mode):
            break
    return found


class SaidOfPeople(NamedTuple):
    """What a message says of its people; To and Cc are empty where it came in. Lists are JSON arrays, `org_domains` a
    JSON object."""

    is_inbound: bool
    from_address: str
    authors: str | None
    reply_to: str | None
    reply_to_addresses: str | None
    auth: str | None
    org_domains: str | None
    to_addresses: str
    cc_addresses: str
    bcc_addresses: str


def participants(tx: Tx, organization_id: str, thread_id: str, mode: str) -> Iterator[SaidOfPeople]:
    """What came in, and what was sent by those who may write to anybody, newest first."""
    rows = tx.all(
        f"""SELECT direction = 'inbound', from_address, authors, reply_to,
             CASE WHEN length(reply_to_addresses) <= :longest THEN reply_to_addresses END, auth, org_domains,
             CASE direction WHEN 'outbound' THEN to_addresses ELSE '[]' END,
             CASE direction WHEN 'outbound' THEN cc_addresses ELSE '[]' END, bcc_addresses
           FROM (SELECT * FROM messages WHERE thread_id = :thread AND organization_id = :organization AND {VISIBLE}
                 ORDER BY id DESC LIMIT :look) m
           WHERE {_SAID_TO} AND (direction = 'inbound' OR (authority IS NULL AND {_WAS_QUEUED}))""",
        {
            "thread": thread_id, "organization": organization_id, "mode": mode,
            "look": PARTICIPANTS_LOOK, "longest": LIST_CHARS,
        },
    )  # fmt: skip
    return (SaidOfPeople(bool(row[0]), *row[1:]) for row in rows)


def _place(tx: Tx, organization_id: str, thread_id: str, message_id: str) -> int | None:
    place: int | None = tx.value(
        f"""SELECT {committed("m")} FROM messages m
            WHERE m.id = ? AND m.thread_id = ? AND m.organization_id = ? AND m.{VISIBLE}""",
        (message_id, thread_id, organization_id),
    )
    return place
