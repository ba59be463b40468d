"""`inboxes.work` of both Python clients: each message is answered once, whoever fails, is killed or is too slow."""

import asyncio
import inspect
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from maild_client import AsyncClaim, AsyncMaild, Claim, ClaimLost, Conflict, Maild
from maild_client._async.crew import stopped_by_signals
from maild_client._sync.crew import stopped_by_signals as threads_stopped
from tests.clients.worlds import HANG_UP, KEY, Clients, ScriptedServer, answer, refused
from tests.conftest import Start
from tests.contract.agents.test_claims import Work
from tests.support.running import until
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

ROOT = Path(__file__).parents[2]
LEASE_S = 300
KILLS = 4
MAILS = 12
CLAIM = {
    "id": "clm_1", "messageId": "msg_1", "threadId": "thd_1", "inboxId": "inb_1", "attempt": 1, "status": "live",
    "message": {"id": "msg_1"},
}  # fmt: skip


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def work(start: Start, clock: ManualClock) -> Work:
    maild = await start(clock=clock)
    made = Work(maild, await maild.inbox("bot"))
    assert (await made.policy(enabled=True, maxAttempts=20)).status == 200
    return made


@pytest.fixture(params=[True, False], ids=["coroutines", "plain"])
def is_async(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class Worker:
    """A worker in this process, with a plain handler in a thread of its own. Leaving stops it."""

    def __init__(
        self, url: str, key: str, inbox_id: str, is_async: bool, handle: Callable[..., Any], **more: Any
    ):
        self._where = (key, url)
        self._inbox_id = inbox_id
        self._is_async = is_async
        self._handle = handle
        self._more = {"wait_seconds": 1, **more}

    @classmethod
    def of(cls, work: Work, is_async: bool, handle: Callable[..., Any], **more: Any) -> Self:
        return cls(work.api.url, str(work.api.key), work.inbox["id"], is_async, handle, **more)

    async def __aenter__(self) -> Self:
        self.stop: Any = asyncio.Event() if self._is_async else threading.Event()
        self.ended = asyncio.create_task(
            self._run_async() if self._is_async else asyncio.to_thread(self._run)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        async with asyncio.timeout(GIVES_UP_S):
            await self.ended

    async def _run_async(self) -> None:
        async def handle(message: Any, claim: AsyncClaim) -> None:
            loop = asyncio.get_running_loop()
            await asyncio.to_thread(self._handle, message, Asking(claim, loop))

        async with AsyncMaild(*self._where) as client:
            await client.inboxes.work(self._inbox_id, handle, stop=self.stop, **self._more)

    def _run(self) -> None:
        with Maild(*self._where) as client:
            client.inboxes.work(self._inbox_id, self._handle, stop=self.stop, **self._more)


class Asking:
    """A claim of coroutines, asked from a thread."""

    def __init__(self, claim: AsyncClaim, loop: asyncio.AbstractEventLoop) -> None:
        self._claim = claim
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._claim, name)
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *given, **named: asyncio.run_coroutine_threadsafe(
            found(*given, **named), self._loop
        ).result(20)


async def answers(work: Work) -> Counter[str]:
    """How often each message was answered."""
    found = await work.api.messages(inboxId=work.inbox["id"], direction="outbound", limit="100")
    return Counter(one["inReplyTo"] for one in found)


async def all_done(work: Work, count: int) -> bool | None:
    done = await work.listed(status="done", limit="100")
    return True if len(done) == count else None


async def test_each_message_is_handled_and_done(work: Work, is_async: bool) -> None:
    got = [
        await work.arrive(1),
        await work.arrive(2),
        await work.arrive(3, thread=1),
        await work.arrive(4, thread=1),
    ]
    seen: list[str] = []

    def handle(message: Any, claim: Any) -> None:
        seen.append(message["id"])
        assert (claim.attempt, claim.message_id) == (1, message["id"])
        assert "mail" in claim.context(max_tokens=500)["text"]
        if message["id"] != got[1]["id"]:  # what is not answered is done all the same
            assert claim.reply("Thank you.", reply_all=True)["status"] == "queued"

    async with Worker.of(work, is_async, handle, concurrency=3):
        await until(lambda: all_done(work, 4))
    assert sorted(seen) == sorted(one["id"] for one in got)
    assert [one for one in seen if one != got[1]["id"]] == [got[0]["id"], got[2]["id"], got[3]["id"]], (
        "in its order"
    )
    assert sorted((await answers(work)).values()) == [1, 1, 1]
    assert (await work.api.get(f"/v1/inboxes/{work.inbox['id']}")).data["unreadCount"] == 0


async def test_what_a_handler_raises_gives_the_message_back(work: Work, is_async: bool) -> None:
    await work.arrive(1)
    attempts: list[int] = []

    def handle(message: Any, claim: Any) -> None:
        attempts.append(claim.attempt)
        if claim.attempt < 3:
            raise OSError("the model does not answer")
        claim.reply("Thank you.")

    async with Worker.of(work, is_async, handle, retry_delay_seconds=0):
        await until(lambda: all_done(work, 1))
    assert attempts == [1, 2, 3]
    assert len(await work.listed(status="released")) == 2
    assert list((await answers(work)).values()) == [1]


async def test_it_may_be_finished_or_released_by_hand(work: Work, is_async: bool) -> None:
    first, second = await work.arrive(1), await work.arrive(2)

    def handle(message: Any, claim: Any) -> None:
        if message["id"] == first["id"]:
            claim.finish(add_labels=["spam"])
        else:
            claim.reply("One.", complete=False)
            claim.reply("Two.", complete=False)
            assert not claim.is_over
            claim.release(delay_seconds=600)
        assert claim.is_over

    async with Worker.of(work, is_async, handle):
        await until(lambda: all_done(work, 1))
        await until(lambda: released(work))
    assert (await work.api.get(f"/v1/messages/{first['id']}")).data["labels"] == ["spam"]
    assert list((await answers(work)).values()) == [2]
    assert (await work.api.get(f"/v1/messages/{second['id']}")).data["labels"] == ["unread"]


async def released(work: Work) -> bool | None:
    return True if await work.listed(status="released") else None


async def test_who_lost_the_claim_sends_nothing(work: Work, clock: ManualClock, is_async: bool) -> None:
    await work.arrive(1)
    slow_began, fast_ended = threading.Event(), threading.Event()
    lost: list[str] = []

    def slow(message: Any, claim: Any) -> None:
        slow_began.set()
        assert fast_ended.wait(GIVES_UP_S)
        try:
            claim.reply("From the slow one.")
        except ClaimLost as error:
            lost.append(error.code)
            raise

    def fast(message: Any, claim: Any) -> None:
        claim.reply("From the fast one.")
        fast_ended.set()

    async with Worker.of(work, is_async, slow):
        assert await asyncio.to_thread(slow_began.wait, 10)
        clock.forward(LEASE_S + 1)  # as if the slow one's machine had been asleep
        async with Worker.of(work, is_async, fast):
            await until(lambda: all_done(work, 1))
    assert lost == ["claim_lost"]
    (sent,) = await work.api.messages(inboxId=work.inbox["id"], direction="outbound")
    assert sent["snippet"] == "From the fast one."


async def test_no_more_are_begun_at_once_than_was_said(work: Work, is_async: bool) -> None:
    for number in range(4):
        await work.arrive(number)
    both = threading.Barrier(2)
    at_once: list[int] = []
    busy: set[str] = set()

    def handle(message: Any, claim: Any) -> None:
        busy.add(claim.id)
        at_once.append(len(busy))
        both.wait(GIVES_UP_S)
        busy.discard(claim.id)

    async with Worker.of(work, is_async, handle, concurrency=2):
        await until(lambda: all_done(work, 4))
    assert max(at_once) == 2


async def test_who_is_cancelled_gives_back_what_was_begun(work: Work) -> None:
    await work.arrive(1)
    begun = asyncio.Event()

    async def handle(message: Any, claim: AsyncClaim) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with AsyncMaild(work.api.key, work.api.url) as client:
        working = asyncio.create_task(client.inboxes.work(work.inbox["id"], handle))
        await begun.wait()
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert [one["attempt"] for one in await work.claimed()] == [2]


async def test_a_claim_that_is_over_is_not_worked_on(is_async: bool) -> None:
    over = [{**CLAIM, "status": "expired"}, {**CLAIM, "message": None}]
    async with ScriptedServer([answer(200, {"data": over}), answer(200, {"data": []})]) as server:
        seen: list[Any] = []
        async with Worker(server.url, KEY, "inb_1", is_async, lambda message, claim: seen.append(claim)):
            await until(lambda: asked_times(server, 2))
        assert seen == [] and {one.path for one in server.asked} == {"/v1/inboxes/inb_1/claims"}


async def asked_times(server: ScriptedServer, times: int) -> bool | None:
    return True if len(server.asked) >= times else None


async def test_an_inbox_without_work_says_so(work: Work, is_async: bool) -> None:
    await work.policy(version=1)
    with pytest.raises(Conflict, match="work_not_enabled"):
        async with Worker.of(work, is_async, print) as worker:
            await worker.ended


async def test_what_passes_is_waited_for(is_async: bool) -> None:
    done: list[str] = []
    # Three faults are as many as one call bears; then the worker asks again.
    faults = [refused(503, Retry_After="0"), HANG_UP, refused(503, Retry_After="0")]
    script = [*faults, answer(200, {"data": [CLAIM]}), HANG_UP, answer(200, {"data": CLAIM})]
    async with ScriptedServer([*script, answer(200, {"data": []})]) as server:
        async with Worker(server.url, KEY, "inb_1", is_async, lambda message, claim: done.append(claim.id)):
            await until(lambda: asked(server, "/v1/claims/clm_1/done"))
        takes = [one for one in server.asked if one.path == "/v1/inboxes/inb_1/claims"]
    assert done == ["clm_1"]
    assert takes[0].json == {
        "max": 1,
        "leaseSeconds": LEASE_S,
        "waitSeconds": 1,
        "holder": takes[0].json["holder"],
    }
    assert len({one.headers["idempotency-key"] for one in takes[:4]}) == 1, "a lost answer strands no claim"


async def asked(server: ScriptedServer, path: str) -> bool | None:
    return True if any(one.path == path for one in server.asked) else None


async def test_the_lease_is_extended_until_it_is_lost(is_async: bool) -> None:
    extended = answer(200, {"data": CLAIM})
    script = [extended, HANG_UP, extended, refused(409, "claim_lost")]
    async with ScriptedServer(script) as server:

        def keep(client: Any) -> Any:
            kind: Any = AsyncClaim if is_async else Claim
            claim = kind(client._transport, CLAIM, 0.03)
            return kept(claim) if is_async else (claim.keep(threading.Event()), claim.is_over)[1]

        async def kept(claim: AsyncClaim) -> bool:
            await claim.keep(asyncio.Event())
            return claim.is_over

        assert await Clients(is_async=is_async).ask(server.url, keep) is True
        assert [one.path for one in server.asked] == ["/v1/claims/clm_1/extend"] * 4


# Processes ----------------------------------------------------------------------------------------


class Process:
    """tests/clients/worker.py, somewhere else."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self.seen: list[str] = []

    @classmethod
    async def start(cls, work: Work, kind: str) -> Self:
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.clients.worker", kind, work.inbox["id"], cwd=ROOT,
                env={**os.environ, "MAILD_URL": work.api.url, "MAILD_API_KEY": str(work.api.key),
                     "PYTHONPATH": f"{ROOT}:{ROOT / 'controlplane' / 'clients' / 'python'}"},
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
            )
        )  # fmt: skip

    async def line(self) -> str:
        """What it says next; "" at its end."""
        async with asyncio.timeout(GIVES_UP_S):
            said = (await self._out.readline()).decode().strip()
        self.seen.append(said)
        return said

    def go_on(self) -> None:
        """Let one that has begun go on to its answer."""
        with suppress(ConnectionError):
            self._in.write(b"\n")

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def ended(self) -> int:
        async with asyncio.timeout(GIVES_UP_S):
            while await self.line():
                pass
            return await self._process.wait()


async def finishes_what_is_begun(work: Work, process: Process) -> None:
    """A worker that is asked to end while it answers."""
    message = await work.arrive(1)
    try:
        assert await process.line() == f"begun {message['id']}"
        process.send(signal.SIGTERM)
        second = await work.arrive(2)
        process.go_on()
        assert await process.ended() == 0
        assert process.seen[1:] == [f"answered {message['id']}", "ended", ""]
    finally:
        process.send(signal.SIGKILL)
    assert await answers(work) == Counter({message["messageIdHeader"]: 1})
    assert second["id"] in [one["messageId"] for one in await work.claimed()], (
        "the other is offered to others"
    )


async def test_a_signal_stops_all_who_work_and_is_its_owners_again() -> None:
    heard: list[int] = []

    def of_the_program(number: int, frame: object) -> None:
        heard.append(number)

    async def handle(message: Any, claim: Any) -> None:
        pass

    before = signal.signal(signal.SIGTERM, of_the_program)
    try:
        async with (
            ScriptedServer([answer(200, {"data": []})]) as server,
            AsyncMaild(KEY, server.url) as client,
            asyncio.timeout(GIVES_UP_S),
            asyncio.TaskGroup() as tasks,
        ):
            for inbox in ("inb_1", "inb_2"):
                tasks.create_task(client.inboxes.work(inbox, handle))
            for inbox in ("inb_1", "inb_2"):
                await until(lambda: asked(server, f"/v1/inboxes/{inbox}/claims"))  # noqa: B023
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is of_the_program and heard == []
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("is_async", [True, False])
def test_a_handler_that_the_program_has_set_meanwhile_stays(is_async: bool) -> None:
    def of_the_program(number: int, frame: object) -> None:
        pass

    async def works() -> None:
        with stopped_by_signals(asyncio.Event()) if is_async else threads_stopped(threading.Event()):
            signal.signal(signal.SIGTERM, of_the_program)

    before = signal.getsignal(signal.SIGTERM)
    try:
        asyncio.run(works())
        assert signal.getsignal(signal.SIGTERM) is of_the_program
    finally:
        signal.signal(signal.SIGTERM, before)


def test_who_was_left_in_a_closed_loop_keeps_no_signal_from_others() -> None:
    before = signal.getsignal(signal.SIGTERM)

    async def is_left(leaving: ExitStack) -> None:
        leaving.enter_context(stopped_by_signals(asyncio.Event()))

    async def is_stopped() -> None:
        with stopped_by_signals(stop := asyncio.Event()):
            signal.raise_signal(signal.SIGTERM)
            async with asyncio.timeout(GIVES_UP_S):
                await stop.wait()

    with ExitStack() as leaving:
        asyncio.run(is_left(leaving))
        asyncio.run(is_stopped())
        assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("kind", ["plain", "coroutines"])
async def test_sigterm_lets_what_is_begun_finish(work: Work, kind: str) -> None:
    await finishes_what_is_begun(work, await Process.start(work, kind))


@pytest.mark.torture
@pytest.mark.parametrize("kind", ["plain", "coroutines"])
async def test_workers_that_are_killed_answer_nobody_twice(work: Work, clock: ManualClock, kind: str) -> None:
    """Killed right after they let an answer go: some of these were sent, some not, and nobody was told which."""
    for number in range(MAILS):
        await work.arrive(number)
    processes: list[Process] = []
    try:
        for _ in range(KILLS):
            processes.append(process := await Process.start(work, kind))
            assert (await process.line()).startswith("begun")
            process.go_on()
            if len(processes) % 2:
                assert (await process.line()).split()[0] in ("begun", "answered")
            process.send(signal.SIGKILL)
            await process.ended()
            clock.forward(LEASE_S + 1)
        processes.append(last := await Process.start(work, kind))
        async with asyncio.timeout(GIVES_UP_S):
            while await all_done(work, MAILS) is None:
                last.go_on()
                await asyncio.sleep(0.01)
        last.send(signal.SIGTERM)
        assert await last.ended() == 0
    finally:
        for process in processes:
            process.send(signal.SIGKILL)
    assert set((await answers(work)).values()) == {1} and len(await answers(work)) == MAILS
