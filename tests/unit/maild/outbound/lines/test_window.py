"""How much of the queue's memory is one organization's."""

from maild.outbound.lines.window import Window
from tests.support.worlds.due_rows import due


def fill(window: Window, organization_id: str) -> int:
    """How many of its rows enter until it has its share."""
    entered = 0
    while organization_id not in window.full_organizations({}):
        window.counts.enter([due(organization_id)])
        entered += 1
    return entered


def test_each_has_as_much_as_is_left_for_the_next_one() -> None:
    window = Window(1200)
    assert [fill(window, one) for one in ("org_a", "org_b", "org_c")] == [600, 300, 150]
    assert window.room == 150


def test_the_share_shrinks_when_others_come() -> None:
    window = Window(1200)
    fill(window, "org_a")
    for _ in range(400):
        window.counts.enter([due("org_b")])
    assert window.full_organizations({}) == {"org_a", "org_b"}
    for _ in range(300):
        window.counts.leave([due("org_a")])
    assert window.full_organizations({}) == frozenset()


def test_one_that_was_held_back_is_told_once_when_half_of_its_share_has_gone() -> None:
    window = Window(1200)
    fill(window, "org_a")
    told = []
    for _ in range(600):
        window.counts.leave([due("org_a")])
        told.append(window.may_refill("org_a"))
    assert told.count(True) == 1
    assert told.index(True) == 199  # 400 are left, and 800 free
    assert not window.may_refill("org_b")


def test_rows_for_hosts_that_may_hang_are_not_of_the_share() -> None:
    window = Window(1200)
    fill(window, "org_a")
    assert window.full_organizations({"org_a": 1}) == frozenset()


def test_what_has_gone_is_forgotten() -> None:
    window = Window(10)
    window.counts.enter([due(), due()])
    window.counts.leave([due(), due()])
    assert (window.rows, window.room, len(window.counts.of)) == (0, 10, 0)
