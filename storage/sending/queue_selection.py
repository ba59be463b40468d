"""The outbound queue in the operator's hands: what waits of a message, an organization or a destination, and what is
to become of it.

Held are recipients that wait without a time: no lease finds them, nor does their time run out, until they are released.
What is being delivered at the moment (leased) is left alone. What is selected may stand behind hundreds of thousands
that are not, so a bulk change looks for it without the right to write (`found`), and changes what it has found:
`ROWS_AT_ONCE` in a transaction, and those with all that follows from an outcome `OUTCOMES_AT_ONCE` after another while
there is time (`maild/commands/queue_changes.py`). So the daemon goes on beside it.

A retry is asked for in a transaction, perhaps of another process, and what the daemon remembers of a destination's
hosts (a back-off, no way to it) is in its memory. So the store keeps when each destination was asked for, and the
daemon looks there before it lets a message wait: what it remembers from before that moment counts no more.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from storage.engine.dialect import THEN_JOIN, by_index, elements, greatest, item
from storage.engine.tx import Tx
from storage.records import dump
from storage.sending import leases
from storage.sending.leases import Due
from storage.sending.outbound import PENDING

ROWS_AT_ONCE = 1000
FOUND_AT_ONCE = 20 * ROWS_AT_ONCE
OUTCOMES_AT_ONCE = 50
# What a verb does, one after the other with all that is selected. A drop takes half a millisecond a recipient, rests
# included, in which those that wait for it would be delivered; to hold them takes far less.
STEPS = {"drop": ("hold", "drop"), "hold": ("hold",), "release": ("release",), "retry": ("retry",)}
_IS_HELD = {"hold": False, "retry": False, "release": True, "drop": None}  # before it
ASKED_FOR_MS = 24 * 3600 * 1000  # no back-off is so long
_KEYS = (
    f"(SELECT {item('value', 0)} AS of_message, {item('value', 1)} AS at_position FROM {elements(':keys')}) k"
)
_CHANGE = f"""UPDATE recipients SET {{}} WHERE (message_id, position) IN
    (SELECT message_id, position {{}} LIMIT {ROWS_AT_ONCE})"""


class QueueSelection(NamedTuple):
    """Which recipients; None: no matter. `destination`: an A-label in lower case. `keys`: these alone, as a JSON array
    of [message_id, position]."""

    message_id: str | None = None
    organization_id: str | None = None
    destination: str | None = None
    is_held: bool | None = None
    keys: str | None = None

    def source(self) -> str:
        """FROM and WHERE: of those that wait, not of all that ever did."""
        held = {None: "", True: " AND next_attempt_at IS NULL", False: " AND next_attempt_at IS NOT NULL"}
        return f"FROM {self._rows()} WHERE {PENDING}{self._named()}{held[self.is_held]}"

    def _rows(self) -> str:
        if self.keys is not None:
            return f"{_KEYS} {THEN_JOIN} recipients ON message_id = of_message AND position = at_position"
        return f"recipients {by_index('recipients_due')}" if self.message_id is None else "recipients"

    def leased(self) -> str:
        """FROM and WHERE: of those that are being delivered at the moment."""
        index = by_index("recipients_leased") if self.message_id is None else ""
        return f"FROM recipients {index} WHERE lease IS NOT NULL{self._named()}"

    def _named(self) -> str:
        named = (
            (" AND message_id = :message_id", self.message_id),
            (" AND organization_id = :organization_id", self.organization_id),
            (" AND domain = :destination", self.destination),
        )
        return "".join(one for one, value in named if value is not None)


class QueueChange(NamedTuple):
    """What one transaction did with a part. `has_more`: there may be more in it."""

    recipients: int
    has_more: bool


class FoundForChange(NamedTuple):
    """What a bulk change is about to change: `parts` of ROWS_AT_ONCE at most. `is_all`: there is no more."""

    parts: Sequence[QueueSelection]
    is_all: bool


class Waiting(NamedTuple):
    """A recipient that waits. `next_attempt_at`: Unix milliseconds, None while it is held."""

    message_id: str
    position: int
    organization_id: str
    address: str
    destination: str
    status: str
    attempts: int
    last_attempt_at: int | None
    next_attempt_at: int | None
    expires_at: int
    smtp_code: int | None
    enhanced_code: str | None
    response: str | None


class DestinationLine(NamedTuple):
    """What waits for one destination. `held`: of them; `first_due_at`: Unix milliseconds, None where all are held."""

    destination: str
    waiting: int
    held: int
    first_due_at: int | None


def listed(tx: Tx, selection: QueueSelection, limit: int) -> list[Waiting]:
    """The first of what waits, held ones first, then by the time of the next attempt."""
    rows = tx.all(
        f"""SELECT message_id, position, organization_id, address, domain, status, attempts, last_attempt_at,
              next_attempt_at, expires_at, smtp_code, enhanced_code, response
            {selection.source()} ORDER BY next_attempt_at, message_id, position LIMIT :limit""",
        {**selection._asdict(), "limit": limit},
    )
    return [Waiting(*row) for row in rows]


def leased(tx: Tx, selection: QueueSelection) -> int:
    """How many are being delivered at the moment, and so out of the operator's hands."""
    count: int = tx.value(f"SELECT count(*) {selection.leased()}", selection._asdict())
    return count


def lines(tx: Tx, limit: int) -> list[DestinationLine]:
    """The destinations with the longest lines."""
    rows = tx.all(
        f"""SELECT domain, count(*), count(*) - count(next_attempt_at), min(next_attempt_at)
            {QueueSelection().source()} GROUP BY domain ORDER BY count(*) DESC, domain LIMIT ?""",
        (limit,),
    )
    return [DestinationLine(*row) for row in rows]


def found(tx: Tx, verb: str, selection: QueueSelection, now_ms: int) -> FoundForChange:
    """What `verb` (of STEPS) would change of what is selected, FOUND_AT_ONCE at most. It may read all that waits: not
    for a transaction that keeps others from writing."""
    wanted = selection._replace(is_held=_IS_HELD[verb])
    later = " AND next_attempt_at > :now" if verb == "retry" else ""
    rows = tx.all(
        f"SELECT message_id, position {wanted.source()}{later} LIMIT {FOUND_AT_ONCE}", _values(wanted, now_ms)
    )
    starts = range(0, len(rows), ROWS_AT_ONCE)
    parts = [selection._replace(keys=dump(rows[at : at + ROWS_AT_ONCE])) for at in starts]
    return FoundForChange(parts, len(rows) < FOUND_AT_ONCE)


def retry(tx: Tx, selection: QueueSelection, now_ms: int) -> int:
    """Make some of them due now, whatever is remembered of their destinations; how many. What is held stays held."""
    source = selection._replace(is_held=False).source() + " AND next_attempt_at > :now"
    changed = tx.all(
        _CHANGE.format("next_attempt_at = :now", source) + " RETURNING domain", _values(selection, now_ms)
    )
    tx.run("DELETE FROM retries_asked WHERE asked_at < ?", (now_ms - ASKED_FOR_MS,))
    tx.run_many(
        """INSERT INTO retries_asked (destination, asked_at) VALUES (?, ?)
           ON CONFLICT (destination) DO UPDATE SET asked_at = excluded.asked_at""",
        [(destination, now_ms) for destination in sorted({row[0] for row in changed})],
    )
    return len(changed)


def was_retry_asked(tx: Tx, destination: str, since_ms: int) -> bool:
    """Did the operator ask to try the destination after that time? Remembered for ASKED_FOR_MS at least."""
    asked_at = tx.value("SELECT asked_at FROM retries_asked WHERE destination = ?", (destination,))
    return asked_at is not None and asked_at > since_ms


def hold(tx: Tx, selection: QueueSelection, now_ms: int) -> int:
    """Hold some of them; how many."""
    source = selection._replace(is_held=False).source()
    return _change(tx, "next_attempt_at = NULL, held_at = :now", source, selection, now_ms)


def release(tx: Tx, selection: QueueSelection, now_ms: int) -> int:
    """Let some of the held ones go on, now, with the time to expire that they had left; how many."""
    change = f"""next_attempt_at = :now, held_at = NULL,
        expires_at = expires_at + {greatest("0", "coalesce(:now - held_at, 0)")}"""
    return _change(tx, change, selection._replace(is_held=True).source(), selection, now_ms)


def some(tx: Tx, selection: QueueSelection) -> list[Due]:
    """OUTCOMES_AT_ONCE of them, with what an outcome needs to know."""
    return leases.waiting(tx, selection.source(), selection._asdict(), OUTCOMES_AT_ONCE)


def _change(tx: Tx, change: str, source: str, selection: QueueSelection, now_ms: int) -> int:
    return tx.run(_CHANGE.format(change, source), _values(selection, now_ms))


def _values(selection: QueueSelection, now_ms: int) -> dict[str, Any]:
    return {**selection._asdict(), "now": now_ms}
