"""Sends, replays, cancels, draft sends, dispatches, kills and restarts in any order: the invariants of sending.

hypothesis draws what happens, in groups: what stands in one group happens at once, and a kill may fall into the middle
of it. The daemon is the real one in this process; a kill drops its store's connection in mid-work and whatever was
promised to nobody yet, as SIGKILL does (tests/torture/test_kill.py kills whole processes). After each
story the clock goes on until nothing is due, and then:

    one key, or one draft, has made one message, and every answer named it
    what was answered 2xx and not cancelled was delivered; without a kill exactly once
    a cancelled message was never on the wire
    what was counted is what was accepted, less what was given back

SENDING_STORIES=500 tells more of them.
"""

import asyncio
import contextlib
import os
import re
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storage.clock import iso
from storage.engine.database import Database
from storage.engine.writer import DatabaseClosed
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Answer, Running, Template
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

STORIES = int(os.environ.get("SENDING_STORIES", "12"))
PEOPLE = ("ok", "bounce", "gone")

keys = st.sampled_from([None, "k1", "k2"])
people = st.sampled_from(PEOPLE)
steps = st.one_of(
    st.tuples(st.just("send"), keys, people),
    st.tuples(st.just("schedule"), keys, people),
    st.tuples(st.just("draft"), st.integers(0, 1), people),
    st.tuples(st.just("cancel"), st.integers(0, 3)),
    st.tuples(st.just("forward"), st.sampled_from([1, 60, 600])),
    st.tuples(st.just("suppress")),
)
groups = st.lists(steps, min_size=1, max_size=5)
ends = st.sampled_from(["", "", "", "kill", "restart"])
stories = st.lists(st.tuples(groups, ends, st.integers(0, 40)), min_size=1, max_size=5)


@dataclass
class World:
    maild: Running
    mx: Mx
    clock: ManualClock
    bot: dict[str, Any]
    made: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # name → ids answered
    scheduled: list[str] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)
    drafts: dict[int, str] = field(default_factory=dict)
    unnamed: int = 0
    kills: int = 0

    # What happens -------------------------------------------------------------------------------

    async def act(self, step: tuple[Any, ...]) -> None:
        kind, *rest = step
        await getattr(self, kind)(*rest)

    async def send(self, key: str | None, person: str) -> None:
        await self._post(key, person)

    async def schedule(self, key: str | None, person: str) -> None:
        # A key stands for one request, so its time must be the same whenever it is sent.
        at = iso(START_MS + 20 * 60_000) if key else iso(self.clock.at_ms + 600_000)
        await self._post(key and f"{key}-later", person, sendAt=at)

    async def _post(self, key: str | None, person: str, **more: Any) -> None:
        self.unnamed += key is None
        name = f"{key}/{person}" if key else f"unnamed{self.unnamed}/{person}"
        headers = {"Idempotency-Key": name} if key else {}
        body = {"inboxId": self.bot["id"], "to": [f"{person}@elsewhere.test"], "subject": name, **more}
        answer = await self.maild.api.call("POST", "/v1/messages/send", body, headers=headers)
        # The clock may have been moved past its time since it was written.
        self._note(name, answer, may_be_late="sendAt" in more)

    async def draft(self, number: int, person: str) -> None:
        name = f"draft{number}/ok"
        if number not in self.drafts:
            body = {"inboxId": self.bot["id"], "to": ["ok@elsewhere.test"], "subject": name}
            written = await self.maild.api.post("/v1/drafts", body)
            self.drafts.setdefault(number, written.data["id"])
        self._note(name, await self.maild.api.call("POST", f"/v1/drafts/{self.drafts[number]}/send"))

    def _note(self, name: str, answer: Answer, *, may_be_late: bool = False) -> None:
        if answer.status in (200, 201):
            self.made[name].add(answer.data["id"])
            if answer.data["status"] == "scheduled":
                self.scheduled.append(answer.data["id"])
        else:
            late = may_be_late and answer.code == "validation_failed"
            assert late or answer.code == "recipient_suppressed", answer.body

    async def cancel(self, number: int) -> None:
        if number < len(self.scheduled):
            message_id = self.scheduled[number]
            answer = await self.maild.api.call("DELETE", f"/v1/messages/{message_id}/schedule")
            assert answer.status in (200, 409), answer.body
            if answer.status == 200:
                self.cancelled.add(message_id)

    async def forward(self, seconds: int) -> None:
        self.clock.forward(seconds)
        wake(self.maild)

    async def suppress(self) -> None:
        await self.maild.api.post("/v1/suppressions", {"email": "gone@elsewhere.test"})

    # How it goes on -----------------------------------------------------------------------------

    async def kill(self) -> None:
        self.kills += 1
        assert self.maild.daemon._db is not None
        await drop(self.maild.daemon._db)
        await self.restart()

    async def restart(self) -> None:
        await self.maild.daemon.stop()
        await self.maild.daemon.start()
        self.maild.api.url = self.maild.daemon.http.url

    async def settle(self) -> None:
        """Until nothing is scheduled, queued or deferred any more."""

        async def look() -> bool | None:
            self.clock.forward(300)
            wake(self.maild)
            waiting = "SELECT 1 FROM messages WHERE status IN ('scheduled', 'queued')"
            return None if self.maild.sql(waiting) else True

        async with asyncio.timeout(GIVES_UP_S):
            while await look() is None:
                await asyncio.sleep(0.01)

    # What must be true --------------------------------------------------------------------------

    def check(self) -> None:
        rows = self.maild.sql("SELECT id, subject, status, failure_reason, message_id_header FROM messages")
        wire = Counter(header(one.raw) for one in self.mx.received)
        self._check_identity(rows)
        for message_id, subject, status, reason, message_id_header in rows:
            copies = wire[message_id_header]
            if message_id in self.cancelled:
                assert (status, copies) == ("cancelled", 0), subject
            elif subject.endswith("/ok"):
                assert status == "delivered" and copies >= 1, (subject, status, reason)
                assert copies == 1 or self.kills, subject
            else:
                assert status in ("failed", "delivered"), (subject, status)
        assert set(wire) <= {row[4] for row in rows}
        self._check_usage()

    def _check_identity(self, rows: list[tuple[Any, ...]]) -> None:
        by_name: dict[str, set[str]] = defaultdict(set)
        for message_id, subject, *_ in rows:
            by_name[subject].add(message_id)
        for name, ids in by_name.items():
            assert len(ids) == 1, (name, ids)
        for name, ids in self.made.items():
            assert ids == by_name[name], (name, ids, by_name[name])

    def _check_usage(self) -> None:
        """Counted is what entered the queue, less what failed before it left the host."""
        ((entered,),) = self.maild.sql(
            """SELECT count(*) FROM messages m WHERE EXISTS (SELECT 1 FROM recipients r WHERE r.message_id = m.id)
                 AND NOT (m.status = 'failed' AND NOT EXISTS (SELECT 1 FROM delivery_attempts a
                   WHERE a.message_id = m.id AND a.has_left))"""
        )
        counted = self.maild.sql(
            "SELECT coalesce(sum(value), 0) FROM usage WHERE metric = 'messages' AND length(period) = 10"
        )
        assert counted == [(entered,)]


START_MS = 1_795_219_200_000 + 3_600_000


def header(raw: bytes) -> str:
    found = re.search(rb"^Message-ID: (\S+)", raw, re.M | re.I)
    assert found is not None
    return found[1].decode()


def wake(maild: Running) -> None:
    for service in maild.daemon._supervisor._services:
        if service.name in ("outbound queue", "scheduler"):
            service.wake()  # type: ignore[attr-defined]


async def drop(db: Database) -> None:
    """What SIGKILL leaves of the store: what was committed, and a half-done transaction that never will be."""
    writer = db._writer
    writer._closed = True
    while writer.waiting:
        future = writer.waiting.popleft().future
        if not future.done():
            future.set_exception(DatabaseClosed("killed"))
    if writer._pump is not None:
        await asyncio.wait([writer._pump])  # a COMMIT that is under way in its thread can't be taken back
    with contextlib.suppress(Exception):
        writer.connection.raw.execute("ROLLBACK")


async def tell(story: list[Any], template: Template, folder: Path) -> None:
    clock = ManualClock(START_MS)
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        mx.always[("RCPT", "bounce@elsewhere.test")] = "550 5.1.1 no such user"
        maild = await Running.start(
            template,
            folder / "data",
            clock,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, "first_retry_s": 60},
        )
        try:
            world = World(maild, mx, clock, await maild.inbox("bot"))
            for group, end, turns in story:
                await happen(world, group, end, turns)
            await world.settle()
            world.check()
        finally:
            await maild.stop()


async def happen(world: World, group: list[Any], end: str, turns: int) -> None:
    tasks = [asyncio.create_task(world.act(step)) for step in group]
    if end == "kill":
        for _ in range(turns):
            await asyncio.sleep(0)
        await world.kill()
    done = await asyncio.gather(*tasks, return_exceptions=end == "kill")
    if end == "restart":
        await world.restart()
    for one in done:
        # Whoever asked during a kill hears nothing, or 5xx: they know nothing, and the invariants still hold.
        if isinstance(one, AssertionError) and not re.search(r"internal_error|unavailable|failed", str(one)):
            raise one


def test_no_story_breaks_the_invariants(template: Template) -> None:
    @settings(
        max_examples=STORIES,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],  # what races can't be made smaller
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(stories)
    def told(story: list[Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            asyncio.run(tell(story, template, Path(folder)))

    told()
