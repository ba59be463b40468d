"""Prefixed ids that sort by the time they were made.

`msg_` + 10 characters of milliseconds + 16 characters of chance, in Crockford's base 32, lower
case. Within one millisecond the chance part counts up, so that two ids of one process never tie and
"older than this id" means older. 80 bits of chance start anew each millisecond: an id cannot be guessed.

A clock that is set back has them go on counting up until it has caught up. One that was ahead by more than AHEAD_MAX_MS
is left behind, since retention and figures go by ids: they begin at the clock anew.
"""

import os
import threading
from collections.abc import Callable

from storage.clock import DAY_MS, Clock

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
AHEAD_MAX_MS = DAY_MS
LENGTH = 26  # behind the prefix and its underscore
RANDOM_BYTES = 4096
LOWER_BITS = 40  # of the chance: four pairs of characters
LOWER = (1 << LOWER_BITS) - 1
_TO_DIGITS = str.maketrans(_ALPHABET, "0123456789abcdefghijklmnopqrstuv")  # those of `int`
_PAIRS = [a + b for a in _ALPHABET for b in _ALPHABET]  # ten bits a step


class Ids:
    """Makes ids and other unguessable text; safe for threads. `entropy(n)`: n random bytes."""

    def __init__(self, clock: Clock, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._entropy = entropy
        self._last_ms = self._last_chance = 0
        self._beginning = ""  # of the last id: its time, and the upper half of its chance
        self._random, self._used = b"", 0
        self._lock = threading.Lock()  # units of work run on the loop and on the writer's thread

    def new(self, prefix: str) -> str:
        """A fresh id such as `msg_0jc4…`: prefix, underscore, 26 characters."""
        with self._lock:
            beginning, low = self._next()
        return (
            f"{prefix}_{beginning}{_PAIRS[low >> 30]}{_PAIRS[low >> 20 & 1023]}"
            f"{_PAIRS[low >> 10 & 1023]}{_PAIRS[low & 1023]}"
        )

    def _next(self) -> tuple[str, int]:
        """How the id begins, which hardly ever changes within a millisecond, and the lower half of its chance."""
        now_ms, chance = self._clock.now_ms(), self._last_chance
        if self._last_ms - AHEAD_MAX_MS < now_ms <= self._last_ms:
            chance += 1 + self._take(1)[0]
        else:
            self._last_ms, self._beginning = now_ms, ""
            # The top bit is left free, so that counting up never overflows into the time.
            chance = int.from_bytes(self._take(10), "big") >> 1
        upper = chance >> LOWER_BITS
        if not self._beginning or upper != self._last_chance >> LOWER_BITS:
            self._beginning = _base32(self._last_ms, 5) + _base32(upper, 4)
        self._last_chance = chance
        return self._beginning, chance & LOWER

    def go_on_after(self, id: str) -> None:
        """What is made next sorts behind this one, which another process made."""
        with self._lock:
            self._last_ms, self._beginning = max(self._last_ms, made_at(id) + 1), ""
            self._last_chance = int.from_bytes(self._take(10), "big") >> 1

    def token(self, size_bytes: int = 15) -> str:
        """Unguessable lower-case text, 8 characters for each 5 bytes."""
        with self._lock:
            octets = self._take(size_bytes)
        return _base32(int.from_bytes(octets, "big"), size_bytes * 8 // 10)

    def _take(self, size_bytes: int) -> bytes:
        # Asked for in advance: each call gives up the interpreter, which another thread may take for long.
        begin, end = self._used, self._used + size_bytes
        if end > len(self._random):
            self._random, begin, end = self._entropy(RANDOM_BYTES + size_bytes), 0, size_bytes
        self._used = end
        return self._random[begin:end]

    def chance(self, size_bytes: int) -> bytes:
        """Unguessable bytes, for secrets that have a form of their own."""
        return self._entropy(size_bytes)


def made_at(id: str) -> int:
    """The millisecond in which an id of this form was made."""
    return int(id[4:14].translate(_TO_DIGITS), 32)


def first_at(prefix: str, at_ms: int) -> str:
    """A text that sorts before every id of that millisecond or later: a range of time is a range of ids."""
    return f"{prefix}_{_base32(max(at_ms, 0), 5)}"


def stands_for(prefix: str, at_ms: int) -> str:
    """An id that nothing ever has: a position before all that was made in that millisecond or later."""
    return first_at(prefix, at_ms).ljust(len(prefix) + 1 + LENGTH, "0")


def _base32(number: int, pairs: int) -> str:
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range((pairs - 1) * 10, -1, -10)])
