"""A server whose connections wait for their turns, which its owner gives.

The event loop's own servers begin one connection in a round, in the order in which they came: who comes behind fifty of
one stranger waits for fifty rounds before anything is said. Here all that have come are accepted at once, which costs
next to nothing, and each begins when it has its place.

While `WAITING_MAX` wait, nothing is accepted, and the kernel's backlog keeps the others. Where the process or the
system is out of descriptors or memory, accepting rests for `REST_S`: an event loop of its own would ask for what it
can't have again and again, with all of its time.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from storage.exhaustion import WantLog, is_exhaustion

want = WantLog("connections")

BACKLOG = 512
ACCEPTED_AT_ONCE = 64
WAITING_MAX = 512
REST_S = 1.0


class FairServer:
    """`connect`: makes the protocol of a connection. `place`: None where one from this address may begin now, else
    what is done when it may.

    Called on the event loop."""

    def __init__(
        self,
        connect: Callable[[], asyncio.BaseProtocol],
        place: "Callable[[str], asyncio.Future[None] | None]",
    ) -> None:
        self._connect = connect
        self._place = place
        self._waiting: set[asyncio.Future[None]] = set()
        self._rest: asyncio.TimerHandle | None = None
        self._is_accepting = False
        self.sockets: tuple[socket.socket, ...] = ()

    async def listen(self, host: str, port: int) -> None:
        """On all addresses of the host; port 0: any. OSError when that is not possible."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        bound: list[socket.socket] = []
        try:
            for family, _, _, _, address in dict.fromkeys(found):
                bound.append(socket.create_server(address, family=family, backlog=BACKLOG))
        except OSError:
            for one in bound:
                one.close()
            raise
        self.begin(bound)

    def begin(self, bound: Sequence[socket.socket]) -> None:
        """On sockets that are bound, which are closed with the server. OSError."""
        for one in bound:
            one.setblocking(False)
            one.listen(BACKLOG)
        self.sockets = tuple(bound)
        self._go_on()

    async def close(self) -> None:
        """Accept nothing more, and close what waits; what has begun goes on."""
        self._stop()
        for one in self.sockets:
            one.close()
        self.sockets = ()
        if self._waiting:
            await asyncio.wait(self._waiting)

    def _go_on(self) -> None:
        self._rest, self._is_accepting = None, True
        for one in self.sockets:
            asyncio.get_running_loop().add_reader(one, self._accept, one)

    def _stop(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._rest, self._is_accepting = None, False
        for one in self.sockets:
            asyncio.get_running_loop().remove_reader(one)

    def _accept(self, listening: socket.socket) -> None:
        try:
            for _ in range(min(ACCEPTED_AT_ONCE, WAITING_MAX - len(self._waiting))):
                self._accept_one(listening)
        except BlockingIOError:
            return
        except (OSError, MemoryError) as error:
            if is_exhaustion(error):
                want.note(error)
                self._stop()
                self._rest = asyncio.get_running_loop().call_later(REST_S, self._go_on)
            return  # else one that was gone before it was accepted, of which accept(2) tells
        if len(self._waiting) >= WAITING_MAX:
            self._stop()

    def _accept_one(self, listening: socket.socket) -> None:
        connection, address = listening.accept()
        begin = partial(self._begin, connection)
        if (called := self._place(address[0])) is None:
            begin()
        else:
            self._wait(called, begin)

    def _begin(self, connection: socket.socket) -> None:
        if self.sockets:
            beginning = asyncio.get_running_loop().connect_accepted_socket(self._connect, connection)
            self._step(beginning, connection)
        else:
            connection.close()

    def _step(self, beginning: Coroutine[Any, None, object], connection: socket.socket) -> None:
        """As a task would, which takes the first step a pass of the event loop later: all that the peer hears waits."""
        try:
            awaited = beginning.send(None)
        except StopIteration:
            return
        except (OSError, MemoryError):  # the peer is gone, or there is no room for it
            connection.close()
            return
        self._wait(awaited, partial(self._step, beginning, connection))

    def _wait(self, called: "asyncio.Future[None]", go_on: Callable[[], None]) -> None:
        self._waiting.add(called)
        called.add_done_callback(lambda _: go_on())
        called.add_done_callback(self._waited)

    def _waited(self, called: "asyncio.Future[None]") -> None:
        self._waiting.discard(called)
        if self.sockets and not self._is_accepting and self._rest is None:
            self._go_on()
