"""Places of sessions with other hosts: so many sessions get on at one time, whatever those do that hang.

A place counts as long as its session gets on. Where others wait for one, that of a session whose host has had the word
for PATIENCE_S counts no more: it is theirs, and counts again when the host has spoken, even if there are some too many
then, until these end. What takes time on our side is no host's fault and lends nothing, so overload opens no further
sessions. Of all sessions, those that count and those that don't, there are SESSIONS_PER_PLACE for each place at most,
which bounds sockets and what is held for them; half of these are for sites' first ones, so that sites that hang with
many leave one to each of the others. Where all are in use and others wait, those whose hosts have had the word for
LONGEST_S give way, the longest first, though RFC 5321 §4.5.3.2 has more patience: but for those that may have got the
end of a message, which might arrive twice (`SessionPlace.give_way`). A host that takes a message at FAIR_BYTES_PER_S
has not had the word for long.

Who waits is served in the order in which they came, but for those who wait in vain for a further session, and for those
of sites that gave way, who come last until nobody waits. Nobody looks at the time unless somebody does. All of it is
called on the event loop.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from operator import itemgetter

from storage.clock import Clock

PATIENCE_S = 5.0
LONGEST_S = 60.0
LOOK_S = 0.25
FAIR_BYTES_PER_S = 100_000
SESSIONS_PER_PLACE = 4


class SessionPlace:
    """One session's. Its owner says who has the word; at first we have. `give_way`: ends the wait for the host, and
    says whether it could; None: it must be waited for."""

    __slots__ = ("_places", "counts", "give_way", "host_since", "site")

    def __init__(self, places: "Places", site: str) -> None:
        self._places = places
        self.site = site
        self.counts = True
        self.give_way: Callable[[], bool] | None = None
        self.host_since: float | None = None  # monotonic seconds; None: the word is ours

    def wait_for_host(self) -> None:
        """The host has the word from now on."""
        self.host_since = self._places.clock.monotonic()

    def took(self, octets: int) -> None:
        """The host has taken so much of a message."""
        if self.host_since is not None:
            earned_until = self.host_since + octets / FAIR_BYTES_PER_S
            self.host_since = min(earned_until, self._places.clock.monotonic())

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
        self._of_site: Counter[str] = Counter()
        self._line: dict[asyncio.Future[None], str] = {}
        self._gave_way: set[str] = set()  # since there is a line
        self._look: asyncio.TimerHandle | None = None

    @property
    def is_full(self) -> bool:
        """Does anybody wait, or would one more?"""
        return bool(self._line) or not self._has_room

    @property
    def _has_room(self) -> bool:
        return self.in_use < self._max and self._sessions < self._sessions_max

    def _has_room_for(self, site: str) -> bool:
        further = self._sessions - len(self._of_site)
        return self._has_room and (further < self._sessions_max // 2 or site not in self._of_site)

    @asynccontextmanager
    async def place(self, site: str) -> AsyncIterator[SessionPlace]:
        """Wait for a place, and have it. `site`: whose sessions are counted together."""
        if not self._line and self._has_room_for(site):
            self._take(site)
        else:
            await self._stand_in_line(site)
        place = SessionPlace(self, site)
        self._taken.add(place)
        try:
            yield place
        finally:
            place.heard()
            self._taken.discard(place)
            self._give(site)

    def _take(self, site: str) -> None:
        self.in_use += 1
        self._sessions += 1
        self._of_site[site] += 1

    def _give(self, site: str) -> None:
        self.in_use -= 1
        self._sessions -= 1
        self._of_site[site] -= 1
        if not self._of_site[site]:
            del self._of_site[site]
        self._admit()

    async def _stand_in_line(self, site: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line[turn] = site
        self._admit()  # of those before, each may wait for a further session of its site
        self._look_later()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._line.pop(turn, None)
            else:
                self._give(site)
            raise

    def _admit(self) -> None:
        admitted = []
        line: Iterable[tuple[asyncio.Future[None], str]] = self._line.items()
        if self._gave_way:
            line = sorted(line, key=self._comes_last)
        for turn, site in line:
            if not self._has_room:
                break
            if not turn.done() and self._has_room_for(site):
                self._take(site)
                admitted.append(turn)
        for turn in admitted:
            del self._line[turn]
            turn.set_result(None)

    def _comes_last(self, waiting: tuple[asyncio.Future[None], str]) -> bool:
        return waiting[1] in self._gave_way

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
        if not self._line:
            self._gave_way.clear()
        self._look_later()

    def _end_longest(self) -> None:
        if self._sessions < self._sessions_max:
            return
        latest = self.clock.monotonic() - LONGEST_S
        late = [
            (one.host_since, one.site, one.give_way)
            for one in self._taken
            if one.host_since is not None and one.give_way
        ]
        late.sort(key=itemgetter(0))
        wanted = len(self._line)
        for since, site, give_way in late:
            if since > latest or not wanted:
                break
            if give_way():
                self._gave_way.add(site)
                wanted -= 1
