"""Turns at a group of hosts: who begins, who waits in the line, who comes again later, and that no place is lost."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conf.settings import Outbound, PaceRule
from maild.outbound.pace import pacing
from maild.outbound.pace.pace import FIRST_SESSIONS, Sign
from maild.outbound.pace.pacing import GroupTurn, HostGroup, HostGroupRegistry, Postponed
from maild.outcomes.verdict import Verdict
from tests.support.worlds.due_rows import nobody_asks
from tests.support.worlds.store import ManualClock

OK = Verdict("delivered", 250, None, "ok")
BUSY = Verdict("deferred", 421, "4.7.0", "too many connections, said to ada@there.test", "mx7.there.test")
DEAF = Verdict("deferred", 421, "4.4.1", "mx7.there.test [192.0.2.1]: connection timed out")


def group(clock: ManualClock, **rule: int) -> HostGroup:
    return HostGroup("there.test", PaceRule(**rule), Outbound(), clock)  # type: ignore[arg-type]


def end(turn: GroupTurn, sign: Sign = Sign.TAKEN, words: Verdict = OK) -> None:
    turn.heard(sign, words)
    turn.end()


async def begin(ours: HostGroup, count: int = 1) -> list[asyncio.Task[GroupTurn]]:
    tasks = [asyncio.create_task(ours.turn(number)) for number in range(count)]
    await asyncio.sleep(0)
    return tasks


def began(tasks: list[asyncio.Task[GroupTurn]]) -> int:
    return sum(task.done() for task in tasks)


async def test_the_first_goes_alone_and_the_others_follow_it_in_their_order() -> None:
    ours = group(ManualClock())
    tasks = await begin(ours, 10)
    assert began(tasks) == 1 and ours.has_line
    end(await tasks[0])
    await asyncio.sleep(0)
    assert [task.done() for task in tasks] == [True] * (1 + FIRST_SESSIONS) + [False] * (9 - FIRST_SESSIONS)
    for task in tasks[1:]:
        end(await task)
        await asyncio.sleep(0)
    assert ours.is_idle and ours.has_room


async def test_nobody_overtakes_the_line() -> None:
    ours = group(ManualClock(), max_connections=1)
    first, second = await begin(ours, 2)
    (await first).end()
    (late,) = await begin(ours)
    assert second.done() and not late.done()


async def test_a_back_off_sends_the_line_away_in_words_of_our_own() -> None:
    ours = group(ManualClock())
    first, *others = await begin(ours, 5)
    end(await first, Sign.THROTTLED, BUSY)
    for task in others:
        with pytest.raises(Postponed) as caught:
            await task
        assert (caught.value.is_back_off, caught.value.wait_s) == (True, 51)
        assert caught.value.words == Verdict(
            "deferred", 451, "4.4.5", "not tried yet: there.test asked for less mail"
        )
    assert ours.is_idle
    with pytest.raises(Postponed):
        await ours.turn(1)


async def test_the_line_is_sent_away_though_others_are_still_at_work() -> None:
    ours = group(ManualClock(), max_connections=3)
    end(await ours.turn(1))
    one, other, third, *line = await begin(ours, 8)
    end(await one, Sign.THROTTLED, BUSY)
    await asyncio.sleep(0)
    assert all(isinstance(task.exception(), Postponed) for task in line)
    (await other).end()
    (await third).end()
    assert ours.is_idle


async def test_who_comes_while_it_backs_off_stands_in_no_line() -> None:
    ours = group(ManualClock(), max_connections=2)
    end(await ours.turn(1))
    one, other = await begin(ours, 2)
    end(await one, Sign.THROTTLED, BUSY)
    assert not ours.has_room  # `other` still has the only session that is left
    with pytest.raises(Postponed) as caught:
        await ours.turn(1)
    assert caught.value.is_back_off
    (await other).end()
    assert ours.is_idle


async def test_who_was_given_a_place_just_before_the_back_off_leaves_it() -> None:
    ours = group(ManualClock(), max_connections=2)
    end(await ours.turn(1))
    one, other, third = await begin(ours, 3)
    end(await one)  # hands its place to the third, which has not run yet
    end(await other, Sign.THROTTLED, BUSY)
    with pytest.raises(Postponed) as caught:
        await third
    assert caught.value.is_back_off
    assert ours.is_idle


async def test_who_did_not_answer_did_not_ask_for_less() -> None:
    ours = group(ManualClock())
    end(await ours.turn(1), Sign.UNREACHABLE, DEAF)
    with pytest.raises(Postponed) as caught:
        await ours.turn(1)
    assert caught.value.words == Verdict(
        "deferred", 451, "4.4.1", "not tried yet: there.test did not answer lately"
    )


async def test_who_refused_a_session_did_answer() -> None:
    """A smarthost that refuses our login, a greeting of 554: nobody is to look for a network that is down."""
    ours = group(ManualClock())
    refusal = Verdict(
        "deferred", 454, "4.7.0", "the smarthost refuses our login: no such user", "mx7.there.test"
    )
    end(await ours.turn(1), Sign.REFUSED, refusal)
    with pytest.raises(Postponed) as caught:
        await ours.turn(1)
    assert caught.value.words.text == "not tried yet: there.test wanted no session of ours lately"


async def test_who_is_cancelled_takes_no_place_with_him() -> None:
    ours = group(ManualClock(), max_connections=1)
    first, second, third = await begin(ours, 3)
    second.cancel()
    (await first).end()  # hands the place to the second, or to the third
    await asyncio.sleep(0)
    end(await third)
    assert ours.is_idle


async def test_who_is_cancelled_with_the_place_in_his_hand_passes_it_on() -> None:
    ours = group(ManualClock(), max_connections=1)
    first, second, third = await begin(ours, 3)
    (await first).end()
    second.cancel()  # it has the place, and has not run yet
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    end(await third)
    assert ours.is_idle


async def test_who_is_cancelled_while_the_line_is_sent_away_had_no_place() -> None:
    ours = group(ManualClock(), max_connections=1)
    first, second = await begin(ours, 2)
    end(await first, Sign.THROTTLED, BUSY)
    second.cancel()  # it was sent away, and has not run yet
    await asyncio.wait([second])
    assert second.cancelled() and ours.is_idle


@pytest.mark.parametrize(("waiting", "may_wait"), [(3, True), (0, False)])
async def test_a_full_line_and_who_may_not_wait_come_again_soon(
    waiting: int, may_wait: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "WAITING_MAX", 3)
    ours = group(ManualClock())
    tasks = await begin(ours, 1 + waiting)
    with pytest.raises(Postponed) as caught:
        await ours.turn(1, may_wait)
    assert not caught.value.is_back_off
    assert began(tasks) == 1
    for task in tasks:
        task.cancel()


async def test_what_the_rate_does_not_allow_takes_no_place() -> None:
    clock = ManualClock()
    ours = group(clock, messages_per_minute=6)
    (await ours.turn(1)).end()
    with pytest.raises(Postponed) as caught:
        await ours.turn(2)
    assert caught.value.wait_s == 10
    assert ours.is_idle


async def test_a_group_at_work_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "GROUPS_MAX", 2)
    groups = HostGroupRegistry(Outbound(), {}, ManualClock(), nobody_asks)
    at_work = groups.group("busy.test")
    turn = await at_work.turn(1)
    for number in range(9):
        groups.group(f"d{number}.test")
    assert groups.group("busy.test") is at_work
    turn.end()


def test_unused_groups_are_forgotten_but_not_those_that_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "GROUPS_MAX", 10)
    groups = HostGroupRegistry(
        Outbound(), {"[ruled]": PaceRule(max_connections=1)}, ManualClock(), nobody_asks
    )
    ruled, backs_off = groups.group("[ruled]"), groups.group("busy.test")
    backs_off.pace.heard(Sign.THROTTLED, backs_off.pace.began)
    for number in range(100):
        groups.group(f"d{number}.test")
    assert groups.group("busy.test") is backs_off
    assert groups.group("[ruled]") is ruled
    assert len(groups._groups) <= 10


class Operator:
    """Asked for a retry of mail to `domain` at `asked_at` (Unix milliseconds)."""

    def __init__(self, domain: str, asked_at: int) -> None:
        self.domain = domain
        self.asked_at = asked_at

    async def asked(self, domain: str, since_ms: int) -> bool:
        return domain == self.domain and self.asked_at > since_ms


@pytest.mark.parametrize(("domain", "after_ms", "is_tried"), [
    ("there.test", 1, True), ("there.test", 0, False), ("other.test", 1, False),
])  # fmt: skip
async def test_a_back_off_ends_for_what_the_operator_asked_for_since_it_began(
    domain: str, after_ms: int, is_tried: bool
) -> None:
    clock = ManualClock()
    clock.forward(1)
    operator = Operator(domain, clock.now_ms() + after_ms)
    groups = HostGroupRegistry(Outbound(), {}, clock, operator.asked)
    ours = groups.group("[there]")
    end(await ours.turn(1), Sign.THROTTLED, BUSY)
    clock.forward(1)
    assert await groups.asked("[there]", "there.test") is ours
    if is_tried:
        end(await ours.turn(1), Sign.THROTTLED, BUSY)
        await groups.asked("[there]", "there.test")  # it began anew after that
    with pytest.raises(Postponed):
        await ours.turn(1)


@pytest.mark.parametrize(("after_s", "wait_s"), [(2, 10), (0, 20)])
async def test_what_waits_for_its_time_is_planned_anew_once_where_the_operator_asks(
    after_s: float, wait_s: float
) -> None:
    """Else all of it would be planned behind itself, and at each retry again."""
    clock = ManualClock()
    operator = Operator("there.test", 0)
    groups = HostGroupRegistry(
        Outbound(), {"[there]": PaceRule(messages_per_minute=6)}, clock, operator.asked
    )
    ours = await groups.asked("[there]", "there.test")
    (await ours.turn(1)).end()
    begun_ms = clock.now_ms()
    assert await wait_of(ours, 2) == 10
    operator.asked_at = begun_ms + round(1000 * after_s)
    clock.forward(after_s)
    await groups.asked("[there]", "there.test")
    assert await wait_of(ours, 2) == wait_s
    await groups.asked("[there]", "there.test")  # that was done
    assert await wait_of(ours, 3) == wait_s + 10


async def test_of_two_that_ask_the_operator_at_once_one_has_it_planned_anew() -> None:
    answers: list[asyncio.Future[bool]] = []

    async def asked(domain: str, since_ms: int) -> bool:
        answers.append(asyncio.get_running_loop().create_future())
        return await answers[-1]

    clock = ManualClock()
    groups = HostGroupRegistry(Outbound(), {"[there]": PaceRule(messages_per_minute=6)}, clock, asked)
    ours = groups.group("[there]")
    (await ours.turn(1)).end()
    assert await wait_of(ours, 2) == 10
    clock.forward(2)
    both = [asyncio.create_task(groups.asked("[there]", "there.test")) for _ in range(2)]
    await asyncio.sleep(0)
    for answer, asking, created_at, wait_s in zip(answers, both, (2, 3), (10, 20), strict=True):
        answer.set_result(True)
        await asking
        assert await wait_of(ours, created_at) == wait_s


async def wait_of(ours: HostGroup, created_at: int) -> float:
    with pytest.raises(Postponed) as caught:
        await ours.turn(created_at)
    return caught.value.wait_s


def test_the_least_recently_used_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "GROUPS_MAX", 4)
    groups = HostGroupRegistry(Outbound(), {}, ManualClock(), nobody_asks)
    made = [groups.group(name) for name in "abcd"]
    assert groups.group("a") is made[0]
    groups.group("e")
    assert list(groups._groups) == ["d", "a", "e"]


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("begin"), st.integers(0, 9)),
            st.tuples(st.just("cancel"), st.integers(0, 99)),
            st.tuples(st.sampled_from(Sign), st.integers(0, 99)),
            st.tuples(st.just("wait"), st.integers(0, 4000)),
        ),
        max_size=60,
    )
)
def test_whatever_happens_no_place_is_lost(steps: list[tuple[str | Sign, int]]) -> None:
    async def run() -> None:
        clock = ManualClock()
        ours = group(clock, max_connections=4)
        tasks: list[asyncio.Task[GroupTurn]] = []
        turns: list[GroupTurn] = []
        for step, number in steps:
            if step == "begin":
                tasks += await begin(ours, number)
            elif step == "cancel" and tasks:
                tasks[number % len(tasks)].cancel()
            elif step == "wait":
                clock.forward(number)
            elif isinstance(step, Sign) and turns:
                end(turns.pop(number % len(turns)), step, BUSY)
            turns += await _gather(tasks)
            assert len(turns) <= 4
        while turns or tasks:
            for turn in turns:
                end(turn)
            turns = await _gather(tasks)
        assert ours.is_idle

    asyncio.run(run())


async def _gather(tasks: list[asyncio.Task[GroupTurn]]) -> list[GroupTurn]:
    """The turns that have begun; those tasks, and those that ended otherwise, are taken out."""
    for _ in range(3):
        await asyncio.sleep(0)
    done = [task for task in tasks if task.done()]
    tasks[:] = [task for task in tasks if not task.done()]
    return [task.result() for task in done if not task.cancelled() and task.exception() is None]
