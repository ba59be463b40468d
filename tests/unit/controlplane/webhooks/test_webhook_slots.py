from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from controlplane.webhooks.slots import InFlight, SlotLimits, SlowStart, assign_slots, keeps_slot
from storage.publishing.webhooks import Head

NOTHING = InFlight()


def running(attempts: dict[str, int], owners: dict[str, str]) -> InFlight:
    in_flight = InFlight()
    for webhook_id, count in attempts.items():
        for _ in range(count):
            in_flight.begin(webhook_id, owners[webhook_id])
    return in_flight


def veterans(heads: Iterable[Head], per_endpoint: int) -> SlowStart:
    """All of them have earned all their slots."""
    slow_start = SlowStart(per_endpoint)
    for head in heads:
        for _ in range(per_endpoint):
            slow_start.note(head.webhook_id, True)
    return slow_start


def test_one_backlog_gets_its_places_and_no_more() -> None:
    heads = [Head("a", "o1", 5)]
    shares = assign_slots(heads, SlotLimits(50, 5), NOTHING, veterans(heads, 5))
    assert shares == {"a": 5}


def test_a_neighbour_comes_before_an_older_backlog_that_has_places_already() -> None:
    heads = [Head("old", "o1", 1), Head("new", "o2", 999)]
    shares = assign_slots(heads, SlotLimits(6, 5), running({"old": 5}, {"old": "o1"}), veterans(heads, 5))
    assert shares == {"new": 1}


def test_an_organization_with_many_endpoints_leaves_half() -> None:
    heads = [Head(f"w{number}", "greedy", 1) for number in range(50)]
    shares = assign_slots(heads, SlotLimits(50, 5), NOTHING, veterans(heads, 5))
    assert sum(shares.values()) == 25
    assert max(shares.values()) == 1


class Compared(int):
    """A time that counts how often it is compared."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return int.__eq__(self, other)

    def __lt__(self, other: int) -> bool:
        Compared.times += 1
        return int.__lt__(self, other)

    __hash__ = int.__hash__


def test_a_crowd_that_waits_for_its_organization_costs_little() -> None:
    heads = [Head(f"w{number}", "greedy", Compared(number)) for number in range(3000)]
    in_flight = running(
        {f"w{number}": 1 for number in range(24)}, dict.fromkeys((f"w{n}" for n in range(24)), "greedy")
    )
    slow_start = veterans(heads, 5)
    Compared.times = 0
    assert assign_slots(heads, SlotLimits(50, 5), in_flight, slow_start) == {"w24": 1}
    assert Compared.times < 10 * len(heads)  # it is looked at at each attempt's end


def test_nothing_free_begins_nothing() -> None:
    heads, in_flight = [Head("a", "o1", 1)], running({"b": 1}, {"b": "o2"})
    assert assign_slots(heads, SlotLimits(1, 5), in_flight, veterans(heads, 5)) == {}


def test_an_endpoint_earns_its_places_and_loses_them_at_a_failure() -> None:
    slow_start = SlowStart(3)
    assert slow_start.slots("a") == 1
    assert [slow_start.note("a", True) for _ in range(4)] == [True, True, False, False]
    assert (slow_start.slots("a"), slow_start.slots("b")) == (3, 1)
    heads = [Head("a", "o1", 1), Head("b", "o1", 1)]
    assert assign_slots(heads, SlotLimits(50, 3), NOTHING, slow_start) == {"a": 3, "b": 1}
    assert slow_start.note("a", False) is False
    assert slow_start.slots("a") == 1


def test_an_endpoint_that_failed_is_failing_until_it_succeeds() -> None:
    slow_start = SlowStart(2)
    assert not slow_start.is_failing("a")
    slow_start.note("a", False)
    assert slow_start.is_failing("a")
    slow_start.note("a", True)
    assert not slow_start.is_failing("a")


def test_endpoints_that_fail_have_half_of_what_their_organization_has() -> None:
    slow_start = SlowStart(5)
    heads = [Head(f"w{number:02}", "o1", number + 1) for number in range(40)] + [Head("fine", "o1", 999)]
    for head in heads[:-1]:
        slow_start.note(head.webhook_id, False)
    begin = assign_slots(heads, SlotLimits(50, 5), NOTHING, slow_start)
    assert begin == {**{f"w{number:02}": 1 for number in range(12)}, "fine": 1}


def test_a_place_stays_with_its_webhook_while_nobody_has_less() -> None:
    heads = [Head("a", "o1", 1), Head("b", "o1", 1)]
    owners = {"a": "o1", "b": "o1"}

    def keeps(in_flight: dict[str, int], most: int = 5) -> bool:
        return keeps_slot("a", heads, running(in_flight, owners), lambda _: most)

    assert keeps({"a": 3, "b": 2})
    assert not keeps({"a": 4, "b": 2})
    assert not keeps({"a": 2})  # b waits with none
    assert not keeps({"a": 5, "b": 5}, most=4)  # it lost one meanwhile
    many = [Head(str(number), "o1", 1) for number in range(1000)]
    assert not keeps_slot("a", many, running({"a": 1}, owners), lambda _: 5)


def test_a_place_does_not_stay_where_somebody_waits_longer_with_none() -> None:
    """More endpoints with backlogs than slots: each has its turn, or some would wait until the others are done."""
    owners = {"a": "o1", "b": "o1"}
    heads = [Head("a", "o1", 5), Head("b", "o1", 4)]
    assert not keeps_slot("a", heads, running({"a": 1}, owners), lambda _: 5)
    assert keeps_slot("a", heads, running({"a": 1, "b": 1}, owners), lambda _: 5)
    assert keeps_slot("a", [Head("a", "o1", 5), Head("b", "o1", 6)], running({"a": 1}, owners), lambda _: 5)
    assert not keeps_slot("a", [Head("b", "o1", 6)], running({"a": 1}, owners), lambda _: 5)


def test_a_place_goes_to_the_organization_that_has_fewer() -> None:
    heads = [Head("a", "o1", 1), Head("c", "o2", 1)]
    owners = {"a": "o1", "b": "o1", "c": "o2"}
    in_flight = running({"a": 1, "b": 4, "c": 1}, owners)
    assert not keeps_slot("a", heads, in_flight, lambda _: 5)
    assert keeps_slot("a", heads, in_flight, lambda one: 1 if one == "c" else 5)


def test_what_ended_is_forgotten() -> None:
    in_flight = running({"a": 2, "b": 1}, {"a": "o1", "b": "o1"})
    in_flight.end("a")
    assert (in_flight.webhooks, in_flight.organizations) == ({"a": 1, "b": 1}, {"o1": 2})
    in_flight.end("a")
    in_flight.end("b")
    assert len(in_flight) == 0 and not in_flight.webhooks and not in_flight.organizations


@given(
    heads=st.lists(
        st.builds(Head, st.sampled_from("abcdefgh"), st.just("o"), st.integers(1, 2000)),
        unique_by=lambda head: head.webhook_id,
    ),
    in_flight=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), max_size=4),
    in_all=st.integers(1, 20),
    per_endpoint=st.integers(1, 6),
    failing=st.sets(st.sampled_from("abcdefgh")),
)
def test_no_limit_is_ever_passed(
    heads: list[Head], in_flight: dict[str, int], in_all: int, per_endpoint: int, failing: set[str]
) -> None:
    # Organizations: one for each two webhooks.
    owner = {webhook: f"o{ord(webhook) // 2}" for webhook in "abcdefgh"}
    heads = [head._replace(organization_id=owner[head.webhook_id]) for head in heads]
    slots = SlotLimits(in_all, per_endpoint)
    slow_start = SlowStart(per_endpoint)
    for webhook in owner:
        for _ in range(per_endpoint):
            slow_start.note(webhook, webhook not in failing)
    begin = assign_slots(heads, slots, running(in_flight, owner), slow_start)
    due = {head.webhook_id for head in heads}
    assert set(begin) <= due
    assert not begin or sum(begin.values()) + sum(in_flight.values()) <= in_all
    for webhook, more in begin.items():
        assert more + in_flight.get(webhook, 0) <= per_endpoint
        together = sum(begin.get(w, 0) + in_flight.get(w, 0) for w in owner if owner[w] == owner[webhook])
        assert together <= slots.per_organization
    if failing & set(begin):
        assert sum(begin.get(w, 0) + in_flight.get(w, 0) for w in failing) <= slots.failing
    for organization in {owner[w] for w in failing & set(begin)}:
        theirs = [w for w in failing if owner[w] == organization]
        more = sum(begin.get(w, 0) for w in theirs)
        assert not more or more + sum(in_flight.get(w, 0) for w in theirs) <= slots.failing_per_organization
