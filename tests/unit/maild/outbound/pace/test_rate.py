"""How many messages a minute: the bucket, and the places in time of what waits."""

from hypothesis import given
from hypothesis import strategies as st

from maild.outbound.pace.rate import BURST_S, PLANNED_S, MessageRate


def rate(per_minute: int = 60) -> MessageRate:
    return MessageRate(per_minute, 0.0)


def test_one_goes_and_the_others_are_planned_one_after_the_other() -> None:
    ours = rate()
    assert [ours.take(0, 1) for _ in range(5)] == [0, 1, 2, 3, 4]


def test_what_was_planned_goes_in_its_time() -> None:
    ours = rate()
    waits = [ours.take(0, number) for number in range(10)]
    assert [ours.take(wait, number) for number, wait in enumerate(waits) if wait] == 9 * [0]


def test_the_younger_stand_behind_what_is_planned() -> None:
    ours = rate()
    for number in range(4):
        ours.take(0, number)  # 1 to 3 are planned
    assert ours.take(1, 99) == 3  # at 4, though there is a token
    assert ours.take(1, 1) == 0


def test_nobody_waits_for_those_who_never_come() -> None:
    ours = rate(60)
    for number in range(100):
        ours.take(0, number)
    assert ours.take(BURST_S, 999) == 0


def test_a_plan_for_which_nobody_comes_is_none_any_more() -> None:
    """It was dropped, or held for a while and is let go on now."""
    ours = rate(60)
    for number in range(100):
        ours.take(0, number)
    waits = [ours.take(3 * BURST_S, 100 + number) for number in range(10)]
    assert waits == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5]


def test_a_plan_for_which_one_comes_a_little_late_stands() -> None:
    ours = rate(6)
    for number in range(5):
        ours.take(0, number)  # 1 to 4 are planned for 10 to 40
    assert ours.take(11, 99) == 0
    assert ours.take(12, 1) == ours.take(12, 100) - 10 == 38


def test_a_rest_saves_up_for_a_few_seconds_and_no_more() -> None:
    ours = rate(120)
    burst = 0
    while not ours.take(3600, burst):
        burst += 1
    assert burst == BURST_S * 2


def test_nothing_is_planned_beyond_an_hour() -> None:
    ours = rate(1)
    waits = [ours.take(0, number) for number in range(200)]
    assert max(waits) == PLANNED_S
    assert waits[-1] == PLANNED_S


@given(st.integers(1, 600), st.lists(st.tuples(st.floats(0, 90), st.integers(0, 99)), max_size=200))
def test_no_span_has_more_than_the_rate_and_a_burst(per_minute: int, asked: list[tuple[float, int]]) -> None:
    ours = rate(per_minute)
    now, went = 0.0, []
    for seconds, created_at in asked:
        now += seconds
        wait_s = ours.take(now, created_at)
        assert 0 <= wait_s <= PLANNED_S
        if not wait_s:
            went.append(now)
    full = max(1.0, per_minute / 60 * BURST_S)
    for first, began in enumerate(went):
        for last in range(first, len(went)):
            assert last - first + 1 <= full + (went[last] - began) * per_minute / 60 + 1e-3


@given(st.integers(1, 600), st.integers(1, 300))
def test_a_backlog_goes_in_the_time_that_the_rate_says(per_minute: int, backlog: int) -> None:
    """Whoever comes when he was told to goes at his second coming, unless an hour was too short."""
    ours = rate(per_minute)
    waiting = [(0.0, number) for number in range(backlog)]
    now, took = 0.0, 0
    while waiting:
        waiting.sort()
        at, number = waiting.pop(0)
        now = max(now, at)
        wait_s = ours.take(now, number)
        took += 1
        if wait_s:
            waiting.append((now + wait_s, number))
    assert now <= (backlog - 1) * 60 / per_minute + PLANNED_S * (backlog * 60 / per_minute > PLANNED_S) + 1e-3
    hours = backlog * 60 / per_minute / PLANNED_S
    assert took <= backlog * (2 + hours * hours)
