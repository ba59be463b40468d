"""Mail is held, and whoever may act on it does, in any order and at once: what nobody approved never reaches the sink.

Each run is the life of one message, by any door, with up to four acts on it; twenty lives at a time share a daemon.
HELD_RUNS=10000 makes more of them, HELD_SEED repeats what chance decided.
"""

import asyncio
import os
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from controlplane.sending.reviews.review_desk import ReviewKeeper
from storage.clock import iso
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Answer
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock

RUNS = int(os.environ.get("HELD_RUNS", "200"))
SEED = int(os.environ.get("HELD_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
AT_ONCE = 20
EXPIRES_S = 600
ACTS = ("approve", "approve", "reject", "withdraw", "delete", "cancel", "stale", "expire")


@dataclass
class Lives:
    held: Held
    clock: ManualClock
    parent: dict[str, Any]
    chance: random.Random
    deleted: set[str] = field(default_factory=set)
    outcomes: Counter[str] = field(default_factory=Counter)

    async def live(self, number: int) -> None:
        sent = await self.written(number)
        assert sent["status"] == "held", sent
        content_hash = (await self.held.review(sent))["contentHash"]
        acts = self.chance.sample(ACTS, self.chance.randint(0, 4))
        if self.chance.random() < 0.5:
            await asyncio.gather(*(self.act(one, sent, content_hash) for one in acts))
            return
        for one in acts:
            await self.act(one, sent, content_hash)

    async def written(self, number: int) -> dict[str, Any]:
        fields: dict[str, Any] = {"text": f"words {number}", "to": [f"p{number}@elsewhere.test"]}
        if self.chance.random() < 0.3:
            fields["sendAt"] = iso(self.clock.at_ms + self.chance.choice([300_000, 3_600_000]))
        door = self.chance.choice(["send", "draft", "reply"])
        agent, subject = self.held.agent, f"run {number}"
        if door == "reply":
            path = f"/v1/messages/{self.parent['id']}/reply"
            return self.made(await agent.post(path, {**fields, "subject": subject}))
        if door == "draft" and "sendAt" not in fields:
            body = {"inboxId": self.held.inbox["id"], "subject": subject, **fields}
            draft = (await agent.post("/v1/drafts", body)).data
            return self.made(await agent.call("POST", f"/v1/drafts/{draft['id']}/send"))
        return await self.held.send(subject=subject, **fields)

    @staticmethod
    def made(answer: Answer) -> dict[str, Any]:
        made: dict[str, Any] = answer.data
        return made

    async def act(self, act: str, sent: dict[str, Any], content_hash: str) -> None:
        if act == "approve":
            answer = await self.held.approve(sent, contentHash=content_hash)
        elif act == "stale":
            answer = await self.held.approve(sent, contentHash=f"sha256:{'0' * 64}")
            assert answer.status != 200
        elif act == "reject":
            answer = await self.held.reject(sent)
        elif act == "withdraw":
            answer = await self.held.withdraw(sent)
        elif act == "delete":
            answer = await self.held.agent.call("DELETE", f"/v1/messages/{sent['id']}")
            self.deleted.add(sent["id"])
        elif act == "cancel":
            answer = await self.held.agent.call("DELETE", f"/v1/messages/{sent['id']}/schedule")
        else:
            self.clock.forward(EXPIRES_S / 4)
            return
        self.outcomes[f"{act} {answer.code or 'done'}"] += 1


async def test_what_nobody_approved_never_reaches_the_sink(start: Start) -> None:
    print(f"HELD_SEED={SEED}")  # shown when it fails
    clock = ManualClock(1_795_219_200_000)
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        maild = await start(
            clock=clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 60},
        )
        held = await Held.make(maild)
        await held.timing(expiresAfterSeconds=EXPIRES_S)
        parent = await maild.received(held.inbox, "From: ada@elsewhere.test\nSubject: topic\n\nhello\n")
        lives = Lives(held, clock, parent, random.Random(SEED))
        for first in range(0, RUNS, AT_ONCE):
            await asyncio.gather(*(lives.live(number) for number in range(first, min(first + AT_ONCE, RUNS))))
        await settle(lives)
        print(lives.outcomes)
        check(lives, mx)


async def settle(lives: Lives) -> None:
    """Until nothing is held, scheduled or queued any more."""
    services = lives.held.maild.daemon._supervisor._services

    async def look() -> bool | None:
        lives.clock.forward(EXPIRES_S)
        for service in services:
            if service.name in ("outbound queue", "scheduler") or isinstance(service, ReviewKeeper):
                service.wake()  # type: ignore[attr-defined]
        waiting = "SELECT 1 FROM messages WHERE status IN ('held', 'scheduled', 'queued') LIMIT 1"
        return None if lives.held.maild.sql(waiting) else True

    async with asyncio.timeout(GIVES_UP_S):
        while await look() is None:
            await asyncio.sleep(0.01)


def check(lives: Lives, mx: Mx) -> None:
    found = lives.held.maild.sql(
        """SELECT r.message_id, r.status, m.status, m.message_id_header FROM reviews r
           LEFT JOIN messages m ON m.id = r.message_id"""
    )
    assert len(found) == RUNS
    wire = Counter(header_of(one.raw) for one in mx.received)
    statuses: Counter[str] = Counter()
    for message_id, review, status, header in found:
        statuses[review] += 1
        if message_id in lives.deleted:
            assert status is None
            continue
        copies = wire.pop(header, 0)
        if review == "approved":  # and perhaps its schedule was cancelled then
            assert (status, copies) in (("delivered", 1), ("cancelled", 0)), (message_id, status, copies)
        else:
            assert (review, status) in (
                ("withdrawn", "cancelled"),
                ("rejected", "failed"),
                ("expired", "failed"),
            )
            assert copies == 0, (message_id, review)
    # What is left is of messages that were deleted: approved before, and on their way.
    gone = [review for message_id, review, *_ in found if message_id in lives.deleted]
    assert len(wire) <= gone.count("approved")
    assert set(wire.values()) <= {1}
    print(statuses)
    assert set(statuses) == {"approved", "rejected", "withdrawn", "expired"}, statuses


def header_of(raw: bytes) -> str:
    found = re.search(rb"^Message-ID: (\S+)", raw, re.M | re.I)
    assert found is not None
    return found[1].decode()
