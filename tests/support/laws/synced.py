"""What a test asked to be made durable."""

import os
from pathlib import Path

import pytest


class Synced:
    """Which files and folders were fsynced, as they were called then, each with the names or octets that it had."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[Path, set[str] | bytes]] = []
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self.fsync)

    def fsync(self, descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        self.seen.append((path, set(os.listdir(path)) if path.is_dir() else path.read_bytes()))
        self._fsync(descriptor)

    def names(self, folder: Path) -> set[str]:
        """Those in a folder that have been fsynced."""
        return set().union(*(names for path, names in self.seen if path == folder and isinstance(names, set)))
