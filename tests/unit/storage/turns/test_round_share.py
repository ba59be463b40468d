"""So many pieces begin in a round of the event loop, of light owners first, and owners take turns
(storage/turns/round_share.py)."""

import asyncio

from storage.turns.round_share import RoundShare


class Begun:
    """Who began, a list for each round. The names of those who ask for much begin with a capital."""

    def __init__(self, a_round: int) -> None:
        self.share = RoundShare(a_round, str.islower)
        self.rounds: list[list[str]] = []
        self._now: list[str] = []

    async def piece(self, name: str) -> None:
        await self.share.begin(name[0])
        self._now.append(name)

    async def to_the_end(self, *tasks: "asyncio.Task[None]") -> list[list[str]]:
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            if self._now:
                self.rounds.append(self._now)
                self._now = []
        return self.rounds


async def test_so_many_begin_in_a_round() -> None:
    begun = Begun(3)
    tasks = [asyncio.create_task(begun.piece(f"a{number}")) for number in range(7)]
    assert [len(one) for one in await begun.to_the_end(*tasks)] == [3, 3, 1]


async def test_an_owner_of_many_waits_behind_others() -> None:
    begun = Begun(2)
    names = ["a1", "a2", "a3", "a4", "a5", "b1", "c1"]
    tasks = [asyncio.create_task(begun.piece(name)) for name in names]
    assert await begun.to_the_end(*tasks) == [["a1", "a2"], ["a3", "b1"], ["c1", "a4"], ["a5"]]


async def test_who_asks_for_little_comes_before_all_who_ask_for_much() -> None:
    begun = Begun(2)
    names = ["A1", "A2", "B1", "B2", "C1", "d1"]
    tasks = [asyncio.create_task(begun.piece(name)) for name in names]
    assert await begun.to_the_end(*tasks) == [["A1", "A2"], ["d1", "B1"], ["C1", "B2"]]


async def test_who_asks_for_much_goes_on_beside_any_number_of_others() -> None:
    begun = Begun(2)
    names = ["A1", *(f"{name}1" for name in "bcdefgh"), "A2", "A3"]
    tasks = [asyncio.create_task(begun.piece(name)) for name in names]
    rounds = await begun.to_the_end(*tasks)
    assert rounds[:3] == [["A1", "b1"], ["c1", "A2"], ["d1", "A3"]]


async def test_nobody_waits_where_few_come() -> None:
    begun = Begun(2)
    for _ in range(5):
        tasks = [asyncio.create_task(begun.piece(name)) for name in ("a", "b")]
        await asyncio.sleep(0)
        assert all(task.done() for task in tasks)


async def test_who_is_cancelled_takes_no_turn() -> None:
    begun = Begun(2)
    tasks = [asyncio.create_task(begun.piece(name)) for name in ("a1", "a2", "a3", "a4")]
    await asyncio.sleep(0)
    tasks[2].cancel()
    assert [name for one in await begun.to_the_end(*tasks) for name in one] == ["a1", "a2", "a4"]


async def test_a_share_that_nobody_uses_costs_the_loop_nothing() -> None:
    share = RoundShare(2, str.islower)
    await share.begin("a")
    for _ in range(3):
        await asyncio.sleep(0)
    assert not share._next_round._is_expected
