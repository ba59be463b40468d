"""What waits for its turn, by owner: owners are called in turn, and one that asks a hundred times waits behind each
other owner once, not the reverse. Callers share one thread: it has no lock."""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairLine(Generic[T]):
    """False when nothing waits."""

    def __init__(self) -> None:
        self._owners: dict[str, deque[T]] = {}  # in the order in which they are called

    def __bool__(self) -> bool:
        return bool(self._owners)

    def put(self, owner: str, waiting: T) -> None:
        """Behind what else this owner waits for."""
        self._owners.setdefault(owner, deque()).append(waiting)

    def take(self) -> T:
        """The next one; something must wait."""
        owner = next(iter(self._owners))
        queue = self._owners.pop(owner)
        waiting = queue.popleft()
        if queue:
            self._owners[owner] = queue  # behind all others
        return waiting
