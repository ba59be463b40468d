"""What a page shows once, between the form that made it and the page: in memory, bounded, and gone when it is taken."""

from collections import OrderedDict
from typing import Any

from storage.clock import Clock

HELD_S = 120
HELD_MAX = 1000


class ShownOnce:
    """One thing for each place: a session, and the id of what it made."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    def put(self, place: str, value: Any) -> None:
        """Keep it for HELD_S."""
        self._drop_old()
        self._held[place] = (self._clock.monotonic() + HELD_S, value)
        self._held.move_to_end(place)
        while len(self._held) > HELD_MAX:
            self._held.popitem(last=False)

    def take(self, place: str) -> Any:
        """What was kept there, which is forgotten now; None: nothing."""
        self._drop_old()
        _, value = self._held.pop(place, (0.0, None))
        return value

    def _drop_old(self) -> None:
        now = self._clock.monotonic()
        while self._held and next(iter(self._held.values()))[0] <= now:
            self._held.popitem(last=False)
