"""A timer that leaves what came before it was due its turn.

A process that stood still (SIGSTOP, a container that is frozen, a machine of which a snapshot is taken) finds its times
over and the answers in its sockets, and uvloop has timers before it reads. A message whose 250 has come would be told
to be lost, and would be sent again.
"""

import asyncio
from collections.abc import Callable

HEARD_S = 0.1  # rounds of a busy loop: what is read has to come to who waits for it


class PatientTimer:
    """Calls `late` after `delay_s`, once what came until then was heard. On the event loop alone."""

    __slots__ = ("_handle",)

    def __init__(self, delay_s: float, late: Callable[[], object]) -> None:
        self._handle = asyncio.get_running_loop().call_later(delay_s, self._due, late)

    def _due(self, late: Callable[[], object]) -> None:
        self._handle = asyncio.get_running_loop().call_later(HEARD_S, late)

    def cancel(self) -> None:
        """It knows nobody any more."""
        self._handle.cancel()
