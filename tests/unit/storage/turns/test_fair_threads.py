"""Who asks often waits behind itself (storage/turns/fair_threads.py)."""

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from storage.turns import fair_threads
from storage.turns.fair_threads import HELD_S, OWN, FairOrder, FairThreads, Serve
from tests.support.waiting import GIVES_UP_S


def taken(turns: FairOrder[str], count: int) -> list[str]:
    return [found[1] for _ in range(count) if (found := turns.take()) is not None]


def test_owners_take_turns_and_own_work_comes_first() -> None:
    turns: FairOrder[str] = FairOrder(share=99)
    for number in range(3):
        turns.put("greedy", f"greedy {number}")
    turns.put("modest", "modest 0")
    turns.put(OWN, "own 0")
    assert taken(turns, 3) == ["own 0", "greedy 0", "modest 0"]
    turns.put("modest", "modest 1")
    turns.put("late", "late 0")
    turns.put(OWN, "own 1")
    assert taken(turns, 9) == ["own 1", "late 0", "greedy 1", "modest 1", "greedy 2"]


def test_an_owner_has_its_share_at_most_and_own_work_none() -> None:
    turns: FairOrder[str] = FairOrder(share=2)
    for number in range(4):
        turns.put("greedy", f"greedy {number}")
        turns.put(OWN, f"own {number}")
    assert taken(turns, 9) == ["own 0", "own 1", "own 2", "own 3", "greedy 0", "greedy 1"]
    turns.put("modest", "modest 0")
    assert taken(turns, 9) == ["modest 0"]
    turns.done("greedy")
    assert taken(turns, 9) == ["greedy 2"]


class Gates:
    """Work that begins in whatever order it is given to threads, and ends when the test says so."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._gates: dict[str, threading.Event] = {}
        self._is_open = False
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def work(self, name: str) -> Callable[[], str]:
        gate = self._gates[name] = threading.Event()
        if self._is_open:
            gate.set()

        def wait() -> str:
            self.begun.append(name)
            self._loop.call_soon_threadsafe(self._news.set)
            assert gate.wait(GIVES_UP_S)
            return name

        return wait

    def end(self, *names: str) -> None:
        for name in names:
            self._gates[name].set()

    def open(self) -> None:
        """Nothing waits any more."""
        self._is_open = True
        self.end(*self._gates)

    async def until(self, count: int) -> list[str]:
        """The names of what began, once so many did."""
        async with asyncio.timeout(GIVES_UP_S):
            while len(self.begun) < count:
                self._news.clear()
                await self._news.wait()
        return self.begun


Plain = FairThreads[Callable[[], str], str]


def plain_threads(count: int, share: int, held_s: float = HELD_S) -> Plain:
    def thread(serve: Serve[Callable[[], str], str]) -> Awaitable[None]:
        return asyncio.to_thread(serve, lambda work: work())

    return FairThreads([thread for _ in range(count)], share, held_s)


@pytest_asyncio.fixture
async def gates() -> AsyncIterator[Gates]:
    gates = Gates()
    yield gates
    gates.open()


async def test_one_owner_leaves_a_thread_to_others_and_a_newcomer_is_next(gates: Gates) -> None:
    threads = plain_threads(3, share=2)
    greedy = [threads.submit("greedy", gates.work(f"greedy {number}")) for number in range(60)]
    await gates.until(2)
    modest = threads.submit("modest", gates.work("modest"))
    assert sorted(await gates.until(3)) == ["greedy 0", "greedy 1", "modest"]
    gates.end("modest")
    assert await modest == "modest"
    # A second greedy one. Whoever comes now waits for one piece of work, whatever stands in line.
    for number in range(60):
        threads.submit("other", gates.work(f"other {number}"))
    await gates.until(4)
    late = threads.submit("late", gates.work("late"))
    gates.end("greedy 0")
    assert (await gates.until(5))[3:] == ["other 0", "late"]
    gates.open()
    assert await late == "late"
    assert await asyncio.gather(*greedy) == [f"greedy {number}" for number in range(60)]
    await threads.finish()


async def test_what_fails_is_told_and_its_thread_goes_on() -> None:
    threads = plain_threads(1, share=1)

    def fail() -> str:
        raise ValueError("no")

    results = await asyncio.gather(
        threads.submit("a", fail), threads.submit("a", lambda: "yes"), return_exceptions=True
    )
    assert isinstance(results[0], ValueError) and results[1] == "yes"


@pytest.mark.usefixtures("no_collector")
async def test_what_fails_is_let_go_by_its_thread() -> None:
    class Work:
        def __call__(self) -> str:
            raise ValueError

    threads = plain_threads(1, share=1)
    work = Work()
    let_go = weakref.ref(work)
    with pytest.raises(ValueError):
        await threads.submit("a", work)
    del work
    await threads.finish()
    assert let_go() is None


async def test_work_of_a_caller_that_left_is_not_done_and_keeps_nobody_from_its_turn(gates: Gates) -> None:
    threads = plain_threads(1, share=1)
    first = threads.submit("a", gates.work("first"))
    left = threads.submit("a", gates.work("left"))
    await gates.until(1)
    left.cancel()
    gates.end("first", "left")
    assert await first == "first"
    async with asyncio.timeout(GIVES_UP_S):
        assert await threads.submit("a", lambda: "next") == "next"
        await threads.finish()
    assert gates.begun == ["first"]
    with pytest.raises(asyncio.CancelledError):
        await left


@pytest.mark.parametrize("follower", ["b", "a", OWN])
async def test_no_answer_waits_for_the_work_of_another_owner(gates: Gates, follower: str) -> None:
    """Results of one owner are told together for a moment, as waking the loop for each costs as much as a read."""
    threads = plain_threads(1, share=1, held_s=3600)
    first = threads.submit(OWN if follower == OWN else "a", gates.work("first"))
    await gates.until(1)
    slow = threads.submit(follower, gates.work("slow"))
    gates.end("first")
    await gates.until(2)
    await asyncio.sleep(0)
    is_told = follower != "a"
    async with asyncio.timeout(GIVES_UP_S):
        while is_told and not first.done():
            await asyncio.sleep(0)
    assert first.done() is is_told and not slow.done()
    gates.end("slow")
    assert [await first, await slow] == ["first", "slow"]


async def test_an_answer_is_told_before_the_next_piece_where_the_thread_rests_between_them(
    gates: Gates,
) -> None:
    threads = plain_threads(1, share=1, held_s=0)
    first = threads.submit("a", gates.work("first"))
    await gates.until(1)
    slow = threads.submit("a", gates.work("slow"))
    gates.end("first")
    async with asyncio.timeout(GIVES_UP_S):
        assert await first == "first"
    assert not slow.done()
    gates.end("slow")
    assert await slow == "slow"


async def test_small_pieces_of_one_owner_take_one_thread(
    gates: Gates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_threads, "HELP_S", GIVES_UP_S)  # none takes so long, however busy the machine is
    threads = plain_threads(3, share=2)
    at_work: set[int] = set()

    def work() -> str:
        at_work.add(threading.get_ident())
        return "done"

    first = threads.submit("a", gates.work("first"))
    many = [threads.submit("a", work) for _ in range(50)]
    assert len(threads._idle) == 2
    gates.end("first")
    await asyncio.gather(first, *many)
    assert len(at_work) == 1
    await threads.finish()


async def test_an_owner_whose_piece_takes_long_gets_another_thread(gates: Gates) -> None:
    threads = plain_threads(3, share=2)
    long = [threads.submit("a", gates.work(f"long {number}")) for number in range(3)]
    assert len(threads._idle) == 2
    assert sorted(await gates.until(2)) == ["long 0", "long 1"]
    other = threads.submit("b", lambda: "other")
    assert await other == "other"
    gates.open()
    assert await asyncio.gather(*long) == ["long 0", "long 1", "long 2"]
    await threads.finish()
