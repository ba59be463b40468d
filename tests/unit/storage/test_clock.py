"""Moments and periods are UTC (storage/clock.py)."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.clock import Clock, day_of, iso, month_of, next_day_ms, next_month_ms

MOMENTS = st.integers(0, 253_402_300_799_999)  # to the end of year 9999


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@given(MOMENTS)
def test_a_timestamp_says_the_moment_to_the_millisecond(at_ms: int) -> None:
    text = iso(at_ms)
    assert text.endswith("Z") and len(text) == 24
    read = datetime.fromisoformat(text)
    assert read.tzinfo == UTC
    assert round(read.timestamp() * 1000) == at_ms


@given(MOMENTS.filter(lambda at_ms: at_ms < 253_402_214_400_000))
def test_the_next_day_is_another_day_and_the_moment_before_is_not(at_ms: int) -> None:
    midnight = next_day_ms(at_ms)
    assert at_ms < midnight <= at_ms + 86_400_000
    assert day_of(midnight) > day_of(at_ms) == day_of(midnight - 1)


@given(MOMENTS.filter(lambda at_ms: at_ms < 253_399_622_400_000))
def test_the_next_month_is_another_month_and_the_moment_before_is_not(at_ms: int) -> None:
    first = next_month_ms(at_ms)
    assert month_of(first) > month_of(at_ms) == month_of(first - 1)
    assert iso(first).endswith("-01T00:00:00.000Z")


@pytest.mark.parametrize(
    ("moment", "day", "month"),
    [
        ("2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"),
        ("2028-02-28T12:00:00.000Z", "2028-02-29T00:00:00.000Z", "2028-03-01T00:00:00.000Z"),
        ("2026-11-21T00:00:00.000Z", "2026-11-22T00:00:00.000Z", "2026-12-01T00:00:00.000Z"),
    ],
)
def test_years_leap_days_and_midnight_itself(moment: str, day: str, month: str) -> None:
    assert (iso(next_day_ms(at(moment))), iso(next_month_ms(at(moment)))) == (day, month)


def test_the_clock_is_the_systems() -> None:
    before = time.time_ns() // 1_000_000
    now_ms = Clock().now_ms()
    assert before <= now_ms <= time.time_ns() // 1_000_000
    assert Clock().monotonic() <= Clock().monotonic()
