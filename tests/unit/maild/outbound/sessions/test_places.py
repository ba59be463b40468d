"""Who gets on has a place; who hangs lends it, within bounds."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

import pytest

from conf.addresses import site_of
from maild.outbound.sessions.places import (
    FAIR_BYTES_PER_S,
    LONGEST_S,
    PATIENCE_S,
    SESSIONS_PER_PLACE,
    Places,
    SessionPlace,
)
from tests.support.worlds.store import ManualClock


class Session:
    """Asks for a place at once, and keeps it until `end`."""

    def __init__(self, places: Places, host: str) -> None:
        self._stack = AsyncExitStack()
        self._asks = asyncio.create_task(self._stack.enter_async_context(places.place(host)))

    @property
    def has_place(self) -> bool:
        return self._asks.done()

    @property
    def place(self) -> SessionPlace:
        return self._asks.result()

    async def end(self) -> None:
        await self._stack.aclose()

    def leave(self) -> None:
        self._asks.cancel()

    @property
    def has_left(self) -> bool:
        return self._asks.cancelled()


async def asked(places: Places, *hosts: str) -> list[Session]:
    sessions = [Session(places, host) for host in hosts]
    await turns()
    return sessions


async def turns() -> None:
    """Let all that can go on do so."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hung(places: Places, clock: ManualClock, *sessions: Session) -> None:
    """Their hosts have the word, for too long."""
    for session in sessions:
        session.place.wait_for_host()
    clock.forward(PATIENCE_S)
    places._lend()
    await turns()


def give_way(ended: list[int], number: int) -> bool:
    ended.append(number)
    return True


def who_has(sessions: list[Session]) -> list[bool]:
    return [session.has_place for session in sessions]


async def test_who_waits_is_served_in_turn() -> None:
    first, second, third = await asked(Places(1, ManualClock()), "a", "b", "c")
    assert who_has([first, second, third]) == [True, False, False]
    await first.end()
    await turns()
    assert who_has([first, second, third]) == [True, True, False]


async def test_who_hangs_lends_its_place_and_who_gets_on_does_not() -> None:
    clock = ManualClock()
    places = Places(2, clock)
    hangs, works, new, newer = await asked(places, "a", "b", "c", "d")
    await hung(places, clock, hangs)
    assert (works.has_place, new.has_place, newer.has_place) == (True, True, False)


async def test_nothing_is_lent_before_its_time() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    slow, new = await asked(places, "a", "b")
    slow.place.wait_for_host()
    clock.forward(PATIENCE_S - 1)
    places._lend()
    slow.place.heard()
    slow.place.wait_for_host()
    clock.forward(PATIENCE_S - 1)
    places._lend()
    await turns()
    assert not new.has_place


async def test_nothing_is_lent_while_nobody_waits() -> None:
    places = Places(1, ManualClock())
    (only,) = await asked(places, "a")
    only.place.wait_for_host()
    assert places._look is None
    await asked(places, "b")
    assert places._look is not None
    places._look.cancel()


async def test_who_is_heard_again_counts_again() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    late, new, newer = await asked(places, "a", "b", "c")
    await hung(places, clock, late)
    late.place.heard()
    await new.end()
    await turns()
    assert (places.in_use, newer.has_place) == (1, False)
    await late.end()
    await turns()
    assert newer.has_place


async def test_who_ends_while_its_place_is_lent_gives_back_one_place() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    hangs, new, newer, newest = await asked(places, "a", "b", "c", "d")
    await hung(places, clock, hangs)
    await hangs.end()
    await turns()
    assert who_has([new, newer, newest]) == [True, False, False]
    await new.end()
    await turns()
    assert who_has([newer, newest]) == [True, False]


async def test_sessions_are_bounded_however_many_hang() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    sessions = await asked(places, *(f"h{number}" for number in range(SESSIONS_PER_PLACE + 1)))
    for number in range(SESSIONS_PER_PLACE):
        await hung(places, clock, sessions[number])
    assert who_has(sessions) == [*[True] * SESSIONS_PER_PLACE, False]
    await sessions[0].end()
    await turns()
    assert sessions[-1].has_place


async def test_who_hangs_with_many_leaves_one_to_each_other() -> None:
    clock = ManualClock()
    places = Places(10, clock)
    sessions = await asked(places, *["hangs"] * 40)
    for _ in range(4):
        await hung(places, clock, *(one for one in sessions if one.has_place))
    assert sum(who_has(sessions)) == 21  # its first, and half of all
    others = await asked(places, "a", "b", "b")
    assert who_has(others) == [True, True, False]
    await others[1].end()
    await turns()
    assert others[2].has_place


@pytest.mark.parametrize(
    ("address", "neighbour", "stranger"),
    [
        ("192.0.2.1", "192.0.2.254", "192.0.3.1"),
        ("2001:db8:1::1", "2001:db8:1:ffff::1", "2001:db8:2::1"),
    ],
)
def test_who_has_a_network_has_one_site(address: str, neighbour: str, stranger: str) -> None:
    assert site_of(address) == site_of(neighbour) != site_of(stranger)


async def test_where_all_are_in_use_the_longest_gives_way() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    sessions = await asked(places, *(f"h{number}" for number in range(SESSIONS_PER_PLACE + 1)))
    ended: list[int] = []
    for number in range(SESSIONS_PER_PLACE):
        sessions[number].place.give_way = partial(give_way, ended, number)
        await hung(places, clock, sessions[number])
    assert ended == []
    clock.forward(LONGEST_S)
    places._lend()
    assert ended == [0]  # one waits
    await sessions[1].end()
    clock.forward(LONGEST_S)
    places._lend()
    assert ended == [0]  # none does


async def test_a_host_that_gave_way_comes_last() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    sessions = await asked(places, *(f"h{number}" for number in range(SESSIONS_PER_PLACE)), "h0", "new")
    for number in range(SESSIONS_PER_PLACE):
        sessions[number].place.give_way = partial(give_way, [], number)
        await hung(places, clock, sessions[number])
    *_, again, new = sessions
    clock.forward(LONGEST_S)
    places._lend()
    await sessions[0].end()
    await turns()
    assert who_has([again, new]) == [False, True]
    await new.end()
    await turns()
    assert again.has_place
    places._lend()
    assert not places._gave_way


async def test_who_can_not_give_way_stands_before_nobody_who_can() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    sessions = await asked(places, *(f"h{number}" for number in range(SESSIONS_PER_PLACE + 1)))
    ended: list[int] = []
    sessions[0].place.give_way = lambda: False
    for number in range(SESSIONS_PER_PLACE):
        if number:
            sessions[number].place.give_way = partial(give_way, ended, number)
        await hung(places, clock, sessions[number])
    clock.forward(LONGEST_S)
    places._lend()
    assert ended == [1]


async def test_who_takes_a_message_does_not_hang_unless_he_takes_it_slowly() -> None:
    clock = ManualClock()
    places = Places(1, clock)
    slow, new = await asked(places, "a", "b")
    slow.place.wait_for_host()
    for _ in range(3):
        clock.forward(PATIENCE_S - 1)
        slow.place.took(int(PATIENCE_S * FAIR_BYTES_PER_S))
        places._lend()
    await turns()
    assert not new.has_place
    for _ in range(2):
        clock.forward(PATIENCE_S - 1)
        slow.place.took(int(PATIENCE_S * FAIR_BYTES_PER_S) // 5)
        places._lend()
    await turns()
    assert new.has_place


@pytest.mark.parametrize("moment", ["in line", "admitted"])
async def test_who_leaves_takes_no_place_along(moment: str) -> None:
    places = Places(1, ManualClock())
    first, leaves, last = await asked(places, "a", "b", "c")
    if moment == "in line":
        leaves.leave()
        await turns()
        await first.end()
    else:
        await first.end()  # `leaves` has been told, and not run yet
        leaves.leave()
    await turns()
    assert leaves.has_left
    assert last.has_place
    await last.end()
    assert (places.in_use, places._sessions, places._of_site, places._line) == (0, 0, {}, {})
