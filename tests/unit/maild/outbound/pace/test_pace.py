"""What signs of a group of hosts do to its sessions and its back-off: the table, and what holds whatever they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.outbound.pace.pace import (
    ANSWERS_FOR_S,
    FIRST_SESSIONS,
    LONGEST_DOUBLINGS,
    BackOff,
    GroupPace,
    SessionChange,
    Sign,
    asks_for_less,
    sign_of,
)
from maild.outcomes.verdict import Verdict
from tests.support.worlds.store import ManualClock

FIRST_S = 51.0
COMPLAINTS = [Sign.THROTTLED, Sign.REFUSED, Sign.UNREACHABLE, Sign.LOST]


def pace(clock: ManualClock, sessions_max: int = 20) -> GroupPace:
    return GroupPace(clock, sessions_max, FIRST_S)


def grown(clock: ManualClock) -> GroupPace:
    found = pace(clock)
    for _ in range(30):
        found.heard(Sign.TAKEN, found.began)
    assert found.sessions == 20
    return found


def complain(found: GroupPace, sign: Sign = Sign.THROTTLED) -> bool:
    return found.heard(sign, found.began)


def test_every_complaint_costs_sessions_and_every_success_ends_the_back_off() -> None:
    for sign in Sign:
        assert (sign.sessions is SessionChange.HALF) == (sign in COMPLAINTS)
        assert (sign.back_off is BackOff.ENDS) == (sign is Sign.TAKEN)


def test_one_then_five_then_one_more_for_each_message() -> None:
    found = pace(ManualClock())
    counts = [found.sessions]
    for _ in range(18):
        found.heard(Sign.TAKEN, found.began)
        counts.append(found.sessions)
    assert counts == [1, *range(FIRST_SESSIONS, 21), 20, 20]


def test_a_throttle_stops_it_and_then_one_session_tries() -> None:
    clock = ManualClock()
    found = grown(clock)
    assert complain(found)
    assert (found.waits_s, found.sessions) == (FIRST_S, 1)
    clock.forward(FIRST_S)
    assert (found.waits_s, found.sessions) == (0, 1)


def test_a_back_off_that_begins_again_is_twice_as_long_up_to_an_hour() -> None:
    clock = ManualClock()
    found = pace(clock)
    waits = []
    for _ in range(LONGEST_DOUBLINGS + 3):
        complain(found)
        waits.append(found.waits_s)
        clock.forward(found.waits_s)
    assert waits == [FIRST_S * 2 ** min(n, LONGEST_DOUBLINGS) for n in range(LONGEST_DOUBLINGS + 3)]
    found.heard(Sign.TAKEN, found.began)
    complain(found)
    assert found.waits_s == FIRST_S


def test_what_all_sessions_hear_at_once_is_one_sign() -> None:
    clock = ManualClock()
    found = grown(clock)
    began = found.began
    assert [found.heard(Sign.THROTTLED, began) for _ in range(20)] == [True] + 19 * [False]
    assert found.waits_s == FIRST_S


def test_a_success_from_before_does_not_end_it() -> None:
    found = grown(ManualClock())
    before = found.began
    complain(found)
    found.heard(Sign.TAKEN, before)
    assert found.waits_s == FIRST_S
    found.heard(Sign.TAKEN, found.began)
    assert found.waits_s == 0


def test_a_failure_among_successes_is_an_accident() -> None:
    found = grown(ManualClock())
    assert not complain(found, Sign.UNREACHABLE)
    assert (found.waits_s, found.sessions) == (0, 10)
    found.heard(Sign.ANSWERED, found.began)  # ends the row
    assert not complain(found, Sign.UNREACHABLE)


def test_failures_of_as_many_as_there_are_sessions_are_none() -> None:
    found = grown(ManualClock())
    failures = 1
    while not complain(found, Sign.REFUSED):
        failures += 1
    assert failures <= 5  # twenty, ten, five, two: two in a row are all of these
    assert found.waits_s == FIRST_S


def test_one_that_never_answered_need_not_fail_twice() -> None:
    assert complain(pace(ManualClock()), Sign.UNREACHABLE)


def test_it_grows_slowly_from_half_of_what_was_too_much() -> None:
    clock = ManualClock()
    found = grown(clock)
    complain(found)
    clock.forward(FIRST_S)
    counts = []
    for _ in range(40):
        found.heard(Sign.TAKEN, found.began)
        counts.append(found.sessions)
    assert counts[:10] == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]
    assert counts[-1] == 12  # a round of ten, and one of eleven


def test_who_was_silent_for_long_begins_with_one() -> None:
    clock = ManualClock()
    found = grown(clock)
    clock.forward(ANSWERS_FOR_S)
    assert found.sessions == 1
    found.heard(Sign.ANSWERED, found.began)
    assert found.sessions == FIRST_SESSIONS


deliveries = st.lists(
    st.tuples(st.sampled_from(Sign), st.integers(0, 3), st.floats(0, 4000)), min_size=1, max_size=80
)


@given(deliveries, st.integers(1, 50))
def test_there_is_always_a_session_and_never_too_many(told: list[tuple[Sign, int, float]], most: int) -> None:
    clock = ManualClock()
    found = pace(clock, most)
    for sign, late, seconds in told:
        found.heard(sign, found.began - late)
        assert 1 <= found.sessions <= most
        assert 0 <= found.waits_s <= FIRST_S * 2**LONGEST_DOUBLINGS
        clock.forward(seconds)


@given(deliveries, st.integers(1, 50))
def test_it_recovers_whatever_was_before(told: list[tuple[Sign, int, float]], most: int) -> None:
    clock = ManualClock()
    found = pace(clock, most)
    for sign, late, seconds in told:
        found.heard(sign, found.began - late)
        clock.forward(seconds)
    clock.forward(found.waits_s + 1)
    for _ in range(most * most + most):
        found.heard(Sign.TAKEN, found.began)
    assert (found.waits_s, found.sessions) == (0, most)


@given(deliveries, st.sampled_from(COMPLAINTS), st.integers(0, 3))
def test_no_complaint_gives_more_and_no_success_takes_away(
    told: list[tuple[Sign, int, float]], complaint: Sign, late: int
) -> None:
    clock = ManualClock()
    found = pace(clock)
    for sign, before, seconds in told:
        found.heard(sign, found.began - before)
        clock.forward(seconds)
    sessions, waits_s = found.sessions, found.waits_s
    found.heard(complaint, found.began - late)
    assert found.sessions <= sessions
    assert found.waits_s >= waits_s
    sessions, waits_s = found.sessions, found.waits_s
    found.heard(Sign.TAKEN, found.began)
    assert found.sessions >= sessions
    assert found.waits_s <= waits_s


@given(st.lists(st.sampled_from(COMPLAINTS), min_size=2, max_size=30))
def test_back_offs_without_a_success_never_get_shorter(told: list[Sign]) -> None:
    clock = ManualClock()
    found = pace(clock)
    waits = []
    for sign in told:
        if found.heard(sign, found.began):
            waits.append(found.waits_s)
            clock.forward(found.waits_s)
    assert waits == sorted(waits)


@pytest.mark.parametrize(
    ("code", "enhanced", "text"),
    [
        (421, None, "closing"),
        (421, "4.7.28", "an unusual rate of unsolicited mail from your IP address"),
        (451, "4.7.500", "Server busy. Please try again later"),
        (451, "4.7.650", "has been temporarily rate limited due to IP reputation"),
        (450, "4.7.1", "rate limit exceeded"),
        (450, None, "4.7.0 too many connections from your host"),
        (451, "4.3.2", "system not accepting network messages"),
        (452, "4.4.5", "congested"),
    ],
)
def test_what_asks_for_less(code: int, enhanced: str | None, text: str) -> None:
    assert asks_for_less(code, enhanced, text)


@pytest.mark.parametrize(
    ("code", "enhanced", "text"),
    [
        (450, "4.7.1", "Greylisted, please try again in 5 minutes"),
        (451, None, "greylisting in action"),
        (452, "4.2.2", "mailbox full"),
        (450, "4.2.1", "the user is receiving mail too quickly"),
        (452, "4.5.3", "too many recipients"),
        (452, None, "too many recipients"),
        (450, "4.1.8", "sender's domain not found"),
        (451, "4.3.0", "internal error"),
        (451, None, "try again"),
        (550, "5.7.1", "rate limit exceeded"),
        (None, None, "what?"),
    ],
)
def test_what_is_about_one_message(code: int | None, enhanced: str | None, text: str) -> None:
    assert not asks_for_less(code, enhanced, text)


@given(st.integers(0, 999), st.one_of(st.none(), st.text(max_size=12)), st.text(max_size=200))
def test_every_reply_asks_or_does_not(code: int, enhanced: str | None, text: str) -> None:
    assert asks_for_less(code, enhanced, text) in (True, False)


def test_the_sign_of_a_transaction_is_its_most_telling_verdict() -> None:
    taken, full = Verdict("delivered", 250, None, "ok"), Verdict("deferred", 452, "4.2.2", "full")
    busy, gone = Verdict("deferred", 421, None, "busy"), Verdict("bounced", 550, "5.1.1", "no such user")
    assert sign_of([full, taken, gone]) is Sign.TAKEN
    assert sign_of([taken, busy]) is Sign.THROTTLED
    assert sign_of([full, gone]) is Sign.ANSWERED
