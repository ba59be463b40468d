"""Analytics: what became of the mail in a window of time."""

from controlplane import render
from controlplane.analytics import span_of
from controlplane.api import Answer, Call
from controlplane.schemas import AnalyticsEvents, AnalyticsWindow
from storage.analytics import Span

SERIES_DAYS = 1


async def summary(call: Call) -> Answer:
    return Answer(render.analytics_summary(await call.rooms.analytics.summary(_span(call))))


async def events(call: Call) -> Answer:
    query: AnalyticsEvents = call.query
    period_ms = query.period * 1000
    span = _span(call, days=SERIES_DAYS, period_ms=period_ms)
    types = list(dict.fromkeys(query.types))
    return Answer(render.analytics_series(await call.rooms.analytics.events(span, types, period_ms)))


async def destinations(call: Call) -> Answer:
    found = await call.rooms.analytics.destinations(_span(call), call.query.limit)
    return Answer([render.analytics_destination(one) for one in found])


def _span(call: Call, days: int = 30, period_ms: int | None = None) -> Span:
    query: AnalyticsWindow = call.query
    return span_of(
        call.organization_id,
        call.principal.listed_inbox(query.inboxId),
        query.since,
        query.until,
        call.rooms.clock.now_ms(),
        days=days,
        period_ms=period_ms,
    )
