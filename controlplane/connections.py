"""HTTP connections under watch: how many there may be, and how slow a peer may be.

aiohttp closes what idles between requests; it waits without end for the rest of a request's head, for its
body, and for a peer that does not read its answer. Each of these has a deadline here, looked at once
a second for all connections together, so that a request costs no timer of its own.
"""

import asyncio
from collections import Counter
from typing import Any

import structlog
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from conf.settings import Http

log = structlog.get_logger("maild.api")

LOOK_S = 1.0
RATE_WINDOW_S = 10.0
STALLED_S = 30.0  # a peer that takes nothing of its answer for so long
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Retry-After: 5\r\nContent-Length: %d\r\n\r\n%s"
)
_BUSY_BODY = b'{"error":{"code":"provider_unavailable","message":"Too many connections; try again later."}}'


class Connection(RequestHandler):
    """One connection, and what is known of its pace."""

    def __init__(self, manager: web.Server, watch: "Watch", **settings: Any) -> None:
        super().__init__(manager, **settings)
        self._watch = watch
        self.peer = ""
        self._received = 0
        self._head_begun = True  # a new connection owes us a request
        self._waits_for = "head"
        self._unsent = 0
        self._seen = 0  # bytes received when the present wait began
        self._since = watch.now()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peername = transport.get_extra_info("peername")
        self.peer = peername[0] if peername else ""
        super().connection_made(transport)
        # aiohttp's own attribute: uvloop's transports are of no class of asyncio's.
        if not self._watch.opened(self) and self.transport is not None:
            self.transport.write(_BUSY % (len(_BUSY_BODY), _BUSY_BODY))
            self.transport.close()

    def connection_lost(self, exc: BaseException | None) -> None:
        self._watch.closed(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        is_idle = self._current_request is None
        super().data_received(data)
        if self._messages:  # at least one head is complete
            self._head_begun = False
        elif is_idle:
            self._head_begun = True

    def look(self, now: float) -> None:
        """Cut the connection if its peer is too slow in what we wait for."""
        waits_for = self._waiting()
        unsent = self.transport.get_write_buffer_size() if self.transport else 0
        if waits_for != self._waits_for or unsent != self._unsent:
            self._waits_for, self._unsent = waits_for, unsent
            self._seen, self._since = self._received, now
            return
        waited_s = now - self._since
        if unsent and waited_s >= STALLED_S:
            self._cut("answer not taken")
        elif waits_for == "head" and waited_s >= self._watch.header_timeout_s:
            self._cut("head of a request not complete")
        elif waits_for == "body" and waited_s >= RATE_WINDOW_S:
            if self._received - self._seen < self._watch.body_min_bytes_per_s * waited_s:
                self._cut("body too slow")
            self._seen, self._since = self._received, now

    def _waiting(self) -> str:
        """What this connection waits for: a `head`, a `body`, `us`, or the `next` request."""
        request = self._current_request
        if request is not None:
            return "us" if request.content.is_eof() else "body"
        # Between requests aiohttp's keep-alive time counts, until the next head begins.
        return "head" if self._head_begun else "next"

    def _cut(self, reason: str) -> None:
        log.info("http_connection_cut", peer=self.peer, reason=reason)
        if self.transport is not None:
            self.transport.abort()


class Watch:
    """All connections: their number, in all and for one address, and their pace."""

    def __init__(self, settings: Http) -> None:
        self.header_timeout_s = settings.header_timeout_s
        self.body_min_bytes_per_s = settings.body_min_bytes_per_s
        self._max = settings.max_connections
        self._max_per_address = settings.max_connections_per_address
        self._connections: set[Connection] = set()
        self._per_address: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def start(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def opened(self, connection: Connection) -> bool:
        """Count it; False when it is one too many."""
        self._connections.add(connection)
        self._per_address[connection.peer] += 1
        if len(self._connections) > self._max:
            return False
        # From this host come a proxy's connections, which are everybody's.
        return _is_local(connection.peer) or self._per_address[connection.peer] <= self._max_per_address

    def closed(self, connection: Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
            self._per_address[connection.peer] -= 1
            if not self._per_address[connection.peer]:
                del self._per_address[connection.peer]

    def _look(self) -> None:
        now = self.now()
        for connection in list(self._connections):
            connection.look(now)
        self.start()


def _is_local(peer: str) -> bool:
    return peer.startswith("127.") or peer in ("::1", "")
