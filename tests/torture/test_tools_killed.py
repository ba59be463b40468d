"""A tool that sends, and the process killed while it is under way: called again with the same arguments, it sent once.

Each life ends by SIGKILL at a random moment; the host then calls again what nobody answered, as models do after a
time-out. TOOLS_KILLED_ROUNDS sets how many lives there are, TORTURE_SEED repeats the moments.
"""

import asyncio
import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.support.clients.mcp import HANDSHAKE, PATH
from tests.support.daemon import Daemon

pytestmark = pytest.mark.torture

ROUNDS = int(os.environ.get("TOOLS_KILLED_ROUNDS", "5"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
HOSTS = 8
LIFE_MAX_S = 0.25
HEADERS = {"Content-Type": "application/json", "MCP-Protocol-Version": HANDSHAKE}


class Hosts:
    """Each calls with fresh arguments, again and again, and remembers what nobody answered."""

    def __init__(self, daemon: Daemon, inbox_id: str) -> None:
        self._daemon = daemon
        self._inbox_id = inbox_id
        self._count = 0
        self.answered: dict[str, str] = {}  # subject → message id
        self.unanswered: set[str] = set()

    async def call_until_killed(self) -> None:
        async with self._daemon.session() as session:
            await asyncio.gather(*(self._call_on(session) for _ in range(HOSTS)))

    async def call_again(self) -> None:
        """What was not answered, and some of what was: that is not sent again."""
        known = list(self.answered)[-HOSTS:]
        async with self._daemon.session() as session:
            for subject in [*self.unanswered, *known]:
                facts = await self._call(session, subject)
                if subject in known:
                    assert (facts["messageId"], facts["alreadySent"]) == (self.answered[subject], True)
                self.answered[subject] = facts["messageId"]
        self.unanswered.clear()

    async def _call_on(self, session: aiohttp.ClientSession) -> None:
        while True:
            self._count += 1
            subject = f"subject {self._count}"
            try:
                self.answered[subject] = (await self._call(session, subject))["messageId"]
            except aiohttp.ClientError:
                self.unanswered.add(subject)
                return

    async def _call(self, session: aiohttp.ClientSession, subject: str) -> dict[str, Any]:
        arguments = {"inboxId": self._inbox_id, "to": ["a@there.test"], "subject": subject, "text": "words"}
        call = {"name": "send_message", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        async with session.post(PATH, data=json.dumps(body), headers=HEADERS) as response:
            result = (await response.json())["result"]
            assert not result.get("isError"), result
            facts: dict[str, Any] = result["structuredContent"]
            return facts


async def test_what_nobody_answered_was_sent_once_when_it_is_called_again(tmp_path: Path) -> None:
    print(f"TORTURE_SEED={SEED}")  # shown when it fails
    randomness = random.Random(SEED)
    # Nothing is delivered: port 9 refuses at once.
    async with Daemon(tmp_path, dns_port=9, outbound_port=9) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        hosts = Hosts(daemon, inbox["id"])
        for _ in range(ROUNDS):
            calling = asyncio.create_task(hosts.call_until_killed())
            await asyncio.sleep(randomness.uniform(0.02, LIFE_MAX_S))
            await daemon.kill()
            await calling
            await daemon.start()
            await hosts.call_again()
        assert len(hosts.answered) > ROUNDS
        assert await subjects(daemon) == dict.fromkeys(hosts.answered, 1)


async def subjects(daemon: Daemon) -> Counter[str]:
    found: Counter[str] = Counter()
    more: dict[str, str] = {}
    while page := await daemon.api.get("/v1/messages", limit=100, direction="outbound", **more):
        found.update(one["subject"] for one in page)
        more = {"before": page[-1]["id"]}
    return found
