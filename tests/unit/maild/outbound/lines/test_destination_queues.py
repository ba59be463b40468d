"""How many deliveries a destination gets at once: what it takes well, and never what others need."""

import pytest

from conf.settings import Outbound, PaceRule
from maild.outbound.lines.destination_queues import (
    QUEUED_ROWS_MAX,
    DestinationKey,
    DestinationKind,
    DestinationQueue,
    DestinationQueues,
)
from maild.outbound.lines.window import Window
from maild.outbound.pace.pace import ANSWERS_FOR_S, FIRST_SESSIONS, Sign
from maild.outbound.pace.pacing import HostGroup, Postponed
from maild.outcomes.verdict import Verdict
from tests.support.worlds.due_rows import due, nobody_asks
from tests.support.worlds.store import ManualClock

REFUSED = Verdict("deferred", 451, "4.4.3", "DNS does not answer")


def queues(clock: ManualClock, max_connections: int = 100) -> DestinationQueues:
    return DestinationQueues(Outbound(max_connections=max_connections), clock, 500, nobody_asks)


def remote(all_queues: DestinationQueues, domain: str) -> DestinationQueue:
    destination = all_queues.queue(DestinationKey(DestinationKind.REMOTE, domain))
    for _ in range(1000):
        destination.waiting.put([due()])
    return destination


def hosts(clock: ManualClock) -> HostGroup:
    return HostGroup("mx.test", PaceRule(), Outbound(), clock)


def takes(all_queues: DestinationQueues, destination: DestinationQueue, group: HostGroup) -> None:
    group.pace.heard(Sign.TAKEN, group.pace.began)
    all_queues.reached(destination, group)


def begin(all_queues: DestinationQueues, destination: DestinationQueue) -> int:
    """How many work for it, once all have begun that may."""
    while all_queues.wants_worker(destination):
        all_queues.worker_began(destination)
    return destination.workers


def grown(all_queues: DestinationQueues, domain: str, clock: ManualClock) -> DestinationQueue:
    destination, group = remote(all_queues, domain), hosts(clock)
    for _ in range(50):
        takes(all_queues, destination, group)
    return destination


def test_one_then_five_then_one_more_for_each_delivery() -> None:
    clock = ManualClock()
    ours, group = queues(clock), hosts(clock)
    there = remote(ours, "there.test")
    found = [begin(ours, there)]
    for _ in range(20):
        takes(ours, there, group)
        found.append(begin(ours, there))
    assert found == [1, *range(FIRST_SESSIONS, 20), *[20] * 5]


async def test_where_others_wait_for_its_hosts_it_gets_one() -> None:
    clock = ManualClock()
    ours, group = queues(clock), hosts(clock)
    there = remote(ours, "there.test")
    takes(ours, there, group)
    group._line.append(None)  # type: ignore[arg-type]
    assert begin(ours, there) == 1


def test_what_its_hosts_refuse_holds_for_all_domains_that_they_serve() -> None:
    clock = ManualClock()
    ours, group = queues(clock), hosts(clock)
    one, other = remote(ours, "one.test"), remote(ours, "other.test")
    for _ in range(20):
        takes(ours, one, group)
    takes(ours, other, group)
    group.pace.heard(Sign.REFUSED, group.pace.began)
    assert (begin(ours, one), begin(ours, other)) == (10, 10)


def test_without_a_way_to_it_nothing_is_tried_for_a_while() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = remote(ours, "there.test")
    ours.no_way(there, REFUSED)
    assert ours.is_dead(there)
    clock.forward(51)
    assert not ours.is_dead(there)


def test_one_accident_of_the_resolver_is_none_of_a_destination_that_answers() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = grown(ours, "there.test", clock)
    for _ in range(FIRST_SESSIONS):
        assert not ours.is_dead(there)
        ours.no_way(there, REFUSED)
    assert ours.is_dead(there)


def test_what_is_put_off_is_neither_tried_nor_doubtful() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = remote(ours, "there.test")
    assert ours.is_doubtful(there)
    ours.put_off(there, Postponed(100, REFUSED, is_back_off=True))
    clock.forward(40)
    found = ours.postponed(there)
    assert found is not None and found.wait_s == 60
    assert not ours.is_doubtful(there)
    clock.forward(60)
    assert ours.postponed(there) is None


def test_who_has_not_answered_for_long_begins_again() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = grown(ours, "there.test", clock)
    clock.forward(ANSWERS_FOR_S)
    assert begin(ours, there) == 1


def test_beyond_the_first_five_all_share_half_of_the_connections() -> None:
    clock = ManualClock()
    ours = queues(clock, max_connections=40)
    found = [begin(ours, grown(ours, f"d{number}.test", clock)) for number in range(4)]
    assert found == [20, 10, FIRST_SESSIONS, FIRST_SESSIONS]


def test_what_ends_makes_room_for_others() -> None:
    clock = ManualClock()
    ours = queues(clock, max_connections=30)
    first, second = grown(ours, "a.test", clock), grown(ours, "b.test", clock)
    assert (begin(ours, first), begin(ours, second)) == (20, FIRST_SESSIONS)
    for _ in range(20):
        ours.worker_ended(first)
    assert len(list(first.waiting.empty())) == 1000
    assert begin(ours, second) == 20


def test_who_writes_to_many_that_never_answered_leaves_room_there_for_others() -> None:
    clock = ManualClock()
    ours = queues(clock)
    taken = 0
    while not ours.must_wait_for_share(remote(ours, f"d{taken}.test"), [due("org_a")]):
        taken += 1
    assert taken == 444  # eight ninths of 500
    assert not ours.must_wait_for_share(remote(ours, "new.test"), [due("org_b")])


def test_a_message_to_more_than_all_of_them_may_hold_goes_when_there_is_nothing_else() -> None:
    ours = queues(ManualClock())
    assert not ours.must_wait_for_share(remote(ours, "new.test"), [due()] * 501)
    assert ours.must_wait_for_share(remote(ours, "other.test"), [due("org_b")])


def fill(all_queues: DestinationQueues, destination: DestinationQueue, organization_id: str) -> int:
    """How many rows the organization has there until nothing more of it is leased."""
    window, entered = Window(10_000), 0
    while (organization_id, destination.key.domain) not in all_queues.full_lines(window).pairs:
        all_queues.enter(destination, [due(organization_id)])
        entered += 1
    return entered


def test_a_queue_has_room_for_who_comes_next() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = grown(ours, "there.test", clock)
    assert [fill(ours, there, one) for one in ("org_a", "org_b", "org_c")] == [
        QUEUED_ROWS_MAX // 2,
        QUEUED_ROWS_MAX // 4,
        QUEUED_ROWS_MAX // 8,
    ]


def test_who_was_held_back_is_told_once_when_half_of_its_share_has_gone() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = grown(ours, "there.test", clock)
    fill(ours, there, "org_a")
    told = []
    for _ in range(QUEUED_ROWS_MAX // 2):
        ours.leave(there, [due("org_a")])
        told.append(ours.may_refill(there, "org_a"))
    assert told.count(True) == 1
    assert (
        QUEUED_ROWS_MAX // 2 - told.index(True) - 1 == QUEUED_ROWS_MAX // 3
    )  # left, and twice as many are free


def test_what_is_full_is_asked_of_destinations_with_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand are remembered, and each lease asks."""
    ours, asked = queues(ManualClock()), list[str]()
    for number in range(100):
        known = ours.queue(DestinationKey(DestinationKind.REMOTE, f"d{number}.test"))
        ours.enter(known, [due(), due()])
        ours.leave(known, [due(), due()] if number else [due()])
    is_doubtful = ours.is_doubtful

    def asking(destination: DestinationQueue) -> bool:
        asked.append(destination.key.domain)
        return is_doubtful(destination)

    monkeypatch.setattr(ours, "is_doubtful", asking)
    ours.full_lines(Window(10_000))
    assert asked == ["d0.test"]
    assert [one.key.domain for one in ours.occupied()] == ["d0.test"]
