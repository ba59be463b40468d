"""A renewed certificate is taken when its files change, also where nobody sends SIGHUP."""

import os
from collections.abc import Callable, Sequence

from storage.service import LoopService

Stamp = tuple[int, int, int]


class CertificateWatch(LoopService):
    """Calls `reload` once for each change of the files; `reload` tells what came of it, and raises nothing.

    A file is another one when its inode, size or time of change is.
    """

    name = "certificate-watch"

    def __init__(self, files: Sequence[str], reload: Callable[[], None], every_s: float) -> None:
        super().__init__()
        self._files = files
        self._reload = reload
        self._every_s = every_s
        self._seen = self._look()

    async def run(self) -> None:
        while True:
            await self.pause(self._every_s)
            self.look()

    def look(self) -> None:
        """Reload if a file has changed since the last look."""
        now = self._look()
        if now != self._seen:
            self._seen = now
            self._reload()

    def _look(self) -> list[Stamp | None]:
        return [_stamp(file) for file in self._files]


def _stamp(file: str) -> Stamp | None:
    """None where there is no such file, or none that we may see."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
