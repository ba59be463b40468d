"""Ids sort by time, never tie, and can't be guessed (storage/ids.py)."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from storage.ids import Ids
from tests.support.worlds.store import ManualClock


def test_an_id_is_its_prefix_and_26_characters() -> None:
    assert re.fullmatch(r"msg_[0-9a-hjkmnp-tv-z]{26}", Ids(ManualClock()).new("msg"))


def test_ids_of_one_millisecond_are_different_and_in_order() -> None:
    ids = Ids(ManualClock())
    made = [ids.new("msg") for _ in range(10_000)]
    assert made == sorted(set(made))


def test_ids_follow_the_clock_and_never_go_back_with_it() -> None:
    clock = ManualClock()
    ids = Ids(clock)
    made = [ids.new("msg")]
    for seconds in (0.001, 1, 3600, -7200, 0.001, 40 * 86400):
        clock.forward(seconds)
        made.append(ids.new("msg"))
    assert made == sorted(set(made))


def test_a_clock_that_was_ahead_by_more_than_a_day_is_left_behind() -> None:
    clock = ManualClock()
    ids = Ids(clock)
    before = ids.new("msg")
    clock.forward(40 * 86400)
    ahead = ids.new("msg")
    clock.set_back(40 * 86400 - 1)
    made = [before, *(ids.new("msg") for _ in range(3)), ahead]
    assert made == sorted(set(made))


def test_ids_go_on_behind_those_of_another_process() -> None:
    clock = ManualClock()
    theirs = Ids(clock).new("msg")
    clock.forward(-7200)
    ids = Ids(clock)
    ids.go_on_after(theirs)
    made = [theirs, *(ids.new("msg") for _ in range(3))]
    assert made == sorted(set(made))
    clock.forward(7201)
    ids.go_on_after(made[0])
    assert ids.new("msg") > made[-1]


def test_counting_up_never_reaches_the_time() -> None:
    """Chance that begins with ones has room left below the time's digits."""
    clock = ManualClock()
    ids = Ids(clock, entropy=lambda size: b"\xff" * size)
    first = ids.new("msg")
    for _ in range(1000):
        last = ids.new("msg")
    assert first[:14] == last[:14] and first < last


@given(st.lists(st.integers(0, 2**48), min_size=2, unique=True))
def test_the_earlier_id_is_the_smaller_text(times: list[int]) -> None:
    made = [Ids(ManualClock(at_ms)).new("msg") for at_ms in sorted(times)]
    assert made == sorted(made)


def test_two_processes_do_not_meet() -> None:
    clock = ManualClock()
    assert len({Ids(clock).new("msg") for _ in range(1000)}) == 1000


def test_tokens_are_chance_alone() -> None:
    ids = Ids(ManualClock())
    tokens = {ids.token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(re.fullmatch(r"[0-9a-hjkmnp-tv-z]{24}", one) for one in tokens)
    assert ids.token(5) != ids.token(5) and len(ids.token(5)) == 8
    assert Ids(ManualClock(), entropy=lambda size: b"\0" * size).token() == "0" * 24


def test_no_two_threads_make_the_same_id() -> None:
    ids = Ids(ManualClock())
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            made = list(threads.map(lambda _: [ids.new("evt") for _ in range(3000)], range(4)))
    finally:
        sys.setswitchinterval(switch_s)
    assert len({one for some in made for one in some}) == 4 * 3000
