"""Turns at work: a few at a time; owners that wait are called in turn, however often each asks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from storage.turns.fair_line import FairLine


class WorkTurns:
    """`at_once` slots, and who waits for one, by owner."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: FairLine[asyncio.Future[None]] = FairLine()

    @asynccontextmanager
    async def turn(self, holder: str) -> AsyncIterator[None]:
        """One of the slots, for as long as the block runs."""
        await self._take(holder)
        try:
            yield
        finally:
            self._give()

    async def _take(self, holder: str) -> None:
        if self._free:
            self._free -= 1
            return
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.put(holder, called)
        try:
            await called
        except asyncio.CancelledError:
            if not called.cancelled():  # called and cancelled in one moment: the next one's turn
                self._give()
            raise

    def _give(self) -> None:
        while self._waiting:
            called = self._waiting.take()
            if not called.done():
                called.set_result(None)
                return
        self._free += 1
