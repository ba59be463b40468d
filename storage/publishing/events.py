"""The outbox: what happened, and the webhooks that are to hear of it.

`publish` runs inside the transaction of the change, so that an event exists exactly when its change
does. It writes one delivery for each webhook that is active and subscribed at that moment, and names the
topics EVENTS and, where it wrote one, DELIVERIES: the commit calls their listeners (storage.engine.writer).
The words of a message are not copied: `controlplane.webhooks` reads them when it renders the event.

`seq` is the order of commits: only the writer's transaction gives numbers, each the highest plus one, so
a reader that sees an event has seen, or will never see, every lower number. A position in the log is a `seq`;
retention never takes the last event (storage.upkeep.retention), or numbers would begin anew. Outside, a position is an
event's id.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from storage.engine.dialect import THEN_JOIN, each_of, elements, holds_plain, unindexed
from storage.engine.tx import Tx
from storage.ids import made_at, stands_for
from storage.records import EventRow, columns, dump, load
from storage.visibility import VISIBLE

EVENTS = "events"  # there are new ones
AUDIT_HEAD = "audit.head"  # the type of the event that the server itself looks for
DELIVERIES = "webhook_deliveries"  # some wait, or what waited has changed

_WRITE = """INSERT INTO events (id, organization_id, inbox_id, message_id, type, mode, data, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
_INSERT = f"{_WRITE} RETURNING seq"
_SUBSCRIBE = f"""INSERT INTO webhook_deliveries (webhook_id, event_seq, status, next_attempt_at)
    SELECT id, ?, 'pending', ? FROM webhooks
    WHERE organization_id = ? AND deleted_at IS NULL AND is_active = 1
      AND {holds_plain("subscribed_events", "?")}"""

_SUBSCRIBE_ALL = f"""INSERT INTO webhook_deliveries (webhook_id, event_seq, status, next_attempt_at)
    SELECT w.id, e.seq, 'pending', ? FROM events e
      {THEN_JOIN} webhooks w ON w.organization_id = e.organization_id
    WHERE e.seq > ? AND w.deleted_at IS NULL AND w.is_active = 1
      AND {holds_plain("w.subscribed_events", "e.type")}"""

WALK = 10_000  # positions that one look passes over at most
_FIRST = "SELECT seq FROM events WHERE organization_id = ? AND seq > ? ORDER BY seq LIMIT 1"
_PAGE = f"""SELECT {columns(EventRow)} FROM events
    WHERE organization_id = :organization AND seq > :after AND seq <= :until AND type IN {each_of(":types")}
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY seq LIMIT :limit"""
_PAGE_BACK = f"""SELECT {columns(EventRow)} FROM events
    WHERE organization_id = :organization AND seq <= :last AND seq > :down AND type IN {each_of(":types")}
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY seq DESC LIMIT :limit"""
_PREVIOUS = "SELECT seq FROM events WHERE organization_id = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
# Each type's newest event before that time: a few steps in events_by_type, however long the log is.
_BEFORE = f"""SELECT max((SELECT seq FROM events WHERE organization_id = :organization AND type = one.value
      AND created_at < :at_ms ORDER BY created_at DESC, seq DESC LIMIT 1)) FROM {elements(":types")} AS one"""
_LAST = """SELECT seq, id FROM events WHERE organization_id = :organization AND seq > :low
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY seq DESC LIMIT 1"""
_LAST_BEFORE = """SELECT seq, id FROM events WHERE organization_id = :organization AND seq <= :low
    ORDER BY seq DESC LIMIT 1"""
_GONE = f"""SELECT 1 FROM events_gone WHERE organization_id = :organization AND {{0}} > :after
      AND (type = '' OR type IN {each_of(":types")} AND (:inbox IS NULL OR inbox_id = :inbox)) LIMIT 1"""
_LAST_GONE = """SELECT (SELECT max(seq) FROM events_gone WHERE organization_id = :organization),
    (SELECT max(event_id) FROM events_gone WHERE organization_id = :organization)"""
# The few new events by their numbers; the index by organization would be read from its beginning to its end.
_PUBLISHERS = f"SELECT DISTINCT {unindexed('organization_id')}, inbox_id FROM events WHERE seq > ?"
_LAST_HEAD = """SELECT data, created_at FROM events WHERE organization_id = ? AND type = ? AND created_at < ?
    ORDER BY created_at DESC LIMIT 1"""
_LAST_ARRIVAL = """SELECT seq, message_id, created_at FROM events
    WHERE organization_id = :organization AND seq > :low AND seq <= :until AND type = 'email.received'
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY seq DESC LIMIT 1"""
_LAST_ARRIVAL_SINCE = f"""SELECT seq, message_id, created_at FROM events
    WHERE organization_id = :organization AND type = 'email.received' AND created_at >= :since
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY {unindexed("seq")} DESC LIMIT 1"""
_ARRIVALS = """SELECT seq, message_id, created_at FROM events
    WHERE organization_id = :organization AND seq > :after AND seq <= :until AND type = 'email.received'
      AND (:inbox IS NULL OR inbox_id = :inbox) ORDER BY seq LIMIT :limit"""

# The columns of Words, of a message called so.
WORDS = "{0}.text_body, {0}.text_body IS NULL AND {0}.text_slices IS NOT NULL, {0}.extracted_text"


class Selection(NamedTuple):
    """The events that a reader may and wants to see. `inbox_id`: those of that inbox alone."""

    organization_id: str
    inbox_id: str | None
    types: Sequence[str]


class Told(NamedTuple):
    """An event of the log, and the words of its message, where it tells them and they are still there."""

    event: EventRow
    words: "Words | None"


class LogPage(NamedTuple):
    """What one look has found, and the position behind which the next one goes on. `is_end`: nothing is there, yet."""

    told: list[Told]
    position: int
    is_end: bool


def publish(
    tx: Tx,
    event_id: str,
    now_ms: int,
    *,
    organization_id: str,
    type: str,
    data: Mapping[str, Any],
    mode: str = "live",
    inbox_id: str | None = None,
    message_id: str | None = None,
) -> None:
    """Write the event and its deliveries; the commit calls the listeners of their topics.

    `data`: the event's `data` object as docs/contract.md, section 6, gives it, less what is read from
    the message on rendering (`text`, `textTruncated`, `extractedText`).
    """
    seq = tx.value(_INSERT, (event_id, organization_id, inbox_id, message_id, type, mode, dump(data), now_ms))
    tx.notify(EVENTS)
    if tx.run(_SUBSCRIBE, (seq, now_ms, organization_id, type)):
        tx.notify(DELIVERIES)


class NewEvent(NamedTuple):
    """What `publish` takes of one event; `data`: as it dumps it."""

    id: str
    organization_id: str
    inbox_id: str | None
    message_id: str | None
    type: str
    mode: str
    data: str


def publish_all(tx: Tx, now_ms: int, new: Sequence[NewEvent]) -> None:
    """`publish` of several events, in their order."""
    if not new:
        return
    before = newest(tx)
    tx.run_many(_WRITE, [(*one, now_ms) for one in new])
    tx.notify(EVENTS)
    if tx.run(_SUBSCRIBE_ALL, (now_ms, before)):
        tx.notify(DELIVERIES)


def get(tx: Tx, seq: int) -> EventRow | None:
    """The event at that position, of any organization; None when retention took it."""
    row = tx.one(f"SELECT {columns(EventRow)} FROM events WHERE seq = ?", (seq,))
    return None if row is None else EventRow(*row)


def list_events(tx: Tx, selection: Selection, *, after: int, limit: int) -> LogPage:
    """Up to `limit` events behind the position, oldest first; none, where WALK positions hold none that is wanted."""
    first: int | None = tx.value(_FIRST, (selection.organization_id, after))
    end = newest(tx)
    if first is None:
        return LogPage([], max(after, end), True)
    until = first + WALK - 1
    rows = tx.all(
        _PAGE,
        {
            "organization": selection.organization_id,
            "inbox": selection.inbox_id,
            "types": dump(list(selection.types)),
            "after": after,
            "until": until,
            "limit": limit,
        },
    )
    found = [EventRow(*row) for row in rows]
    told = [Told(one, words_of(tx, one) if one.type == "email.received" else None) for one in found]
    if len(found) == limit:
        return LogPage(told, found[-1].seq, False)
    return LogPage(told, min(until, end), until >= end)


class BackPage(NamedTuple):
    """What one look back has found, and the position in front of which the next one goes on."""

    rows: list[EventRow]
    position: int
    is_end: bool


def list_back(tx: Tx, selection: Selection, *, before: int, limit: int) -> BackPage:
    """Up to `limit` events in front of the position, newest first; none, where WALK positions hold none that is
    wanted."""
    last: int | None = tx.value(_PREVIOUS, (selection.organization_id, before))
    if last is None:
        return BackPage([], before, True)
    given = {
        "organization": selection.organization_id,
        "inbox": selection.inbox_id,
        "types": dump(list(selection.types)),
        "last": last,
        "down": last - WALK,
        "limit": limit,
    }
    found = [EventRow(*row) for row in tx.all(_PAGE_BACK, given)]
    return BackPage(found, found[-1].seq if len(found) == limit else last - WALK + 1, False)


def position(tx: Tx, selection: Selection, event_id: str) -> int:
    """Where the event of that id stands.

    An id that is not in the organization's log (any more) stands where its time does: before every event of its
    millisecond and later, so nothing that came after it is missed.
    """
    seq = kept_position(tx, selection.organization_id, event_id)
    if seq is None:
        return position_at(tx, selection.organization_id, selection.types, made_at(event_id))
    return seq


def kept_position(tx: Tx, organization_id: str, event_id: str) -> int | None:
    """The same of an id that is in the organization's log; else None."""
    seq: int | None = tx.value(
        "SELECT seq FROM events WHERE id = ? AND organization_id = ?", (event_id, organization_id)
    )
    return seq


def has_gap(tx: Tx, selection: Selection, event_id: str) -> bool:
    """Did the log lose an event that the reader wanted behind that one, by its age? Of an id that is not in the log
    (any more) its time says what came later. One that never was in it is of a store that this one was restored from:
    what else that had is lost, too."""
    seq = kept_position(tx, selection.organization_id, event_id)
    if seq is None and _never_was(tx, selection.organization_id, event_id):
        return True
    given = {
        "organization": selection.organization_id,
        "inbox": selection.inbox_id,
        "types": dump(list(selection.types)),
        "after": event_id if seq is None else seq,
    }
    return tx.value(_GONE.format("event_id" if seq is None else "seq"), given) is not None


def _never_was(tx: Tx, organization_id: str, event_id: str) -> bool:
    """Of an id that is not in the log: did retention not take it either? What stands for a time was handed out here."""
    if event_id == stands_for("evt", made_at(event_id)):
        return False
    _, newest_gone = tx.one(_LAST_GONE, {"organization": organization_id}) or (None, None)
    return newest_gone is None or event_id > newest_gone


def last(tx: Tx, selection: Selection) -> tuple[int, str | None]:
    """The newest event that the reader may see, of any type: (position, id), or (0, None) where there was none.

    Where the log lost newer ones, the newest of those: who begins here misses none of them.
    """
    kept = _last_kept(tx, selection)
    seq, event_id = tx.one(_LAST_GONE, {"organization": selection.organization_id}) or (None, None)
    return kept if seq is None or seq < kept[0] else (seq, event_id)


def _last_kept(tx: Tx, selection: Selection) -> tuple[int, str | None]:
    """Of one inbox, only so many are passed over: where none of them is its own, an id that stands for the time
    before."""
    low = newest(tx) - WALK if selection.inbox_id is not None else 0
    given = {"organization": selection.organization_id, "inbox": selection.inbox_id, "low": low}
    row = tx.one(_LAST, given)
    if row is not None:
        return row[0], row[1]
    before = tx.one(_LAST_BEFORE, given)
    if before is None:
        return 0, None
    return before[0], stands_for("evt", made_at(before[1]) + 1)


class ToldHead(NamedTuple):
    """How far an audit log was told of, and when."""

    seq: int
    created_at: int


def last_audit_head(tx: Tx, organization_id: str, before_ms: int) -> ToldHead | None:
    """What the last event AUDIT_HEAD of the organization said before that time; None: the log has none."""
    row = tx.one(_LAST_HEAD, (organization_id, AUDIT_HEAD, before_ms))
    return None if row is None else ToldHead(load(row[0])["seq"], row[1])


def newest(tx: Tx) -> int:
    """The position of the newest event of all organizations; 0 in an empty log."""
    seq: int = tx.value("SELECT coalesce(max(seq), 0) FROM events")
    return seq


def newest_until(tx: Tx, until_ms: int) -> int | None:
    """The latest time up to this one at which an event was published; None where there is none."""
    at_ms: int | None = tx.value("SELECT max(created_at) FROM events WHERE created_at <= ?", (until_ms,))
    return at_ms


def newest_ms(tx: Tx) -> int | None:
    """The latest time at which any event was published, whatever its position; None where there is none."""
    at_ms: int | None = tx.value("SELECT max(created_at) FROM events")
    return at_ms


def newest_before(tx: Tx, id: str) -> str | None:
    """Of all organizations; None: there is none. A text that begins as ids do will do."""
    newest: str | None = tx.value("SELECT max(id) FROM events WHERE id < ?", (id,))
    return newest


def published_since(tx: Tx, seq: int | None) -> tuple[int, set[tuple[str, str | None]]]:
    """The position of the newest event of all, and whose events are behind `seq` (None: not asked): organizations, each
    with the inbox, or None for events that belong to no inbox."""
    now_at = newest(tx)
    if seq is None or now_at <= seq:
        return now_at, set()
    return now_at, {(row[0], row[1]) for row in tx.all(_PUBLISHERS, (seq,))}


class Arrival(NamedTuple):
    """A message that came in, in the order of commits; it may be deleted meanwhile."""

    seq: int
    message_id: str
    created_at: int


class ArrivalPage(NamedTuple):
    """As LogPage."""

    arrivals: list[Arrival]
    position: int
    is_end: bool


def arrivals(tx: Tx, organization_id: str, inbox_id: str | None, *, after: int, limit: int) -> ArrivalPage:
    """Up to `limit` messages that came in behind the position, the first one first; none, where WALK positions hold
    none. `inbox_id` None: in any inbox."""
    first: int | None = tx.value(_FIRST, (organization_id, after))
    end = newest(tx)
    if first is None:
        return ArrivalPage([], max(after, end), True)
    until = first + WALK - 1
    given = {
        "organization": organization_id,
        "inbox": inbox_id,
        "after": after,
        "until": until,
        "limit": limit,
    }
    found = [Arrival(*row) for row in tx.all(_ARRIVALS, given)]
    if len(found) == limit:
        return ArrivalPage(found, found[-1].seq, False)
    return ArrivalPage(found, min(until, end), until >= end)


def last_arrival_since(tx: Tx, organization_id: str, inbox_id: str | None, since_ms: int) -> Arrival | None:
    """The message that came in last, of those that did since that time; whatever else was told since."""
    given = {"organization": organization_id, "inbox": inbox_id, "since": since_ms}
    row = tx.one(_LAST_ARRIVAL_SINCE, given)
    return None if row is None else Arrival(*row)


def last_arrival(tx: Tx, organization_id: str, inbox_id: str | None, until: int) -> Arrival | None:
    """The message that came in last, up to the position; None where none did among the WALK positions before."""
    given = {"organization": organization_id, "inbox": inbox_id, "low": until - WALK, "until": until}
    row = tx.one(_LAST_ARRIVAL, given)
    return None if row is None else Arrival(*row)


def arrival_of(tx: Tx, organization_id: str, message_id: str) -> Arrival | None:
    """Where the message came in; None where the log has it not (any more)."""
    row = tx.one(
        """SELECT seq, message_id, created_at FROM events
           WHERE message_id = ? AND organization_id = ? AND type = 'email.received'""",
        (message_id, organization_id),
    )
    return None if row is None else Arrival(*row)


def position_at(tx: Tx, organization_id: str, types: Sequence[str], at_ms: int) -> int:
    """The position of the newest event of these types that was made before that time; 0 where there is none."""
    given = {"organization": organization_id, "types": dump(list(types)), "at_ms": at_ms}
    return tx.value(_BEFORE, given) or 0


class Words(NamedTuple):
    """What the message says. `text` None and `is_sliced`: too large for its row, read it from the blob."""

    text: str | None
    is_sliced: bool
    extracted_text: str | None


def words_of(tx: Tx, event: EventRow) -> Words | None:
    """The words of the event's message; None when it has none, or it was deleted meanwhile."""
    row = tx.one(
        f"SELECT {WORDS.format('m')} FROM messages m WHERE id = ? AND organization_id = ? AND {VISIBLE}",
        (event.message_id, event.organization_id),
    )
    return None if row is None else Words(row[0], bool(row[1]), row[2])
