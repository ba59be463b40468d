"""A store, a clock moved by hand, and the real dispatcher and egress: what webhook tests start from."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conf.settings import Webhooks
from conf.tuning import WebhookTuning
from controlplane.egress.client import Egress, OnSent, Resolve, nobody_waits
from controlplane.egress.http1 import HttpResponse
from controlplane.webhooks.calling import Caller, EndpointClient
from controlplane.webhooks.dispatcher import Dispatcher
from controlplane.webhooks.secrets import Secrets
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.migrate import prepare
from storage.ids import Ids
from storage.publishing import events, webhooks
from storage.records import WebhookAttempt, WebhookRow
from storage.sealing import Sealer
from storage.tenants import organizations
from storage.turns.rounds import Rounds
from tests.support.peers.webhook_sink import WebhookSink
from tests.support.waiting import GIVES_UP_S

START_MS = 1_790_000_000_000


class HandClock(Clock):
    """Stands still unless moved."""

    def __init__(self) -> None:
        self.ms = START_MS
        self._set_back_s = 0.0

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000 + self._set_back_s

    def set_back(self, seconds: float) -> None:
        """As NTP does: the monotonic time takes no part in it, and goes on a little."""
        self.ms -= round(seconds * 1000)
        self._set_back_s += seconds + 5

    def advance(self, seconds: float) -> None:
        self.ms += round(seconds * 1000)


async def no_text(_organization_id: str, _message_id: str) -> str | None:
    return None


class ScriptedPoster:
    """In the place of the egress: answers by URL, or holds on until released.

    `connects`: what the next requests wait for, each, before they leave.
    """

    def __init__(self) -> None:
        self.connects: deque[asyncio.Event] = deque()
        self.held: dict[str, asyncio.Event] = {}
        self.answers: dict[str, HttpResponse | Exception] = {}
        self.posted: list[tuple[str, bytes, dict[str, str]]] = []
        self.most_at_once: Counter[str] = Counter()
        self._at_once: Counter[str] = Counter()
        self._arrived = asyncio.Condition()

    async def post(
        self, url: str, body: bytes, headers: dict[str, str], on_sent: OnSent = nobody_waits
    ) -> HttpResponse:
        for key in (url, "all"):
            self._at_once[key] += 1
            self.most_at_once[key] = max(self.most_at_once[key], self._at_once[key])
        try:
            if self.connects:
                handshake = self.connects.popleft()
                async with self._arrived:
                    self._arrived.notify_all()
                await handshake.wait()
            async with self._arrived:
                self.posted.append((url, body, headers))
                self._arrived.notify_all()
            on_sent()
            if url in self.held:
                await self.held[url].wait()
            answer = self.answers.get(url, HttpResponse(200, b"ok"))
            if isinstance(answer, Exception):
                raise answer
            return answer
        finally:
            for key in (url, "all"):
                self._at_once[key] -= 1

    def hold(self, url: str) -> asyncio.Event:
        return self.held.setdefault(url, asyncio.Event())

    def delivery_ids(self, url: str) -> list[str]:
        return [headers["X-Svc-Delivery"] for to, _, headers in self.posted if to == url]

    async def connecting(self) -> None:
        """Wait until every one of `connects` is waited for."""
        async with asyncio.timeout(GIVES_UP_S), self._arrived:
            await self._arrived.wait_for(lambda: not self.connects)

    async def posted_count(self, count: int, url: str | None = None) -> None:
        """Wait until so many requests were made (to `url`)."""
        async with asyncio.timeout(GIVES_UP_S), self._arrived:
            await self._arrived.wait_for(
                lambda: len(self.posted if url is None else self.delivery_ids(url)) >= count
            )


class WebhookWorld:
    """One store; `dispatcher()` may be asked for several times, as if the process began anew."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.clock = HandClock()
        self.ids = Ids(self.clock)
        self.secrets = Secrets(Sealer(b"k" * 32))
        self.shown: dict[str, str] = {}  # webhook id → the secret as its owner saw it

    @classmethod
    async def open(cls, folder: Path) -> "WebhookWorld":
        prepare(folder / "maild.db")
        world = cls(await Database.open(folder / "maild.db"))
        await world.organization("org_1")
        return world

    async def organization(self, organization_id: str) -> None:
        await self.db.write(organizations.create, organization_id, "Acme", "selfhost", self.clock.now_ms())

    async def webhook(
        self, url: str, subscribed: tuple[str, ...] = ("email.received",), organization_id: str = "org_1"
    ) -> WebhookRow:
        webhook_id = self.ids.new("whk")
        self.shown[webhook_id], sealed = self.secrets.make(webhook_id)
        return await self.db.write(
            webhooks.create,
            webhook_id,
            self.clock.now_ms(),
            organization_id=organization_id,
            url=url,
            subscribed_events=subscribed,
            secret=sealed,
        )

    async def event(self, organization_id: str = "org_1", **more: Any) -> str:
        event_id = self.ids.new("evt")
        fields: dict[str, Any] = {"type": "email.received", "data": {"subject": "Grüße"}, **more}
        await self.db.write(
            events.publish, event_id, self.clock.now_ms(), organization_id=organization_id, **fields
        )
        return event_id

    async def attempts(self, organization_id: str = "org_1") -> list[WebhookAttempt]:
        """Oldest first."""
        log = await self.db.read(webhooks.attempts, organization_id, limit=100)
        return sorted(log, key=lambda one: (one.created_at, one.attempt))

    async def states(self) -> list[tuple[Any, ...]]:
        return await self.db.read(
            lambda tx: tx.all(
                """SELECT status, attempts, next_attempt_at, lease FROM webhook_deliveries
                   ORDER BY webhook_id, event_seq"""
            )
        )

    def dispatcher(
        self,
        egress: EndpointClient,
        settings: Webhooks | None = None,
        load_text: Callable[[str, str], Awaitable[str | None]] = no_text,
        db: Database | None = None,
        tuning: WebhookTuning | None = None,
    ) -> Dispatcher:
        settings = settings or Webhooks()
        return Dispatcher(
            db or self.db,
            self.clock,
            self.ids,
            Caller(self.secrets, egress, settings.retry_delays_s),
            settings,
            load_text,
            Rounds(self.clock.monotonic),
            tuning or WebhookTuning(drain_s=0.05, store_retry_s=0.01, network_retry_s=0.01),
        )

    async def settled(self, dispatcher: Dispatcher) -> None:
        """Wake it, and wait until nothing is due and all is recorded."""
        dispatcher.wake()
        async with asyncio.timeout(GIVES_UP_S):
            await dispatcher.idle()


def egress_to(sink: WebhookSink, resolve: Resolve | None = None, **settings: Any) -> Egress:
    """The real door, with loopback allowed and the sink's CA trusted."""
    rules = Webhooks(allow_private_networks=True, ca_file=str(sink.ca_file), **settings)
    return Egress(rules, resolve or sink.resolve)
