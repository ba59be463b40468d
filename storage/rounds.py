"""What begins in one round of the event loop, and in which order, when more is to be done than there is time for.

A round is one pass of the loop over all that is ready; it lasts as long as what it does. A mail takes some ten rounds
from the greeting to its 250, a request three: where forty requests begin in a round, each step of a mail waits for all
forty, and under more load than there is time for, mail would suffer first. So what is not mail coming in asks here
before it begins. The order, first to last:

    mail that comes in    never waits here
    REQUEST               of the API
    DELIVERY              an attempt to deliver a message
    WEBHOOK               an attempt to deliver an event

Of each kind `a_round` pieces may begin in a round, but one alone while mail is coming in, or while a kind before it
waits: so each goes on, slowly, and none starves. Of one kind, owners take turns, however often each of them asks. A
place is for the beginning alone: what has begun goes on in later rounds without asking again.

A request that has waited too long is refused (`Overloaded`), so that its caller hears of it. A line that does not come
to its end any more has as much waiting in it as is allowed, for everybody and in vain: there a fraction of that is
allowed, so that a part is refused soon and the others hardly wait. Deliveries and webhooks wait without end: what they
are to do is kept in the store.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

OWN = ""  # the owner of what is the daemon's


class Kind(IntEnum):
    """In their order, the last one suffers first."""

    REQUEST = 0
    DELIVERY = 1
    WEBHOOK = 2


class RoundPace(NamedTuple):
    """`a_round`: how many pieces of a kind begin in a round. `mail_s`: how long after a step of it mail counts as
    coming in. `patience_s`: how long a request waits before it is refused, `standing_s`: where the line has not come to
    its end for as long as that.
    """

    a_round: int = 16
    mail_s: float = 0.05
    patience_s: float = 1.0
    standing_s: float = 0.1


class Overloaded(Exception):
    """The piece of work has waited too long, and did not begin."""


class _Waiting(NamedTuple):
    called: "asyncio.Future[None]"
    since: float


class _Line:
    """Pieces of one kind that wait; owners are called in turn. `stands_since`: when it was empty last."""

    def __init__(self) -> None:
        self.stands_since = 0.0
        self._owners: dict[str, deque[_Waiting]] = {}  # in the order in which they are called

    def __bool__(self) -> bool:
        return bool(self._owners)

    def put(self, owner: str, waiting: _Waiting) -> None:
        if not self._owners:
            self.stands_since = waiting.since
        self._owners.setdefault(owner, deque()).append(waiting)

    def take(self) -> _Waiting:
        owner = next(iter(self._owners))
        queue = self._owners.pop(owner)
        waiting = queue.popleft()
        if queue:
            self._owners[owner] = queue  # behind all others
        return waiting


class Rounds:
    """The places in the rounds of one event loop; called on it alone."""

    def __init__(self, now: Callable[[], float], pace: RoundPace = RoundPace()) -> None:
        """`now`: a monotonic clock in seconds."""
        self._now = now
        self._pace = pace
        self._begun = [0] * len(Kind)
        self._lines = [_Line() for _ in Kind]
        self._is_counting = False
        self._mail_until = float("-inf")

    def mail(self) -> None:
        """A step of mail that comes in is taken; the next one is expected soon."""
        self._mail_until = self._now() + self._pace.mail_s

    async def begin(self, kind: Kind, owner: str = OWN) -> None:
        """Return when the piece of work may begin. Overloaded when it has waited too long."""
        if not self._lines[kind] and self._has_place(kind):
            self._count(kind)
            return
        waiting = _Waiting(asyncio.get_running_loop().create_future(), self._now())
        self._lines[kind].put(owner, waiting)
        self._expect_a_round()
        await waiting.called

    def _has_place(self, kind: Kind) -> bool:
        is_slowed = any(self._lines[:kind]) or self._now() < self._mail_until
        return self._begun[kind] < (1 if is_slowed else self._pace.a_round)

    def _count(self, kind: Kind) -> None:
        self._begun[kind] += 1
        self._expect_a_round()

    def _expect_a_round(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_round)

    def _next_round(self) -> None:
        self._is_counting = False
        self._begun = [0] * len(Kind)
        for kind in Kind:
            line = self._lines[kind]
            while line and self._has_place(kind):
                self._call(kind, line.take())

    def _call(self, kind: Kind, waiting: _Waiting) -> None:
        if waiting.called.done():  # its caller was cancelled
            return
        if kind is Kind.REQUEST and self._now() - waiting.since > self._patience_s():
            waiting.called.set_exception(Overloaded())
            return
        waiting.called.set_result(None)
        self._count(kind)

    def _patience_s(self) -> float:
        stands_s = self._now() - self._lines[Kind.REQUEST].stands_since
        return self._pace.patience_s if stands_s < self._pace.patience_s else self._pace.standing_s
