"""The life of every part (storage/service.py): idempotent, never dead in silence, stopped in reverse."""

import asyncio
import sqlite3

import pytest
import structlog
from structlog.testing import capture_logs

from storage.engine.writer import DatabaseClosed
from storage.service import Enduring, EnduringOutages, LoopService, Service, ServiceDied, Supervisor
from tests.support.waiting import GIVES_UP_S


class Part(Service):
    def __init__(self, name: str, record: list[str], *, fails: str = "") -> None:
        self.name = name
        self._record = record
        self._fails = fails

    async def start(self) -> None:
        self._record.append(f"start {self.name}")
        if self._fails == "start":
            raise OSError("port taken")

    async def stop(self) -> None:
        self._record.append(f"stop {self.name}")
        if self._fails == "stop":
            raise RuntimeError("stuck")


class Loop(LoopService):
    name = "loop"

    def __init__(self, pause_s: float | None = None) -> None:
        super().__init__()
        self._pause_s = pause_s
        self.runs = 0
        self.turns = 0
        self.turned = asyncio.Event()
        self.end: Exception | None = None
        self.ends = False

    async def run(self) -> None:
        self.runs += 1
        while not self.ends:
            await self.pause(self._pause_s)
            self.turns += 1
            self.turned.set()
            if self.end is not None:
                raise self.end

    async def turn(self) -> None:
        self.turned.clear()
        self.wake()
        async with asyncio.timeout(GIVES_UP_S):
            await self.turned.wait()


def never() -> "asyncio.Future[None]":
    return asyncio.get_running_loop().create_future()


async def test_starting_and_stopping_twice_is_once() -> None:
    loop = Loop()
    await loop.stop()
    for _ in range(2):
        await loop.start()
        await loop.start()
        await loop.turn()
        await loop.stop()
        await loop.stop()
    assert loop.runs == 2


async def test_a_wake_before_the_pause_is_not_lost() -> None:
    loop = Loop()
    loop.wake()
    await loop.start()
    async with asyncio.timeout(GIVES_UP_S):
        await loop.turned.wait()
    await loop.stop()
    assert loop.turns == 1


async def test_many_wakes_are_one_turn() -> None:
    loop = Loop()
    await loop.start()
    for _ in range(10):
        loop.wake()
    async with asyncio.timeout(GIVES_UP_S):
        await loop.turned.wait()
    assert loop.turns == 1
    await loop.stop()


@pytest.mark.parametrize("pause_s", [0, 0.001])
async def test_a_pause_has_an_end(pause_s: float) -> None:
    loop = Loop(pause_s)
    await loop.start()
    async with asyncio.timeout(GIVES_UP_S):
        await loop.turned.wait()  # nobody woke it
    await loop.stop()
    assert (loop.runs, loop.turns > 0) == (1, True)


async def test_parts_start_in_order_and_stop_in_reverse() -> None:
    record: list[str] = []
    supervisor = Supervisor([Part(name, record) for name in "abc"])
    await supervisor.start()
    await supervisor.stop()
    await supervisor.stop()
    assert record == ["start a", "start b", "start c", "stop c", "stop b", "stop a"]


async def test_a_part_that_can_not_start_stops_those_before_it() -> None:
    record: list[str] = []
    supervisor = Supervisor([Part("a", record), Part("b", record, fails="start"), Part("c", record)])
    with pytest.raises(OSError, match="port taken"):
        await supervisor.start()
    assert record == ["start a", "start b", "stop a"]


async def test_a_part_that_can_not_stop_holds_nobody_up() -> None:
    record: list[str] = []
    supervisor = Supervisor([Part("a", record), Part("b", record, fails="stop"), Part("c", record)])
    await supervisor.start()
    await supervisor.stop()
    assert record[3:] == ["stop c", "stop b", "stop a"]


class Slow(Part):
    """Takes its time to stop."""

    def __init__(self, name: str, record: list[str]) -> None:
        super().__init__(name, record)
        self.begun, self.may_end = asyncio.Event(), asyncio.Event()

    async def stop(self) -> None:
        await super().stop()
        self.begun.set()
        await self.may_end.wait()


async def test_parts_that_take_their_time_stop_at_once_and_before_the_others() -> None:
    record: list[str] = []
    ground = Part("ground", record)
    http, webhooks, smtp = (Slow(name, record) for name in ("http", "webhooks", "smtp"))
    supervisor = Supervisor([ground, webhooks, smtp, http], [[http, webhooks], [smtp]])
    await supervisor.start()
    async with asyncio.timeout(GIVES_UP_S):
        stopping = asyncio.create_task(supervisor.stop())
        await http.begun.wait()
        await smtp.begun.wait()
        assert not webhooks.begun.is_set()
        for part in (http, webhooks, smtp):
            part.may_end.set()
        await stopping
    await supervisor.stop()
    assert record[4:] == ["stop http", "stop smtp", "stop webhooks", "stop ground"]


async def test_lines_that_never_started_are_not_stopped() -> None:
    record: list[str] = []
    first, second = Part("a", record), Part("b", record, fails="start")
    with pytest.raises(OSError, match="port taken"):
        await Supervisor([first, second], [[second], [first]]).start()
    assert record == ["start a", "start b", "stop a"]


async def test_a_loop_that_dies_ends_the_watch_with_its_reason() -> None:
    loop = Loop()
    supervisor = Supervisor([Part("a", []), loop])
    await supervisor.start()
    watching = asyncio.create_task(supervisor.watch(never()))
    loop.end = ValueError("the reason")
    loop.wake()
    with pytest.raises(ServiceDied, match="loop") as told:
        async with asyncio.timeout(GIVES_UP_S):
            await watching
    assert told.value.__cause__ is loop.end
    await supervisor.stop()


async def test_a_loop_that_just_ends_is_dead_too() -> None:
    loop = Loop()
    supervisor = Supervisor([loop])
    await supervisor.start()
    loop.ends = True
    loop.wake()
    with pytest.raises(ServiceDied):
        async with asyncio.timeout(GIVES_UP_S):
            await supervisor.watch(never())
    await supervisor.stop()


async def test_the_watch_ends_when_it_is_told_to() -> None:
    loop = Loop()
    supervisor = Supervisor([loop])
    await supervisor.start()
    until = never()
    until.set_result(None)
    async with asyncio.timeout(GIVES_UP_S):
        await supervisor.watch(until)
    await supervisor.stop()


async def test_a_daemon_whose_part_dies_says_so(start: object) -> None:
    """End to end: `Daemon.watch` raises when a loop of it ends."""
    maild = await start()  # type: ignore[operator]
    parts = [one for one in maild.daemon._supervisor._started if isinstance(one, LoopService)]
    assert parts
    for part in parts:
        task = part.died()
        assert task is not None
        task.cancel()
        with pytest.raises(ServiceDied, match=part.name):
            async with asyncio.timeout(GIVES_UP_S):
                await maild.daemon.watch(never())
        break


# A store that refuses ------------------------------------------------------------------------------


def test_what_fails_is_logged_and_the_loop_goes_on() -> None:
    log = structlog.get_logger("loop")
    went_on = False
    with capture_logs() as logged:
        with Enduring(log, "round_failed", queue="out"):
            raise sqlite3.OperationalError("database or disk is full")
        went_on = True
    assert went_on
    (line,) = logged
    assert (line["event"], line["queue"], line["log_level"]) == ("round_failed", "out", "error")
    assert isinstance(line["exc_info"], sqlite3.OperationalError)


def test_what_works_is_not_logged_and_its_result_kept() -> None:
    def work() -> str:
        with Enduring(structlog.get_logger("loop"), "round_failed"):
            return "done"
        return "refused"

    with capture_logs() as logged:
        assert work() == "done"
    assert logged == []


@pytest.mark.parametrize("end", [DatabaseClosed, asyncio.CancelledError, KeyboardInterrupt])
def test_a_closed_store_and_a_cancellation_end_the_loop(end: type[BaseException]) -> None:
    with capture_logs() as logged, pytest.raises(end), Enduring(structlog.get_logger("loop"), "round_failed"):
        raise end
    assert logged == []


def test_an_outage_is_told_once_until_it_is_over_or_another() -> None:
    full, gone = sqlite3.OperationalError("disk I/O error"), OSError("unable to open database file")
    full.sqlite_errorcode = sqlite3.SQLITE_IOERR
    broken = ValueError("a fault of ours")
    rounds: list[Exception | None] = [full, full, gone, full, None, full, MemoryError(), broken, broken]
    enduring = EnduringOutages(structlog.get_logger("loop"), "round_failed", queue="out")
    with capture_logs() as logged:
        for error in rounds:
            with enduring:
                if error is not None:
                    raise error
    assert [(line["event"], line["queue"]) for line in logged] == [("round_failed", "out")] * 7
    assert [line.get("error") for line in logged[:5]] == [
        "disk I/O error", "unable to open database file", "disk I/O error", "disk I/O error", "out of memory",
    ]  # fmt: skip
    assert [line.get("exc_info") for line in logged] == [None] * 5 + [broken] * 2


@pytest.mark.parametrize("end", [DatabaseClosed, asyncio.CancelledError])
def test_an_outage_ends_no_less_than_other_failures(end: type[BaseException]) -> None:
    with pytest.raises(end), EnduringOutages(structlog.get_logger("loop"), "round_failed"):
        raise end
