"""The queue of each destination, and how many deliveries to it run at once: fairness, as state.

A destination that has not answered lately gets one worker and a short queue until a host of it answers; so a
destination that hangs costs one connection, and its backlog stays in the store instead of filling the queue's
memory, of which all such destinations together have half. One that can't be routed to is dead for nearly a first
retry: what is in its queue meanwhile is deferred without asking again. While its hosts are not to be written to, what
is in its queue is put off until they are.

Of a queue's room an organization has as much as is free, so there is room for the next one; in line they take turns.

One that answers has as many workers as its group of hosts has sessions (`pace.py`), and one where others wait for these
already. What all have beyond FIRST_SESSIONS is half of `max_connections` at most: the other half stays for those that
come later.

All of it may be forgotten at any time; it is rebuilt by trying.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from conf.settings import Outbound
from maild.outbound.lines.message_line import MessageLine
from maild.outbound.lines.row_counts import RowCounts
from maild.outbound.lines.window import Window
from maild.outbound.pace.pace import ANSWERS_FOR_S, FIRST_SESSIONS
from maild.outbound.pace.pacing import HostGroup, Postponed, WasRetryAsked
from maild.outbound.routing.relays import RelayHost
from maild.outcomes.verdict import Verdict
from storage.clock import Clock
from storage.sending.leases import Due, FullLines

QUEUED_ROWS_MAX = 2_000
QUEUED_ROWS_UNPROVEN = 40  # of one organization alone 20
DOUBTFUL_TIMES = 8  # as many such rows as are free may be one organization's: first contacts are not put off
LOCAL_WORKERS = 8
IDLE_DESTINATIONS_MAX = 10_000
_EVERYBODY = ""  # among organizations that are held back


class DestinationKind(StrEnum):
    """REMOTE: the MX of a domain; RELAY: the smarthost; LOCAL: inboxes of this host; SIMULATOR: mail of test keys."""

    REMOTE = "remote"
    RELAY = "relay"
    LOCAL = "local"
    SIMULATOR = "simulator"


class DestinationKey(NamedTuple):
    """What rows share a queue."""

    kind: DestinationKind
    domain: str  # of REMOTE; the others have one destination each


def destination_of(mode: str, domain: str, is_local: bool, relay: RelayHost | None) -> DestinationKey:
    """Where mail of a key of this mode to the domain goes. `relay`: the smarthost that would take it."""
    if mode == "test":
        return DestinationKey(DestinationKind.SIMULATOR, "")
    if is_local:
        return DestinationKey(DestinationKind.LOCAL, "")
    if relay is not None:
        return DestinationKey(DestinationKind.RELAY, relay.name)
    return DestinationKey(DestinationKind.REMOTE, domain)


@dataclass
class DestinationQueue:
    """One destination's queue, in memory. Times: monotonic seconds."""

    key: DestinationKey
    waiting: MessageLine = field(default_factory=MessageLine)
    counts: RowCounts = field(default_factory=RowCounts)  # of rows that wait or are being delivered
    workers: int = 0
    group: HostGroup | None = None  # of the hosts that had its last turn
    proven_until: float = 0
    failures: int = 0  # in a row, to find a way to it
    dead_until: float = 0
    last_verdict: Verdict | None = None
    postponed: Postponed | None = None
    postponed_until: float = 0
    put_off_at: int = 0  # when it was, or was found to be dead, in Unix milliseconds
    held_back: set[str] = field(default_factory=set)  # organizations with more in the store
    refused: set[str] = field(default_factory=set)  # those of which a message had no room, since a row ended

    @property
    def rows(self) -> int:
        """That wait or are being delivered."""
        return self.counts.total

    @property
    def is_network(self) -> bool:
        return self.key.kind in (DestinationKind.REMOTE, DestinationKind.RELAY)


class DestinationQueues:
    """All queues, least recently used first. Beyond IDLE_DESTINATIONS_MAX those without rows are forgotten."""

    def __init__(
        self, settings: Outbound, clock: Clock, doubtful_rows_max: int, was_retry_asked: WasRetryAsked
    ) -> None:
        self._was_retry_asked = was_retry_asked
        self._doubtful_rows_max = doubtful_rows_max
        self._more_workers_max = settings.max_connections // 2
        self._more_workers = 0  # that run beyond FIRST_SESSIONS of their destination
        # Less than the first retry at its earliest (schedule.JITTER): what is retried on schedule finds it over.
        self._dead_for_s = settings.first_retry_s * 0.85
        self._told_after_s = settings.first_retry_s
        self._clock = clock
        self._doubtful_of: Counter[str] = Counter()  # their rows, by organization
        self._destinations: OrderedDict[DestinationKey, DestinationQueue] = OrderedDict()
        # Those with rows: few of all that are known.
        self._occupied: dict[DestinationKey, DestinationQueue] = {}

    def queue(self, key: DestinationKey) -> DestinationQueue:
        """The queue of the destination, made when there is none."""
        destination = self._destinations.get(key)
        if destination is None:
            destination = self._destinations[key] = DestinationQueue(key)
            self._forget_idle()
        else:
            self._destinations.move_to_end(key)
        return destination

    def occupied(self) -> list[DestinationQueue]:
        """Those that have rows."""
        return list(self._occupied.values())

    def enter(self, destination: DestinationQueue, group: Sequence[Due]) -> None:
        """So many rows of one organization more, which wait there from now on."""
        destination.counts.enter(group)
        self._occupied[destination.key] = destination

    def leave(self, destination: DestinationQueue, group: Sequence[Due]) -> None:
        """So many rows of one organization less: they have their verdicts, or were given back."""
        destination.counts.leave(group)
        if not destination.rows:
            self._occupied.pop(destination.key, None)

    def full_lines(self, window: Window) -> FullLines:
        """Whose mail has no room at all, or none in the queue of its destination: nothing more of it is leased."""
        destinations: list[str] = []
        pairs: list[tuple[str, str]] = []
        self._doubtful_of = Counter()
        for destination in self._occupied.values():
            if destination.key.kind is not DestinationKind.REMOTE:
                continue
            if self.is_doubtful(destination):
                for one, rows in destination.counts.of.items():
                    self._doubtful_of[one] += rows
            room = self._length(destination) - destination.rows
            if room <= 0:
                destinations.append(destination.key.domain)
                destination.held_back.add(_EVERYBODY)
                continue
            pairs += [(one, destination.key.domain) for one in destination.refused]
            if destination.rows >= room:
                have_their_share = [one for one, rows in destination.counts.of.items() if rows >= room]
                pairs += [(one, destination.key.domain) for one in have_their_share]
                destination.held_back.update(have_their_share)
        organizations = window.full_organizations(self._doubtful_of)
        return FullLines(frozenset(destinations), organizations, frozenset(pairs))

    def has_room_for(self, destination: DestinationQueue, group: Sequence[Due]) -> bool:
        """May these leased rows of a message enter the queue too?

        An empty queue takes any group; one of a destination that answers takes what one lease brings.
        """
        if (
            destination.key.kind is not DestinationKind.REMOTE
            or not destination.rows
            or self._length(destination) == QUEUED_ROWS_MAX
        ):
            return True
        organization_id = group[0].organization_id
        room = QUEUED_ROWS_UNPROVEN - destination.rows - len(group)
        if room >= 0 and destination.counts.of[organization_id] <= room:
            return True
        destination.held_back.add(_EVERYBODY)  # it may have no row there whose end would tell
        destination.refused.add(organization_id)
        return False

    def must_wait_for_share(self, destination: DestinationQueue, group: Sequence[Due]) -> bool:
        """Would the rows be more than destinations that have not answered lately may hold together, or of one
        organization too many for others to find room? If not, they are counted there."""
        if not self.is_doubtful(destination):
            return False
        organization_id = group[0].organization_id
        held = self._doubtful_of.total()
        free = self._doubtful_rows_max - held - len(group)
        if held and free * DOUBTFUL_TIMES < self._doubtful_of[organization_id]:
            return True
        self._doubtful_of[organization_id] += len(group)
        return False

    def is_doubtful(self, destination: DestinationQueue) -> bool:
        """No host of it has answered lately, so it may hang. (One that is left alone costs no time.)"""
        return (
            destination.key.kind is DestinationKind.REMOTE
            and not self._is_proven(destination)
            and not self.is_left_alone(destination)
        )

    def answers(self, destination: DestinationQueue) -> bool:
        """Is it on the network, and has a host of it answered lately?"""
        return destination.is_network and self._is_proven(destination)

    def may_refill(self, destination: DestinationQueue, organization_id: str) -> bool:
        """A row of it has ended. Once for each time that it was held back: has half of its share of the queue gone?"""
        destination.refused.clear()
        held_back, length = destination.held_back, self._length(destination)
        if _EVERYBODY in held_back and destination.rows <= length // 2:
            held_back.discard(_EVERYBODY)
            return True
        share = max(length - destination.rows, 0)
        if organization_id in held_back and destination.counts.of[organization_id] <= share // 2:
            held_back.discard(organization_id)
            return True
        return False

    def _length(self, destination: DestinationQueue) -> int:
        return (
            QUEUED_ROWS_MAX
            if self._is_proven(destination) or self.is_left_alone(destination)
            else QUEUED_ROWS_UNPROVEN
        )

    def wants_worker(self, destination: DestinationQueue) -> bool:
        """May one more delivery begin?"""
        if not destination.waiting:
            return False
        if not destination.is_network:
            return destination.workers < LOCAL_WORKERS
        if destination.workers >= FIRST_SESSIONS and self._more_workers >= self._more_workers_max:
            return False
        return destination.workers < self._workers_max(destination)

    def _workers_max(self, destination: DestinationQueue) -> int:
        group = destination.group
        if group is None or group.has_line or not self._is_proven(destination):
            return 1
        return group.pace.sessions

    def worker_began(self, destination: DestinationQueue) -> None:
        """One more works for it."""
        destination.workers += 1
        self._more_workers += destination.is_network and destination.workers > FIRST_SESSIONS

    def worker_ended(self, destination: DestinationQueue) -> None:
        """One less works for it."""
        self._more_workers -= destination.is_network and destination.workers > FIRST_SESSIONS
        destination.workers -= 1

    def is_left_alone(self, destination: DestinationQueue) -> bool:
        """Is it dead, or put off?"""
        return max(destination.dead_until, destination.postponed_until) > self._clock.monotonic()

    def try_again(self, destination: DestinationQueue) -> None:
        """Leave it alone no more."""
        destination.dead_until = destination.postponed_until = 0

    async def try_again_if_asked(self, destination: DestinationQueue, domain: str) -> None:
        """Leave it alone no more where the operator has asked since to try the domain."""
        if self.is_left_alone(destination) and await self._was_retry_asked(domain, destination.put_off_at):
            self.try_again(destination)

    def is_dead(self, destination: DestinationQueue) -> bool:
        """Could no way to it be found a short while ago, so that none is looked for?"""
        return destination.dead_until > self._clock.monotonic()

    def postponed(self, destination: DestinationQueue) -> Postponed | None:
        """Until when are its hosts not to be written to, and why? None: they are."""
        wait_s = destination.postponed_until - self._clock.monotonic()
        if destination.postponed is None or wait_s <= 0:
            return None
        return replace(destination.postponed, wait_s=wait_s)

    def is_told(self, postponed: Postponed) -> bool:
        """Does it wait for so long that who sent it is told?"""
        return postponed.is_back_off or postponed.wait_s >= self._told_after_s

    def reached(self, destination: DestinationQueue, group: HostGroup | None) -> None:
        """A host of it answered, of this group."""
        destination.group = group
        destination.proven_until = self._clock.monotonic() + ANSWERS_FOR_S
        destination.failures = 0
        self.try_again(destination)

    def lost(self, destination: DestinationQueue, group: HostGroup | None) -> None:
        """A host took the envelope, and did not answer to the message: it may do so again."""
        destination.group = group
        destination.proven_until = 0

    def silent(self, destination: DestinationQueue, group: HostGroup | None) -> None:
        """No host of it answered. How long they get no mail, their group decides."""
        destination.group = group
        if group is None or not group.pace.answers or group.pace.waits_s:
            destination.proven_until = 0

    def put_off(self, destination: DestinationQueue, postponed: Postponed) -> None:
        """Its hosts are not to be written to for a while."""
        destination.postponed = postponed
        destination.put_off_at = self._clock.now_ms()
        destination.postponed_until = self._clock.monotonic() + postponed.wait_s

    def no_way(self, destination: DestinationQueue, verdict: Verdict) -> None:
        """No way to it was found. `verdict`: for rows that wait while it is dead."""
        destination.failures += 1
        # One failure of a destination that works is an accident.
        if destination.failures >= (FIRST_SESSIONS if self._is_proven(destination) else 1):
            destination.proven_until = 0
            destination.dead_until = self._clock.monotonic() + self._dead_for_s
            destination.put_off_at = self._clock.now_ms()
            destination.last_verdict = verdict

    def _is_proven(self, destination: DestinationQueue) -> bool:
        return destination.proven_until > self._clock.monotonic()

    def _forget_idle(self) -> None:
        if len(self._destinations) <= IDLE_DESTINATIONS_MAX:
            return
        for key, destination in list(self._destinations.items()):
            if not destination.rows and not destination.workers:
                del self._destinations[key]
            if len(self._destinations) <= IDLE_DESTINATIONS_MAX // 2:
                return
