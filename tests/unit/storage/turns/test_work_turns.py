"""A few work at a time, and nobody waits behind all that somebody else asked for."""

import asyncio

from storage.turns.work_turns import WorkTurns
from tests.support.waiting import GIVES_UP_S


async def test_holders_are_called_in_turns() -> None:
    turns, order = WorkTurns(1), []

    async def work(holder: str) -> None:
        async with turns.turn(holder):
            order.append(holder)

    async with turns.turn("first"):
        waiting = [asyncio.create_task(work(holder)) for holder in ("a", "a", "a", "b", "c")]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert order == ["a", "b", "c", "a", "a"]


async def test_who_gives_up_waiting_loses_no_place() -> None:
    turns = WorkTurns(1)

    async def work() -> None:
        async with turns.turn("a"):
            pass

    async with turns.turn("first"):
        gone, stays = asyncio.create_task(work()), asyncio.create_task(work())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait([gone])
    called = asyncio.create_task(work())
    await asyncio.gather(stays, called)
    async with asyncio.timeout(GIVES_UP_S), turns.turn("b"):
        pass


async def test_who_is_cancelled_in_the_moment_of_his_call_hands_it_on() -> None:
    turns = WorkTurns(1)

    async def work() -> str:
        async with turns.turn("a"):
            return "done"

    first = turns.turn("first")
    await first.__aenter__()
    gone, stays = asyncio.create_task(work()), asyncio.create_task(work())
    await asyncio.sleep(0)
    await first.__aexit__(None, None, None)  # `gone` is called
    gone.cancel()
    async with asyncio.timeout(GIVES_UP_S):
        assert await stays == "done"
