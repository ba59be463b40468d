"""Who has asked for little lately (storage/turns/recent_use.py)."""

import pytest

from storage.turns.recent_use import LIGHT, WINDOW_S, RecentUse


class Asked:
    def __init__(self) -> None:
        self.now_s = 100.0
        self.use = RecentUse(lambda: self.now_s)

    def ask(self, owner: str, times: int) -> None:
        for _ in range(times):
            self.use.note(owner)


@pytest.fixture
def asked() -> Asked:
    return Asked()


def test_who_asks_for_little_is_light_and_who_asks_for_more_is_not(asked: Asked) -> None:
    asked.ask("busy", LIGHT + 1)
    asked.ask("quiet", LIGHT)
    assert [asked.use.is_light(owner) for owner in ("busy", "quiet", "unknown")] == [False, True, True]


def test_who_asked_for_much_is_light_again_after_a_pause(asked: Asked) -> None:
    asked.ask("busy", LIGHT + 1)
    asked.now_s += WINDOW_S
    assert not asked.use.is_light("busy")
    asked.now_s += WINDOW_S
    assert asked.use.is_light("busy")


def test_who_keeps_asking_for_little_stays_light(asked: Asked) -> None:
    for _ in range(10):
        asked.ask("steady", LIGHT)
        assert asked.use.is_light("steady")
        asked.now_s += WINDOW_S


def test_who_is_alone_is_told_until_another_asks_and_again_once_that_is_forgotten(asked: Asked) -> None:
    assert asked.use.is_alone("relay")
    asked.ask("relay", 2)
    assert asked.use.is_alone("relay") and not asked.use.is_alone("another")
    asked.ask("another", 1)
    assert not asked.use.is_alone("relay")
    for expected in (False, True):
        asked.now_s += WINDOW_S
        asked.ask("relay", 1)
        assert asked.use.is_alone("relay") is expected


def test_nobody_is_remembered_longer_than_two_windows(asked: Asked) -> None:
    for number in range(1000):
        asked.ask(f"owner {number}", 1)
    for _ in range(2):
        asked.now_s += WINDOW_S
        asked.ask("another", 1)
    assert len(asked.use._counts) + len(asked.use._before) == 2


def test_what_came_before_a_long_silence_does_not_count(asked: Asked) -> None:
    asked.ask("busy", LIGHT + 1)
    asked.now_s += 10 * WINDOW_S
    assert asked.use.is_light("busy")
