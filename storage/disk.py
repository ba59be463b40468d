"""Free space: below the reserve nothing new is accepted, so that what was accepted can be kept.

What is on its way in counts before it is written: each file that grows has a claim. No holder (an address, an
organization) can claim all the room there is: it gets at most as much as is left for all others, as in `byte_account`.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

RECHECK_S = 1.0


class Disk:
    """Knows whether the file system of `folder` has room; looks at most once a second.

    `tell(has_room, free_bytes, free_inodes)`: when somebody is refused for want of room, and once what was asked for
    would fit again.
    """

    def __init__(
        self, folder: Path, reserve_percent: int, tell: Callable[[bool, int, int], None] = lambda *_: None
    ) -> None:
        self._folder = folder
        self._tell = tell
        self._refused_bytes: int | None = None  # the most that did not fit, until it would
        self._reserve = reserve_percent / 100
        self._looked_at = float("-inf")
        self._free_bytes = 0
        self._reserve_bytes = 0
        self._free_inodes = 0
        self._inodes_left = True
        self._claimed: Counter[str] = Counter()  # by holder
        self._unwritten_bytes = 0  # of all claims
        self._written_bytes = 0  # of claims, since the last look

    def has_room(self, expected_bytes: int = 0) -> bool:
        """Would `expected_bytes` more still leave the reserve of bytes and inodes free?"""
        fits = self._fits(expected_bytes)
        if not fits:
            self._refuse(expected_bytes)
        elif self._refused_bytes is not None and self._fits(self._refused_bytes):
            self._refused_bytes = None
            self._tell(True, self._free_bytes, self._free_inodes)
        return fits

    @property
    def is_short(self) -> bool:
        """Is anything refused for want of room: what was, and would be again, or whatever comes?"""
        return not self._fits(max(1, self._refused_bytes or 0))

    @property
    def free(self) -> tuple[int, int]:
        """Bytes that are free in the file system, and how many of them the reserve is."""
        self._room()
        return self._free_bytes, self._reserve_bytes

    def _fits(self, expected_bytes: int) -> bool:
        return self._room() >= expected_bytes and self._inodes_left

    def _refuse(self, expected_bytes: int) -> None:
        if self._refused_bytes is None:
            self._tell(False, self._free_bytes, self._free_inodes)
        self._refused_bytes = max(expected_bytes, self._refused_bytes or 0)

    def claim(self, holder: str) -> "DiskClaim":
        """A claim of nothing yet, for one file that is going to grow; the caller releases it at the end."""
        return DiskClaim(self, holder)

    def _room(self) -> int:
        if time.monotonic() - self._looked_at > RECHECK_S:
            self._look()
        return self._free_bytes - self._reserve_bytes - self._unwritten_bytes - self._written_bytes

    def _look(self) -> None:
        self._looked_at = time.monotonic()
        try:
            found = os.statvfs(self._folder)
        except OSError:  # moved away, or its disk fails: the store is asked next, refuses, and tells which
            return
        self._free_bytes = found.f_bavail * found.f_frsize
        self._reserve_bytes = int(found.f_blocks * found.f_frsize * self._reserve)
        # A file system without a fixed number of inodes (btrfs) says 0.
        self._free_inodes = found.f_favail
        self._inodes_left = not found.f_files or found.f_favail >= found.f_files * self._reserve
        self._written_bytes = 0


class DiskClaim:
    """The room of one file: `cover` before it grows, `wrote` when it did, `release` at its end."""

    def __init__(self, disk: Disk, holder: str) -> None:
        self._disk = disk
        self._holder = holder
        self._total = 0
        self._written = 0

    def cover(self, total_bytes: int) -> bool:
        """May the file become so large? False, and nothing changes, when that is more than its share of the room."""
        more = total_bytes - self._total
        if more <= 0:
            return True
        left = self._disk._room() - more
        if left < 0 or not self._disk._inodes_left or self._disk._claimed[self._holder] + more > left:
            return False
        self._total = total_bytes
        self._disk._unwritten_bytes += more
        self._disk._claimed[self._holder] += more
        return True

    def wrote(self, total_bytes: int) -> None:
        """Note that so much of the file is in the file system, where the next look at the free space sees it."""
        more = total_bytes - self._written
        self._written = total_bytes
        self._disk._unwritten_bytes -= more
        self._disk._written_bytes += more

    def release(self) -> None:
        """Give up what is claimed and not written: the file is finished or gone. Idempotent."""
        disk, total, unwritten = self._disk, self._total, self._total - self._written
        self._total = self._written = 0
        disk._unwritten_bytes -= unwritten
        disk._claimed[self._holder] -= total
        if disk._claimed[self._holder] <= 0:
            del disk._claimed[self._holder]
