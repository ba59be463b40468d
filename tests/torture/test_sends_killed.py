"""A send under an Idempotency-Key, and the process killed while it is under way: asked again, it is one message.

Each life ends by SIGKILL at a random moment; clients then ask again under the same keys, as an agent does
that heard nothing. SENDS_KILLED_ROUNDS sets how many lives there are, TORTURE_SEED repeats the moments.
"""

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.daemon import Daemon

pytestmark = pytest.mark.torture

ROUNDS = int(os.environ.get("SENDS_KILLED_ROUNDS", "6"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
CLIENTS = 8
LIFE_MAX_S = 0.25
PATH = "/v1/messages/send"


class Clients:
    """Each asks under a fresh key, again and again, and remembers what nobody answered."""

    def __init__(self, daemon: Daemon, inbox_id: str) -> None:
        self._daemon = daemon
        self._inbox_id = inbox_id
        self._count = 0
        self.answered: dict[str, str] = {}  # key → message id
        self.unanswered: set[str] = set()

    async def ask_until_killed(self) -> None:
        async with self._daemon.session() as session:
            await asyncio.gather(*(self._ask_on(session) for _ in range(CLIENTS)))

    async def ask_again(self) -> None:
        """What was not answered, and some of what was: the answer must be the same."""
        known = list(self.answered)[-CLIENTS:]
        async with self._daemon.session() as session:
            for key in [*self.unanswered, *known]:
                status, message_id = await self._ask(session, key)
                assert status in (200, 201)
                assert (status, message_id) == (200, self.answered.get(key, message_id)) or key not in known
                self.answered[key] = message_id
        self.unanswered.clear()

    async def _ask_on(self, session: aiohttp.ClientSession) -> None:
        while True:
            self._count += 1
            key = f"key-{self._count}"
            try:
                status, message_id = await self._ask(session, key)
            except aiohttp.ClientError:
                self.unanswered.add(key)
                return
            assert status == 201
            self.answered[key] = message_id

    async def _ask(self, session: aiohttp.ClientSession, key: str) -> tuple[int, str]:
        # Some are large enough to be files.
        body: dict[str, Any] = {"inboxId": self._inbox_id, "to": ["a@there.test"], "subject": key}
        body["text"] = "x" * (200_000 if key.endswith("7") else 2000)
        async with session.post(PATH, json=body, headers={"Idempotency-Key": key}) as response:
            answer = await response.json()
            return response.status, answer["data"]["id"]


async def test_what_nobody_answered_is_one_message_when_it_is_asked_again(tmp_path: Path) -> None:
    print(f"TORTURE_SEED={SEED}")  # shown when it fails
    randomness = random.Random(SEED)
    # Nothing is delivered: port 9 refuses at once.
    async with Daemon(tmp_path, dns_port=9, outbound_port=9) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        clients = Clients(daemon, inbox["id"])
        for _ in range(ROUNDS):
            asking = asyncio.create_task(clients.ask_until_killed())
            await asyncio.sleep(randomness.uniform(0.02, LIFE_MAX_S))
            await daemon.kill()
            await asking
            await daemon.start()
            await clients.ask_again()
        assert len(clients.answered) > ROUNDS
        await check(daemon, clients)


async def check(daemon: Daemon, clients: Clients) -> None:
    subjects: Counter[str] = Counter()
    more: dict[str, str] = {}
    while page := await daemon.api.get("/v1/messages", limit=100, direction="outbound", **more):
        subjects.update(one["subject"] for one in page)
        more = {"before": page[-1]["id"]}
    assert subjects == dict.fromkeys(clients.answered, 1)
    organization = await daemon.api.get("/v1/organization")
    assert organization["usage"]["messagesDaily"] == len(clients.answered)
