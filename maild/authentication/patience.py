"""Waiting for other people's servers, which ends when its time is over or this process stops, whichever is first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class PatienceOver(Exception):
    """The process stops, and they have not answered."""


class Patience:
    """Shared by all who wait."""

    def __init__(self) -> None:
        self._waits: set[asyncio.Timeout] = set()
        self._is_over = False

    @asynccontextmanager
    async def until(self, deadline_s: float) -> AsyncIterator[None]:
        """What is awaited inside ends with TimeoutError at `deadline_s` (of the loop's clock), with PatienceOver when
        the process stops."""
        try:
            async with asyncio.timeout_at(0 if self._is_over else deadline_s) as wait:
                self._waits.add(wait)
                yield
        except TimeoutError:
            if self._is_over:
                raise PatienceOver from None
            raise
        finally:
            self._waits.discard(wait)

    def end(self) -> None:
        """The process stops."""
        self._is_over = True
        now_s = asyncio.get_running_loop().time()
        for wait in self._waits:
            wait.reschedule(now_s)
