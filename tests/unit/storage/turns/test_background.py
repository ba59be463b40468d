"""The event loop goes first when there are fewer cores than work (storage/turns/background.py)."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.turns import background
from tests.support.running import Running, until

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="a niceness for each thread is Linux's")


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@LINUX
def test_a_thread_goes_behind_and_the_others_stay() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=background.go_behind, initargs=(background.LATER,)) as thread:
        assert thread.submit(niceness).result() == min(before + background.LATER, 19)
    assert niceness() == before


@LINUX
async def test_readers_and_the_search_index_let_the_loop_go_first(maild: Running) -> None:
    async def have_begun() -> bool | None:
        found = {niceness_of(thread) for thread in threading.enumerate() if thread.native_id}
        behind = (0, background.BESIDE, background.LATER)
        return {min(niceness() + one, 19) for one in behind} <= found or None

    await until(have_begun)


def niceness_of(thread: threading.Thread) -> int:
    assert thread.native_id is not None
    return os.getpriority(os.PRIO_PROCESS, thread.native_id)
