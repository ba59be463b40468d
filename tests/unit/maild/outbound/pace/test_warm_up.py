"""How many messages a day are allowed, and what is counted."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conf.loading import SettingsError, parse
from conf.settings import WarmUp
from maild.outbound.pace.warm_up import MESSAGES_MAX, allowed
from storage.sending import warm_up_counts
from storage.sending.warm_up_counts import WarmUpDay
from tests.support.worlds.store import Store

FIRST = date(2026, 12, 1)


def days(section: WarmUp, count: int) -> list[int | None]:
    return [allowed(section, FIRST + timedelta(number)) for number in range(-2, count)]


def test_a_list_has_a_number_for_each_day_and_then_there_is_no_limit() -> None:
    assert days(WarmUp(FIRST, messages=(5, 20, 10)), 5) == [5, 5, 5, 20, 10, None, None]


def test_a_factor_makes_more_of_it_each_day() -> None:
    assert days(WarmUp(FIRST, start=50, factor=1.5, days=4), 5) == [50, 50, 50, 75, 112, 168, None]


@given(st.integers(1, MESSAGES_MAX), st.floats(1, 10), st.integers(1, 366))
def test_no_day_has_less_than_the_one_before(start: int, factor: float, length: int) -> None:
    section = WarmUp(FIRST, start=start, factor=factor, days=length)
    found = [allowed(section, FIRST + timedelta(number)) for number in range(length)]
    numbers = [one for one in found if one is not None]
    assert len(numbers) == length
    assert numbers == sorted(numbers)
    assert numbers[0] >= 1 and numbers[-1] <= MESSAGES_MAX


def test_all_faults_are_told_at_once() -> None:
    warmup = {
        "a": {"begins": FIRST, "senders": ["x.test"], "messages": [1], "start": 1},
        "b": {"begins": FIRST, "sources": ["gone"]},
        "c": {"begins": FIRST, "start": 1},
        "d": {"begins": FIRST, "start": 1, "sources": ["here"]},
    }
    sources = {"here": {"senders": ["x.test"]}}
    with pytest.raises(SettingsError) as caught:
        parse({"outbound": {"warmup": warmup, "sources": sources}})
    assert caught.value.faults == [
        "outbound.warmup.a: give messages (a list, one number a day) or start, one of them",
        "outbound.warmup.b: give messages (a list, one number a day) or start, one of them",
        "outbound.warmup.b.sources: there is no outbound.sources.gone",
        "outbound.warmup.c: give senders, sources, or both",
        "outbound.warmup.d.senders: x.test is named by outbound.warmup.a too",
    ]


async def test_a_day_is_counted_up_to_its_limit_and_days_long_over_are_forgotten(tmp_path: Path) -> None:
    store = await Store.open(tmp_path)
    try:
        today = WarmUpDay("2026-12-01", "new", "google.com")
        assert [await store.db.write(warm_up_counts.count, today, 2) for _ in range(3)] == [True, True, False]
        await store.db.write(warm_up_counts.give_back, today)
        assert [await store.db.write(warm_up_counts.count, today, 2) for _ in range(2)] == [True, False]
        assert await store.db.write(warm_up_counts.count, today._replace(host_group="other.test"), 2)
        for day, rows in (("2026-12-02", 3), ("2026-12-03", 4), ("2026-12-04", 3)):
            assert await store.db.write(warm_up_counts.count, today._replace(day=day), 2)
            assert await store.scalar("SELECT count(*) FROM warm_up_counts") == rows
    finally:
        await store.close()
