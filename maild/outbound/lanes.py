"""Who waits for which destination, and how many may be worked on at once: fairness, as state.

A lane is a destination's line. One that has not been heard of lately gets one worker and a short line,
until a host of it answers; so a destination that hangs costs one connection, and its backlog stays in
the store instead of filling the queue's memory, of which all such destinations together have half. One that
could not be reached is dead for nearly a first retry: what is in its line meanwhile is deferred without dialling.

All of it may be forgotten at any time; it is rebuilt by trying.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from conf.settings import Outbound
from maild.outcomes import Verdict
from storage.clock import Clock
from storage.outbound import Due

LANE_ROWS_MAX = 500
LANE_ROWS_UNPROVEN = 20
DOUBTFUL_ROWS_MAX = 1500  # half of what the queue holds in memory
LOCAL_WORKERS = 8
PROVEN_FOR_S = 300
IDLE_LANES_MAX = 10_000


class Kind(Enum):
    REMOTE = "remote"
    RELAY = "relay"
    LOCAL = "local"
    SIMULATOR = "simulator"


class LaneKey(NamedTuple):
    kind: Kind
    domain: str  # of REMOTE; the others have one lane each


@dataclass
class Lane:
    key: LaneKey
    waiting: deque[list[Due]] = field(default_factory=deque)
    rows: int = 0  # that wait or are being delivered
    workers: int = 0
    proven_until: float = 0
    failures: int = 0  # in a row
    dead_until: float = 0
    last_words: Verdict | None = None
    is_held_back: bool = False  # the store has more for it than its line takes

    @property
    def is_network(self) -> bool:
        return self.key.kind in (Kind.REMOTE, Kind.RELAY)


class Lanes:
    def __init__(self, settings: Outbound, clock: Clock) -> None:
        self._workers_max = settings.max_connections_per_destination
        # Less than the first retry at its earliest (schedule.JITTER): who comes back on schedule finds it over.
        self._dead_for_s = settings.first_retry_s * 0.85
        self._clock = clock
        self._doubtful_rows = 0
        self._lanes: OrderedDict[LaneKey, Lane] = OrderedDict()

    def lane(self, key: LaneKey) -> Lane:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(key)
            self._forget_idle()
        else:
            self._lanes.move_to_end(key)
        return lane

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def busy_domains(self) -> list[str]:
        """Destinations whose lines are full: nothing more is leased for them."""
        busy = []
        self._doubtful_rows = sum(lane.rows for lane in self._lanes.values() if self.is_doubtful(lane))
        for lane in self._lanes.values():
            if lane.rows and lane.key.kind is Kind.REMOTE and lane.rows >= self._length(lane):
                lane.is_held_back = True
                busy.append(lane.key.domain)
        return busy

    def has_room_for(self, lane: Lane, rows: int) -> bool:
        """May so many leased rows stand in the line too?

        An empty line takes any group; one of a destination that answers takes what one lease brings.
        """
        if lane.key.kind is not Kind.REMOTE or not lane.rows or self._length(lane) == LANE_ROWS_MAX:
            return True
        if lane.rows + rows <= LANE_ROWS_UNPROVEN:
            return True
        lane.is_held_back = True
        return False

    def must_stand_aside(self, lane: Lane, rows: int) -> bool:
        """Have destinations that have not answered lately all that they may have together? If not, it is taken."""
        if not self.is_doubtful(lane):
            return False
        if self._doubtful_rows + rows > DOUBTFUL_ROWS_MAX and self._doubtful_rows:
            return True
        self._doubtful_rows += rows
        return False

    def is_doubtful(self, lane: Lane) -> bool:
        """It may hang, for all we know: nobody there has answered lately. (A dead one costs no time.)"""
        return lane.key.kind is Kind.REMOTE and not self._is_proven(lane) and not self.is_dead(lane)

    def may_refill(self, lane: Lane) -> bool:
        """Once for each time that it was held back: is its line short enough by now?"""
        if lane.is_held_back and lane.rows <= self._length(lane) // 2:
            lane.is_held_back = False
            return True
        return False

    def _length(self, lane: Lane) -> int:
        return LANE_ROWS_MAX if self._is_proven(lane) or self.is_dead(lane) else LANE_ROWS_UNPROVEN

    def wants_worker(self, lane: Lane) -> bool:
        limit = LOCAL_WORKERS
        if lane.is_network:
            limit = self._workers_max if self._is_proven(lane) else 1
        return lane.workers < min(limit, lane.workers + len(lane.waiting))

    def is_dead(self, lane: Lane) -> bool:
        return lane.dead_until > self._clock.monotonic()

    def reached(self, lane: Lane) -> None:
        lane.proven_until = self._clock.monotonic() + PROVEN_FOR_S
        lane.failures = 0
        lane.dead_until = 0

    def lost(self, lane: Lane) -> None:
        """A host took the envelope, and hung with the message: it may do so again."""
        lane.proven_until = 0

    def not_reached(self, lane: Lane, verdict: Verdict) -> None:
        lane.failures += 1
        # One failure of a destination that works is an accident; as many as it has workers are not.
        if lane.failures >= (self._workers_max if self._is_proven(lane) else 1):
            lane.proven_until = 0
            lane.dead_until = self._clock.monotonic() + self._dead_for_s
            lane.last_words = verdict

    def _is_proven(self, lane: Lane) -> bool:
        return lane.proven_until > self._clock.monotonic()

    def _forget_idle(self) -> None:
        if len(self._lanes) <= IDLE_LANES_MAX:
            return
        for key, lane in list(self._lanes.items()):
            if not lane.rows and not lane.workers:
                del self._lanes[key]
            if len(self._lanes) <= IDLE_LANES_MAX // 2:
                return
