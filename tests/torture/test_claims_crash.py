"""Claims under fire: workers that crash, let leases run out, and answer late; a daemon that is killed.

No two live claims of one conversation at any commit, each message done exactly once, as many answers as messages done.
CLAIM_WORKERS, CLAIM_MESSAGES and CLAIM_THREADS make it larger, CLAIM_KILLS kills the daemon more often, TORTURE_SEED
repeats what chance decided.
"""

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.conftest import Start
from tests.support.daemon import DOMAIN, Daemon
from tests.support.laws import audited
from tests.support.running import Answer, Running
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

pytestmark = pytest.mark.torture

WORKERS = int(os.environ.get("CLAIM_WORKERS", "10"))
MESSAGES = int(os.environ.get("CLAIM_MESSAGES", "100"))
THREADS = int(os.environ.get("CLAIM_THREADS", "20"))
KILLS = int(os.environ.get("CLAIM_KILLS", "5"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
LEASE_S = 30
LIFE_MAX_S = 0.4


def mail(number: int) -> str:
    """Of the conversation number % THREADS."""
    thread = number % THREADS
    parent = f"In-Reply-To: <{thread}@there.test>\n" if number != thread else ""
    head = f"From: Ada <ada@there.test>\nSubject: {number}\nMessage-ID: <{number}@there.test>\n"
    return f"{head}{parent}\nhello {number}\n"


class Crew:
    """Workers of one inbox. A message is answered with its own subject, so that answers can be counted."""

    def __init__(self, maild: Running, inbox: dict[str, Any], clock: ManualClock) -> None:
        self.maild = maild
        self.inbox = inbox
        self.clock = clock
        self.chance = random.Random(SEED)
        self.outcomes: Counter[str] = Counter()
        self.at_work = 0  # claims in the hands of workers

    async def work(self) -> None:
        while self.outcomes["sent"] < MESSAGES:
            body = {"max": self.chance.randint(1, 3), "leaseSeconds": LEASE_S}
            claims = (await self.ask(f"/v1/inboxes/{self.inbox['id']}/claims", body)).data
            self.at_work += len(claims)
            for claim in claims:
                await self.handle(claim)
                self.at_work -= 1
            if not claims:
                await self.pass_time()

    async def ask(self, path: str, body: dict[str, Any]) -> Answer:
        """As often as the daemon has more to do than there is time for."""
        while True:
            answer = await self.maild.api.post(path, body)
            if answer.code != "provider_unavailable":
                return answer

    async def pass_time(self) -> None:
        """What is left is held by others, who are at it, or crashed: then nothing but time helps."""
        if not self.at_work:
            self.clock.forward(self.chance.choice([1, LEASE_S]))
        await asyncio.sleep(0.01)

    async def handle(self, claim: dict[str, Any]) -> None:
        what = self.chance.choices(
            ["answer", "crash", "late", "release", "done after", "extend"], [10, 2, 1, 1, 1, 1]
        )[0]
        path = f"/v1/claims/{claim['id']}"
        if what == "crash":
            self.outcomes["crash"] += 1
            return
        if what == "late":
            self.clock.forward(LEASE_S)
        if what == "release":
            await self.ask(f"{path}/release", {"delaySeconds": self.chance.choice([0, 5])})
            return
        if what == "extend":
            await self.ask(f"{path}/extend", {"leaseSeconds": 2 * LEASE_S})
        answer = await self.answer(claim)
        self.outcomes[answer] += 1

    async def answer(self, claim: dict[str, Any]) -> str:
        fields = {"text": "thanks", "claimId": claim["id"], "completeClaim": True}
        fields["subject"] = f"answer to {claim['messageId']}"
        sent = await self.ask(f"/v1/messages/{claim['messageId']}/reply", fields)
        if self.chance.random() < 0.1:  # who did not hear asks again
            await self.ask(f"/v1/messages/{claim['messageId']}/reply", fields)
        assert sent.status == 201 or sent.code == "claim_lost", sent.body
        return sent.code or "sent"


async def test_each_message_is_answered_once_whatever_workers_do(start: Start) -> None:
    print(f"TORTURE_SEED={SEED}")  # shown when it fails
    clock = ManualClock(1_795_219_200_000)
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    policy = {"version": 0, "work": {"enabled": True, "maxAttempts": 100}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{bot['id']}/policy", policy)).status == 200
    # What the unique indexes promise is seen by another pair of eyes at every change: a trigger on both tables.
    for table in ("claims", "work_items"):
        for event in ("INSERT", "UPDATE"):
            maild.sql(
                f"""CREATE TRIGGER watch_{table}_{event} AFTER {event} ON {table} BEGIN
                    SELECT RAISE(ABORT, 'two at a time') WHERE EXISTS (SELECT 1 FROM claims
                      WHERE thread_id = NEW.thread_id AND status = 'live' GROUP BY thread_id HAVING count(*) > 1);
                    END"""
            )
    for number in range(MESSAGES):
        assert (await maild.deliver(bot["address"], mail(number))).startswith("250")
    assert maild.sql("SELECT count(DISTINCT thread_id) FROM work_items") == [(min(THREADS, MESSAGES),)]
    crew = Crew(maild, bot, clock)
    await asyncio.gather(*(crew.work() for _ in range(WORKERS)))
    print(crew.outcomes)
    assert maild.sql("SELECT count(*) FROM work_items") == [(0,)]
    assert maild.sql("SELECT count(*), count(DISTINCT message_id) FROM claims WHERE status = 'done'") == [
        (MESSAGES, MESSAGES)
    ]
    answers = maild.sql(
        "SELECT subject, count(*) FROM messages WHERE direction = 'outbound' GROUP BY subject"
    )
    asked = maild.sql("SELECT 'answer to ' || id, 1 FROM messages WHERE direction = 'inbound'")
    assert sorted(answers) == sorted(asked)
    ended = dict(maild.sql("SELECT status, count(*) FROM claims GROUP BY status"))
    assert ended.get("expired", 0) and ended.get("released", 0) and crew.outcomes["claim_lost"], ended
    # In the order in which they came, conversation by conversation.
    done = maild.sql(
        """SELECT c.thread_id, c.message_id FROM claims c JOIN messages a ON a.subject = 'answer to ' || c.message_id
           WHERE c.status = 'done' ORDER BY c.thread_id, a.rowid"""
    )
    assert done == sorted(done)


async def test_an_answer_and_the_end_of_its_claim_are_one_whenever_the_daemon_is_killed(
    tmp_path: Path,
) -> None:
    print(f"TORTURE_SEED={SEED}")
    chance = random.Random(SEED)
    async with Daemon(tmp_path, dns_port=9, outbound_port=9) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        await put_policy(daemon, inbox)
        for number in range(MESSAGES):
            await daemon.deliver(f"bot@{DOMAIN}", mail(number))
        answered = asyncio.Event()
        for _ in range(KILLS):
            workers = [asyncio.create_task(answer_until_killed(daemon, inbox, answered)) for _ in range(4)]
            async with asyncio.timeout(GIVES_UP_S):
                await answered.wait()
            await asyncio.wait(workers, timeout=chance.uniform(0.05, LIFE_MAX_S))
            await daemon.kill()
            await asyncio.gather(*workers)
            audited.check(daemon.data_dir)
            await daemon.start()
            await check(daemon, inbox)


async def put_policy(daemon: Daemon, inbox: dict[str, Any]) -> None:
    body = {"version": 0, "work": {"enabled": True, "maxAttempts": 100}}
    async with (
        daemon.session() as client,
        client.put(f"/v1/inboxes/{inbox['id']}/policy", json=body) as answer,
    ):
        assert answer.status == 200


async def answer_until_killed(daemon: Daemon, inbox: dict[str, Any], answered: asyncio.Event) -> None:
    async with daemon.session() as client:
        try:
            while True:
                async with client.post(f"/v1/inboxes/{inbox['id']}/claims", json={"max": 2}) as answer:
                    claims = (await answer.json())["data"]
                if not claims:
                    return
                for claim in claims:
                    body = {"text": "x", "claimId": claim["id"], "completeClaim": True}
                    body["subject"] = claim["messageId"]
                    async with client.post(f"/v1/messages/{claim['messageId']}/reply", json=body) as answer:
                        assert answer.status == 201, await answer.read()
                    answered.set()
        except aiohttp.ClientError:
            return


async def check(daemon: Daemon, inbox: dict[str, Any]) -> None:
    """As many answers as claims that are done, one for each; the others live on."""
    done = {one["messageId"] for one in await pages(daemon, "/v1/claims", status="done")}
    answered = [one["subject"] for one in await pages(daemon, "/v1/messages", direction="outbound")]
    assert sorted(answered) == sorted(done)
    live = await pages(daemon, "/v1/claims", status="live")
    assert done.isdisjoint(one["messageId"] for one in live)


async def pages(daemon: Daemon, path: str, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    more: dict[str, str] = {}
    while page := await daemon.api.get(path, limit=100, **query, **more):
        found += page
        more = {"cursor": page[-1]["id"]}
    return found
