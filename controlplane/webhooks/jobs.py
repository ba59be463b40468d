"""What one attempt needs, read anew for each: the webhook as it is, the event, and the body that tells of it.

A body that was rendered serves the event's other subscribers, and repeats, while its message is there: the words of
a message that was deleted are not told from then on. What is kept may be thrown away at any time.
"""

from dataclasses import dataclass

from controlplane.webhooks import events
from storage.engine.database import Database
from storage.publishing import webhooks
from storage.publishing.events import Words
from storage.publishing.webhooks import LeasedDelivery
from storage.records import EventRow, WebhookRow


@dataclass(slots=True)
class Telling:
    """An event, the words of its message while it has one, and the body, once it was asked for."""

    event: EventRow
    words: Words | None
    body: bytes | None = None


@dataclass(slots=True, frozen=True)
class Job:
    """`webhook` None: it is deleted."""

    webhook: WebhookRow | None
    telling: Telling

    @property
    def event(self) -> EventRow:
        return self.telling.event


class Jobs:
    def __init__(self, db: Database, load_text: events.LoadText, kept_bytes_max: int) -> None:
        """`kept_bytes_max`: of all rendered bodies together."""
        self._kept_bytes_max = kept_bytes_max
        self._db = db
        self._load_text = load_text
        self._kept: dict[int, Telling] = {}
        self._kept_bytes = 0

    async def find(self, delivery: LeasedDelivery) -> Job | None:
        """The job as it is now; None when retention took the event."""
        # Rows by their keys: a hop to a reader's thread would cost several times as much.
        kept = self._kept.get(delivery.event_seq)
        if kept is not None:
            webhook, has_message = await self._db.peek(
                webhooks.standing, delivery.webhook_id, kept.event.message_id
            )
            if has_message or kept.words is None:
                return Job(webhook, kept)
        found = await self._db.peek(webhooks.surroundings, delivery)
        return None if found is None else Job(found.webhook, Telling(found.event, found.words))

    async def body(self, job: Job) -> bytes:
        """The body of the request."""
        telling = job.telling
        if telling.body is None:
            telling.body = await events.render(telling.event, telling.words, self._load_text)
            self._keep(telling, telling.body)
        return telling.body

    def _keep(self, telling: Telling, body: bytes) -> None:
        self._drop(telling.event.seq)
        self._kept[telling.event.seq] = telling
        self._kept_bytes += len(body)
        while self._kept_bytes > self._kept_bytes_max:
            self._drop(next(iter(self._kept)))  # the one that was made first

    def _drop(self, event_seq: int) -> None:
        dropped = self._kept.pop(event_seq, None)
        self._kept_bytes -= len(dropped.body or b"") if dropped else 0
