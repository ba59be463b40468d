"""What was put or asked for lately, in bounded memory: once half of the bound has come in since, it is forgotten.

There are two generations. What is found in the old one goes over to the young one; when that is full it becomes the old
one, and what was old is let go of as a whole. So nothing is sorted by when it was used.
"""

from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key, `max_bytes` of them at most. Any thread may call."""

    def __init__(self, max_bytes: int) -> None:
        self._half = max_bytes // 2
        self._lock = Lock()
        self._young: dict[Hashable, tuple[V, int]] = {}
        self._old: dict[Hashable, tuple[V, int]] = {}
        self._young_bytes = 0

    def get(self, key: Hashable) -> V | None:
        """What was put there last, or None."""
        entry = self._young.get(key)
        if entry is None:
            entry = self._old.get(key)
            if entry is None:
                return None
            with self._lock:
                if key not in self._young:  # else another thread has put something newer
                    self._add(key, entry)
        return entry[0]

    def put(self, key: Hashable, value: V, size_bytes: int) -> None:
        """In place of what is there."""
        with self._lock:
            before = self._young.pop(key, None)
            self._young_bytes -= before[1] if before is not None else 0
            self._add(key, (value, size_bytes))

    def _add(self, key: Hashable, entry: tuple[V, int]) -> None:
        self._young[key] = entry
        self._young_bytes += entry[1]
        if self._young_bytes > self._half:
            self._old, self._young, self._young_bytes = self._young, {}, 0
