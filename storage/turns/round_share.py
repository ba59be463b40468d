"""How many pieces of one kind begin in one round of the event loop, and whose.

A round is one pass of the loop over all that is ready. A stranger who ends twenty messages in one moment would else
make one round of all that: everybody's next step waits for it, and a mail has ten steps. Here so many begin in a round,
and what is ready besides gets its turn before the next ones do. Owners (an address) who asked for little lately come
first, since they make nobody wait (storage.turns.recent_use); among them, and among the others, owners are called in
turn. One place of each round is for the others, so that many who ask for little, which costs a stranger with many
addresses nothing, can't keep a busy relay waiting for ever. Nothing is refused and nothing takes longer in all: rounds
are only shorter.

Priorities between kinds of work, and refusing under overload, are `storage.turns.rounds`.
"""

import asyncio
from collections.abc import Callable

from storage.turns.fair_line import FairLine
from storage.turns.next_round import NextRound


class RoundShare:
    """`a_round`: two at least. `is_light`: has this owner asked for little? Called on the event loop alone."""

    def __init__(self, a_round: int, is_light: Callable[[str], bool]) -> None:
        self._a_round = a_round
        self._is_light = is_light
        self._begun = 0
        self._light: FairLine[asyncio.Future[None]] = FairLine()
        self._heavy: FairLine[asyncio.Future[None]] = FairLine()
        self._next_round = NextRound(self._begin_round)

    async def begin(self, owner: str) -> None:
        """Return when the owner's piece may begin."""
        if (called := self.place(owner)) is not None:
            await called

    def place(self, owner: str) -> "asyncio.Future[None] | None":
        """None: the owner's piece may begin now; else what is done when it may. Who cancels that takes no place."""
        self._next_round.expect()
        is_light = self._is_light(owner)
        if self._begun < self._a_round and not self._light and (is_light or not self._heavy):
            self._begun += 1
            return None
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._light if is_light else self._heavy).put(owner, called)
        return called

    def _begin_round(self) -> None:
        self._begun = 0
        for line, places in ((self._light, self._a_round - bool(self._heavy)), (self._heavy, self._a_round)):
            while line and self._begun < places:
                self._call(line.take())
        if self._begun:
            self._next_round.expect()

    def _call(self, called: asyncio.Future[None]) -> None:
        if not called.done():  # else its caller was cancelled
            called.set_result(None)
            self._begun += 1
