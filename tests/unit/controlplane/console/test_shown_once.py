"""What is shown once is there for one session, once, and not for long."""

from controlplane.console.shown_once import HELD_MAX, HELD_S, ShownOnce
from tests.support.worlds.store import ManualClock


def test_it_is_taken_once_and_by_its_session() -> None:
    once = ShownOnce(ManualClock())
    once.put("ses_a", "key")
    assert once.take("ses_b") is None
    assert once.take("ses_a") == "key"
    assert once.take("ses_a") is None


def test_it_is_gone_after_a_while_and_there_is_no_room_for_ever_more() -> None:
    clock = ManualClock()
    once = ShownOnce(clock)
    once.put("ses_a", "key")
    clock.forward(HELD_S)
    assert once.take("ses_a") is None
    for number in range(HELD_MAX + 1):
        once.put(f"ses_{number}", number)
    assert once.take("ses_0") is None and once.take(f"ses_{HELD_MAX}") == HELD_MAX
