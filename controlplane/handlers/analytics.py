"""Analytics: what became of the mail in a window of time."""

from controlplane import render
from controlplane.api import Call, Result
from controlplane.contract.requests import AnalyticsEvents, AnalyticsWindow
from controlplane.mail.analytics import span_of
from storage.analytics import AnalyticsSpan

SERIES_DAYS = 1


async def summary(call: Call) -> Result:
    return Result(render.analytics_summary(await call.rooms.analytics.summary(_span(call))))


async def events(call: Call) -> Result:
    query: AnalyticsEvents = call.query
    period_ms = query.period * 1000
    span = _span(call, days=SERIES_DAYS, period_ms=period_ms)
    types = list(dict.fromkeys(query.types))
    return Result(render.analytics_series(await call.rooms.analytics.events(span, types, period_ms)))


async def destinations(call: Call) -> Result:
    found = await call.rooms.analytics.destinations(_span(call), call.query.limit)
    return Result([render.analytics_destination(one) for one in found])


def _span(call: Call, days: int = 30, period_ms: int | None = None) -> AnalyticsSpan:
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
