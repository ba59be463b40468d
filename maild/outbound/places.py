"""Places of sessions with other hosts: so many sessions get on at one time, whatever those do that hang.

A place counts as long as its session gets on. Where others wait for one, that of a session whose host has had the word
for PATIENCE_S counts no more: it is theirs, and counts again when the host has spoken, even if there are some too many
then, until these end. What takes time on our side is no host's fault and lends nothing, so overload opens no further
sessions. Of all sessions, those that count and those that don't, there are SESSIONS_PER_PLACE for each place at most,
which bounds sockets and what is held for them; half of these are for hosts' first ones, so that hosts that hang with
many leave one to each of the others. Where all are in use, those whose hosts have had the word for LONGEST_S give way,
the longest first, as far as they can (`SessionPlace.give_way`) and others wait.

Who waits is served in the order in which they came, but for those who wait in vain for a further session. Nobody looks
at the time unless somebody waits. All of it is called on the event loop.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from operator import itemgetter

from storage.clock import Clock

PATIENCE_S = 5.0
LONGEST_S = 60.0
LOOK_S = 0.25
SESSIONS_PER_PLACE = 4


class SessionPlace:
    """One session's. Its owner says who has the word; at first we have. `give_way`: ends the wait for the host; None:
    it must be waited for."""

    __slots__ = ("_places", "counts", "give_way", "host_since")

    def __init__(self, places: "Places") -> None:
        self._places = places
        self.counts = True
        self.give_way: Callable[[], None] | None = None
        self.host_since: float | None = None  # monotonic seconds; None: the word is ours

    def wait_for_host(self) -> None:
        """The host has the word from now on."""
        self.host_since = self._places.clock.monotonic()

    def heard(self) -> None:
        """The word is ours again."""
        self.host_since = None
        if not self.counts:
            self.counts = True
            self._places.in_use += 1


class Places:
    """`in_use`: those that count now."""

    def __init__(self, places: int, clock: Clock) -> None:
        self.clock = clock
        self.in_use = 0
        self._max = places
        self._sessions_max = places * SESSIONS_PER_PLACE
        self._taken: set[SessionPlace] = set()
        self._sessions = 0
        self._of_host: Counter[str] = Counter()
        self._line: dict[asyncio.Future[None], str] = {}
        self._look: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        """Does anybody wait, or would one more?"""
        return bool(self._line) or not self._has_room

    @property
    def _has_room(self) -> bool:
        return self.in_use < self._max and self._sessions < self._sessions_max

    def _has_room_for(self, host: str) -> bool:
        further = self._sessions - len(self._of_host)
        return self._has_room and (further < self._sessions_max // 2 or host not in self._of_host)

    @asynccontextmanager
    async def place(self, host: str) -> AsyncIterator[SessionPlace]:
        """Wait for a place, and have it. `host`: whose sessions are counted together."""
        if not self._line and self._has_room_for(host):
            self._take(host)
        else:
            await self._stand_in_line(host)
        place = SessionPlace(self)
        self._taken.add(place)
        try:
            yield place
        finally:
            place.heard()
            self._taken.discard(place)
            self._give(host)

    def _take(self, host: str) -> None:
        self.in_use += 1
        self._sessions += 1
        self._of_host[host] += 1

    def _give(self, host: str) -> None:
        self.in_use -= 1
        self._sessions -= 1
        self._of_host[host] -= 1
        if not self._of_host[host]:
            del self._of_host[host]
        self._admit()

    async def _stand_in_line(self, host: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line[turn] = host
        self._admit()  # of those before, each may wait for a further session of its host
        self._look_later()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._line.pop(turn, None)
            else:
                self._give(host)
            raise

    def _admit(self) -> None:
        admitted = []
        for turn, host in self._line.items():
            if not self._has_room:
                break
            if not turn.done() and self._has_room_for(host):
                self._take(host)
                admitted.append(turn)
        for turn in admitted:
            del self._line[turn]
            turn.set_result(None)

    def _look_later(self) -> None:
        if self._line and self._look is None:
            self._look = asyncio.get_running_loop().call_later(LOOK_S, self._lend)

    def _lend(self) -> None:
        """Give those who wait the places of sessions that hang."""
        self._look = None
        latest = self.clock.monotonic() - PATIENCE_S
        for place in self._taken:
            if place.counts and place.host_since is not None and place.host_since <= latest:
                place.counts = False
                self.in_use -= 1
        self._admit()
        self._end_longest()
        self._look_later()

    def _end_longest(self) -> None:
        if self._sessions < self._sessions_max:
            return
        latest = self.clock.monotonic() - LONGEST_S
        late = [
            (one.host_since, one.give_way)
            for one in self._taken
            if one.host_since is not None and one.give_way
        ]
        late.sort(key=itemgetter(0))
        for since, give_way in late[: len(self._line)]:
            if since <= latest:
                give_way()
