"""Which recipients of the outbound queue are being delivered now, and by which run of the daemon.

What is durable when: `lease` counts the attempt and writes the time of the *next* one before a host is dialled, so that
a process that dies in the middle of a delivery tries again on schedule, and not at once for ever. What became of the
attempt ends the lease (`storage.sending.settlements`); `give_back` and `let_go` end it without a verdict.

`lease`, `give_back` and `let_go` are called by the queue of the one process that serves this store; `free_all` runs at
its start, when every lease is one of a process that died.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from storage import switches
from storage.engine.dialect import THEN_JOIN, each_of
from storage.engine.tx import Tx
from storage.records import dump
from storage.sending import suppressions
from storage.sending.outbound import PENDING, SCAN_ROWS

LEASED_BLOB_BYTES = 8 * 1024  # smaller messages come with their lease; larger ones are loaded when sent

# A long line that is full is stepped over, SCAN_ROWS at a time, so that no transaction takes long.
_SCAN = f"""FROM recipients WHERE {PENDING} AND next_attempt_at <= :now
      AND (next_attempt_at, message_id, position) > (:since_at, :since_id, :since_position)
    ORDER BY next_attempt_at, message_id, position"""
_DUE_OF = f"""SELECT r.message_id, r.position, r.organization_id, r.address, r.domain, r.kind, r.status,
      r.attempts, r.expires_at, m.inbox_id, m.mode, m.blob_id, m.header_length, m.size_bytes,
      m.from_address, m.envelope_from, m.bounce_token, m.message_id_header, m.created_at, m.unsubscribe,
      m.submitted_by,
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
_LEASE = """UPDATE recipients SET lease = ?, attempts = ?, last_attempt_at = ?, next_attempt_at = ?, expires_at = ?
    WHERE message_id = ? AND position = ?"""
_SCANNED_TO = f"SELECT next_attempt_at, message_id, position {_SCAN} LIMIT 1 OFFSET {SCAN_ROWS - 1}"
_NEXT_DUE = f"SELECT min(next_attempt_at) FROM recipients WHERE {PENDING} AND next_attempt_at > ?"
# What `lease` wrote of an attempt that was none.
NOT_TRIED = """attempts = attempts - 1, last_attempt_at = (SELECT max(created_at) FROM delivery_attempts a
      WHERE a.message_id = recipients.message_id AND a.position = recipients.position)"""
_HELD = """SELECT 1 FROM recipients
    WHERE message_id = ? AND position = ? AND status = ? AND lease IS NOT NULL"""
_MAY_SEND = """SELECT 1 FROM inboxes WHERE id = ? AND is_active = 1
    AND NOT EXISTS (SELECT 1 FROM api_keys WHERE id = ? AND withdraws_mail = 1)"""
_STILL_GOES = f"SELECT EXISTS ({_MAY_SEND}) AND EXISTS ({_HELD})"
# All that may keep one recipient back, in one row: each further statement is a turn at Python's interpreter.
_LOOK_AGAIN = f"""SELECT EXISTS (SELECT 1 FROM switched_off WHERE name = ?), EXISTS ({_MAY_SEND}), EXISTS ({_HELD}),
      EXISTS ({suppressions.ANY_OF_TWO})"""


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
    submitted_by: str | None  # a key
    data: bytes | None  # the raw message, when it is small
    sha256: bytes | None
    is_tls_report: int  # RFC 8460 §3: no policy for TLS keeps it back
    next_attempt_at: int = 0  # what `lease` wrote: when it is tried again if this process dies
    leased_at: int = 0

    @property
    def sender_domain(self) -> str:
        """That of From: it signs, and its owner may send or not."""
        return self.from_address.rpartition("@")[2]


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


class Wanted(NamedTuple):
    """Leased rows by what is to become of them. `gone`: deleted or withdrawn meanwhile. `is_paused`: none may leave;
    `is_closed`: nor of this inbox or key ever; its mail is withdrawn (storage/mail/withdrawal.py)."""

    willing: list[Due]
    suppressed: list[Due]
    gone: list[Due]
    is_paused: bool = False
    is_closed: bool = False


def lease(
    tx: Tx,
    lease_id: str,
    now_ms: int,
    limit: int,
    retry_at: Callable[[int, int], int],
    full: FullLines = FullLines(),
    since: QueuePlace = QueuePlace(),
    expiry: Callable[[int], int] = int,
) -> Leased:
    """Take up to `limit` due rows, the longest due first, of lines that are not `full`.

    `since`: the `scanned_to` of a lease that only stepped over full lines.
    `retry_at(attempts, expires_at)`: when to try again (Unix milliseconds) if this attempt, the attempts-th, fails;
    asked once for what goes in one transaction, so that it stays together. `expiry(expires_at)`: when what is looked at
    now is given up.
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
    found = [Due(*row) for row in rows]
    leased = _attempted([row._replace(expires_at=expiry(row.expires_at)) for row in found], now_ms, retry_at)
    tx.run_many(_LEASE, [_lease_values(lease_id, one) for one in leased])
    scanned_to = QueuePlace(*scanned) if scanned else None
    return Leased(leased, tx.value(_NEXT_DUE, (now_ms,)), scanned_to, at_ms=now_ms)


def _lease_values(lease_id: str, due: Due) -> tuple[str | int, ...]:
    times = (due.leased_at, due.next_attempt_at, due.expires_at)
    return (lease_id, due.attempts, *times, due.message_id, due.position)


def _attempted(rows: Iterable[Due], now_ms: int, retry_at: Callable[[int, int], int]) -> list[Due]:
    """The rows with an attempt more, and the time of the next."""
    leased = []
    times: dict[tuple[str, str, int, int], int] = {}
    for due in rows:
        attempts = due.attempts + 1
        together = (due.message_id, due.domain, due.position if due.unsubscribe else 0, attempts)
        if together not in times:
            times[together] = retry_at(attempts, due.expires_at)
        leased.append(due._replace(attempts=attempts, next_attempt_at=times[together], leased_at=now_ms))
    return leased


def waiting(tx: Tx, source: str, parameters: Mapping[str, object], limit: int) -> list[Due]:
    """Rows that wait, without a lease, as a lease would have them; `source`: FROM and WHERE, of `recipients`."""
    found = f"SELECT message_id, position {source} LIMIT :limit"
    return [Due(*row) for row in tx.all(_DUE_OF.format(found), {**parameters, "limit": limit})]


def look_again(tx: Tx, rows: Iterable[Due], keys_of: Callable[[str], Sequence[str]]) -> Wanted:
    """Ask which of the leased rows, all of one message, are still to be sent: they may have stood in a line for long.
    One statement a row.

    `keys_of(address)`: the comparison keys under which the address may be suppressed, one or two.
    """
    wanted = Wanted([], [], [])
    for row in rows:
        key, *others = keys_of(row.address)
        keys = (row.organization_id, key, *others) if others else (row.organization_id, key, key)
        held = (row.message_id, row.position, row.status)
        found = tx.one(_LOOK_AGAIN, (switches.QUEUE, row.inbox_id, row.submitted_by, *held, *keys))
        assert found is not None  # without a FROM there is always a row
        is_paused, may_send, is_held, is_suppressed = found
        if is_paused or not may_send:
            return Wanted([], [], [], is_paused=bool(is_paused), is_closed=not may_send)
        if not is_held:
            wanted.gone.append(row)
        elif is_suppressed and row.mode == "live":
            wanted.suppressed.append(row)
        else:
            wanted.willing.append(row)
    return wanted


def holds(tx: Tx, rows: Sequence[Due]) -> bool:
    """`still_goes`, of all of the rows, which are of one message."""
    return all(still_goes(tx, row) for row in rows)


def still_goes(tx: Tx, row: Due) -> bool:
    """Is the row still leased in the status that it was leased in, is its inbox active, and was its key not revoked
    with its mail?"""
    asked = (row.inbox_id, row.submitted_by, row.message_id, row.position, row.status)
    return bool(tx.value(_STILL_GOES, asked))


def give_back(tx: Tx, rows: Iterable[tuple[str, int]], due_ms: int) -> None:
    """End leases of rows (message, position) for which no host was dialled: due then, the attempt not counted."""
    for key in rows:
        tx.run(
            f"""UPDATE recipients SET lease = NULL, {NOT_TRIED}, next_attempt_at = ?
               WHERE message_id = ? AND position = ? AND lease IS NOT NULL""",
            (due_ms, *key),
        )


def let_go(tx: Tx, rows: Iterable[tuple[str, int]]) -> None:
    """End leases of rows (message, position) without a verdict: due when `lease` said, the attempt counted."""
    tx.run_many("UPDATE recipients SET lease = NULL WHERE message_id = ? AND position = ?", rows)


def free_all(tx: Tx) -> int:
    """End every lease: the rows are due when `lease` said. The number of leases ended."""
    return tx.run("UPDATE recipients SET lease = NULL WHERE lease IS NOT NULL")
