"""What became of an organization's mail: totals, events over time, destinations.

Counting is proportional to the mail in the window, so it never takes the readers for itself: it goes slice by slice
(`storage.tenants.analytics`) in reads of bounded length, one at a time for an organization, and other requests are
served between two of them. A bounce or a delay counts for the message's own time, not for the time it came.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from controlplane.contract.refusals import Fault, invalid
from storage.clock import DAY_MS
from storage.engine.database import READ_S, Database
from storage.engine.tx import Tx
from storage.tenants import analytics
from storage.tenants.analytics import AnalyticsSpan, Destined, MessageSlice
from storage.usage import share

P = ParamSpec("P")
T = TypeVar("T")

CountSlice = Callable[[Tx, MessageSlice], None]

SPAN_DAYS_MAX = 92
POINTS_MAX = 1000
BOUNCED = frozenset({"bounced", "failed"})  # refused for good, or given up after days


class Summary(NamedTuple):
    """Totals over recipients; `received` counts messages. Rates are 0 to 1; without deliveries there is no median."""

    sent: int
    delivered: int
    bounced: int
    complained: int
    received: int
    hard_bounce_rate: float
    complaint_rate: float
    median_delivery_ms: float | None


@dataclass(slots=True)
class Destination:
    """One recipient domain."""

    domain: str
    sent: int = 0
    delivered: int = 0
    deferred: int = 0
    bounced: int = 0
    last_response: str | None = None
    last_response_at: int | None = None

    def add(self, one: Destined) -> None:
        """Count one recipient; the latest answer (`last_response`) is that of the last attempt."""
        self.sent += 1
        self.delivered += one.status == "delivered"
        self.deferred += one.status == "deferred"
        self.bounced += one.status in BOUNCED
        said_at = one.last_attempt_at
        if one.response is not None and said_at is not None and said_at >= (self.last_response_at or 0):
            self.last_response = _reply(one)
            self.last_response_at = said_at


class Series(NamedTuple):
    """Type → its count in each period; `begins` says when each period begins (multiples of it since 1970)."""

    period_ms: int
    since_ms: int
    until_ms: int
    begins: range
    counts: dict[str, list[int]]


def span_of(
    organization_id: str,
    inbox_id: str | None,
    since_ms: int | None,
    until_ms: int | None,
    now_ms: int,
    *,
    days: int = 30,
    period_ms: int | None = None,
) -> AnalyticsSpan:
    """What to count: the last `days` unless told. Refusal when the span is empty, or too long."""
    until = now_ms + 1 if until_ms is None else until_ms
    since = max(0, until - days * DAY_MS) if since_ms is None else since_ms
    faults = []
    if not 0 <= since < until:
        faults.append(Fault("since", "out_of_range", "'since' must lie before 'until', and not before 1970"))
    elif until - since > SPAN_DAYS_MAX * DAY_MS:
        faults.append(Fault("since", "out_of_range", f"Ask for at most {SPAN_DAYS_MAX} days at a time"))
    elif period_ms is not None and len(_begins(since, until, period_ms)) > POINTS_MAX:
        faults.append(
            Fault("period", "out_of_range", f"This makes more than {POINTS_MAX} points: lengthen it")
        )
    if faults:
        raise invalid(faults)
    return AnalyticsSpan(organization_id, inbox_id, since, until)


def _begins(since_ms: int, until_ms: int, period_ms: int) -> range:
    """When each period begins that has something of the span."""
    return range(since_ms // period_ms * period_ms, until_ms, period_ms)


class Analytics:
    """Counts over the rows of one organization, in slices; its counts take turns, so that one runs at a time."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by organization

    async def summary(self, span: AnalyticsSpan) -> Summary:
        """The totals of a span. Complaints count for the time of their message."""
        statuses: Counter[str] = Counter()
        took: list[int] = []
        received = 0

        def count(tx: Tx, part: MessageSlice) -> None:
            nonlocal received
            received += part.received
            for one in analytics.deliveries(tx, span, part):
                statuses[one.status] += 1
                if one.took_ms is not None:
                    took.append(max(0, one.took_ms))

        await self._count(span, count)
        sent = statuses.total() - statuses["suppressed"]
        complained = await self._read(analytics.complaints, span)
        return Summary(
            sent=sent,
            delivered=statuses["delivered"],
            bounced=_count(statuses, BOUNCED),
            complained=complained,
            received=received,
            hard_bounce_rate=share(statuses["bounced"], sent),
            complaint_rate=share(complained, sent),
            median_delivery_ms=median(took) if took else None,
        )

    async def destinations(self, span: AnalyticsSpan, limit: int) -> list[Destination]:
        """The busiest first."""
        found: dict[str, Destination] = {}

        def count(tx: Tx, part: MessageSlice) -> None:
            for one in analytics.destined(tx, span, part):
                if one.status != "suppressed":
                    found.setdefault(one.domain, Destination(one.domain)).add(one)

        await self._count(span, count)
        return sorted(found.values(), key=lambda one: (-one.sent, one.domain))[:limit]

    async def events(self, span: AnalyticsSpan, types: Sequence[str], period_ms: int) -> Series:
        """In slices as well, of which each ends where enough has happened."""
        begins = _begins(span.since_ms, span.until_ms, period_ms)
        series = Series(
            period_ms, span.since_ms, span.until_ms, begins, {type: [0] * len(begins) for type in types}
        )
        since_ms = span.since_ms
        while since_ms < span.until_ms:
            part = await self._read(analytics.events, span._replace(since_ms=since_ms), types, period_ms)
            for bucket in part.buckets:
                series.counts[bucket.type][begins.index(bucket.begins_ms)] += bucket.events
            since_ms = part.until_ms
        return series

    async def _count(self, span: AnalyticsSpan, count: CountSlice) -> None:
        at: str | None = ""
        while at is not None:
            at = await self._read(_go_on, span, at, count)

    async def _read(
        self,
        unit: Callable[Concatenate[Tx, AnalyticsSpan, P], T],
        span: AnalyticsSpan,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        owner = span.organization_id
        turn = self._turns.setdefault(owner, asyncio.Lock())
        async with turn:
            return await self._db.read_for(owner, unit, span, *args, **kwargs)


def _go_on(tx: Tx, span: AnalyticsSpan, after: str, count: CountSlice) -> str | None:
    """Count slices for a while; where to go on, None at the end."""
    until = time.perf_counter() + READ_S
    while (part := analytics.next_slice(tx, span, after)) is not None:
        count(tx, part)
        after = part.last
        if time.perf_counter() > until:
            return after
    return None


def _count(statuses: Counter[str], wanted: Iterable[str]) -> int:
    return sum(statuses[status] for status in wanted)


def _reply(one: Destined) -> str:
    """`550 5.1.1 no such user`, as the host said it."""
    code = str(one.smtp_code) if one.smtp_code is not None else None
    return " ".join(part for part in (code, one.enhanced_code, one.response) if part)
