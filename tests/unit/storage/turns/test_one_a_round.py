"""One call in a round of the event loop or after each rest, and owners take turns (storage/turns/one_a_round.py)."""

import asyncio
from functools import partial

from storage.turns.one_a_round import OneARound
from tests.support.waiting import GIVES_UP_S


async def test_one_is_called_in_a_round_and_owners_take_turns() -> None:
    called: list[str] = []
    line = OneARound()
    for name in ("a1", "a2", "a3", "b1"):
        line.put(name[0], partial(called.append, name))
    counts = []
    for _ in range(4):
        await asyncio.sleep(0)
        counts.append(len(called))
    assert counts == [1, 2, 3, 4]
    assert called == ["a1", "b1", "a2", "a3"]


async def test_with_a_rest_nothing_is_called_in_the_next_rounds() -> None:
    called: list[str] = []
    line = OneARound(rest_s=3600)
    line.put("a", partial(called.append, "a"))
    for _ in range(10):
        await asyncio.sleep(0)
    assert called == []


async def test_one_that_fails_holds_up_no_other() -> None:
    called = asyncio.Event()
    line = OneARound()
    line.put("a", partial(int, "no number"))
    line.put("b", called.set)
    loop = asyncio.get_running_loop()
    failures: list[object] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    await asyncio.wait_for(called.wait(), GIVES_UP_S)
    assert [type(one) for one in failures] == [ValueError]
