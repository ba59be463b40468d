"""What no part of the daemon has caught, and after which others may wait for good: the process ends, and systemd starts
it anew, which costs nothing that was acknowledged.

It is want of memory that brings this about. Where a piece of work meets it, it is answered as "later" there; but it may
meet what hands out the work as well: a task that gives back a place, a thread of a pool. Nobody begins these anew.
"""

import asyncio
import logging
import os
import signal
import threading
from typing import Any

from storage.service import ServiceDied

STOP_AT_MOST_S = 15


class LastResort(logging.Handler):
    """`stopped` ends with ServiceDied when a task, a callback or a thread has ended so; and the process by a signal
    STOP_AT_MOST_S later, since what is to end well may wait for what will never come."""

    def __init__(self, stopped: "asyncio.Future[None]") -> None:
        super().__init__(logging.CRITICAL)
        self._stopped = stopped
        self._loop = stopped.get_loop()

    def watch(self) -> None:
        """From now on, on the event loop and on all threads."""
        self._loop.set_exception_handler(self._in_loop)
        threading.excepthook = self._in_thread
        # A pool's thread catches all that ends it, says so and ends.
        logging.getLogger("concurrent.futures").addHandler(self)

    def _in_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        loop.default_exception_handler(_without_arguments(context))
        error = context.get("exception")
        # Of a connection that was closed for it, that was all.
        if isinstance(error, MemoryError) and "transport" not in context:
            self._fail("a task", error)

    def _in_thread(self, ended: threading.ExceptHookArgs) -> None:
        self._fail_soon("a thread" if ended.thread is None else ended.thread.name, ended.exc_value)
        threading.__excepthook__(ended)

    def emit(self, record: logging.LogRecord) -> None:
        """A thread of a pool has ended."""
        self._fail_soon(record.threadName or "a thread", record.exc_info[1] if record.exc_info else None)

    def _fail_soon(self, what: str, error: BaseException | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._fail, what, error)
        except (MemoryError, RuntimeError):  # not even that, or the loop has ended
            os.abort()

    def _fail(self, what: str, error: BaseException | None) -> None:
        if not self._stopped.done():
            signal.alarm(STOP_AT_MOST_S)
            died = ServiceDied(f"{what} ended unexpectedly")
            died.__cause__ = error
            self._stopped.set_exception(died)


def _without_arguments(context: dict[str, Any]) -> dict[str, Any]:
    """The loop tells a callback with all that it was given, such as mail; the traceback says which it was."""
    if "handle" not in context:
        return context
    kept = {name: value for name, value in context.items() if name != "handle"}
    return {**kept, "message": "Exception in callback"}
