"""The process is killed while mail is held and decided about: held with its review or not at all, approved with its
place in the queue and its count or still pending.

A decision is killed at every line of its code, and so before and after its commit; a daemon that holds, approves,
rejects, withdraws and expires is killed at random moments. REVIEW_KILLS kills it more often, TORTURE_SEED repeats the
moments.
"""

import asyncio
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from storage.data_folder import DataFolder
from tests.conftest import Start
from tests.support.daemon import ROOT, Daemon
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.reviewing import Held

pytestmark = pytest.mark.torture

KILLS = int(os.environ.get("REVIEW_KILLS", "5"))
SEED = int(os.environ.get("TORTURE_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)
LIFE_MAX_S = 0.5
LINES_MIN = 60  # fewer would mean that hardly anything was traced
PROGRAM = """
import json, os, shutil, sys
from pathlib import Path
from conf.loading import parse
from controlplane.sending.reviews.reviewing import Approval
from maild.commands.operator_commands import OperatorCommands
from storage.engine import migrate
from storage.data_folder import DataFolder
from tests.support.machine.dying import dying_at

source, work, review_id, content_hash = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
TRACED = ("reviewing.py", "admission.py", "storage/agents/reviews.py", "storage/mail/messages.py",
          "storage/publishing/events.py", "storage/sending/outbound.py", "storage/usage.py",
          "storage/engine/migrate.py", "maild/commands/reviews.py")

def state(folder):
    conn = migrate.connect(folder.database)
    one = lambda sql: conn.execute(sql).fetchone()[0]
    found = (
        one("SELECT status FROM reviews"), one("SELECT status FROM messages"), one("SELECT count(*) FROM recipients"),
        one("SELECT coalesce(sum(value), 0) FROM usage WHERE metric = 'messages' AND length(period) = 10"),
        one("SELECT count(*) FROM events WHERE type = 'review.resolved'"),
        one("SELECT count(*) FROM correspondents"),
    )
    conn.close()
    return found

ends = {"pending": 0, "approved": 0}
WHOLE = {"pending": ("pending", "held", 0, 0, 0, 0), "approved": ("approved", "queued", 1, 1, 1, 1)}
number = 0
while True:
    number += 1
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source, work)
    store = OperatorCommands(parse({"data_dir": str(work), "server": {"shared_domains": ["agents.test"]}}))
    child = os.fork()
    if child == 0:
        sys.settrace(dying_at(number, TRACED))
        store.reviews.approve(review_id, Approval(content_hash))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    found = state(DataFolder(work))
    assert found == WHOLE[found[0]], (number, found)
    ends[found[0]] += 1
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0 and found[0] == "approved", found
        break
print(json.dumps({"lines": number, **ends}))
"""


async def test_an_approval_that_is_killed_anywhere_is_whole_or_not_there(
    start: Start, tmp_path: Path
) -> None:
    maild = await start()
    held = await Held.make(maild)
    sent = await held.held()
    content_hash = (await held.review(sent))["contentHash"]
    source = tmp_path / "source"
    await maild.daemon.stop()
    shutil.copytree(maild.settings.data_path, source)
    (source / "lock").unlink(missing_ok=True)
    assert DataFolder(source).database.exists()
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", PROGRAM, source, tmp_path / "work", sent["review"]["id"], content_hash],
        cwd=ROOT, capture_output=True, text=True, timeout=GIVES_UP_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ends: dict[str, int] = json.loads(done.stdout)
    print(ends)
    assert ends["lines"] > LINES_MIN and ends["pending"] and ends["approved"], ends
    await maild.daemon.start()


async def test_what_is_held_is_whole_whenever_the_daemon_is_killed(tmp_path: Path) -> None:
    print(f"TORTURE_SEED={SEED}")  # shown when it fails
    chance = random.Random(SEED)
    async with Daemon(tmp_path, dns_port=9, outbound_port=9) as daemon:
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        reviewer = json.loads(
            await daemon.command(
                "keys", "create", "--org", await organization(daemon), "--name", "r", "--json"
            )
        )
        async with session(daemon, daemon.api_key) as client:
            body = {"version": 0, "outbound": {"review": "all"}, "review": {"expiresAfterSeconds": 60}}
            async with client.put("/v1/organization/policy", json=body) as answer:
                assert answer.status == 200, await answer.text()
        answered: set[str] = set()
        for _ in range(KILLS):
            is_held = asyncio.Event()
            workers = [
                asyncio.create_task(
                    work(
                        daemon,
                        inbox["id"],
                        reviewer["apiKey"],
                        random.Random(chance.random()),
                        answered,
                        is_held,
                    )
                )
                for _ in range(6)
            ]
            async with asyncio.timeout(GIVES_UP_S):
                await is_held.wait()
            await asyncio.wait(workers, timeout=chance.uniform(0.1, LIFE_MAX_S))
            await daemon.kill()
            await asyncio.gather(*workers)
            check(daemon.data_dir, answered)
            await daemon.start()
    check(daemon.data_dir, answered)


async def organization(daemon: Daemon) -> str:
    made: str = (await daemon.api.get("/v1/organization"))["id"]
    return made


def session(daemon: Daemon, key: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(daemon.api.url, headers={"Authorization": f"Bearer {key}"})


async def work(
    daemon: Daemon,
    inbox_id: str,
    reviewer: str,
    chance: random.Random,
    answered: set[str],
    is_held: asyncio.Event,
) -> None:
    """Hold, and decide, until the daemon is killed. `answered`: the ids of what was answered 201; `is_held`: set at
    the first of them."""
    async with session(daemon, daemon.api_key) as agent, session(daemon, reviewer) as decider:
        try:
            while True:
                body = {
                    "inboxId": inbox_id,
                    "to": ["a@there.test"],
                    "text": "x" * chance.choice([10, 200_000]),
                }
                sent = await asked(agent, "/v1/messages/send", body, 201)
                answered.add(sent["id"])
                is_held.set()
                path = f"/v1/reviews/{sent['review']['id']}"
                what = chance.choice(["approve", "approve", "reject", "withdraw", "nothing"])
                if what == "withdraw":
                    await asked(agent, f"/v1/messages/{sent['id']}/withdraw", None, 200)
                elif what == "reject":
                    await asked(decider, f"{path}/reject", {}, 200)
                elif what == "approve":
                    async with decider.get(path) as answer:
                        shown = (await answer.json())["data"]
                    await asked(decider, f"{path}/approve", {"contentHash": shown["contentHash"]}, 200)
        except aiohttp.ClientError:
            return


async def asked(client: aiohttp.ClientSession, path: str, body: Any, status: int) -> dict[str, Any]:
    async with client.post(path, json=body) as answer:
        assert answer.status == status, await answer.text()
        data: dict[str, Any] = (await answer.json())["data"]
        return data


def check(data_dir: Path, answered: set[str]) -> None:
    """Every message has its review, and both say the same; counted and queued is what was approved, and no more."""
    with closing(sqlite3.connect(data_dir / "maild.sqlite3")) as conn:
        rows = conn.execute(
            """SELECT m.id, r.status, m.status, (SELECT count(*) FROM recipients WHERE message_id = m.id),
                 (SELECT count(*) FROM events WHERE message_id = m.id AND type = 'review.requested'),
                 (SELECT count(*) FROM events WHERE message_id = m.id AND type = 'review.resolved')
               FROM messages m LEFT JOIN reviews r ON r.message_id = m.id WHERE m.direction = 'outbound'"""
        ).fetchall()
        (counted,) = conn.execute(
            "SELECT coalesce(sum(value), 0) FROM usage WHERE metric = 'messages' AND length(period) = 10"
        ).fetchone()
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert answered <= {row[0] for row in rows}
    for message_id, review, status, recipients, requested, resolved in rows:
        whole = {
            "pending": ("held", 0, 0), "approved": ("queued", 1, 1), "rejected": ("failed", 0, 1),
            "expired": ("failed", 0, 1), "withdrawn": ("cancelled", 0, 1),
        }  # fmt: skip
        assert (status, recipients, resolved) == whole[review], (message_id, review, status)
        assert requested == 1
    assert counted == sum(row[1] == "approved" for row in rows)
