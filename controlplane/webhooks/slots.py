"""Which webhooks may begin attempts now. Pure.

Free slots go one at a time to the organization, then to the webhook, that has the fewest attempts in
flight, then to what has been due longest. So an endpoint that hangs holds its own slots and no others,
and its backlog, however old, never stands before a neighbour's first event. One organization gets at
most half of all slots (but always those of one endpoint): the other half stays free for the rest.

An endpoint begins with one slot. Each success earns it one more, up to `per_endpoint`; a failure takes them
back. So endpoints that hang hold one slot each, and their organization's others go on at their speed. However many
there are: those whose last attempt failed have together at most half of their organization's slots, and half of all.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heapreplace
from math import inf
from typing import NamedTuple

from storage.publishing.webhooks import Head

REMEMBERED_MAX = 10_000
KEPT_HEADS_MAX = 64  # beyond it a look-out costs less than to compare with all at each attempt's end


class SlotLimits(NamedTuple):
    in_all: int
    per_endpoint: int

    @property
    def per_organization(self) -> int:
        return max(self.in_all // 2, min(self.per_endpoint, self.in_all))

    @property
    def failing(self) -> int:
        return max(self.in_all // 2, 1)

    @property
    def failing_per_organization(self) -> int:
        return max(self.per_organization // 2, 1)


class SlowStart:
    """How many slots each endpoint may have now. A cache: an endpoint that is forgotten begins anew."""

    def __init__(self, per_endpoint: int) -> None:
        self._per_endpoint = per_endpoint
        self._more: dict[str, int] = {}
        self._failing: set[str] = set()

    def slots(self, webhook_id: str) -> int:
        return 1 + self._more.get(webhook_id, 0)

    def is_failing(self, webhook_id: str) -> bool:
        """Its last attempt failed."""
        return webhook_id in self._failing

    def note(self, webhook_id: str, is_successful: bool) -> bool:
        """An attempt ended; may the endpoint have one more slot than before?"""
        if not is_successful:
            self._more.pop(webhook_id, None)
            if len(self._failing) >= REMEMBERED_MAX:
                self._failing.clear()
            self._failing.add(webhook_id)
            return False
        self._failing.discard(webhook_id)
        if self.slots(webhook_id) >= self._per_endpoint:
            return False
        if len(self._more) >= REMEMBERED_MAX:
            self._more.clear()
        self._more[webhook_id] = self.slots(webhook_id)
        return True


class InFlight:
    """The attempts that are being made, counted by webhook and by organization."""

    def __init__(self) -> None:
        self.webhooks: Counter[str] = Counter()
        self.organizations: Counter[str] = Counter()
        self._owners: dict[str, str] = {}

    def __len__(self) -> int:
        return self.webhooks.total()

    def copy(self) -> "InFlight":
        """As it is now, for another thread."""
        copied = InFlight()
        copied.webhooks, copied.organizations = self.webhooks.copy(), self.organizations.copy()
        copied._owners = self._owners.copy()
        return copied

    def owner(self, webhook_id: str) -> str:
        """The organization of a webhook that has attempts."""
        return self._owners[webhook_id]

    def begin(self, webhook_id: str, organization_id: str) -> None:
        self._owners[webhook_id] = organization_id
        self.webhooks[webhook_id] += 1
        self.organizations[organization_id] += 1

    def end(self, webhook_id: str) -> None:
        owner = self._owners[webhook_id]
        for counter, key in ((self.webhooks, webhook_id), (self.organizations, owner)):
            counter[key] -= 1
            if not counter[key]:
                del counter[key]
        if webhook_id not in self.webhooks:
            del self._owners[webhook_id]


def assign_slots(
    heads: Sequence[Head], slots: SlotLimits, in_flight: InFlight, slow_start: SlowStart
) -> Mapping[str, int]:
    """Of webhooks that are all due: id → attempts to begin, at most."""
    lines, turns = _line_up(heads, in_flight)
    free = slots.in_all - len(in_flight)
    failing = _Failing(slots, in_flight, slow_start)
    begin: Counter[str] = Counter()
    while free > 0 and turns:
        theirs, (running, due_ms, webhook_id), owner = turns[0]
        if theirs >= slots.per_organization:
            heappop(turns)
            continue
        line = lines[owner]
        fails = slow_start.is_failing(webhook_id)
        if running < slow_start.slots(webhook_id) and not (fails and failing.is_full(owner)):
            begin[webhook_id] += 1
            free -= 1
            theirs += 1
            failing.of[owner] += fails
            heapreplace(line, (running + 1, due_ms, webhook_id))
        else:
            heappop(line)
        if line:
            heapreplace(turns, (theirs, line[0], owner))
        else:
            heappop(turns)
    return begin


def keeps_slot(
    webhook_id: str, heads: Sequence[Head], in_flight: InFlight, slots_of: Callable[[str], int]
) -> bool:
    """An attempt of the webhook ends: would its slot go to the same webhook again, as far as `heads` tell?

    So a backlog needs no look-out for each of its deliveries. `in_flight` still counts the one that ends.
    """
    if len(heads) > KEPT_HEADS_MAX:
        return False
    mine = in_flight.webhooks[webhook_id] - 1
    if mine >= slots_of(webhook_id):
        return False
    owner = in_flight.owner(webhook_id)
    ours = in_flight.organizations[owner] - 1
    # Its last slot goes by age too, or where endpoints are more than slots some would wait for the others' end.
    since_ms = (
        0.0 if mine else min((one.due_ms for one in heads if one.webhook_id == webhook_id), default=inf)
    )
    for other_id, organization_id, due_ms in heads:
        running = mine if other_id == webhook_id else in_flight.webhooks[other_id]
        theirs = ours if organization_id == owner else in_flight.organizations[organization_id]
        if (theirs, running, due_ms) < (ours, mine, since_ms) and running < slots_of(other_id):
            return False
    return True


class _Failing:
    """The attempts of endpoints whose last attempt failed, counted by organization."""

    def __init__(self, slots: SlotLimits, in_flight: InFlight, slow_start: SlowStart) -> None:
        self._slots = slots
        self.of: Counter[str] = Counter()
        for webhook_id, count in in_flight.webhooks.items():
            if slow_start.is_failing(webhook_id):
                self.of[in_flight.owner(webhook_id)] += count

    def is_full(self, owner: str) -> bool:
        limits = self._slots
        return self.of[owner] >= limits.failing_per_organization or self.of.total() >= limits.failing


# A heap of an organization's due webhooks: attempts in flight, due since, id.
Line = list[tuple[int, int, str]]


def _line_up(
    heads: Sequence[Head], in_flight: InFlight
) -> tuple[dict[str, Line], list[tuple[int, tuple[int, int, str], str]]]:
    """Each organization's line, and the heap of organizations: attempts in flight, first in line, id.

    Heaps, because few of many that wait are taken.
    """
    lines: dict[str, Line] = {}
    for webhook_id, organization_id, due_ms in heads:
        slot = (in_flight.webhooks[webhook_id], due_ms, webhook_id)
        lines.setdefault(organization_id, []).append(slot)
    for line in lines.values():
        heapify(line)
    turns = [(in_flight.organizations[owner], line[0], owner) for owner, line in lines.items()]
    heapify(turns)
    return lines, turns
