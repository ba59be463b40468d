"""Threads that run before there is work for them.

A `ThreadPoolExecutor` begins a thread when work comes. Where the system has no room for one at that moment it raises,
and keeps the work all the same for a thread that comes later: who was told that a file was not written finds it written
afterwards, and who counts on the one thread of a pool waits for good. Here a want of threads shows when the pool is
made, which is when the daemon starts, and not in the middle of its work.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from storage.exhaustion import Exhausted


def started_threads(
    count: int, name: str, initializer: Callable[..., object] | None = None, arguments: tuple[Any, ...] = ()
) -> ThreadPoolExecutor:
    """A pool of so many threads, all of which run. Exhausted where the system has no room for them."""
    pool = ThreadPoolExecutor(count, name, initializer, arguments)
    all_run = threading.Barrier(count)
    try:
        begun = [pool.submit(all_run.wait) for _ in range(count)]
    except RuntimeError as error:
        all_run.abort()
        pool.shutdown(cancel_futures=True)
        raise no_thread(error) from error
    for one in begun:
        one.result()
    return pool


def no_thread(error: RuntimeError) -> Exhausted:
    """What the system meant where Python says that a thread can't be started."""
    return Exhausted(f"no room for another thread (limit of processes, memory): {error}")
