"""Webhooks, the deliveries that wait for them, and the log of attempts.

A delivery is one row of `webhook_deliveries`: an event and a webhook that was subscribed to it. Its
life (states.WEBHOOK_DELIVERY) is driven by the dispatcher:

- `take` leases it: `attempts` goes up and `next_attempt_at` moves past the end of the attempt *before*
  anything is sent, so that a process that dies in the middle does not hammer the endpoint when it
  comes back.
- `settle` writes the attempt's record and the delivery's next state in one transaction, and lets go.
- `halt` ends what waits for a webhook that is deleted or inactive, unleased as it is, with a last record of each.
- `give_back` undoes `take` for what was not settled: the same attempt number comes again, and with
  it the same `X-Svc-Delivery`.
- `take_again` leases a delivery that the organization asked for again, whatever its status, for its next attempt;
  from there on it is like any other.

What a crash leaves: leased rows. They belong to a run that is over, since a second process refuses
to start; `free_leases` gives them back.
"""

from collections.abc import Sequence
from typing import NamedTuple

from storage.engine.dialect import THEN_JOIN, hops
from storage.engine.tx import Tx
from storage.publishing.events import DELIVERIES, WORDS, Words
from storage.records import EventRow, WebhookAttempt, WebhookRow, columns, dump
from storage.visibility import VISIBLE

AHEAD_ROWS = 1000  # of one look; the rest comes with the next

_SELECT = f"SELECT {columns(WebhookRow)} FROM webhooks"
# One statement for everything: each costs more than the rows that it reads.
_SURROUNDINGS = f"""SELECT {columns(EventRow, "e")}, m.id IS NOT NULL, {WORDS.format("m")},
      w.id IS NOT NULL, {columns(WebhookRow, "w")}
    FROM events e LEFT JOIN messages m ON m.id = e.message_id AND m.organization_id = e.organization_id AND m.{VISIBLE}
    LEFT JOIN webhooks w ON w.id = ? AND w.deleted_at IS NULL WHERE e.seq = ?"""
_STANDING = f"""SELECT EXISTS
        (SELECT 1 FROM messages m WHERE m.id = ? AND m.organization_id = w.organization_id AND m.{VISIBLE}),
      {columns(WebhookRow, "w")} FROM webhooks w WHERE w.id = ? AND w.deleted_at IS NULL"""
_WORDS_AT = len(EventRow._fields)
_WEBHOOK_AT = _WORDS_AT + 1 + len(Words._fields)
_OF_ORGANIZATION = "organization_id = :organization_id AND deleted_at IS NULL"
_INSERT = (
    f"INSERT INTO webhooks ({columns(WebhookRow)}) VALUES ({', '.join('?' for _ in WebhookRow._fields)})"
)
_INSERT_ATTEMPT = f"""INSERT INTO webhook_attempts ({columns(WebhookAttempt)})
    VALUES ({", ".join("?" for _ in WebhookAttempt._fields)})"""

# The cost is that of the webhooks that have something to do, however long their backlogs are.
_PENDING = "FROM webhook_deliveries WHERE status = 'pending' AND lease IS NULL"
_WAITING = f"WITH RECURSIVE {hops('waiting', 'webhook_id', _PENDING)}"
_WITH_HEADS = f"""{_WAITING}, heads (id, organization_id, due_at) AS (
  SELECT w.id, w.organization_id, CASE WHEN w.is_active = 0 OR w.deleted_at IS NOT NULL THEN 0 ELSE
    (SELECT min(next_attempt_at) FROM webhook_deliveries
     WHERE status = 'pending' AND lease IS NULL AND webhook_id = w.id) END
  FROM waiting {THEN_JOIN} webhooks w ON w.id = waiting.id)"""
_HEADS = f"""{_WITH_HEADS}
SELECT * FROM heads WHERE due_at <= :now_ms
UNION ALL SELECT NULL, NULL, min(due_at) FROM heads WHERE due_at > :now_ms"""
_OLDEST_DUE = f"{_WITH_HEADS} SELECT min(due_at) FROM heads WHERE due_at BETWEEN 1 AND ?"
_AHEAD = f"""{_WAITING}
SELECT d.webhook_id, d.event_seq FROM waiting
  {THEN_JOIN} webhook_deliveries d ON d.webhook_id = waiting.id AND d.status = 'pending' AND d.lease IS NULL
    AND d.next_attempt_at > ? LIMIT {AHEAD_ROWS}"""
# Two statements: a subquery and RETURNING in one cost three times as much, for their temporary tables.
_DUE = """
SELECT event_seq, attempts + 1 FROM webhook_deliveries
WHERE webhook_id = :webhook_id AND status = 'pending' AND lease IS NULL AND next_attempt_at <=
  (SELECT :now_ms FROM webhooks WHERE id = :webhook_id AND is_active = 1 AND deleted_at IS NULL)
ORDER BY next_attempt_at, event_seq LIMIT :limit"""
_LEASE = """
UPDATE webhook_deliveries SET lease = ?, attempts = ?, next_attempt_at = ?
WHERE webhook_id = ? AND event_seq = ? AND status = 'pending' AND lease IS NULL"""
_TO_HALT = f"""
SELECT d.webhook_id, d.event_seq, d.attempts + 1,
  e.id, e.type, e.organization_id, e.message_id, w.deleted_at IS NOT NULL
FROM webhooks w {THEN_JOIN} webhook_deliveries d ON d.webhook_id = w.id AND d.status = 'pending' AND d.lease IS NULL
  {THEN_JOIN} events e ON e.seq = d.event_seq
WHERE w.id = ? AND (w.is_active = 0 OR w.deleted_at IS NOT NULL) LIMIT ?"""
_HALT = """
UPDATE webhook_deliveries SET status = 'halted', attempts = ?, next_attempt_at = NULL
WHERE webhook_id = ? AND event_seq = ? AND status = 'pending' AND lease IS NULL"""
_SETTLE = """
UPDATE webhook_deliveries SET status = ?, next_attempt_at = ?, lease = NULL
WHERE webhook_id = ? AND event_seq = ? AND status = 'pending' AND lease = ?"""
_BEHIND = """AND (created_at, id) <
  (SELECT created_at, id FROM webhook_attempts WHERE id = :before AND organization_id = :organization_id)"""


# `:status` is what the row was a moment ago, in this transaction (states.WEBHOOK_DELIVERY).
_TAKE_AGAIN = """
UPDATE webhook_deliveries
SET status = 'pending', lease = :lease, attempts = attempts + 1, next_attempt_at = :until_ms
WHERE webhook_id = :webhook_id AND event_seq = :event_seq AND status = :status AND lease IS NULL
RETURNING attempts"""


class Head(NamedTuple):
    """A webhook that has deliveries waiting. `due_ms`: since when the first is due; 0 where the webhook is deleted or
    inactive, so that they are to be halted."""

    webhook_id: str
    organization_id: str
    due_ms: int

    @property
    def is_to_halt(self) -> bool:
        """Nothing of it is sent any more."""
        return self.due_ms == 0


class LeasedDelivery(NamedTuple):
    """One leased delivery: attempt number `attempt` (from 1) is to be made now."""

    webhook_id: str
    event_seq: int
    attempt: int


class AttemptSettlement(NamedTuple):
    """What came of an attempt: the delivery's next state, and the record."""

    delivery: LeasedDelivery
    status: str
    next_attempt_at: int | None
    record: WebhookAttempt


class PendingDelivery(NamedTuple):
    """A delivery that is to be halted, as its last attempt, and the event that it is of. `is_deleted`: so is its
    webhook, which is inactive else."""

    delivery: LeasedDelivery
    event_id: str
    event_type: str
    organization_id: str
    message_id: str | None
    is_deleted: bool


class Found(NamedTuple):
    """A delivery as it is: its `status`, and whether an attempt is being made now."""

    webhook_id: str
    event_seq: int
    status: str
    is_in_flight: bool


class AttemptContext(NamedTuple):
    """What one attempt needs, as it is now. `webhook` None: deleted. `words` None: no message, or deleted."""

    webhook: WebhookRow | None
    event: EventRow
    words: Words | None


# Registrations -----------------------------------------------------------------------------


def create(
    tx: Tx,
    webhook_id: str,
    now_ms: int,
    *,
    organization_id: str,
    url: str,
    subscribed_events: Sequence[str],
    secret: bytes,
) -> WebhookRow:
    """Write an active webhook and answer its row. `secret` is sealed already."""
    webhook = WebhookRow(
        id=webhook_id,
        organization_id=organization_id,
        url=url,
        subscribed_events=dump(list(subscribed_events)),
        is_active=1,
        secret=secret,
        previous_secret=None,
        previous_secret_until=None,
        created_at=now_ms,
        updated_at=now_ms,
    )
    tx.run(_INSERT, webhook)
    return webhook


def get(tx: Tx, organization_id: str, webhook_id: str) -> WebhookRow | None:
    """The organization's webhook, active or not, or None; a deleted one is not found."""
    row = tx.one(
        f"{_SELECT} WHERE id = :id AND {_OF_ORGANIZATION}",
        {"id": webhook_id, "organization_id": organization_id},
    )
    return None if row is None else WebhookRow(*row)


def list_webhooks(tx: Tx, organization_id: str) -> list[WebhookRow]:
    """All of them (a plan bounds their number), newest first."""
    rows = tx.all(
        f"{_SELECT} WHERE {_OF_ORGANIZATION} ORDER BY id DESC", {"organization_id": organization_id}
    )
    return [WebhookRow(*row) for row in rows]


def count(tx: Tx, organization_id: str) -> int:
    """The organization's webhooks, active or not, but for deleted ones."""
    number: int = tx.value(
        f"SELECT count(*) FROM webhooks WHERE {_OF_ORGANIZATION}", {"organization_id": organization_id}
    )
    return number


def update(
    tx: Tx,
    organization_id: str,
    webhook_id: str,
    now_ms: int,
    *,
    url: str | None = None,
    subscribed_events: Sequence[str] | None = None,
    is_active: bool | None = None,
) -> WebhookRow | None:
    """Change what is given (None: not given) and answer the row; None when the organization does not have it.

    The commit wakes the dispatcher, which halts what is pending for an inactive webhook, with a final record for each.
    """
    row = tx.one(
        f"""UPDATE webhooks SET url = coalesce(:url, url), is_active = coalesce(:is_active, is_active),
              subscribed_events = coalesce(:subscribed_events, subscribed_events), updated_at = :now_ms
            WHERE id = :id AND {_OF_ORGANIZATION} RETURNING {columns(WebhookRow)}""",
        {
            "url": url,
            "is_active": None if is_active is None else int(is_active),
            "subscribed_events": None if subscribed_events is None else dump(list(subscribed_events)),
            "now_ms": now_ms,
            "id": webhook_id,
            "organization_id": organization_id,
        },
    )
    if row is None:
        return None
    tx.notify(DELIVERIES)
    return WebhookRow(*row)


def rotate(
    tx: Tx, organization_id: str, webhook_id: str, now_ms: int, *, secret: bytes, previous_until_ms: int
) -> WebhookRow | None:
    """Replace the secret by `secret` (sealed); the present one signs too until `previous_until_ms`.

    The changed row; None when the organization does not have the webhook.
    """
    row = tx.one(
        f"""UPDATE webhooks SET previous_secret = secret, previous_secret_until = :until_ms,
              secret = :secret, updated_at = :now_ms
            WHERE id = :id AND {_OF_ORGANIZATION} RETURNING {columns(WebhookRow)}""",
        {
            "until_ms": previous_until_ms,
            "secret": secret,
            "now_ms": now_ms,
            "id": webhook_id,
            "organization_id": organization_id,
        },
    )
    return None if row is None else WebhookRow(*row)


def forget_secrets(tx: Tx) -> list[tuple[str, str]]:
    """Blank the secrets of all webhooks; (id, organization) of those that need another one, which is all but the
    deleted."""
    tx.run("UPDATE webhooks SET secret = x'', previous_secret = NULL, previous_secret_until = NULL")
    return tx.all("SELECT id, organization_id FROM webhooks WHERE deleted_at IS NULL")


def set_secret(tx: Tx, webhook_id: str, secret: bytes, now_ms: int) -> None:
    """Give the webhook this secret (sealed) in place of the one that was forgotten."""
    tx.run("UPDATE webhooks SET secret = ?, updated_at = ? WHERE id = ?", (secret, now_ms, webhook_id))


def delete(tx: Tx, organization_id: str, webhook_id: str, now_ms: int) -> bool:
    """Delete the webhook; False when the organization does not have it. The dispatcher halts what is pending for it."""
    changed = tx.run(
        f"""UPDATE webhooks SET deleted_at = :now_ms, updated_at = :now_ms
            WHERE id = :id AND {_OF_ORGANIZATION}""",
        {"now_ms": now_ms, "id": webhook_id, "organization_id": organization_id},
    )
    if changed:
        tx.notify(DELIVERIES)
    return changed == 1


# Deliveries --------------------------------------------------------------------------------


def heads(tx: Tx, now_ms: int) -> tuple[list[Head], int | None]:
    """Every webhook that has an unleased pending delivery which is due; and when the next one is (ms), if any is."""
    *due, (_, _, next_due_ms) = tx.all(_HEADS, {"now_ms": now_ms})
    return [Head(*row) for row in due], next_due_ms


def oldest_due_at(tx: Tx, now_ms: int) -> int | None:
    """Since when the delivery is due (Unix milliseconds) that has been for longest; None where none is."""
    since: int | None = tx.value(_OLDEST_DUE, (now_ms,))
    return since


def ahead(tx: Tx, latest_ms: int) -> list[tuple[str, int]]:
    """Deliveries (webhook, event) that are due after `latest_ms`, AHEAD_ROWS at most: the clock was ahead."""
    return [(webhook_id, event_seq) for webhook_id, event_seq in tx.all(_AHEAD, (latest_ms,))]


def bring_back(tx: Tx, deliveries: Sequence[tuple[str, int]], now_ms: int) -> None:
    """Make these deliveries (webhook, event) due now, unless they are leased or finished by now."""
    tx.run_many(
        """UPDATE webhook_deliveries SET next_attempt_at = ?
           WHERE webhook_id = ? AND event_seq = ? AND status = 'pending' AND lease IS NULL""",
        [(now_ms, *key) for key in deliveries],
    )


def take(
    tx: Tx, webhook_id: str, now_ms: int, *, limit: int, lease: str, until_ms: int
) -> list[LeasedDelivery]:
    """Lease up to `limit` due deliveries of the webhook, oldest event first; due at `until_ms` if the process dies.
    None of one that is deleted or inactive."""
    rows = tx.all(_DUE, {"webhook_id": webhook_id, "now_ms": now_ms, "limit": limit})
    tx.run_many(_LEASE, [(lease, attempt, until_ms, webhook_id, event_seq) for event_seq, attempt in rows])
    return [LeasedDelivery(webhook_id, event_seq, attempt) for event_seq, attempt in sorted(rows)]


def to_halt(tx: Tx, webhook_id: str, limit: int) -> list[PendingDelivery]:
    """What waits for the webhook, where it is deleted or inactive."""
    return [
        PendingDelivery(LeasedDelivery(*row[:3]), row[3], row[4], row[5], row[6], bool(row[7]))
        for row in tx.all(_TO_HALT, (webhook_id, limit))
    ]


def halt(tx: Tx, deliveries: Sequence[LeasedDelivery], records: Sequence[WebhookAttempt]) -> None:
    """End these, which were pending in this transaction, with the records of their last attempts."""
    tx.run_many(_HALT, [(one.attempt, one.webhook_id, one.event_seq) for one in deliveries])
    tx.run_many(_INSERT_ATTEMPT, records)


def logged(tx: Tx, organization_id: str, attempt_id: str) -> tuple[str, str | None] | None:
    """The (webhook, event) that the record of an attempt tells of; None when the organization does not have it."""
    row = tx.one(
        "SELECT webhook_id, event_id FROM webhook_attempts WHERE id = ? AND organization_id = ?",
        (attempt_id, organization_id),
    )
    return None if row is None else (row[0], row[1])


def find(tx: Tx, organization_id: str, webhook_id: str, event_id: str | None) -> Found | None:
    """The delivery of that event; None when retention took it, and for a test ping, which never had one."""
    row = tx.one(
        """SELECT d.webhook_id, d.event_seq, d.status, d.lease IS NOT NULL
           FROM events e JOIN webhook_deliveries d ON d.event_seq = e.seq
           WHERE e.id = ? AND e.organization_id = ? AND d.webhook_id = ?""",
        (event_id, organization_id, webhook_id),
    )
    return None if row is None else Found(row[0], row[1], row[2], bool(row[3]))


def take_again(tx: Tx, found: Found, *, lease: str, until_ms: int) -> LeasedDelivery:
    """Lease a delivery that is not in flight, for its next attempt now; due at `until_ms` if the process dies."""
    attempt = tx.value(
        _TAKE_AGAIN,
        {
            "lease": lease,
            "until_ms": until_ms,
            "webhook_id": found.webhook_id,
            "event_seq": found.event_seq,
            "status": found.status,
        },
    )
    return LeasedDelivery(found.webhook_id, found.event_seq, attempt)


def settle(tx: Tx, lease: str, settlements: Sequence[AttemptSettlement]) -> list[bool]:
    """Log the attempts and move the deliveries on. For each: False, and nothing changed, when its lease is lost."""
    held = [
        tx.run(_SETTLE, (status, next_attempt_at, delivery.webhook_id, delivery.event_seq, lease)) == 1
        for delivery, status, next_attempt_at, _ in settlements
    ]
    tx.run_many(
        _INSERT_ATTEMPT, [one.record for one, is_held in zip(settlements, held, strict=True) if is_held]
    )
    return held


def give_back(tx: Tx, lease: str, now_ms: int) -> int:
    """Undo every `take` under this lease that was not settled; due at once. The number of them."""
    return tx.run(
        """UPDATE webhook_deliveries SET lease = NULL, attempts = attempts - 1, next_attempt_at = ?
           WHERE lease = ? AND status = 'pending'""",
        (now_ms, lease),
    )


def free_leases(tx: Tx) -> int:
    """At start: undo what earlier runs took and did not settle; due at the `until_ms` of each lease. Their number."""
    return tx.run(
        """UPDATE webhook_deliveries SET lease = NULL, attempts = attempts - 1
           WHERE lease IS NOT NULL AND status = 'pending'"""
    )


def surroundings(tx: Tx, delivery: LeasedDelivery) -> AttemptContext | None:
    """The rows around the delivery as they are now; None when retention took the event, and the delivery with it."""
    row = tx.one(_SURROUNDINGS, (delivery.webhook_id, delivery.event_seq))
    if row is None:  # retention took it, and the foreign key cascades
        return None
    has_words, *words = row[_WORDS_AT:_WEBHOOK_AT]
    has_webhook, *webhook = row[_WEBHOOK_AT:]
    return AttemptContext(
        WebhookRow(*webhook) if has_webhook else None,
        EventRow(*row[:_WORDS_AT]),
        Words(words[0], bool(words[1]), words[2]) if has_words else None,
    )


def standing(tx: Tx, webhook_id: str, message_id: str | None) -> tuple[WebhookRow | None, bool]:
    """The webhook as it is now (None: deleted), and whether the message is still there and of its organization."""
    row = tx.one(_STANDING, (message_id, webhook_id))
    return (None, False) if row is None else (WebhookRow(*row[1:]), bool(row[0]))


def log_attempt(tx: Tx, record: WebhookAttempt) -> None:
    """The record of a call that belongs to no delivery (a test ping); none where the organization was deleted
    meanwhile."""
    if tx.one("SELECT 1 FROM organizations WHERE id = ?", (record.organization_id,)):
        tx.run(_INSERT_ATTEMPT, record)


# The log -----------------------------------------------------------------------------------


def attempts(tx: Tx, organization_id: str, *, limit: int, before: str | None = None) -> list[WebhookAttempt]:
    """The organization's attempts, newest first, also those of webhooks that are deleted by now.

    `before`: the id of an attempt; those older than it. After an attempt that retention took, there are none.
    """
    rows = tx.all(
        f"""SELECT {columns(WebhookAttempt)} FROM webhook_attempts WHERE organization_id = :organization_id
            {_BEHIND if before is not None else ""} ORDER BY created_at DESC, id DESC LIMIT :limit""",
        {"organization_id": organization_id, "before": before, "limit": limit},
    )
    return [WebhookAttempt(*row) for row in rows]
