"""The outbound queue: recipients that are `queued` or `deferred`, and which of them are being delivered now.

What is durable when: `lease` counts the attempt and writes the time of the *next* one before a host is
dialled, so that a process that dies in the middle of a delivery tries again on schedule, and not at once
for ever. `settle` ends a lease together with what became of it; it changes a row only from the
status that it was leased in, so that a message deleted meanwhile stays deleted.

`lease`, `settle`, `give_back` and `let_go` are called by the queue of the one process that serves this store;
`free_all` runs at its start, when every lease is one of a process that died.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import idna

from storage import switches
from storage.engine.dialect import THEN_JOIN, each_of
from storage.engine.tx import Tx
from storage.records import RecipientRow, columns, dump
from storage.sending import suppressions
from storage.states import RECIPIENT

LEASED_BLOB_BYTES = 8 * 1024  # smaller messages come with their lease; larger ones are loaded when sent

HASTENED_ROWS = 1000  # the rest is tried when its own time comes

SCAN_ROWS = 10_000  # of full lines, in one lease: some milliseconds

PENDING = "status IN ('queued', 'deferred') AND lease IS NULL"
# A long line that is full is stepped over, SCAN_ROWS at a time, so that no transaction takes long.
_SCAN = f"""FROM recipients WHERE {PENDING} AND next_attempt_at <= :now
      AND (next_attempt_at, message_id, position) > (:since_at, :since_id, :since_position)
    ORDER BY next_attempt_at, message_id, position"""
_DUE_OF = f"""SELECT r.message_id, r.position, r.organization_id, r.address, r.domain, r.kind, r.status,
      r.attempts, r.expires_at, m.inbox_id, m.mode, m.blob_id, m.header_length, m.size_bytes,
      m.from_address, m.envelope_from, m.bounce_token, m.message_id_header, m.created_at, m.unsubscribe,
      CASE WHEN b.size_bytes <= {LEASED_BLOB_BYTES} THEN b.data END, b.sha256,
      EXISTS (SELECT 1 FROM tls_reports_sent t WHERE t.message_id = m.id)
    FROM ({{}}) due
    {THEN_JOIN} recipients r ON r.message_id = due.message_id AND r.position = due.position
    {THEN_JOIN} messages m ON m.id = r.message_id
    LEFT JOIN blobs b ON b.id = m.blob_id"""
_DUE = _DUE_OF.format(
    f"""SELECT message_id, position
        FROM (SELECT message_id, position, domain, organization_id {_SCAN} LIMIT {SCAN_ROWS})
        WHERE domain NOT IN {each_of(":domains")} AND organization_id NOT IN {each_of(":organizations")}
          AND organization_id || domain NOT IN {each_of(":lines")} LIMIT :limit"""
)
_LEASE = """UPDATE recipients SET lease = ?, attempts = ?, last_attempt_at = ?, next_attempt_at = ?
    WHERE message_id = ? AND position = ?"""
_SCANNED_TO = f"SELECT next_attempt_at, message_id, position {_SCAN} LIMIT 1 OFFSET {SCAN_ROWS - 1}"
_NEXT_DUE = f"SELECT min(next_attempt_at) FROM recipients WHERE {PENDING} AND next_attempt_at > ?"
_AHEAD = f"""SELECT message_id, position, attempts, expires_at FROM recipients
    WHERE {PENDING} AND next_attempt_at > ? LIMIT {{}}"""
_SETTLE = """UPDATE recipients SET lease = NULL, status = ?, next_attempt_at = ?, remote_host = ?,
      smtp_code = ?, enhanced_code = ?, response = ?, tls = ?
    WHERE message_id = ? AND position = ? AND status = ?"""
_ATTEMPT = """INSERT INTO delivery_attempts (message_id, position, attempt, outcome, remote_host, smtp_code,
      enhanced_code, response, tls, duration_ms, created_at, has_left, next_attempt_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# What `lease` wrote of an attempt that was none.
_NOT_TRIED = """attempts = attempts - 1, last_attempt_at = (SELECT max(created_at) FROM delivery_attempts a
      WHERE a.message_id = recipients.message_id AND a.position = recipients.position)"""
_HELD = """SELECT 1 FROM recipients
    WHERE message_id = ? AND position = ? AND status = ? AND lease IS NOT NULL"""
# All that may keep one recipient back, in one row: each further statement is a turn at Python's interpreter.
_LOOK_AGAIN = f"""SELECT EXISTS (SELECT 1 FROM switched_off WHERE name = ?), EXISTS ({_HELD}),
      EXISTS ({suppressions.ANY_OF_TWO})"""
_RECIPIENTS = f"SELECT {columns(RecipientRow)} FROM recipients WHERE message_id = ? ORDER BY position"
_ENQUEUE = """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status,
      next_attempt_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?)"""


class Due(NamedTuple):
    """A leased recipient, with what delivering it needs of its message."""

    message_id: str
    position: int
    organization_id: str
    address: str
    domain: str
    kind: str
    status: str  # the one it was leased in
    attempts: int  # this one included
    expires_at: int
    inbox_id: str
    mode: str
    blob_id: str | None
    header_length: int
    size_bytes: int
    from_address: str
    envelope_from: str  # "": one for each destination, made of the token
    bounce_token: str | None
    message_id_header: str | None
    created_at: int
    unsubscribe: int  # each recipient gets a copy of its own
    data: bytes | None  # the raw message, when it is small
    sha256: bytes | None
    is_tls_report: int  # RFC 8460 §5.3.1: no policy for TLS keeps it back
    next_attempt_at: int = 0  # what `lease` wrote: when it is tried again if this process dies
    leased_at: int = 0


class RecipientSettlement(NamedTuple):
    """What became of one recipient in one attempt: its new row, and the attempt's record."""

    message_id: str
    position: int
    from_status: str
    status: str
    outcome: str
    attempt: int
    next_attempt_at: int | None
    remote_host: str | None
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None
    tls: str | None
    duration_ms: int
    has_left: bool = False  # some host was told MAIL FROM
    was_tried: bool = True  # else it is no attempt, and has no record


class QueuePlace(NamedTuple):
    """Where a row stands in the queue: the longest due first, the message that was written first where that is one."""

    due_at: int = 0  # Unix milliseconds
    message_id: str = ""
    position: int = 0


class FullLines(NamedTuple):
    """Of whom nothing more is to be leased: all mail to a destination (an A-label), all of an organization, or what an
    organization has for a destination."""

    destinations: frozenset[str] = frozenset()
    organizations: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()  # organization, destination

    def include(self, others: "FullLines") -> bool:
        """Are all of the others among these?"""
        return (
            others.destinations <= self.destinations
            and others.organizations <= self.organizations
            and others.pairs <= self.pairs
        )

    def union(self, others: "FullLines") -> "FullLines":
        """Both."""
        return FullLines(
            self.destinations | others.destinations,
            self.organizations | others.organizations,
            self.pairs | others.pairs,
        )


class Leased(NamedTuple):
    """What one `lease` took, and when to come again. `next_due_at`: Unix milliseconds, None: nothing else waits."""

    rows: list[Due]
    next_due_at: int | None  # of the rows that are not due yet
    scanned_to: QueuePlace | None  # there may be more of what is due, behind it
    is_paused: bool = False  # by the operator: nothing leaves
    at_ms: int = 0  # up to when rows were due


def enqueue(
    tx: Tx,
    message_id: str,
    organization_id: str,
    recipients: Sequence[tuple[str, str]],
    now_ms: int,
    expires_at: int,
) -> list[RecipientRow]:
    """Put a message's recipients, (kind, address) each, into the queue; they are due at once. Answers their rows."""
    rows = [
        RecipientRow(
            message_id=message_id,
            position=position,
            organization_id=organization_id,
            address=address,
            domain=destination(address),
            kind=kind,
            status="queued",
            attempts=0,
            last_attempt_at=None,
            next_attempt_at=now_ms,
            expires_at=expires_at,
            remote_host=None,
            smtp_code=None,
            enhanced_code=None,
            response=None,
            tls=None,
        )
        for position, (kind, address) in enumerate(recipients)
    ]
    tx.run_many(_ENQUEUE, [(*row[:6], row.next_attempt_at, row.expires_at) for row in rows])
    return rows


def destination(address: str) -> str:
    """The address's domain as an A-label in lower case: what the queue groups by."""
    domain = address.rpartition("@")[2].rstrip(".").lower()
    return domain if domain.isascii() else idna.encode(domain, uts46=True).decode()


def lease(
    tx: Tx,
    lease_id: str,
    now_ms: int,
    limit: int,
    retry_at: Callable[[int, int], int],
    full: FullLines = FullLines(),
    since: QueuePlace = QueuePlace(),
) -> Leased:
    """Take up to `limit` due rows, the longest due first, of lines that are not `full`.

    `since`: the `scanned_to` of a lease that only stepped over full lines.
    `retry_at(attempts, expires_at)`: when to try again (Unix milliseconds) if this attempt, the attempts-th, fails;
    asked once for what goes in one transaction, so that it stays together.
    """
    if switches.off_since(tx, switches.QUEUE) is not None:
        return Leased([], None, None, is_paused=True)
    window = {
        "since_at": since.due_at,
        "since_id": since.message_id,
        "since_position": since.position,
        "now": now_ms,
    }
    refused = {
        "domains": dump(list(full.destinations)),
        "organizations": dump(list(full.organizations)),
        "lines": dump(["".join(pair) for pair in full.pairs]),
    }
    rows = tx.all(_DUE, {**window, **refused, "limit": limit})
    scanned = tx.one(_SCANNED_TO, window) if any(full) and len(rows) < limit else None
    leased = []
    times: dict[tuple[str, str, int, int], int] = {}
    for row in rows:
        due = Due(*row)
        attempts = due.attempts + 1
        together = (due.message_id, due.domain, due.position if due.unsubscribe else 0, attempts)
        if together not in times:
            times[together] = retry_at(attempts, due.expires_at)
        leased.append(due._replace(attempts=attempts, next_attempt_at=times[together], leased_at=now_ms))
    taken = [(one.attempts, one.next_attempt_at, one.message_id, one.position) for one in leased]
    tx.run_many(_LEASE, [(lease_id, attempts, now_ms, *more) for attempts, *more in taken])
    scanned_to = QueuePlace(*scanned) if scanned else None
    return Leased(leased, tx.value(_NEXT_DUE, (now_ms,)), scanned_to, at_ms=now_ms)


def waiting(tx: Tx, source: str, parameters: Mapping[str, object], limit: int) -> list[Due]:
    """Rows that wait, without a lease, as a lease would have them; `source`: FROM and WHERE, of `recipients`."""
    found = f"SELECT message_id, position {source} LIMIT :limit"
    return [Due(*row) for row in tx.all(_DUE_OF.format(found), {**parameters, "limit": limit})]


def bring_back(tx: Tx, now_ms: int, longest_ms: int, retry_at: Callable[[int, int], int]) -> None:
    """Put rows that are due later than `longest_ms` from now back to the time that they would have if they failed now.

    No schedule makes a row wait so long: it was put off while the clock was ahead. Rows that were never tried are due
    now. `retry_at`: as for `lease`. As a rule there are no such rows, which costs one look into the index; it changes
    HASTENED_ROWS at a time.
    """
    for message_id, position, attempts, expires_at in tx.all(
        _AHEAD.format(HASTENED_ROWS), (now_ms + longest_ms,)
    ):
        due_ms = retry_at(attempts, expires_at) if attempts else now_ms
        tx.run(
            "UPDATE recipients SET next_attempt_at = ? WHERE message_id = ? AND position = ?",
            (due_ms, message_id, position),
        )


class Wanted(NamedTuple):
    """Leased rows by what is to become of them. `gone`: deleted or withdrawn meanwhile. `is_paused`: none may leave."""

    willing: list[Due]
    suppressed: list[Due]
    gone: list[Due]
    is_paused: bool = False


def look_again(tx: Tx, rows: Iterable[Due], keys_of: Callable[[str], Sequence[str]]) -> Wanted:
    """Ask which of the leased rows are still to be sent: they may have stood in a line for long. One statement a row.

    `keys_of(address)`: the comparison keys under which the address may be suppressed, one or two.
    """
    wanted = Wanted([], [], [])
    for row in rows:
        key, *others = keys_of(row.address)
        keys = (row.organization_id, key, *others) if others else (row.organization_id, key, key)
        found = tx.one(_LOOK_AGAIN, (switches.QUEUE, row.message_id, row.position, row.status, *keys))
        assert found is not None  # without a FROM there is always a row
        is_paused, is_held, is_suppressed = found
        if is_paused:
            return Wanted([], [], [], is_paused=True)
        if not is_held:
            wanted.gone.append(row)
        elif is_suppressed and row.mode == "live":
            wanted.suppressed.append(row)
        else:
            wanted.willing.append(row)
    return wanted


def give_back(tx: Tx, rows: Iterable[tuple[str, int]], due_ms: int) -> None:
    """End leases of rows (message, position) for which no host was dialled: due then, the attempt not counted."""
    for key in rows:
        tx.run(
            f"""UPDATE recipients SET lease = NULL, {_NOT_TRIED}, next_attempt_at = ?
               WHERE message_id = ? AND position = ? AND lease IS NOT NULL""",
            (due_ms, *key),
        )


def let_go(tx: Tx, rows: Iterable[tuple[str, int]]) -> None:
    """End leases of rows (message, position) without a verdict: due when `lease` said, the attempt counted."""
    tx.run_many("UPDATE recipients SET lease = NULL WHERE message_id = ? AND position = ?", rows)


def hasten(tx: Tx, organization_id: str, domain: str, now_ms: int) -> int:
    """Make due what waits of mail from the organization's inboxes on the domain; the number of recipients.

    Of a long queue only the SCAN_ROWS that are due first are looked at; the rest is tried when its own time comes.
    """
    return tx.run(
        f"""UPDATE recipients SET next_attempt_at = :now WHERE (message_id, position) IN
              (SELECT r.message_id, r.position
               FROM (SELECT message_id, position, organization_id FROM recipients
                     WHERE {PENDING} AND next_attempt_at > :now
                     ORDER BY next_attempt_at LIMIT {SCAN_ROWS}) r
                 JOIN messages m ON m.id = r.message_id JOIN inboxes i ON i.id = m.inbox_id
               WHERE r.organization_id = :organization AND i.domain = :domain LIMIT {HASTENED_ROWS})""",
        {"now": now_ms, "organization": organization_id, "domain": domain},
    )


def free_all(tx: Tx) -> int:
    """End every lease: the rows are due when `lease` said. The number of leases ended."""
    return tx.run("UPDATE recipients SET lease = NULL WHERE lease IS NOT NULL")


def settle(tx: Tx, settlement: RecipientSettlement, now_ms: int) -> bool:
    """End the lease and record the attempt; False when the row is gone or has another status by now."""
    if not tx.run(_SETTLE, _settled(settlement)):
        return False
    if settlement.was_tried:
        tx.run(_ATTEMPT, _attempted(settlement, now_ms))
    else:
        key = (settlement.message_id, settlement.position)
        tx.run(f"UPDATE recipients SET {_NOT_TRIED} WHERE message_id = ? AND position = ?", key)
    return True


def settle_all(tx: Tx, settlements: Sequence[RecipientSettlement], now_ms: int) -> None:
    """`settle` of attempts whose rows the same unit has found in the status that they were leased in."""
    tx.run_many(_SETTLE, [_settled(one) for one in settlements])
    tx.run_many(_ATTEMPT, [_attempted(one, now_ms) for one in settlements])


def _settled(it: RecipientSettlement) -> tuple[Any, ...]:
    """For _SETTLE."""
    if it.status != it.from_status and it.status not in RECIPIENT[it.from_status]:
        raise ValueError(f"a recipient can't go from {it.from_status} to {it.status}")
    facts = (it.remote_host, it.smtp_code, it.enhanced_code, it.response, it.tls)
    return (it.status, it.next_attempt_at, *facts, it.message_id, it.position, it.from_status)


def _attempted(it: RecipientSettlement, now_ms: int) -> tuple[Any, ...]:
    """For _ATTEMPT."""
    facts = (it.remote_host, it.smtp_code, it.enhanced_code, it.response, it.tls)
    told = (it.duration_ms, now_ms, int(it.has_left), it.next_attempt_at)
    return (it.message_id, it.position, it.attempt, it.outcome, *facts, *told)


def holds(tx: Tx, rows: Iterable[Due]) -> bool:
    """Is every one of the rows still leased, in the status that it was leased in?"""
    return all(tx.one(_HELD, (row.message_id, row.position, row.status)) for row in rows)


def recipients(tx: Tx, message_id: str) -> list[RecipientRow]:
    """The message's recipients in all statuses, in the order in which they were given."""
    return [RecipientRow(*row) for row in tx.all(_RECIPIENTS, (message_id,))]


def depth(tx: Tx) -> int:
    """How many recipients wait or are being delivered, over all organizations."""
    waiting: int = tx.value(f"SELECT count(*) FROM recipients WHERE {PENDING}")
    leased: int = tx.value("SELECT count(*) FROM recipients WHERE lease IS NOT NULL")
    return waiting + leased
