"""Work that computes has threads of its own, and owners take turns at them (storage/turns/cpu_threads.py)."""

import asyncio
import errno
import sys
import threading
from collections.abc import AsyncIterator
from functools import partial

import pytest
import pytest_asyncio

from storage.turns.cpu_threads import CpuThreads
from tests.support.waiting import GIVES_UP_S


@pytest_asyncio.fixture
async def cpu() -> AsyncIterator[CpuThreads]:
    threads = CpuThreads()
    yield threads
    await threads.close()


async def test_an_owner_of_much_work_waits_behind_others_after_each_piece(cpu: CpuThreads) -> None:
    done: list[str] = []
    begin = threading.Event()

    def work(owner: str) -> None:
        begin.wait(GIVES_UP_S)
        done.append(owner)

    owners = ["greedy", "greedy", "greedy", "modest"]
    running = asyncio.gather(*(cpu.run(owner, partial(work, owner)) for owner in owners))
    await asyncio.sleep(0)
    begin.set()
    await running
    assert done == ["greedy", "modest", "greedy", "greedy"]


async def test_two_pieces_never_compute_at_once(cpu: CpuThreads) -> None:
    computing, at_most = 0, 0

    def work() -> None:
        nonlocal computing, at_most
        computing += 1
        at_most = max(at_most, computing)
        threading.Event().wait(0.001)
        computing -= 1

    await asyncio.gather(*(cpu.run(f"owner {number}", work) for number in range(20)))
    assert at_most == 1


async def test_the_interpreter_is_given_up_sooner_while_something_computes(cpu: CpuThreads) -> None:
    usual_s = sys.getswitchinterval()
    assert await cpu.run("a", sys.getswitchinterval) < usual_s
    with pytest.raises(ZeroDivisionError):
        await cpu.run("a", lambda: 1 / 0)
    await cpu.close()
    assert sys.getswitchinterval() == usual_s


async def test_it_runs_beside_the_event_loop_and_tells_what_failed(cpu: CpuThreads) -> None:
    assert await cpu.run("a", threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        await cpu.run("a", lambda: 1 / 0)


async def test_closing_waits_for_what_was_begun(cpu: CpuThreads) -> None:
    done: list[int] = []
    begun = asyncio.create_task(cpu.run("a", lambda: done.append(1)))
    await asyncio.sleep(0)
    await cpu.close()
    assert done == [1]
    await begun


async def test_what_failed_is_done_again_for_who_asks_next(cpu: CpuThreads) -> None:
    """Else what a moment without file descriptors cost would be gone until the next start."""
    failures = [OSError(errno.EMFILE, "Too many open files")]

    def work() -> str:
        if failures:
            raise failures.pop()
        return "done"

    given = cpu.once(work)
    with pytest.raises(OSError, match="Too many"):
        await given()
    assert await given() == "done"


async def test_what_is_done_once_is_done_when_it_is_asked_for_and_for_all_who_ask(cpu: CpuThreads) -> None:
    done: list[str] = []
    begin = threading.Event()

    def work() -> str:
        begin.wait(GIVES_UP_S)
        done.append("work")
        return "made"

    given = cpu.once(work)
    await cpu.run("owner", lambda: None)
    assert done == []
    hangs_up = asyncio.ensure_future(given())
    stays = asyncio.ensure_future(given())
    await asyncio.sleep(0)
    hangs_up.cancel()
    begin.set()
    assert await stays == "made"
    assert await given() == "made"
    assert done == ["work"]


async def test_nobody_waits_behind_what_is_done_once(cpu: CpuThreads) -> None:
    """It takes a second in one piece, and whoever asks first brings it about."""
    begun, end = threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return end.wait(GIVES_UP_S)

    given = asyncio.ensure_future(cpu.once(work)())
    assert await asyncio.to_thread(begun.wait, GIVES_UP_S)
    await cpu.run("owner", lambda: None)
    assert not given.done()
    end.set()
    assert await given


async def test_closing_waits_for_what_is_done_once(cpu: CpuThreads) -> None:
    done: list[int] = []
    given = asyncio.ensure_future(cpu.once(lambda: done.append(1))())
    await asyncio.sleep(0)
    await cpu.close()
    assert done == [1]
    await given
