"""How many deliveries a destination gets at once: what it takes well, and never what others need."""

from conf.settings import Outbound, PaceRule
from maild.outbound.destination_queues import (
    DestinationKey,
    DestinationKind,
    DestinationQueue,
    DestinationQueues,
)
from maild.outbound.pace import ANSWERS_FOR_S, FIRST_SESSIONS, Sign
from maild.outbound.pacing import HostGroup, Postponed
from maild.outcomes import Verdict
from tests.support.store import ManualClock

REFUSED = Verdict("deferred", 451, "4.4.3", "DNS does not answer")


def queues(clock: ManualClock, max_connections: int = 100) -> DestinationQueues:
    return DestinationQueues(Outbound(max_connections=max_connections), clock, doubtful_rows_max=500)


def remote(all_queues: DestinationQueues, domain: str) -> DestinationQueue:
    destination = all_queues.queue(DestinationKey(DestinationKind.REMOTE, domain))
    destination.waiting.extend([[]] * 1000)
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
    first.waiting.clear()
    assert begin(ours, second) == 20
