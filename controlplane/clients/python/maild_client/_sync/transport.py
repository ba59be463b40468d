# Derived from maild_client/_async/transport.py by scripts/clients: change that one.
"""Requests, and when they are made again. All that a resource does goes through the transport.

A call that no answer came to is repeated where that is safe: reads, and what has an Idempotency-Key. Redirects are
never followed: the key goes to the address that it was given for, and nowhere else.
"""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2

from maild_client import _wire
from maild_client._sync.crew import HOME, home, wake_reader
from maild_client._wire import Call, Key, Options
from maild_client.errors import ApiError, ConnectionFailed, TimedOut

log = logging.getLogger("maild_client")


class Connections:
    """What clients that differ in options alone have in common: connections, and the streams open on them."""

    def __init__(self, http: httpx2.Client) -> None:
        self.http = http
        self.streams: set[httpx2.Response] = set()
        self._home: object = None

    def is_at_home(self) -> bool:
        """Do they belong to whoever asks?"""
        return home() == self._home

    def check_home(self) -> None:
        """RuntimeError for who can't use them."""
        self._home = self._home or home()
        if not self.is_at_home():
            raise RuntimeError(f"this client was used in another {HOME}")


class Transport:
    """`pause` and `chance` are for tests."""

    def __init__(
        self,
        key: Key,
        options: Options,
        connections: Connections,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.options = options
        self.pause = pause
        self.chance = chance
        self._key = key
        self._connections = connections
        self._watchers: ContextVar[list[httpx2.Response] | None] = ContextVar("answers", default=None)

    def with_options(self, options: Options) -> "Transport":
        """Another that shares the connections of this one."""
        return Transport(self._key, options, self._connections, self.pause, self.chance)

    def json(self, call: Call) -> Any:
        """What the answer tells."""
        answer = self._answer(call)
        return _wire.data_of(answer.status_code, answer.headers, answer.content, call.idempotency_key)

    def octets(self, call: Call) -> bytes:
        """The answer's bytes."""
        answer = self._answer(call)
        return answer.content

    def opened(self, call: Call) -> httpx2.Response:
        """The answer, not read yet. Whoever asked closes it."""
        answer = self._answer(call, is_stream=True)
        self._connections.streams.add(answer)
        return answer

    def let_go(self, answer: httpx2.Response) -> None:
        """Close an answer that was opened."""
        self._connections.streams.discard(answer)
        if self._connections.is_at_home():  # whoever reads elsewhere goes on
            wake_reader(answer)
        answer.close()

    @contextmanager
    def watched(self) -> Iterator[list[httpx2.Response]]:
        """The answers that come within, to whoever calls from here. Who watches around it is told of them, too."""
        around, answers = self._watchers.get(), list[httpx2.Response]()
        token = self._watchers.set(answers)
        try:
            yield answers
        finally:
            self._watchers.reset(token)
            if around is not None:
                around.extend(answers)

    def close(self) -> None:
        """Close the connections, and what a loop over a stream has left open."""
        for answer in tuple(self._connections.streams):
            self.let_go(answer)
        self._connections.http.close()

    def _answer(self, call: Call, *, is_stream: bool = False) -> httpx2.Response:
        self._connections.check_home()
        retries = 0
        while True:
            try:
                return self._attempt(call, is_stream=is_stream)
            except (ApiError, ConnectionFailed) as error:
                pause_s = _wire.retry_pause_s(call, error, retries, self.options, self.chance())
                if pause_s is None:
                    raise
                log.info("%s %s: %s; again in %.1f s", call.method, call.path, error, pause_s)
            retries += 1
            self.pause(pause_s)

    def _attempt(self, call: Call, *, is_stream: bool) -> httpx2.Response:
        http = self._connections.http
        request = http.build_request(**call.request(self._key, self.options))
        try:
            answer = http.send(request, stream=is_stream, auth=None, follow_redirects=False)
            if not answer.is_success:
                answer.read()
        # Not as the cause: that one holds the request, and with it the key.
        except httpx2.TimeoutException as fault:
            raise TimedOut(self._told(call, fault), call.idempotency_key) from None
        except httpx2.RequestError as fault:
            raise ConnectionFailed(self._told(call, fault), call.idempotency_key) from None
        if not answer.is_success:
            answer.close()
            raise _wire.refusal(answer.status_code, answer.headers, answer.content, call.idempotency_key)
        watcher = self._watchers.get()
        if watcher is not None:
            watcher.append(answer)
        return answer

    def _told(self, call: Call, fault: Exception) -> str:
        asked = f"no answer from {self.options.url} to {call.method} {call.path}"
        return f"{asked}: {type(fault).__name__} {fault}".rstrip()
