"""What failed by itself, and is left alone for a while, so that it holds up nothing else.

A loop that works on many rows puts each piece of work into `attempt`, and asks the store for none of `keys`. Nothing
stands in the store: after a restart all is tried again.
"""

from collections.abc import Awaitable
from typing import Any

from storage.clock import Clock
from storage.engine.failures import is_outage
from storage.engine.writer import DatabaseClosed

LEFT_ALONE_S = 600


class SetAside:
    """A failure is logged as `event`, the key in `field`: `SetAside(clock, log, "not_dispatched", "message_id")`."""

    def __init__(self, clock: Clock, log: Any, event: str, field: str) -> None:
        self._clock = clock
        self._log = log
        self._event = event
        self._field = field
        self._until: dict[str, float] = {}  # by the monotonic clock

    def keys(self) -> frozenset[str]:
        """What is to be left alone now."""
        now = self._clock.monotonic()
        self._until = {key: until for key, until in self._until.items() if until > now}
        return frozenset(self._until)

    @property
    def rest_s(self) -> float | None:
        """How long until the first may be tried again; None: nothing is set aside."""
        return min((until - self._clock.monotonic() for until in self._until.values()), default=None)

    async def attempt(self, key: str, work: Awaitable[object]) -> bool:
        """Do the work for that key. False: the store refused it, as it would any other now, so the key is not at fault.

        DatabaseClosed and a cancellation go through."""
        try:
            await work
        except DatabaseClosed:
            raise
        except Exception as error:
            self._log.exception(self._event, **{self._field: key})
            if is_outage(error):
                return False
            self._until[key] = self._clock.monotonic() + LEFT_ALONE_S
        return True
