"""Counters by organization, period (a UTC day or month, `storage.clock`), metric and scope.

A counter changes in the transaction of what it counts. Scope is '' for the organization, else one of
its domains.
"""

from collections.abc import Mapping
from typing import NamedTuple

from storage.clock import DAY_MS, day_of
from storage.engine.dialect import greatest
from storage.engine.tx import Tx

REPUTATION_DAYS = 30

_COUNT = """INSERT INTO usage (organization_id, scope, period, metric, value) VALUES {}
    ON CONFLICT (organization_id, scope, period, metric) DO UPDATE SET value = value + excluded.value"""
_ADD = _COUNT.format("(?, ?, ?, ?, ?)")
_ADD_MESSAGE = {count: _COUNT.format(", ".join(["(?, ?, ?, 'messages', 1)"] * count)) for count in (2, 3)}

_GIVE_BACK = f"""UPDATE usage SET value = {greatest("0", "value - ?")}
    WHERE organization_id = ? AND scope = ? AND period = ? AND metric = ?"""
_KEEP_BYTES = f"""INSERT INTO stored_bytes (organization_id, bytes) VALUES (:organization, {greatest("0", ":change")})
    ON CONFLICT (organization_id) DO UPDATE SET bytes = {greatest("0", "bytes + :change")}"""

_HOLD_BYTES = f"""UPDATE stored_bytes SET held = {greatest("0", "held + :change")}
    WHERE organization_id = :organization"""


def add(tx: Tx, organization_id: str, period: str, metric: str, amount: int = 1, scope: str = "") -> None:
    """Count `amount` more. `period`: `clock.day_of` or `month_of`; `metric`: one that the schema's CHECK lists."""
    tx.run(_ADD, (organization_id, scope, period, metric, amount))


def add_message(tx: Tx, organization_id: str, periods: tuple[str, str], domain: str | None) -> None:
    """Count a message that is sent: in its day and month, and in the day of its domain, where that has a ceiling."""
    day, month = periods
    counters = [("", day), ("", month)] + ([] if domain is None else [(domain, day)])
    values = [value for scope, period in counters for value in (organization_id, scope, period)]
    tx.run(_ADD_MESSAGE[len(counters)], tuple(values))


class Counts:
    """What several outcomes of one unit of work count, one statement for each counter. `write` it before the unit ends,
    and before a counter is read in it."""

    def __init__(self) -> None:
        self._amounts: dict[tuple[str, str, str], int] = {}

    def add(self, organization_id: str, period: str, metric: str, amount: int) -> None:
        """As `usage.add` of the organization itself, later."""
        key = organization_id, period, metric
        self._amounts[key] = self._amounts.get(key, 0) + amount

    def write(self, tx: Tx) -> None:
        """Add what was counted since the last `write`."""
        for (organization_id, period, metric), amount in self._amounts.items():
            add(tx, organization_id, period, metric, amount)
        self._amounts.clear()


def give_back(
    tx: Tx, organization_id: str, period: str, metric: str, amount: int = 1, scope: str = ""
) -> None:
    """Take an earlier `add` back; never below zero, and nothing where nothing was counted."""
    tx.run(
        _GIVE_BACK,
        (amount, organization_id, scope, period, metric),
    )


def take_again(tx: Tx, organization_id: str, period: str, metric: str, scope: str = "") -> None:
    """Take a `give_back` of one back; nothing where nothing was counted."""
    give_back(tx, organization_id, period, metric, -1, scope)


def get(tx: Tx, organization_id: str, period: str, metric: str, scope: str = "") -> int:
    """The counter; 0 where nothing was counted."""
    value: int | None = tx.value(
        "SELECT value FROM usage WHERE organization_id = ? AND scope = ? AND period = ? AND metric = ?",
        (organization_id, scope, period, metric),
    )
    return value or 0


def totals(tx: Tx, organization_id: str, first_day: str, last_day: str) -> dict[str, int]:
    """Metric → what the organization's days from the first to the last add up to."""
    rows = tx.all(
        """SELECT metric, sum(value) FROM usage
           WHERE organization_id = ? AND scope = '' AND period BETWEEN ? AND ? AND length(period) = 10
           GROUP BY metric""",
        (organization_id, first_day, last_day),
    )
    return {metric: value for metric, value in rows}


def keep_bytes(tx: Tx, organization_id: str, change: int) -> None:
    """Note that the organization's raw messages take `change` bytes more (or less, when it is negative).

    Called in the transaction in which a message comes, goes or loses its bytes.
    """
    tx.run(
        _KEEP_BYTES,
        {"organization": organization_id, "change": change},
    )


def hold_bytes(tx: Tx, organization_id: str, change: int) -> None:
    """Note that so many of them more (or less) are of messages that are held."""
    tx.run(_HOLD_BYTES, {"organization": organization_id, "change": change})


def visible_bytes(tx: Tx, organization_id: str) -> int:
    """`kept_bytes` less what is held."""
    value: int | None = tx.value(
        "SELECT bytes - held FROM stored_bytes WHERE organization_id = ?", (organization_id,)
    )
    return value or 0


def kept_bytes(tx: Tx, organization_id: str) -> int:
    """The bytes of the organization's raw messages that are kept; one message in two inboxes counts twice."""
    value: int | None = tx.value(
        "SELECT bytes FROM stored_bytes WHERE organization_id = ?", (organization_id,)
    )
    return value or 0


def plan_and_bytes(tx: Tx, organization_id: str) -> tuple[str, int]:
    """The name of the organization's plan, and its stored bytes: all that tells whether it is full. It must exist."""
    row = tx.one(
        """SELECT o.plan, coalesce(b.bytes, 0) FROM organizations o
           LEFT JOIN stored_bytes b ON b.organization_id = o.id WHERE o.id = ?""",
        (organization_id,),
    )
    assert row is not None
    return row[0], row[1]


class ReputationRates(NamedTuple):
    """How the last REPUTATION_DAYS went; `sent` counts messages, the rates are over recipients."""

    sent: int
    hard_bounce_rate: float
    complaint_rate: float


class Baseline(NamedTuple):
    """What the reputation leaves out: every day before `day`, and of that day the `totals` that it had by then."""

    day: str
    totals: Mapping[str, int]


def reputation(
    tx: Tx, organization_id: str, now_ms: int, forgiven: Baseline | None = None
) -> ReputationRates:
    """Today (UTC) and the days before it, REPUTATION_DAYS in all; less what is `forgiven`."""
    first_day = day_of(now_ms - (REPUTATION_DAYS - 1) * DAY_MS)
    counted_before: Mapping[str, int] = {}
    # What is behind it was forgiven by a clock that was set back since.
    last_day = day_of(now_ms + (REPUTATION_DAYS - 1) * DAY_MS)
    if forgiven is not None and first_day <= forgiven.day <= last_day:
        first_day, counted_before = forgiven.day, forgiven.totals
    found = totals(tx, organization_id, first_day, day_of(now_ms))
    # A message that is given back makes a counter smaller than it was: the difference is never below zero.
    new = {metric: max(0, value - counted_before.get(metric, 0)) for metric, value in found.items()}
    sent, bounced = new.get("messages", 0), new.get("bounced", 0)
    # A message may have many recipients: rates over messages alone could exceed one.
    tried = max(sent, new.get("delivered", 0) + bounced)
    return ReputationRates(sent, share(bounced, tried), share(new.get("complained", 0), tried))


def baseline(tx: Tx, organization_id: str, now_ms: int) -> Baseline:
    """The baseline that forgives all that is counted up to `now_ms`."""
    day = day_of(now_ms)
    return Baseline(day, totals(tx, organization_id, day, day))


def share(part: int, whole: int) -> float:
    """part ÷ whole, from 0 to 1; 0 of nothing is 0."""
    return min(1.0, round(part / whole, 6)) if whole else 0.0
