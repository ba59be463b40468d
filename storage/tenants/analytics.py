"""What became of an organization's mail, counted over its own rows, a slice at a time.

A slice is a unit of work of some milliseconds, however much mail there is; the caller asks for the next
slice from where the last one ended. Ids sort by time, so a span of time is a span of ids, which an index alone tells;
only where ids and times went apart (storage.id_spans) each message is asked for its time. Test mail, and what was
scheduled and not dispatched, counts for nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from storage import id_spans
from storage.engine.dialect import each_of, elements, unindexed
from storage.engine.tx import Tx
from storage.ids import first_at
from storage.records import dump
from storage.visibility import VISIBLE

SLICE_MESSAGES = 1000
SLICE_EVENTS = 10_000  # an index alone is read


class AnalyticsSpan(NamedTuple):
    """The mail of an organization, or of one inbox, from `since_ms` to before `until_ms` (Unix milliseconds)."""

    organization_id: str
    inbox_id: str | None
    since_ms: int
    until_ms: int


class IdBounds(NamedTuple):
    """The span's messages have ids from `first` on and before `until`, and are what the condition `within` says."""

    first: str
    until: str
    within: str


class MessageSlice(NamedTuple):
    """The messages behind `after`, up to `last`."""

    after: str
    last: str
    received: int


class DeliveryTime(NamedTuple):
    """One recipient of an outbound message. `took_ms`: from the send to the acceptance, once delivered."""

    status: str
    took_ms: int | None


class Destined(NamedTuple):
    """One recipient of an outbound message: the destination, and what the last attempt there was answered."""

    domain: str
    status: str
    last_attempt_at: int | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None


class EventSlice(NamedTuple):
    """The events of a span up to `until_ms`."""

    until_ms: int
    buckets: "list[Bucket]"


class Bucket(NamedTuple):
    """Events of one type in one period; periods without an event have no bucket."""

    type: str
    begins_ms: int
    events: int


# An inbox's mail is found by the index by inbox, which is never the longer one.
_OF_ORGANIZATION = "m.organization_id = :organization"
_OF_INBOX = f"m.inbox_id = :inbox AND {unindexed('m.organization_id')} = :organization"
_OUTBOUND = """m.id > :after AND m.id <= :last AND m.direction = 'outbound' AND m.mode = 'live'
      AND m.status NOT IN ('held', 'scheduled', 'cancelled')"""
_EVENTS = f"""SELECT type, created_at / :period * :period AS begins, count(*) FROM events
    WHERE organization_id = :organization AND type IN {each_of(":types")}
      AND created_at >= :since AND created_at < :until
      AND mode = 'live' AND (:inbox IS NULL OR inbox_id = :inbox)
    GROUP BY type, begins"""
_WITHIN = "m.created_at >= :since_ms AND m.created_at < :until_ms"
# When so many events of one of the types have passed; NULL: never in the span.
_EVENTS_REACH = f"""SELECT min((SELECT created_at FROM events
      WHERE organization_id = :organization AND type = one.value AND created_at >= :since AND created_at < :until
      ORDER BY created_at LIMIT 1 OFFSET :share))
    FROM {elements(":types")} one"""


def next_slice(tx: Tx, span: AnalyticsSpan, after: str) -> MessageSlice | None:
    """The slice that begins behind `after` ("": at the beginning); None when there is nothing more."""
    bounds = _bounds(tx, span)
    after = max(after, bounds.first)
    row = tx.one(
        f"""SELECT max(id), count(CASE WHEN is_received THEN 1 END)
            FROM (SELECT m.id, m.direction = 'inbound' AND m.mode = 'live' AND {bounds.within} AS is_received
                  FROM messages m
                  WHERE {_scope(span)} AND m.{VISIBLE} AND m.id > :after AND m.id < :until
                  ORDER BY m.id LIMIT :limit)""",
        {**_given(span, after), "until": bounds.until, "limit": SLICE_MESSAGES},
    )
    assert row is not None
    last, received = row
    return None if last is None else MessageSlice(after, last, received)


def deliveries(tx: Tx, span: AnalyticsSpan, part: MessageSlice) -> list[DeliveryTime]:
    """The recipients of the slice's outbound messages."""
    rows = tx.all(
        f"""SELECT r.status, a.created_at - coalesce(m.scheduled_at, m.counted_at, m.created_at)
            FROM messages m JOIN recipients r ON r.message_id = m.id
            LEFT JOIN delivery_attempts a ON r.status = 'delivered' AND a.message_id = r.message_id
              AND a.position = r.position AND a.attempt = r.attempts
            WHERE {_scope(span)} AND m.{VISIBLE} AND {_OUTBOUND} AND {_bounds(tx, span).within}""",
        {**_given(span, part.after), "last": part.last},
    )
    return [DeliveryTime(*row) for row in rows]


def destined(tx: Tx, span: AnalyticsSpan, part: MessageSlice) -> list[Destined]:
    """The recipients of the slice's outbound messages, with their destinations and the last answers from there."""
    rows = tx.all(
        f"""SELECT r.domain, r.status, r.last_attempt_at, r.smtp_code, r.enhanced_code, r.response
            FROM messages m JOIN recipients r ON r.message_id = m.id
            WHERE {_scope(span)} AND m.{VISIBLE} AND {_OUTBOUND} AND {_bounds(tx, span).within}""",
        {**_given(span, part.after), "last": part.last},
    )
    return [Destined(*row) for row in rows]


def complaints(tx: Tx, span: AnalyticsSpan) -> int:
    """Complaints about the messages of the span, whenever they came."""
    bounds = _bounds(tx, span)
    count: int = tx.value(
        f"""SELECT count(*) FROM events e JOIN messages m ON m.id = e.message_id AND m.{VISIBLE}
           WHERE e.organization_id = :organization AND e.type = 'email.complained' AND e.mode = 'live'
             AND (:inbox IS NULL OR e.inbox_id = :inbox) AND e.message_id > :after AND e.message_id < :until
             AND {bounds.within}""",
        {**_given(span, bounds.first), "until": bounds.until},
    )
    return count


def events(tx: Tx, span: AnalyticsSpan, types: Sequence[str], period_ms: int) -> EventSlice:
    """How many events of these types there were in each period from the span's beginning on, of some SLICE_EVENTS; all
    of one millisecond are in one slice. Periods are counted from 1970 (UTC)."""
    given = {"organization": span.organization_id, "types": dump(list(types)), "since": span.since_ms}
    share = SLICE_EVENTS // len(types)
    reached: int | None = tx.value(_EVENTS_REACH, {**given, "until": span.until_ms, "share": share})
    until_ms = span.until_ms if reached is None else max(reached, span.since_ms + 1)
    rows = tx.all(_EVENTS, {**given, "until": until_ms, "inbox": span.inbox_id, "period": period_ms})
    return EventSlice(until_ms, [Bucket(*row) for row in rows])


def _scope(span: AnalyticsSpan) -> str:
    return _OF_ORGANIZATION if span.inbox_id is None else _OF_INBOX


def _bounds(tx: Tx, span: AnalyticsSpan) -> IdBounds:
    if not id_spans.drift_ms(tx, span.organization_id):
        return IdBounds(first_at("msg", span.since_ms), first_at("msg", span.until_ms), "true")
    first, until = id_spans.between(tx, span.organization_id, span.since_ms, span.until_ms)
    assert first is not None and until is not None
    return IdBounds(first, until, _WITHIN)


def _given(span: AnalyticsSpan, after: str) -> dict[str, str | int | None]:
    return {
        "organization": span.organization_id,
        "inbox": span.inbox_id,
        "since_ms": span.since_ms,
        "until_ms": span.until_ms,
        "after": after,
    }
