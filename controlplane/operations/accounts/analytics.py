"""Analytics: what became of the mail in a window of time."""

from typing import Any

from controlplane.contract.accounts.analytics import AnalyticsEvents, AnalyticsWindow
from controlplane.mail.analytics import Destination, Series, Summary, span_of
from controlplane.operations.event_types import require_heard
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from storage.clock import iso, iso_or_none
from storage.tenants.analytics import AnalyticsSpan

SERIES_DAYS = 1


async def get_summary(call: Call) -> Result:
    return Result(_shown_summary(await call.services.analytics.summary(_span(call))))


async def get_event_series(call: Call) -> Result:
    query: AnalyticsEvents = call.input
    period_ms = query.period * 1000
    span = _span(call, days=SERIES_DAYS, period_ms=period_ms)
    types = list(dict.fromkeys(query.types))
    require_heard(call.principal, types)
    return Result(_shown_series(await call.services.analytics.events(span, types, period_ms)))


async def list_destinations(call: Call) -> Result:
    found = await call.services.analytics.destinations(_span(call), call.input.limit)
    return Result([_shown_destination(one) for one in found])


def _span(call: Call, days: int = 30, period_ms: int | None = None) -> AnalyticsSpan:
    query: AnalyticsWindow = call.input
    return span_of(
        call.organization_id,
        call.principal.listed_inbox(query.inboxId),
        query.since,
        query.until,
        call.services.clock.now_ms(),
        days=days,
        period_ms=period_ms,
    )


def _shown_summary(figures: Summary) -> dict[str, Any]:
    took_ms = figures.median_delivery_ms
    return {
        "sent": figures.sent,
        "delivered": figures.delivered,
        "bounced": figures.bounced,
        "complained": figures.complained,
        "received": figures.received,
        "hardBounceRate": figures.hard_bounce_rate,
        "complaintRate": figures.complaint_rate,
        "medianDeliverySeconds": None if took_ms is None else round(took_ms / 1000, 3),
    }


def _shown_series(series: Series) -> dict[str, Any]:
    """Each type's points stand in order of time, one for each period, empty ones too."""
    return {
        "period": series.period_ms // 1000,
        "since": iso(series.since_ms),
        "until": iso(series.until_ms),
        "series": [
            {
                "type": type,
                "total": sum(counts),
                "points": [
                    {"at": iso(at), "count": count} for at, count in zip(series.begins, counts, strict=True)
                ],
            }
            for type, counts in series.counts.items()
        ],
    }


def _shown_destination(one: Destination) -> dict[str, Any]:
    return {
        "domain": one.domain,
        "sent": one.sent,
        "delivered": one.delivered,
        "deferred": one.deferred,
        "bounced": one.bounced,
        "lastResponse": one.last_response,
        "lastResponseAt": iso_or_none(one.last_response_at),
    }
