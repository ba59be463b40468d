"""Memory that is freed goes back to the system: at once where it was large, in a pause where it was small.

glibc serves large blocks by mmap, which is given back when they are freed, but raises its idea of "large" up to
32 MiB with each one that is freed: soon the buffers of bodies lie in its arenas and stay there for good. A threshold
that is set is not raised (mallopt(3), M_MMAP_THRESHOLD).

What is small lies in the arenas, and each keeps all that lies below its last block in use. glibc makes one for each of
a dozen threads, of which the interpreter runs one at a time; a few serve them as well, and keep less. Once work that
was much is done, and only then (a page that is given back costs a fault when it is wanted again), `MemoryKeeper`
empties the page caches, ends what only cycles hold, and has the arenas give back what is free in them (malloc_trim(3)).
"""

import asyncio
import ctypes
import gc
import time
from collections.abc import Awaitable, Callable

import structlog

from storage.service import Enduring, LoopService

log = structlog.get_logger("maild.memory")

M_MMAP_THRESHOLD = -3  # malloc.h
M_ARENA_MAX = -8
ROUND_S = 15.0
ROUNDS = 3
BUSY_SHARE = 0.2  # of one core: a round with more is followed, one day, by giving back
ARENAS = 4
LARGE_BYTES = 1024 * 1024  # the page faults of fresh pages cost little beside what is done with so many bytes


def keep_little() -> None:
    """Once, before anything large was allocated and a thread begun; does nothing where the C library has no such
    switches."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
        mallopt(M_ARENA_MAX, ARENAS)


class MemoryKeeper(LoopService):
    """Gives memory back in the first quiet rounds after busy ones. `empty_caches`: of the store.

    In several rounds, for what slow clients hold is freed when they have been given up.
    """

    name = "memory-keeper"

    def __init__(
        self, empty_caches: Callable[[], Awaitable[None]], cpu_s: Callable[[], float] = time.process_time
    ) -> None:
        super().__init__()
        self._empty_caches = empty_caches
        self._cpu_s = cpu_s
        self._seen_s = cpu_s()
        self._rounds_left = 0

    async def run(self) -> None:
        while True:
            await self.pause(ROUND_S)
            with Enduring(log, "memory_not_given_back"):
                await self.round()

    async def round(self) -> None:
        """Give memory back if the last ROUND_S were quiet, and one of the ROUNDS before them was busy."""
        used_s, self._seen_s = self._cpu_s() - self._seen_s, self._cpu_s()
        if used_s > BUSY_SHARE * ROUND_S:
            self._rounds_left = ROUNDS
        elif self._rounds_left:
            self._rounds_left -= 1
            await self._empty_caches()
            gc.collect()
            await asyncio.to_thread(give_back_what_is_free)


def give_back_what_is_free() -> None:
    """Of all arenas; others allocate meanwhile. Does nothing where the C library has no such call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
