"""A thread that computes stands back while the event loop has work (storage/turns/loop_first.py)."""

from dataclasses import dataclass

import pytest

from storage.turns.loop_first import LOOK_S, REST_S, REST_TIMES, Clocks, LoopFirst


@dataclass
class Machine:
    """Time that passes only when somebody computes or sleeps. `busy`: the share of it in which the loop computes."""

    busy: float = 0.0
    at: float = 100.0
    loop_s: float = 7.0
    slept: float = 0.0
    busy_until: float = float("inf")

    def pass_(self, seconds: float) -> None:
        self.loop_s += self.busy * max(0.0, min(seconds, self.busy_until - self.at))
        self.at += seconds

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.slept += seconds
        self.pass_(seconds)

    def clocks(self) -> Clocks:
        return Clocks(lambda: self.at, lambda: self.loop_s, self.sleep)


def computed(machine: Machine, seconds: float) -> LoopFirst:
    """After a first piece of work that took so long."""
    loop_first = LoopFirst(machine.clocks())
    loop_first.begin()
    machine.pass_(seconds)
    loop_first.end()
    assert machine.slept == 0, "nothing was to wait for"
    return loop_first


def test_beside_an_idle_loop_pieces_follow_at_once() -> None:
    machine = Machine(busy=0.1)
    computed(machine, 0.003).begin()
    assert machine.slept == 0


def test_beside_a_busy_loop_it_rests_many_times_as_long_as_it_computed() -> None:
    machine = Machine(busy=0.9)
    computed(machine, 0.003).begin()
    assert machine.slept == pytest.approx(REST_TIMES * 0.003)


def test_after_a_long_piece_it_does_not_rest_for_seconds() -> None:
    machine = Machine(busy=0.9)
    computed(machine, 1.0).begin()
    assert machine.slept == pytest.approx(REST_S)


def test_a_loop_that_is_busy_for_ever_does_not_stop_the_work() -> None:
    machine = Machine(busy=1.0)
    loop_first = computed(machine, 0.001)
    for _ in range(10):
        loop_first.begin()
        machine.pass_(0.001)
        loop_first.end()
    assert machine.slept == pytest.approx(10 * REST_TIMES * 0.001)


@pytest.mark.parametrize("took", [0.00001, 0.001, 0.1])
def test_it_goes_on_soon_after_the_loop_has_come_to_rest(took: float) -> None:
    machine = Machine(busy=0.9)
    loop_first = computed(machine, took)
    machine.busy_until = machine.at + took / 2
    loop_first.begin()
    assert machine.slept <= took / 2 + 2 * LOOK_S


def test_the_time_without_work_was_rest() -> None:
    machine = Machine(busy=0.9)
    loop_first = computed(machine, 0.003)
    machine.pass_(REST_TIMES * 0.003)
    loop_first.begin()
    assert machine.slept == 0
