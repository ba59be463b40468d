"""How many pieces of one kind begin in one round of the event loop, and whose.

A round is one pass of the loop over all that is ready. A stranger who ends twenty messages in one moment would else
make one round of all that: everybody's next step waits for it, and a mail has ten steps. Here so many begin in a round,
and what is ready besides gets its turn before the next ones do; owners (an address) are called in turn. Nothing is
refused and nothing takes longer in all: rounds are only shorter.

Priorities between kinds of work, and refusing under overload, are `storage.rounds`.
"""

import asyncio

from storage.fair_line import FairLine


class RoundShare:
    """Called on the event loop alone."""

    def __init__(self, a_round: int) -> None:
        self._a_round = a_round
        self._begun = 0
        self._line: FairLine[asyncio.Future[None]] = FairLine()
        self._is_counting = False

    async def begin(self, owner: str) -> None:
        """Return when the owner's piece may begin."""
        self._expect_a_round()
        if not self._line and self._begun < self._a_round:
            self._begun += 1
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._line.put(owner, called)
        await called

    def _expect_a_round(self) -> None:
        if not self._is_counting:
            self._is_counting = True
            asyncio.get_running_loop().call_soon(self._next_round)

    def _next_round(self) -> None:
        self._is_counting = False
        self._begun = 0
        while self._line and self._begun < self._a_round:
            called = self._line.take()
            if not called.done():  # else its caller was cancelled
                called.set_result(None)
                self._begun += 1
        if self._begun:
            self._expect_a_round()
