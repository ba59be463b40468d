"""uvloop's loop, but that no address is looked for on libuv's threads.

libuv begins four of them when it needs the first, whenever that is, and ends the process (SIGABRT) where the system has
no room for them. They would be for nothing: who is called is an address already, as names are maild.resolver's. uvloop
knows one by itself where it is told the kind of socket, which its own `sock_connect` does not tell.
"""

import socket
from typing import Any

import uvloop


class EventLoop(uvloop.Loop):
    """Who asks for no kind of socket is told of streams."""

    async def getaddrinfo(self, host: Any, port: Any, *, type: int = 0, **more: int) -> list[Any]:
        return await super().getaddrinfo(host, port, type=type or socket.SOCK_STREAM, **more)
