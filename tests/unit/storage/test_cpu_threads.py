"""Work that computes has threads of its own, and owners take turns at them (storage/cpu_threads.py)."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from storage.cpu_threads import THREADS, CpuThreads


@pytest_asyncio.fixture
async def cpu() -> AsyncIterator[CpuThreads]:
    threads = CpuThreads()
    yield threads
    await threads.close()


async def test_an_owner_of_endless_work_leaves_a_thread_to_others(cpu: CpuThreads) -> None:
    end = threading.Event()
    greedy = [asyncio.create_task(cpu.run("greedy", lambda: end.wait(5))) for _ in range(3 * THREADS)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await cpu.run("modest", lambda: "done") == "done"
    assert not any(task.done() for task in greedy)
    end.set()
    assert await asyncio.gather(*greedy) == [True] * len(greedy)


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
