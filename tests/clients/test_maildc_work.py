"""`maildc work --exec`: each message is handled by a program, once at a time, whatever is killed meanwhile."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.clients import maildc
from tests.support.clients.mcp import mail
from tests.support.running import Running, until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

PROGRAM = """
import json, os, sys
message = json.load(sys.stdin)
told = {"pid": os.getpid(), "argv": sys.argv, "env": dict(os.environ), "message": message}
with open(os.environ["TOLD"], "a") as file:
    file.write(json.dumps(told) + "\\n")
if message["subject"] == "wait":
    open(os.environ["GATE"]).read()
sys.exit({"fail": 3, "break": 4}.get(message["subject"], 0))
"""


class Workshop:
    """An inbox with work, and the program that handles it."""

    def __init__(self, maild: Running, inbox: dict[str, Any], folder: Path) -> None:
        self.maild = maild
        self.inbox = inbox
        self._program = folder / "program.py"
        self._told = folder / "told"
        self.gate = folder / "gate"
        self._program.write_text(PROGRAM)
        self._told.touch()
        self.log = folder / "log"
        os.mkfifo(self.gate)

    @asynccontextmanager
    async def working(
        self, *more: str, under: Sequence[str] = ()
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """No pipes: a program that outlives its worker has them open. `under`: what starts it."""
        words = maildc.command(
            "work", self.inbox["id"], "--exec", f"'{sys.executable}' '{self._program}' one", *more
        )
        environ = {"MAILD_URL": self.maild.api.url, "MAILD_API_KEY": self.maild.api.key}
        environ |= {"TOLD": str(self._told), "GATE": str(self.gate)}
        with self.log.open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *under, *words, env=maildc.environment(**environ),
                stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, stderr=log,
            )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def ended(self, process: asyncio.subprocess.Process) -> tuple[int, str]:
        """Its exit code, and what it said."""
        async with asyncio.timeout(GIVES_UP_S):
            return await process.wait(), self.log.read_text()

    async def arrives(self, subject: str) -> dict[str, Any]:
        return await self.maild.received(self.inbox, mail(subject))

    async def told(self, count: int) -> list[dict[str, Any]]:
        """What the program was told, once it ran so often."""

        async def look() -> list[dict[str, Any]] | None:
            lines = self._told.read_text().rpartition("\n")[0].splitlines()  # it may be at one
            return [json.loads(line) for line in lines] if len(lines) >= count else None

        return await until(look)

    async def claims(self, status: str, count: int) -> list[dict[str, Any]]:
        """Those of the status, once there are so many."""

        async def look() -> list[dict[str, Any]] | None:
            found: list[dict[str, Any]] = (await self.maild.api.get("/v1/claims", status=status)).data
            return found if len(found) == count else None

        return await until(look)

    async def open_gate(self) -> None:
        """Let the program that waits at it go on."""

        async def look() -> bool | None:
            try:
                os.close(os.open(self.gate, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:  # ENXIO: it does not wait yet
                return None
            return True

        await until(look)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def workshop(start: Start, clock: ManualClock, tmp_path: Path) -> Workshop:
    maild = await start(clock=clock)
    inbox = await maild.inbox("bot")
    policy = {"version": 0, "work": {"enabled": True}}
    assert (await maild.api.call("PUT", f"/v1/inboxes/{inbox['id']}/policy", policy)).status == 200
    folder = tmp_path / "workshop"
    folder.mkdir()
    return Workshop(maild, inbox, folder)


async def test_exit_0_is_done_and_all_else_is_given_back(workshop: Workshop) -> None:
    good, bad = await workshop.arrives("good \x1b]0;$(id)\x07"), await workshop.arrives("fail")
    async with workshop.working():
        told = {one["message"]["id"]: one for one in await workshop.told(2)}
        (done,) = await workshop.claims("done", 1)
        (released,) = await workshop.claims("released", 1)
    said = workshop.log.read_text()
    assert said.count("\n") == 1 and released["id"] in said and "exit 3" in said
    assert (done["messageId"], released["messageId"]) == (good["id"], bad["id"])
    one = told[good["id"]]
    assert one["message"] == good | {"labels": one["message"]["labels"]}
    given = {name: value for name, value in one["env"].items() if name.startswith("MAILD_")}
    assert given.pop("MAILD_URL") and given.pop("MAILD_API_KEY")
    assert given == {
        "MAILD_MESSAGE_ID": good["id"], "MAILD_THREAD_ID": good["threadId"], "MAILD_INBOX_ID": workshop.inbox["id"],
        "MAILD_CLAIM_ID": done["id"], "MAILD_ATTEMPT": "1",
    }  # fmt: skip
    assert "owned" not in str(one["argv"]) and one["argv"][1:] == ["one"], (
        "words of senders are on stdin alone"
    )


async def test_a_failure_is_none_the_less_one_below_who_ignores_the_ends_of_his_children(
    workshop: Workshop,
) -> None:
    """As daemons do that begin programs: the system then keeps no exit code, and without one Python says 0."""
    await workshop.arrives("fail")
    async with workshop.working(under=["env", "--ignore-signal=CHLD"]) as process:
        (given_back,) = await workshop.claims("released", 1)
        process.send_signal(signal.SIGTERM)
        _, said = await workshop.ended(process)
    assert "exit 3" in said and given_back["status"] == "released"


async def test_a_worker_that_is_asked_to_stop_finishes_what_it_began(workshop: Workshop) -> None:
    await workshop.arrives("wait")
    async with workshop.working() as process:
        await workshop.told(1)
        process.send_signal(signal.SIGTERM)
        await workshop.arrives("later")
        await workshop.open_gate()
        assert await workshop.ended(process) == (0, "")
    await workshop.claims("done", 1)
    assert len(await workshop.told(1)) == 1, "what came later waits for another worker"


async def test_what_a_killed_worker_had_is_offered_again_and_its_program_can_not_answer(
    workshop: Workshop, clock: ManualClock
) -> None:
    message = await workshop.arrives("wait")
    async with workshop.working("--lease-seconds", "30") as process:
        (first,) = await workshop.told(1)
        process.kill()
        await process.wait()
    clock.forward(30)
    async with workshop.working() as process:
        _, second = await workshop.told(2)
        assert second["message"]["id"] == message["id"] and second["env"]["MAILD_ATTEMPT"] == "2"
        answers = [
            await maildc.run(
                "reply", message["id"], "--text", "x", "--claim-id", one["env"]["MAILD_CLAIM_ID"], "--json",
                url=workshop.maild.api.url, key=workshop.maild.api.key,
            )
            for one in (first, second)
        ]  # fmt: skip
        assert (answers[0].code, answers[0].error["code"]) == (5, "claim_lost")
        assert answers[1].json["status"] == "queued"
        # With the answer the claim is done: who is killed now leaves nothing that would be offered again.
        await workshop.claims("done", 1)
        os.kill(first["pid"], signal.SIGKILL)  # it outlived its worker
        await workshop.open_gate()
        process.send_signal(signal.SIGTERM)
        assert (await workshop.ended(process))[0] == 0
    sent = await workshop.maild.api.messages(direction="outbound")
    assert [one["id"] for one in sent] == [answers[1].json["id"]], "answered once"


async def test_a_program_that_is_none_is_told_before_anything_is_claimed(workshop: Workshop) -> None:
    await workshop.arrives("good")
    access: dict[str, Any] = {"url": workshop.maild.api.url, "key": workshop.maild.api.key}
    done = await maildc.run("work", workshop.inbox["id"], "--exec", "/nowhere/at/all", **access)
    assert done.code == 2 and "/nowhere/at/all" in done.said
    await workshop.claims("live", 0)


async def test_an_inbox_without_work_is_told(maild: Running) -> None:
    bot = await maild.inbox("bot")
    done = await maildc.run("work", bot["id"], "--exec", "true", url=maild.api.url, key=maild.api.key)
    assert done.code == 5 and "[work_not_enabled]" in done.said
