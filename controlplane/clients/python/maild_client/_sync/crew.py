"""What a worker needs of its world, in threads; see `maild_client/_async/crew.py`."""

import inspect
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

import httpx2

from maild_client.errors import ConfigurationError

Stop = threading.Event
HOME = "process: make one in each, after the fork"


def home() -> object:
    """What connections belong to: on those of another process each reads the other's answers."""
    return os.getpid()


def wake_reader(answer: httpx2.Response) -> None:
    """Have whoever reads of it stop: a thread that waits for more does not see that it is closed."""
    if answer.is_closed or answer.http_version == "HTTP/2":
        return  # others use its connection, or may by now
    stream = answer.extensions.get("network_stream")  # of another transport there may be none
    connection = stream.get_extra_info("socket") if stream else None
    if isinstance(connection, socket.socket):
        with suppress(OSError):  # closed already
            socket.socket.shutdown(connection, socket.SHUT_RDWR)  # below TLS, which belongs to the reader


def check_handler(handle: object) -> None:
    """ConfigurationError for what can't handle a message, before any is claimed."""
    if not callable(handle):
        raise ConfigurationError("the handler is a function: def handle(message, claim)")
    if inspect.iscoroutinefunction(handle):  # would be done at once, and nothing of it
        raise ConfigurationError("the handler is a coroutine function: that is what AsyncMaild works with")


def wait_until(stop: threading.Event, timeout_s: float) -> bool:
    """Was it set within the time?"""
    return stop.wait(timeout_s)


class Crew:
    """So many at work at once. Whoever leaves it waits for all of them."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._working = 0
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not issubclass(kind, Exception):
            return  # Ctrl-C, again: threads can't be cancelled, and end with the process
        with self._changed:
            self._changed.wait_for(lambda: self._working == 0)

    def free(self) -> int:
        """How many places are free, once one is."""
        with self._changed:
            self._changed.wait_for(lambda: self._working < self._places)
            return self._places - self._working

    def start(self, work: Callable[..., None], *arguments: Any) -> None:
        """Take a place and begin; `work` raises nothing."""

        def working() -> None:
            try:
                work(*arguments)
            finally:
                with self._changed:
                    self._working -= 1
                    self._changed.notify_all()

        with self._changed:
            self._working += 1
        threading.Thread(target=working, name="maild-worker", daemon=True).start()


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """`work(stop)` beside what is done within; then it is told to stop, and waited for."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,), name="maild-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and Ctrl-C set `stop`, the first time; where this thread hears of signals."""
    before: dict[int, Any] = {}

    def asked(number: int, frame: FrameType | None) -> None:
        stop.set()
        forget()

    def forget() -> None:
        while before:
            number, handler = before.popitem()
            if signal.getsignal(number) is asked:  # else the program has another by now
                signal.signal(number, handler)

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, asked)
    try:
        yield
    finally:
        forget()
