"""How many deliveries a destination gets at once: what it takes well, and never what others need."""

from conf.settings import Outbound
from maild.outbound.destination_queues import (
    FIRST_WORKERS,
    PROVEN_FOR_S,
    DestinationKey,
    DestinationKind,
    DestinationQueue,
    DestinationQueues,
)
from maild.outcomes import Verdict
from tests.support.store import ManualClock

REFUSED = Verdict("deferred", 421, "4.7.0", "too many connections")


def queues(clock: ManualClock, max_connections: int = 100) -> DestinationQueues:
    return DestinationQueues(Outbound(max_connections=max_connections), clock, doubtful_rows_max=500)


def remote(all_queues: DestinationQueues, domain: str) -> DestinationQueue:
    destination = all_queues.queue(DestinationKey(DestinationKind.REMOTE, domain))
    destination.waiting.extend([[]] * 1000)
    return destination


def begin(all_queues: DestinationQueues, destination: DestinationQueue) -> int:
    """How many work for it, once all have begun that may."""
    while all_queues.wants_worker(destination):
        all_queues.worker_began(destination)
    return destination.workers


def grown(all_queues: DestinationQueues, domain: str) -> DestinationQueue:
    destination = remote(all_queues, domain)
    for _ in range(50):
        all_queues.reached(destination)
    return destination


def test_one_then_five_then_one_more_for_each_delivery() -> None:
    ours = queues(ManualClock())
    there = remote(ours, "there.test")
    found = [begin(ours, there)]
    for _ in range(20):
        ours.reached(there)
        found.append(begin(ours, there))
    assert found == [1, *range(FIRST_WORKERS, 20), *[20] * 5]


def test_what_it_refuses_is_not_asked_for_again_soon() -> None:
    clock = ManualClock()
    ours = queues(clock)
    there = grown(ours, "there.test")
    ours.not_reached(there, REFUSED)
    ours.reached(there)
    assert begin(ours, there) == 19
    clock.forward(PROVEN_FOR_S - 1)
    ours.reached(there)
    assert begin(ours, there) == 19
    clock.forward(1)
    ours.reached(there)
    assert begin(ours, there) == 20


def test_refusals_in_a_row_end_it() -> None:
    ours = queues(ManualClock())
    there = grown(ours, "there.test")
    for _ in range(10):
        assert not ours.is_dead(there)
        ours.not_reached(there, REFUSED)
    assert ours.is_dead(there)


def test_beyond_the_first_five_all_share_half_of_the_connections() -> None:
    ours = queues(ManualClock(), max_connections=40)
    found = [begin(ours, grown(ours, f"d{number}.test")) for number in range(4)]
    assert found == [20, 10, FIRST_WORKERS, FIRST_WORKERS]


def test_what_ends_makes_room_for_others() -> None:
    ours = queues(ManualClock(), max_connections=30)
    first, second = grown(ours, "a.test"), grown(ours, "b.test")
    assert (begin(ours, first), begin(ours, second)) == (20, FIRST_WORKERS)
    for _ in range(20):
        ours.worker_ended(first)
    first.waiting.clear()
    assert begin(ours, second) == 20
