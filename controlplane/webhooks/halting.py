"""What waits for a webhook that is deleted or inactive is halted: each delivery with a last record, many in one unit of
work, with a rest after each as long as it took. However many wait, it takes no slots, and others write in between.

What a crash leaves is pending still, and found again.
"""

import asyncio
from collections.abc import Callable

from controlplane.webhooks import attempts
from controlplane.webhooks.calling import Sent, record_of
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.publishing import webhooks
from storage.publishing.webhooks import PendingDelivery
from storage.records import WebhookAttempt

AT_ONCE = 100  # some 6 ms
HALTED = "halted"


class Halter:
    """`tell`: called with each record, and the message that its event is about, once it is durable."""

    def __init__(
        self, db: Database, clock: Clock, tell: Callable[[WebhookAttempt, str | None, str], None]
    ) -> None:
        self._db = db
        self._clock = clock
        self._tell = tell

    async def halt(self, webhook_id: str) -> None:
        """Halt some of what waits for it. One that is active again by now keeps it."""
        began = self._clock.monotonic()
        halted = await self._db.write_apart(self._halt, webhook_id)
        for delivery, record in halted:
            self._tell(record, delivery.message_id, HALTED)
        await asyncio.sleep(self._clock.monotonic() - began)

    def _halt(self, tx: Tx, webhook_id: str) -> list[tuple[PendingDelivery, WebhookAttempt]]:
        now_ms = self._clock.now_ms()
        pending = webhooks.to_halt(tx, webhook_id, AT_ONCE)
        records = [_last_record(one, now_ms) for one in pending]
        webhooks.halt(tx, [one.delivery for one in pending], records)
        return list(zip(pending, records, strict=True))


def _last_record(pending: PendingDelivery, now_ms: int) -> WebhookAttempt:
    webhook_id, _, attempt = pending.delivery
    return record_of(
        Sent({}, None, None, attempts.halted(deleted=pending.is_deleted)),
        webhook_id=webhook_id,
        organization_id=pending.organization_id,
        event_id=pending.event_id,
        event_type=pending.event_type,
        attempt=attempt,
        begun_ms=now_ms,
        duration_ms=0,
        next_ms=None,
    )
