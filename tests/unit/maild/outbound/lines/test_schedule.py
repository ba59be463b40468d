"""When a failed attempt is made again."""

import random

from hypothesis import given
from hypothesis import strategies as st

from conf.settings import Outbound
from maild.outbound.lines.schedule import JITTER, STEPS, Schedule

FAR = 10**15


@given(st.integers(1, 100), st.integers(0, 2**32))
def test_every_delay_is_its_step_give_or_take_a_tenth(attempts: int, seed: int) -> None:
    schedule = Schedule(Outbound(first_retry_s=60), random.Random(seed))
    step_ms = STEPS[min(attempts, len(STEPS)) - 1] * 60_000
    delay_ms = schedule.retry_at(1000, attempts, FAR) - 1000
    assert step_ms * (1 - JITTER) - 1 <= delay_ms <= step_ms * (1 + JITTER) + 1


def test_the_last_attempt_is_made_at_the_end_of_its_time() -> None:
    schedule = Schedule(Outbound(first_retry_s=60, give_up_after_s=100), random.Random(1))
    assert schedule.retry_at(0, 2, schedule.expires_at(0)) == 100_000
    assert schedule.retry_at(200_000, 1, 100_000) > 200_000
