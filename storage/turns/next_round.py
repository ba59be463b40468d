"""The next pass of the event loop over all that is ready, or one after a rest, waited for once however many ask."""

import asyncio
from collections.abc import Callable


class NextRound:
    """Calls `begin` in the next round of the loop, or `rest_s` later. Called on the loop alone."""

    def __init__(self, begin: Callable[[], None], rest_s: float = 0) -> None:
        self._begin = begin
        self._rest_s = rest_s
        self._is_expected = False

    def expect(self) -> None:
        if not self._is_expected:
            self._is_expected = True
            loop = asyncio.get_running_loop()
            if self._rest_s:
                loop.call_later(self._rest_s, self._come)
            else:
                loop.call_soon(self._come)

    def _come(self) -> None:
        self._is_expected = False
        self._begin()
