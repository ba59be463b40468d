"""What begins in one round of the event loop, and in which order, when more is to be done than there is time for.

A round is one pass of the loop over all that is ready; it lasts as long as what it does. A mail takes some ten rounds
from the greeting to its 250, a request three: where forty requests begin in a round, each step of a mail waits for all
forty, and under more load than there is time for, mail would suffer first. So what is not mail coming in asks here
before it begins. The order, first to last:

    mail that comes in    never waits here
    REQUEST               of the API
    DELIVERY              an attempt to deliver a message, and what is scheduled when its time has come
    WEBHOOK               an attempt to deliver an event

Of each kind `a_round` pieces may begin in a round. While mail comes in and takes longer to accept than it should, there
are fewer places: half as many after each mail that is late, slowly more after each that is not. While a kind before it
waits, a kind has one: it goes on, slowly, and never starves. Of one kind, owners take turns, however often each of them
asks. A request asks once, and goes on in later rounds without asking again. A delivery asks again before the host gets
the message, so that fifty hosts which are ready at once don't lengthen a round by fifty messages; while requests come
in at all, deliveries and webhooks have `beside_requests` places, and what they write comes in small pieces
(`has_requests`).

A request that has waited too long is refused (`Overloaded`), so that its caller hears of it. A line that does not come
to its end any more has as much waiting in it as is allowed, in vain: there a fraction of that is allowed to what its
owner has waiting behind something else, so that a part is refused soon and the others hardly wait. Who waits for one
thing alone does not make the line long, and keeps its whole time. Deliveries and webhooks wait without end: what they
are to do is kept in the store.
"""

import asyncio
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from storage.turns.fair_line import FairLine
from storage.turns.fair_threads import OWN
from storage.turns.next_round import NextRound

LEAST = 1 / 16
GROWTH = 1.01  # a mail: twice as many places after some seventy


class Kind(IntEnum):
    """In their order, the last one suffers first."""

    REQUEST = 0
    DELIVERY = 1
    WEBHOOK = 2


class RoundPace(NamedTuple):
    """`a_round`: how many pieces of a kind begin in a round. `late_s`: what a mail may take from its last octet to its
    reply, and `mail_s`: for how long after one mail counts as coming in. `patience_s`: how long a request waits before
    it is refused, `standing_s`: behind another one of its owner, where the line has not come to its end for as long as
    `patience_s`. `requests_s`: for how long after one request more are expected.
    """

    a_round: int = 16
    late_s: float = 0.1
    mail_s: float = 0.2
    patience_s: float = 1.0  # conf.tuning has it for the daemon
    standing_s: float = 0.1
    beside_requests: float = 0.5
    requests_s: float = 0.2


class Overloaded(Exception):
    """The piece of work has waited too long, and did not begin."""


class _Waiting(NamedTuple):
    called: "asyncio.Future[None]"
    since: float


class _Line(FairLine[_Waiting]):
    """Pieces of one kind. `stands_since`: when it was empty last."""

    def __init__(self) -> None:
        super().__init__()
        self.stands_since = 0.0

    def put(self, owner: str, waiting: _Waiting) -> None:
        if not self:
            self.stands_since = waiting.since
        super().put(owner, waiting)

    def take_late(self, since: float, since_behind: float) -> list[_Waiting]:
        """Those that wait since before then: what is first of its owner, and what is behind that."""
        taken: list[_Waiting] = []
        for owner, queue in list(self._owners.items()):
            while queue and queue[0].since < since:
                taken.append(queue.popleft())
            while len(queue) > 1 and queue[1].since < since_behind:
                taken.append(queue[1])
                del queue[1]
            if not queue:
                del self._owners[owner]
        return taken


class Rounds:
    """The places in the rounds of one event loop; called on it alone."""

    def __init__(self, now: Callable[[], float], pace: RoundPace = RoundPace()) -> None:
        """`now`: a monotonic clock in seconds."""
        self._now = now
        self._pace = pace
        self._begun = [0.0] * len(Kind)  # and not yet made up for by rounds
        self._lines = [_Line() for _ in Kind]
        self._next_round = NextRound(self._begin_round)
        self._beside_mail = float(pace.a_round)
        self._mail_until = self._requests_until = float("-inf")

    def accepted(self, took_s: float) -> None:
        """A mail came, and took so long from its last octet to its reply."""
        if took_s > self._pace.late_s:
            self._beside_mail = max(LEAST, self._beside_mail / 2)
        else:
            self._beside_mail = min(self._pace.a_round, self._beside_mail * GROWTH)
        self._mail_until = self._now() + self._pace.mail_s

    async def begin(self, kind: Kind, owner: str = OWN) -> None:
        """Return when the piece of work may begin. Overloaded when it has waited too long."""
        if kind is Kind.REQUEST:
            self._requests_until = self._now() + self._pace.requests_s
        if not self._lines[kind] and self._has_place(kind):
            self._count(kind)
            return
        waiting = _Waiting(asyncio.get_running_loop().create_future(), self._now())
        self._lines[kind].put(owner, waiting)
        self._next_round.expect()
        try:
            await waiting.called
        finally:
            del waiting  # its exception knows this frame

    def has_requests(self) -> bool:
        """Do requests come in at this time? Then what is less urgent holds the loop in small pieces."""
        return self._now() < self._requests_until

    def _places(self, kind: Kind) -> float:
        """In one round; less than one: it takes several rounds until the next piece begins."""
        has_mail = self._now() < self._mail_until
        places = self._beside_mail if has_mail else self._pace.a_round
        if kind > Kind.REQUEST and self.has_requests():
            places = min(places, self._pace.beside_requests)
        for before in range(kind):
            if self._lines[before]:
                return min(1, places)
        return places

    def _has_place(self, kind: Kind) -> bool:
        return self._begun[kind] + 1 <= max(1, self._places(kind))

    def _count(self, kind: Kind) -> None:
        self._begun[kind] += 1
        self._next_round.expect()

    def _begin_round(self) -> None:
        self._refuse_late()
        for kind in Kind:
            self._begun[kind] = max(0, self._begun[kind] - self._places(kind))
            line = self._lines[kind]
            while line and self._has_place(kind):
                self._call(kind, line.take())
        if any(self._lines) or any(self._begun):
            self._next_round.expect()

    def _call(self, kind: Kind, waiting: _Waiting) -> None:
        if waiting.called.done():  # its caller was cancelled
            return
        waiting.called.set_result(None)
        self._count(kind)

    def _refuse_late(self) -> None:
        line, now = self._lines[Kind.REQUEST], self._now()
        patience_s = self._pace.patience_s
        stands = now - line.stands_since >= patience_s
        behind_s = self._pace.standing_s if stands else patience_s
        for waiting in line.take_late(now - patience_s, now - behind_s):
            if not waiting.called.done():
                waiting.called.set_exception(Overloaded())
