"""Free space: below the reserve nothing new is accepted, so that what was accepted can be kept."""

import os
import time
from pathlib import Path

RECHECK_S = 1.0


class Disk:
    """Knows whether the file system of `folder` has room; looks at most once a second."""

    def __init__(self, folder: Path, reserve_percent: int) -> None:
        self._folder = folder
        self._reserve = reserve_percent / 100
        self._looked_at = float("-inf")
        self._free_bytes = 0
        self._reserve_bytes = 0
        self._inodes_left = True

    def has_room(self, expected_bytes: int = 0) -> bool:
        """Would `expected_bytes` more still leave the reserve of bytes and inodes free?"""
        if time.monotonic() - self._looked_at > RECHECK_S:
            self._look()
        return self._inodes_left and self._free_bytes - expected_bytes >= self._reserve_bytes

    def _look(self) -> None:
        found = os.statvfs(self._folder)
        self._free_bytes = found.f_bavail * found.f_frsize
        self._reserve_bytes = int(found.f_blocks * found.f_frsize * self._reserve)
        # Some file systems (btrfs) have no fixed number of inodes and say 0.
        self._inodes_left = not found.f_files or found.f_favail >= found.f_files * self._reserve
        self._looked_at = time.monotonic()
