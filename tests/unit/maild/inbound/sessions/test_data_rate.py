"""Who is too slow in DATA: the client is judged by its own time."""

import asyncio
from typing import Any

import pytest

from conf.settings import Smtp
from conf.tuning import SmtpTuning
from maild.inbound.sessions.data_rate import DataRate

LIMITS = Smtp(data_min_bytes_per_s=500, data_min_average_bytes_per_s=5000)
TUNING = SmtpTuning(rate_check_s=10, average_checks=3)


class Transfer:
    """A transfer whose checks come when the test says so."""

    def __init__(self) -> None:
        self.octets, self.ours_s, self.is_too_slow = 0, 0.0, False
        self.is_scarce = True
        loop: Any = self
        self._rate = DataRate(
            LIMITS,
            TUNING,
            loop,
            lambda: self.octets,
            lambda: self.ours_s,
            lambda: self.is_scarce,
            self._cut_off,
        )

    def call_later(self, delay_s: float, check: Any) -> Any:
        self._check = check
        return asyncio.Handle

    def _cut_off(self) -> None:
        self.is_too_slow = True

    def ten_seconds(self, octets: int, ours_s: float = 0.0) -> bool:
        """Is it cut off after them?"""
        self.octets += octets
        self.ours_s += ours_s
        self._check()
        return self.is_too_slow


@pytest.mark.parametrize(
    ("octets", "ours_s", "is_too_slow"),
    [
        (5_000, 0, False),
        (4_999, 0, True),
        (500, 9, False),
        (499, 9, True),
        (0, 9.99, False),
        (0, 10, False),
        (0, 60, False),
    ],
)
def test_the_time_in_which_we_were_slow_is_not_the_clients(
    octets: int, ours_s: float, is_too_slow: bool
) -> None:
    assert Transfer().ten_seconds(octets, ours_s) is is_too_slow


@pytest.mark.parametrize(("ours_s", "is_too_slow"), [(0, True), (8, False)])
def test_nor_does_it_count_in_the_average(ours_s: float, is_too_slow: bool) -> None:
    transfer = Transfer()
    for _ in range(2):
        assert not transfer.ten_seconds(10_000, ours_s)
    assert transfer.ten_seconds(10_000, ours_s) is is_too_slow


def test_the_average_is_judged_where_others_may_need_the_room() -> None:
    """A line of 40 kbit/s brings 4.9 KB/s of a message."""
    transfer = Transfer()
    transfer.is_scarce = False
    assert not any(transfer.ten_seconds(48_600) for _ in range(20))
    transfer.is_scarce = True
    assert transfer.ten_seconds(48_600)


def test_a_line_that_stands_still_for_a_while_gets_on_where_room_is_plenty() -> None:
    transfer = Transfer()
    transfer.is_scarce = False
    assert not any(transfer.ten_seconds(octets) for octets in [48_600, 0, 0] * 5)


def test_who_drips_is_cut_where_room_is_plenty_too() -> None:
    transfer = Transfer()
    transfer.is_scarce = False
    assert [transfer.ten_seconds(4_999) for _ in range(3)] == [False, False, True]


def test_a_line_that_stands_still_is_cut_where_others_may_need_the_room() -> None:
    transfer = Transfer()
    assert [transfer.ten_seconds(octets) for octets in (48_600, 0)] == [False, True]
