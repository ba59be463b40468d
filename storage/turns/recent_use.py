"""Who has asked for little lately: whoever has is served before those who ask all the time.

Turns by owner are not enough where many owners keep the event loop busy: one who comes with a single mail, ten steps
long, would wait behind all of them at each step. What each owner began is counted for a second; an owner is light while
it stayed within `LIGHT` in this second and in the last one. So the counts are forgotten as fast as they come, and never
hold more owners than asked within two seconds.
"""

from collections.abc import Callable

LIGHT = 60  # pieces: some ten mails, of six commands each
WINDOW_S = 1.0


class RecentUse:
    """`now`: a monotonic clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._until = float("-inf")
        self._before: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def note(self, owner: str) -> None:
        """The owner begins a piece of work."""
        self._turn()
        self._counts[owner] = self._counts.get(owner, 0) + 1

    def is_light(self, owner: str) -> bool:
        self._turn()
        return max(self._counts.get(owner, 0), self._before.get(owner, 0)) <= LIGHT

    def is_alone(self, owner: str) -> bool:
        """Has nobody else asked lately? Who is alone makes no other owner wait."""
        self._turn()
        return all(len(seen) == (owner in seen) for seen in (self._counts, self._before))

    def _turn(self) -> None:
        now = self._now()
        if now >= self._until:
            self._before = self._counts if now < self._until + WINDOW_S else {}
            self._counts = {}
            self._until = now + WINDOW_S
