"""The next pass of the event loop over all that is ready, waited for once however many ask for it."""

import asyncio
from collections.abc import Callable


class NextRound:
    """Calls `begin` in the next round of the loop. Called on the loop alone."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._is_expected = False

    def expect(self) -> None:
        if not self._is_expected:
            self._is_expected = True
            asyncio.get_running_loop().call_soon(self._come)

    def _come(self) -> None:
        self._is_expected = False
        self._begin()
