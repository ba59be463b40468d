"""Memory that is freed goes back to the system.

glibc serves large blocks by mmap, which is given back when they are freed, but raises its idea of "large" up to
32 MiB with each one that is freed: soon the buffers of bodies lie in its arenas and stay there for good. A threshold
that is set is not raised (mallopt(3), M_MMAP_THRESHOLD).
"""

import ctypes

M_MMAP_THRESHOLD = -3  # malloc.h
LARGE_BYTES = 1024 * 1024  # the page faults of fresh pages cost little beside what is done with so many bytes


def give_back_large_blocks() -> None:
    """Once, before anything large was allocated; does nothing where the C library has no such switch."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)
