"""`inboxes.work` of the TypeScript client: each message is answered once, whoever fails, is killed or is too slow."""

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.clients.test_python_work import (
    CLAIM,
    KILLS,
    LEASE_S,
    MAILS,
    Process,
    all_done,
    answers,
    clock,
    finishes_what_is_begun,
    released,
    work,
)
from tests.clients.typescript_world import Driver, Refused
from tests.clients.worlds import HANG_UP, ScriptedServer, answer, refused
from tests.contract.agents.test_claims import Work
from tests.support.daemon import environment
from tests.support.machine import tools
from tests.support.running import until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]
__all__ = ["clock", "work"]  # the fixtures

# `given.count` calls of the handler; then it is told to stop. `handle` is put in its place.
WORK = """
    const stop = new AbortController(), seen = [], errors = [];
    const wanted = given.count;
    async function handle(message, claim) {
        seen.push([message.id, claim.attempt]);
        if (seen.length === wanted) stop.abort();
        HANDLE
    }
    const onError = (error, claim) => errors.push([claim?.id ?? null, String(error.message)]);
    const { count, inboxId, ...more } = given;
    await client.inboxes.work(inboxId, handle, { waitSeconds: 1, signal: stop.signal, onError, ...more });
    return { seen, errors };
"""


async def worked(driver: Driver, maild: Work, handle: str, count: int, **more: Any) -> Any:
    """What a worker saw that handles so many messages."""
    given = {"inboxId": maild.inbox["id"], "count": count, **more}
    return await driver.ask(maild.api.url, WORK.replace("HANDLE", handle), given, maild.api.key, is_slow=True)


async def test_each_message_is_handled_and_done(work: Work, driver: Driver) -> None:
    got = [
        await work.arrive(1),
        await work.arrive(2),
        await work.arrive(3, thread=1),
        await work.arrive(4, thread=1),
    ]
    handle = f"""
        const context = await claim.context({{ maxTokens: 500 }});
        if (!context.text.includes("mail") || claim.messageId !== message.id) throw new Error("another");
        if (message.id === "{got[1]["id"]}") return;  // what is not answered is done all the same
        const sent = await claim.reply({{ text: "Thank you.", replyAll: true }});
        if (sent.status !== "queued" || !claim.isOver) throw new Error("not sent");
    """
    told = await worked(driver, work, handle, 4, concurrency=3)
    assert told["errors"] == []
    seen = [id for id, attempt in told["seen"] if attempt == 1]
    assert sorted(seen) == sorted(one["id"] for one in got)
    assert [one for one in seen if one != got[1]["id"]] == [got[0]["id"], got[2]["id"], got[3]["id"]], (
        "in its order"
    )
    assert await all_done(work, 4)
    assert sorted((await answers(work)).values()) == [1, 1, 1]
    assert (await work.api.get(f"/v1/inboxes/{work.inbox['id']}")).data["unreadCount"] == 0


async def test_what_a_handler_throws_gives_the_message_back(work: Work, driver: Driver) -> None:
    await work.arrive(1)
    handle = """
        if (claim.attempt < 3) throw new Error("the model does not answer");
        await claim.reply({ text: "Thank you." });
    """
    told = await worked(driver, work, handle, 3, retryDelaySeconds=0)
    assert [attempt for _, attempt in told["seen"]] == [1, 2, 3]
    assert [said for _, said in told["errors"]] == ["the model does not answer"] * 2
    assert len(await work.listed(status="released")) == 2 and await all_done(work, 1)
    assert list((await answers(work)).values()) == [1]


async def test_it_may_be_finished_or_released_by_hand(work: Work, driver: Driver) -> None:
    first, second = await work.arrive(1), await work.arrive(2)
    handle = f"""
        if (message.id === "{first["id"]}") return claim.finish({{ add: ["spam"] }});
        await claim.reply({{ text: "One.", complete: false }});
        await claim.reply({{ text: "Two.", complete: false }});
        if (claim.isOver) throw new Error("over");
        await claim.release({{ delaySeconds: 600 }});
    """
    assert (await worked(driver, work, handle, 2))["errors"] == []
    assert await all_done(work, 1) and await released(work)
    assert (await work.api.get(f"/v1/messages/{first['id']}")).data["labels"] == ["spam"]
    assert list((await answers(work)).values()) == [2]
    assert (await work.api.get(f"/v1/messages/{second['id']}")).data["labels"] == ["unread"]


async def test_an_inbox_without_work_says_so(work: Work, driver: Driver) -> None:
    await work.policy(version=1)
    with pytest.raises(Refused, match="Conflict: work_not_enabled"):
        await worked(driver, work, "", 1)


async def test_what_passes_is_waited_for(driver: Driver) -> None:
    script = [
        refused(503, Retry_After="0"),
        HANG_UP,
        refused(502),
        refused(503),
        answer(200, {"data": [CLAIM]}),
    ]
    async with ScriptedServer([*script, answer(200, {"data": CLAIM})]) as server:
        given = {"inboxId": "inb_1", "count": 1, "holder": "me"}
        told = await driver.ask(server.url, WORK.replace("HANDLE", ""), given)
        takes = [one for one in server.asked if one.path == "/v1/inboxes/inb_1/claims"]
        assert server.asked[-1].path == "/v1/claims/clm_1/done"
    assert [claim for claim, _ in told["errors"]] == [None], "three attempts, then it is said, and waited"
    assert takes[0].json == {"max": 1, "leaseSeconds": LEASE_S, "waitSeconds": 1, "holder": "me"}
    assert len(takes) == 5
    assert len({one.headers["idempotency-key"] for one in takes}) == 1, "a lost answer strands no claim"


async def test_the_lease_is_extended_until_it_is_lost(driver: Driver) -> None:
    """What is still done for it hears of that by the claim's signal."""
    extended = answer(200, {"data": CLAIM})
    script = [answer(200, {"data": [CLAIM]}), extended, HANG_UP, extended, refused(409, "claim_lost")]
    handle = "await new Promise((resolve) => claim.signal.addEventListener('abort', resolve));"
    async with ScriptedServer(script) as server:
        given = {"inboxId": "inb_1", "count": 1, "leaseSeconds": 0.03}
        told = await driver.ask(server.url, WORK.replace("HANDLE", handle), given, is_slow=True)
        assert [one.path for one in server.asked[1:]] == ["/v1/claims/clm_1/extend"] * 4, "and never done"
    assert len(told["errors"]) == 2 and "claim_lost" in told["errors"][1][1]


# Processes ----------------------------------------------------------------------------------------


async def started(package: Path, work: Work, concurrency: int = 2) -> Process:
    """worker.mjs, somewhere else."""
    return Process(
        await asyncio.create_subprocess_exec(
            tools.path_of("node"), "worker.mjs", work.inbox["id"], str(concurrency), cwd=package,
            env={**environment(), "MAILD_URL": work.api.url, "MAILD_API_KEY": str(work.api.key)},
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )
    )  # fmt: skip


async def test_sigterm_lets_what_is_begun_finish(work: Work, package: Path) -> None:
    await finishes_what_is_begun(work, await started(package, work))


async def test_who_lost_the_claim_sends_nothing(
    work: Work, clock: ManualClock, package: Path, driver: Driver
) -> None:
    message = await work.arrive(1)
    slow = await started(package, work, concurrency=1)  # else it took the message again
    try:
        assert await slow.line() == f"begun {message['id']}"
        clock.forward(LEASE_S + 1)  # as if the slow one's machine had been asleep
        await worked(driver, work, "await claim.reply({ text: 'From the fast one.' });", 1)
        slow.go_on()
        assert await slow.line() == f"lost {message['id']}"
        slow.send(signal.SIGTERM)
        assert await slow.ended() == 0
    finally:
        slow.send(signal.SIGKILL)
    (sent,) = await work.api.messages(inboxId=work.inbox["id"], direction="outbound")
    assert sent["snippet"] == "From the fast one."


@pytest.mark.torture
async def test_workers_that_are_killed_answer_nobody_twice(
    work: Work, clock: ManualClock, package: Path
) -> None:
    """Killed right after they let an answer go: some of these were sent, some not, and nobody was told which."""
    for number in range(MAILS):
        await work.arrive(number)
    processes: list[Process] = []
    try:
        for _ in range(KILLS):
            processes.append(process := await started(package, work))
            assert (await process.line()).startswith("begun")
            process.go_on()
            if len(processes) % 2:
                assert (await process.line()).split()[0] in ("begun", "answered")
            process.send(signal.SIGKILL)
            await process.ended()
            clock.forward(LEASE_S + 1)
        processes.append(last := await started(package, work))

        async def all_are() -> bool | None:
            last.go_on()
            return await all_done(work, MAILS)

        async with asyncio.timeout(GIVES_UP_S):
            await until(all_are)
        last.send(signal.SIGTERM)
        assert await last.ended() == 0
    finally:
        for process in processes:
            process.send(signal.SIGKILL)
    assert set((await answers(work)).values()) == {1} and len(await answers(work)) == MAILS
