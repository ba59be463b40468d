"""The test ping: one signed call at once, also of an inactive webhook, recorded and never retried."""

from controlplane.webhooks import events
from controlplane.webhooks.calling import Caller, EndpointClient, EndpointRequest, record_of
from controlplane.webhooks.secrets import Secrets
from storage.clock import Clock
from storage.engine.database import Database
from storage.ids import Ids
from storage.publishing import webhooks
from storage.records import EventRow, WebhookAttempt, WebhookRow, dump

EVENT_TYPE = "webhook.test"


class Pinger:
    """Makes test pings, beside the dispatcher and its slots."""

    def __init__(
        self, db: Database, clock: Clock, ids: Ids, secrets: Secrets, egress: EndpointClient
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._caller = Caller(secrets, egress, delays_s=())

    async def ping(self, webhook: WebhookRow) -> WebhookAttempt:
        """Call the endpoint; the record of what came of it, which is in the log by then."""
        begun_ms, begun_s = self._clock.now_ms(), self._clock.monotonic()
        event = EventRow(
            seq=0,  # it stands in no log of events: only this webhook hears of it
            id=self._ids.new("evt"),
            organization_id=webhook.organization_id,
            inbox_id=None,
            message_id=None,
            type=EVENT_TYPE,
            mode="live",
            data=dump({"webhookId": webhook.id}),
            created_at=begun_ms,
        )
        body = events.encode(events.envelope(event, None, None))
        sent = await self._caller.call(EndpointRequest(webhook, event.id, EVENT_TYPE, 1, body, begun_ms))
        record = record_of(
            sent,
            webhook_id=webhook.id,
            organization_id=webhook.organization_id,
            event_id=event.id,
            event_type=EVENT_TYPE,
            attempt=1,
            begun_ms=begun_ms,
            duration_ms=round((self._clock.monotonic() - begun_s) * 1000),
            next_ms=None,
        )
        await self._db.impatient().write(webhooks.log_attempt, record)
        return record
