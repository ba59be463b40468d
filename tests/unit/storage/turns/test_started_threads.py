"""Threads are had when a pool is made, or not at all (storage/turns/started_threads.py)."""

import asyncio
import threading
from collections.abc import Callable
from functools import partial

import pytest

from maild.outbound.signing.signing_threads import SigningJob, SigningThreads
from storage.exhaustion import Exhausted
from storage.turns.cpu_process import CpuProcess
from storage.turns.cpu_threads import CpuThreads
from storage.turns.started_threads import started_threads
from tests.support.waiting import GIVES_UP_S

NO_ROOM = "can't start new thread"


@pytest.fixture
def no_more_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def from_now_on(but: int = 0) -> None:
        start, left = threading.Thread.start, [but]

        def refuse(thread: threading.Thread) -> None:
            if not left[0]:
                raise RuntimeError(NO_ROOM)
            left[0] -= 1
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refuse)

    return from_now_on


def test_all_threads_run_and_each_was_prepared() -> None:
    prepared: list[int] = []
    pool = started_threads(3, "some", prepared.append, (7,))
    assert prepared == [7, 7, 7] and len(pool._threads) == 3
    together = threading.Barrier(3)
    for future in [pool.submit(together.wait, 10) for _ in range(3)]:
        future.result()
    pool.shutdown()


@pytest.mark.parametrize("but", [0, 2])
def test_where_there_is_no_room_it_is_told_and_none_is_left(
    no_more_threads: Callable[..., None], but: int
) -> None:
    before = threading.active_count()
    no_more_threads(but)
    with pytest.raises(Exhausted, match=NO_ROOM):
        started_threads(3, "some")
    assert threading.active_count() == before


async def test_what_computes_wants_no_thread_once_it_is_there(no_more_threads: Callable[..., None]) -> None:
    """It was promised one when work came; without it this work and all that came behind it waited for good."""
    threads, process, signers = CpuThreads(), CpuProcess(), SigningThreads()
    no_more_threads()
    async with asyncio.timeout(GIVES_UP_S):
        assert await threads.run("a", partial(len, "four")) == 4
        assert await process.run("a", partial(len, "four")) == 4
        assert await signers.now(SigningJob(partial(len, "four"))) == 4
    await threads.close()
    await process.close()
    signers.close()
