"""What nobody caught ends the process where others would wait for good (maild/last_resort.py)."""

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from unittest.mock import Mock

import pytest
import uvloop

from maild.last_resort import STOP_AT_MOST_S, LastResort
from storage.service import ServiceDied
from storage.turns.started_threads import started_threads
from tests.support.waiting import GIVES_UP_S


@pytest.fixture
async def stopped(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator["asyncio.Future[None]"]:
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(signal, "alarm", Mock())
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    future: asyncio.Future[None] = loop.create_future()
    resort = LastResort(future)
    resort.watch()
    yield future
    loop.set_exception_handler(None)
    logging.getLogger("concurrent.futures").removeHandler(resort)


def no_memory() -> None:
    raise MemoryError


def in_a_callback() -> None:
    asyncio.get_running_loop().call_soon(no_memory)


def in_a_task() -> None:
    async def work() -> None:
        no_memory()

    running = {asyncio.create_task(work())}
    next(iter(running)).add_done_callback(running.discard)


def on_a_thread() -> None:
    threading.Thread(target=no_memory).start()


def on_a_thread_of_a_pool() -> object:
    """In its own machinery: what work raises is its caller's."""
    pool = started_threads(1, "pool")
    pool._idle_semaphore = Mock(release=no_memory)
    pool.submit(int)
    return pool


@pytest.mark.parametrize("fails", [in_a_callback, in_a_task, on_a_thread, on_a_thread_of_a_pool])
async def test_want_of_memory_there_ends_the_process_in_bounded_time(
    stopped: "asyncio.Future[None]", fails: Callable[[], object]
) -> None:
    kept = fails()
    with pytest.raises(ServiceDied, match="ended unexpectedly") as raised:
        await asyncio.wait_for(asyncio.shield(stopped), GIVES_UP_S)
    assert isinstance(raised.value.__cause__, MemoryError)
    del kept
    assert signal.alarm.call_args.args == (STOP_AT_MOST_S,)  # type: ignore[attr-defined]


async def test_a_connection_that_was_closed_for_it_was_all_of_it(stopped: "asyncio.Future[None]") -> None:
    loop = asyncio.get_running_loop()
    loop.call_exception_handler({"message": "x", "exception": MemoryError(), "transport": Mock()})
    loop.call_exception_handler({"message": "x", "exception": ValueError()})
    await asyncio.sleep(0)
    assert not stopped.done()


@pytest.mark.parametrize("loop_factory", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_what_a_callback_was_given_stays_out_of_the_log(
    caplog: pytest.LogCaptureFixture, loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """It may be mail of an organization, or its key."""

    def fails(_text: str) -> None:
        raise ValueError

    async def fail() -> None:
        loop = asyncio.get_running_loop()
        told = loop.create_future()
        LastResort(told).watch()
        try:
            loop.call_soon(fails, "the words of a mail")
            loop.call_soon(partial(fails, "the words of a mail"))
            loop.call_soon(told.set_result, None)
            await told
        finally:
            loop.set_exception_handler(None)

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(fail())
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ValueError] * 2
    assert "the words of a mail" not in caplog.text
    assert "fails" in caplog.text, "the traceback says where"
