"""Follow-ups whose time has come, and the process killed while it looks whether they were answered: what was answered
never goes, what was not goes once, and each failure is told once.

FOLLOW_UPS_ROUNDS sets how many times it is done, TORTURE_SEED repeats the moments.
"""

import asyncio
import os
import random
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import DOMAIN, Daemon

pytestmark = pytest.mark.torture

ROUNDS = int(os.environ.get("FOLLOW_UPS_ROUNDS", "1"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
CONVERSATIONS = 100  # more than the scheduler takes at once
KILLS = 4
LIFE_MAX_S = 0.03


def mail(conversation: str, parent: str | None = None) -> str:
    said = "answer" if parent else "question"
    head = f"From: Ada <ada@there.test>\nSubject: {conversation}\nMessage-ID: <{said}-{conversation}@there.test>\n"
    return head + (f"In-Reply-To: <{parent}-{conversation}@there.test>\n" if parent else "") + "\nhello\n"


async def schedule_follow_ups(daemon: Daemon, inbox: dict[str, Any], names: list[str]) -> None:
    """One in each conversation, unless it goes on."""
    for name in names:
        await daemon.deliver(f"bot@{DOMAIN}", mail(name))
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    for message in await daemon.api.get("/v1/messages", limit=100, direction="inbound"):
        if message["subject"] in names:
            body = {
                "inboxId": inbox["id"],
                "to": ["ada@there.test"],
                "subject": message["subject"],
                "text": "?",
            }
            parent = message["id"]
            await daemon.api.post(
                "/v1/messages/send", **body, inReplyTo=parent, ifLastMessageId=parent, sendAt=at
            )


def rows(daemon: Daemon, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Of a daemon that is not there: nobody else writes."""
    with closing(sqlite3.connect(daemon.data_dir / "maild.sqlite3")) as conn, conn:
        return conn.execute(statement, parameters).fetchall()


def check(daemon: Daemon, answered: set[str]) -> int:
    """At any commit; how many still wait."""
    found = rows(
        daemon,
        """SELECT m.subject, m.status, m.failure_reason,
             (SELECT count(*) FROM events e WHERE e.message_id = m.id AND e.type = 'email.failed'),
             (SELECT count(*) FROM recipients r WHERE r.message_id = m.id)
           FROM messages m WHERE m.direction = 'outbound'""",
    )
    for subject, status, reason, told, queued in found:
        expected = ("failed", "thread_advanced", 1, 0) if subject in answered else ("queued", None, 0, 1)
        assert (status, reason, told, queued) in (("scheduled", None, 0, 0), expected), subject
    return sum(status == "scheduled" for _, status, *_ in found)


async def test_what_was_answered_never_goes_and_the_rest_goes_once(tmp_path: Path) -> None:
    print(f"TORTURE_SEED={SEED}")  # shown when it fails
    chance = random.Random(SEED)
    answered: set[str] = set()
    halfway = 0
    # Nothing is delivered: port 9 refuses at once, and what is queued stays so.
    async with Daemon(tmp_path, dns_port=9, outbound_port=9) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        for number in range(ROUNDS):
            names = [f"{number}-{each}" for each in range(CONVERSATIONS)]
            await schedule_follow_ups(daemon, inbox, names)
            replied = chance.sample(names, CONVERSATIONS // 2)
            for name in replied:
                await daemon.deliver(f"bot@{DOMAIN}", mail(name, parent="question"))
            answered.update(replied)
            await daemon.kill()
            rows(
                daemon,
                "UPDATE messages SET scheduled_at = ? WHERE status = 'scheduled'",
                time.time_ns() // 10**6,
            )
            for _ in range(KILLS):
                await daemon.start()
                await asyncio.sleep(chance.uniform(0, LIFE_MAX_S))
                await daemon.kill()
                halfway += 0 < check(daemon, answered) < CONVERSATIONS
            await daemon.start()
            await daemon.api.until("/v1/messages", lambda page: not page, status="scheduled")
        await daemon.kill()
        assert check(daemon, answered) == 0
        print(f"killed while some had gone and some had not: {halfway}")
        await daemon.start()
