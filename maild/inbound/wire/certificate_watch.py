"""A renewed certificate is taken when its files change, and when somebody asks for it (SIGHUP).

It is read anew once a day besides, as the keys of session tickets are new with it: who has them opens all sessions of
TLS 1.2 that got a ticket (RFC 9325 §3.4).
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence

from storage.service import LoopService

Stamp = tuple[int, int, int]


class CertificateWatch(LoopService):
    """Calls `reload` once for each change of the files, when it is asked to, and `lasts_s` after the last time, never
    twice at one time; `reload` tells what came of it, and raises nothing. It looks each `every_s`.

    A file is another one when its inode, size or time of change is, which is that of its owner and mode too.
    """

    name = "certificate-watch"

    def __init__(
        self, files: Sequence[str], reload: Callable[[], Awaitable[None]], every_s: float, lasts_s: float
    ) -> None:
        super().__init__()
        self._files = files
        self._reload = reload
        self._every_s = every_s
        self._lasts_s = lasts_s
        self._seen = self._look()
        self._is_asked = False

    def ask(self) -> None:
        """Reload, whether a file has changed or not."""
        self._is_asked = True
        self.wake()

    async def run(self) -> None:
        clock = asyncio.get_running_loop().time
        read_at = clock()
        while True:
            await self.pause(self._every_s)
            now = self._look()
            if self._is_asked or now != self._seen or clock() - read_at >= self._lasts_s:
                self._is_asked, self._seen, read_at = False, now, clock()
                await self._reload()

    def _look(self) -> list[Stamp | None]:
        return [_stamp(file) for file in self._files]


def _stamp(file: str) -> Stamp | None:
    """None where there is no such file, or none that we may see."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_ctime_ns  # of contents, and of who may read them
