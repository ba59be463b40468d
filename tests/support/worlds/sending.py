"""A store, a DNS server, an MX and the real queue: what tests of sending start from."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conf.loading import parse
from conf.settings import Settings
from conf.tuning import QueueTuning, Tuning
from maild.mail_plane import Ground, mail_out, sts_policies
from maild.message.envelope_sender import EnvelopeSenders
from maild.outbound.queue import OutboundQueue
from maild.outbound.routing.relays import Relays
from maild.outbound.sessions.smtp_client import Timeouts
from maild.outbound.sessions.tls_policy import TlsPolicies
from maild.outbound.signing.recipient_headers import RecipientHeaders
from maild.outbound.tls.mta_sts import FetchPolicy
from maild.ports import DeliverAnswer, LocalMail, QueuePorts, Reply, SimulatedAnswer
from maild.resolver import Resolver
from storage.disk import Disk
from storage.engine.tx import Tx
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads
from storage.turns.rounds import Rounds
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock, Store

SENDERS = EnvelopeSenders(b"e" * 32)


@dataclass
class Sending:
    """`async with Sending(tmp_path) as sending:` brings everything up but the queue (`await start()`)."""

    folder: Path
    mx: Mx = field(default_factory=Mx)
    outbound: dict[str, Any] = field(default_factory=dict)  # settings that differ
    dns_settings: dict[str, Any] = field(default_factory=dict)  # the same of [dns]
    tuning: QueueTuning = field(default_factory=QueueTuning)
    local_domains: set[str] = field(default_factory=set)
    local_replies: dict[str, Reply] = field(default_factory=dict)
    timeouts: Timeouts | None = None
    fetch_policy: FetchPolicy | None = None

    async def __aenter__(self) -> "Sending":
        self.clock = ManualClock()
        self.store = await Store.open(self.folder, self.clock)
        self.dns = await DnsServer().start()
        await self.mx.__aenter__()  # it may serve already
        self.local: list[LocalMail] = []
        self.answers: list[SimulatedAnswer] = []
        self.delivered_answers = 0
        self.fail_answers = 0  # so many fail in their transaction first
        self.before_answer: Callable[[], Awaitable[None]] | None = None
        self.queue = self.make_queue()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.queue.stop()
        await self.mx.stop()
        await self.dns.stop()
        await self.store.close()

    @property
    def settings(self) -> Settings:
        return parse(
            {
                "data_dir": str(self.folder),
                "server": {"hostname": "mail.ours.test"},
                "dns": {
                    "nameservers": [f"127.0.0.1:{self.dns.port}"],
                    "timeout_s": GIVES_UP_S,
                    **self.dns_settings,
                },
                "outbound": {
                    "port": self.mx.port,
                    "allow_private_networks": True,
                    "dkim_expires_after_s": 0,  # our clock stands, that of verifiers does not
                    **self.outbound,
                },
            }
        )

    def make_queue(self) -> OutboundQueue:
        store, settings = self.store, self.settings
        ground = Ground(
            settings=settings,
            clock=self.clock,
            ids=store.ids,
            db=store.db,
            blobs=store.blobs,
            cpu=CpuThreads(),
            cpu_process=CpuProcess(),
            rounds=Rounds(self.clock.monotonic),
            disk=Disk(self.folder, settings.storage.reserve_percent),
            sealer=store.sealer,
            resolver=Resolver(settings.dns, self.clock),
            audit=store.audit,
            tuning=Tuning(queue=self.tuning),
        )
        ports = QueuePorts(self._prepare_local, self._prepare_answer, self._is_local, self._may_send)
        headers = RecipientHeaders(b"k" * 32, "https://api.ours.test")
        self.sts = sts_policies(ground, self.fetch_policy) if self.fetch_policy else None
        return mail_out(
            ground,
            ports,
            SENDERS,
            headers,
            random.Random(7),
            self.sts,
            TlsPolicies(self.clock, settings.outbound.ca_file, relays=Relays(settings.outbound).hosts),
            self.timeouts,
        )

    async def send(self, *recipients: str, **options: Any) -> str:
        """Queue a message and wake the queue."""
        message_id = await self.store.send(*recipients, **options)
        self.queue.wake()
        return message_id

    async def until(self, message_id: str, *statuses: str) -> None:
        """Wait until the recipients have these statuses."""
        async with asyncio.timeout(GIVES_UP_S):
            while [one.status for one in await self.store.recipients(message_id)] != list(statuses):
                await asyncio.sleep(0.005)

    async def until_true(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Wait until the question's answer is true."""
        async with asyncio.timeout(GIVES_UP_S):
            while not await self.store.scalar(sql, parameters):
                await asyncio.sleep(0.005)

    async def until_attempts(self, message_id: str, count: int) -> None:
        """Wait until so many attempts have been recorded."""
        async with asyncio.timeout(GIVES_UP_S):
            while len(await self.store.attempts(message_id)) < count:
                await asyncio.sleep(0.005)

    async def forward_to_retry(self, message_id: str) -> None:
        """Move the clock to the message's next attempt, and wake the queue."""
        due = [one.next_attempt_at for one in await self.store.recipients(message_id) if one.next_attempt_at]
        self.clock.at_ms = max(self.clock.at_ms, min(due))
        self.queue.wake()

    async def _prepare_local(self, mail: LocalMail) -> Callable[[Tx], Mapping[str, Reply]]:
        self.local.append(mail)
        taken = Reply(250, "2.1.5", "in the inbox")
        return lambda tx: {one: self.local_replies.get(one, taken) for one in mail.recipients}

    async def _prepare_answer(self, answer: SimulatedAnswer) -> DeliverAnswer:
        if self.before_answer is not None:
            await self.before_answer()
        self.answers.append(answer)

        def deliver(tx: Tx) -> None:
            if self.fail_answers:
                self.fail_answers -= 1
                raise RuntimeError("no room for the answer")
            self.delivered_answers += 1

        return deliver

    async def _is_local(self, domain: str) -> bool:
        return domain in self.local_domains

    async def _may_send(self, organization_id: str, domain: str) -> bool:
        return True
