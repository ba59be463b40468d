"""How much begins in a round of the event loop, and who goes first (storage/turns/rounds.py)."""

import asyncio
from collections import Counter

import pytest

from storage.turns.rounds import Kind, Overloaded, RoundPace, Rounds

PACE = RoundPace(a_round=4, late_s=0.1, mail_s=0.2, patience_s=1.0, standing_s=0.1)


class Work:
    """Pieces of work; `begun` has the names of those that began, `refused` of those that did not."""

    def __init__(self) -> None:
        self.now = 0.0
        self.rounds = Rounds(lambda: self.now, PACE)
        self.begun: list[str] = []
        self.refused: list[str] = []

    def ask(self, kind: Kind, owner: str, count: int = 1) -> list["asyncio.Task[None]"]:
        return [asyncio.create_task(self._one(kind, owner)) for _ in range(count)]

    async def _one(self, kind: Kind, owner: str) -> None:
        try:
            await self.rounds.begin(kind, owner)
        except Overloaded:
            self.refused.append(owner)
        else:
            self.begun.append(owner)

    async def one_round(self) -> Counter[str]:
        """What began in the next round."""
        before = len(self.begun)
        await asyncio.sleep(0)
        return Counter(self.begun[before:])


@pytest.fixture
async def work() -> Work:
    return Work()


async def test_so_many_of_a_kind_begin_in_a_round_and_the_others_in_the_next_ones(work: Work) -> None:
    work.ask(Kind.WEBHOOK, "webhook", 2)
    work.ask(Kind.REQUEST, "request", 10)
    assert await work.one_round() == {"webhook": 2, "request": 4}
    while len(work.begun) < 12:
        assert (await work.one_round())["request"] <= PACE.a_round


async def test_owners_take_turns_however_often_each_asks(work: Work) -> None:
    work.ask(Kind.REQUEST, "first", PACE.a_round)
    work.ask(Kind.REQUEST, "greedy", 20)
    work.ask(Kind.REQUEST, "modest", 2)
    while "modest" not in work.begun or work.begun.count("modest") < 2:
        await work.one_round()
    assert work.begun.count("greedy") <= 5


async def test_one_piece_a_round_begins_while_a_kind_before_it_waits(work: Work) -> None:
    work.ask(Kind.REQUEST, "request", 31)
    work.ask(Kind.DELIVERY, "delivery", 31)
    work.ask(Kind.WEBHOOK, "webhook", 31)
    while work.begun.count("request") < 31:
        await work.one_round()
    # Beside requests that is one in two rounds; in the first and the last of eleven nobody waited.
    for kind in ("delivery", "webhook"):
        assert 4 <= work.begun.count(kind) <= 6 + 2 * PACE.a_round
    while len(work.begun) < 93:
        await work.one_round()


async def test_deliveries_and_webhooks_begin_one_by_one_while_requests_come_in(work: Work) -> None:
    work.ask(Kind.REQUEST, "request")
    for kind in (Kind.DELIVERY, Kind.WEBHOOK):
        work.ask(kind, kind.name, 4)
    assert await work.one_round() == {"request": 1, "DELIVERY": 1, "WEBHOOK": 1}
    assert await rounds_until(work, 9) >= 3 / PACE.beside_requests
    work.now += PACE.requests_s
    work.ask(Kind.DELIVERY, "later", 12)
    assert await rounds_until(work, 21) <= 5


async def rounds_until(work: Work, count: int) -> int:
    """How many rounds it takes until so many have begun."""
    rounds = 0
    while len(work.begun) < count:
        await work.one_round()
        rounds += 1
    return rounds


async def test_fewer_pieces_begin_while_mail_is_accepted_late(work: Work) -> None:
    work.rounds.accepted(PACE.late_s)  # in time
    work.ask(Kind.REQUEST, "request", 12)
    assert await rounds_until(work, 12) <= 5
    for _ in range(4):  # 4, 2, 1, 1/2, 1/4
        work.rounds.accepted(PACE.late_s + 0.001)
    work.ask(Kind.REQUEST, "request", 4)
    assert await rounds_until(work, 16) >= 12
    for _ in range(400):
        work.rounds.accepted(0.01)
    work.ask(Kind.REQUEST, "request", 12)
    assert await rounds_until(work, 28) <= 5


async def test_mail_that_has_ceased_to_come_slows_nothing(work: Work) -> None:
    for _ in range(10):
        work.rounds.accepted(PACE.late_s + 0.001)
    work.now += PACE.mail_s
    work.ask(Kind.REQUEST, "request", 12)
    assert await rounds_until(work, 12) <= 5


async def test_a_request_that_waited_too_long_is_refused(work: Work) -> None:
    work.ask(Kind.REQUEST, "early", PACE.a_round)
    work.ask(Kind.REQUEST, "late", 2)
    work.ask(Kind.REQUEST, "other")
    await asyncio.sleep(0)
    work.now += PACE.patience_s + 0.001
    await work.one_round()
    await work.one_round()
    assert sorted(work.refused) == ["late", "late", "other"]
    work.ask(Kind.REQUEST, "next")
    await work.one_round()
    assert work.begun[PACE.a_round :] == ["next"]


async def test_in_a_line_that_stands_nobody_waits_for_long(work: Work) -> None:
    while not work.refused and work.now < 3 * PACE.patience_s:  # the line grows by one in each round
        work.ask(Kind.REQUEST, "a", PACE.a_round + 1)
        await work.one_round()
        work.now += PACE.standing_s
    assert PACE.patience_s <= work.now < 2 * PACE.patience_s


async def test_who_waits_for_one_thing_in_a_line_that_stands_keeps_its_whole_time(work: Work) -> None:
    while not work.refused:
        work.ask(Kind.REQUEST, "greedy", PACE.a_round + 1)
        await work.one_round()
        work.now += PACE.standing_s
    modest = [f"modest {number}" for number in range(2 * PACE.a_round)]
    for owner in modest:
        work.ask(Kind.REQUEST, owner)
    work.refused.clear()
    for _ in range(4):
        work.now += 2 * PACE.standing_s
        await work.one_round()
    assert set(work.refused) == {"greedy"}
    assert set(modest) <= set(work.begun)


async def test_what_is_kept_in_the_store_waits_without_end(work: Work) -> None:
    for kind in (Kind.DELIVERY, Kind.WEBHOOK):
        work.ask(kind, kind.name, PACE.a_round + 2)
    await asyncio.sleep(0)
    work.now += 1e6
    while len(work.begun) < 2 * PACE.a_round + 4:
        await work.one_round()
    assert work.refused == []


async def test_a_caller_that_is_cancelled_leaves_its_place(work: Work) -> None:
    work.ask(Kind.REQUEST, "first", PACE.a_round)
    for task in work.ask(Kind.REQUEST, "gone", 5):
        await asyncio.sleep(0)
        task.cancel()
    work.ask(Kind.REQUEST, "next", PACE.a_round)
    while work.begun.count("next") < PACE.a_round:
        await work.one_round()
    assert "gone" not in work.refused
