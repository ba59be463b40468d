"""Figures of what became of the mail."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from controlplane.contract.fields import LIVE_EVENTS, EventType, InboxId, Limit, Moment, comma_separated
from controlplane.contract.model import RequestQuery, ResponseModel, Timestamp


class AnalyticsWindow(RequestQuery):
    inboxId: InboxId | None = None
    since: Moment | None = None
    until: Moment | None = None


class AnalyticsEvents(AnalyticsWindow):
    types: Annotated[list[EventType], BeforeValidator(comma_separated), Field(min_length=1)] = Field(
        default_factory=lambda: list(LIVE_EVENTS)
    )
    period: Annotated[int, Field(ge=60, le=31 * 86_400)] = 3600


class AnalyticsDestinations(AnalyticsWindow):
    limit: Limit = 50


class AnalyticsSummary(ResponseModel):
    sent: int
    delivered: int
    bounced: int
    complained: int
    received: int
    hardBounceRate: float
    complaintRate: float
    medianDeliverySeconds: float | None


class AnalyticsPoint(ResponseModel):
    at: Timestamp
    count: int


class AnalyticsLine(ResponseModel):
    type: str
    total: int
    points: list[AnalyticsPoint]


class AnalyticsSeries(ResponseModel):
    period: int
    since: Timestamp
    until: Timestamp
    series: list[AnalyticsLine]


class AnalyticsDestination(ResponseModel):
    domain: str
    sent: int
    delivered: int
    deferred: int
    bounced: int
    lastResponse: str | None
    lastResponseAt: Timestamp | None
