"""HTTP connections under watch: how many there may be, how slow a peer may be, and what it hears if it does
not speak HTTP.

aiohttp closes what idles between requests; it waits without end for the rest of a request's head, for its
body, and for a peer that does not read its answer. Each of these has a deadline here, looked at once
a second for all connections together, so that a request costs no timer of its own.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import structlog
from aiohttp import StreamReader, web
from aiohttp.http_exceptions import BadHttpMessage, InvalidURLError
from aiohttp.streams import EMPTY_PAYLOAD
from aiohttp.web_protocol import RequestHandler

from conf import unacknowledged
from conf.addresses import network_of, unmapped
from conf.log_events import LogEvent
from conf.settings import Http
from conf.strangers import StrangerLog
from conf.tuning import HttpTuning
from controlplane.contract.refusals import Refusal, bad_request
from controlplane.transport import responses
from controlplane.transport.proxies import Proxies
from storage.ids import Ids
from storage.turns.one_a_round import OneARound

log = structlog.get_logger("maild.api")

RETRY_AFTER_S = 5
_URL_UNREAD = "The URL can't be read: percent-encode blanks and what is not ASCII, such as %C3%BC for ü."
_FIELD_TWICE = (
    "A field of the header stands twice that may stand once, such as Content-Type: send one of them."
)
READ_BYTES = 4 * 1024  # what aiohttp may hold, twice, of a body that is not read
# Of any body aiohttp parses a sixteenth of READ_BYTES in chunks in one go, at some microseconds each. One whose chunks
# brought fewer octets than READ_BYTES goes on after a rest, else such bodies have the loop in each of its rounds, and
# threads that want the interpreter for each of their statements wait for a round each time.
TINY_REST_S = 0.005


class ClientConnection(RequestHandler):
    """One connection, and what is known of its pace."""

    def __init__(self, manager: web.Server, watch: "Watch", **settings: Any) -> None:
        super().__init__(manager, **settings)
        self._watch = watch
        self.peer = ""
        self.is_proxy = False
        self._received = 0
        self._head_begun = True  # a new connection owes us a request
        self._waits_for = "head"
        self._unsent = 0
        self._seen = 0  # bytes received when the present wait began
        self._since = watch.now()
        self._request: web.BaseRequest | None = None  # whose body is waited for, and since when
        self._body_began = 0.0
        self._taken = 0  # of an answer, when we began to look at its reader's pace
        self._taken_since: float | None = None
        self._when_lost: Callable[[], None] | None = None
        self._resumes = False
        self._content: StreamReader = EMPTY_PAYLOAD  # the newest body, perhaps of a request that was answered
        self._content_bytes = 0  # of it, when it was paused last

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Whatever the loop: uvloop's transports are not subclasses of asyncio's, and all of them can do this.
        here = cast(asyncio.Transport, transport)
        peername = here.get_extra_info("peername")
        self.peer = unmapped(peername[0]) if peername else ""
        self.is_proxy = self._watch.proxies.have(self.peer)
        if self._watch.opened(self):
            super().connection_made(here)
            return
        self._force_close = True  # what arrives is not even parsed
        here.write(self._watch.refusal(self.peer))
        # What comes behind a close is answered by a reset, before the refusal is read (RFC 9112 §9.6).
        if self._watch.hears_out(self, here):
            here.write_eof()
        else:
            here.close()

    def client(self, forwarded_for: str) -> str:
        """The address of who asks: the peer's or, where that is a proxy, the one that it names."""
        named = self._watch.proxies.client_in(forwarded_for) if self.is_proxy else None
        return named or self.peer

    @property
    def peername(self) -> str | None:
        """What `request.remote` is."""
        return self.peer or None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._watch.closed(self)
        super().connection_lost(exc)
        self._content, self._request = EMPTY_PAYLOAD, None  # what they were knows the connection
        if self._when_lost is not None:
            self._when_lost()

    def on_lost(self, act: Callable[[], None] | None) -> None:
        """Call this when the peer is gone, now if it is; None: do nothing any more."""
        self._when_lost = act
        if act is not None and (self.transport is None or self.transport.is_closing()):
            act()

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        is_idle = self._current_request is None
        super().data_received(data)
        if self._messages:  # at least one head is complete
            self._head_begun = False
            _, content = self._messages[-1]
            if content is not self._content:
                self._content, self._content_bytes = content, 0
        elif is_idle:
            self._head_begun = True

    def resume_reading(self, resume_parser: bool = True) -> None:
        """aiohttp resumes after each piece of a body that was taken, parses what had come in the meantime, and gives
        that to the same reader at once: a megabyte in chunks of one octet would be one piece of work."""
        if not resume_parser:  # the body has ended, and the parser is at work
            super().resume_reading(resume_parser)
        elif self._reading_paused and not self._resumes:
            self._resumes = True
            watch = self._watch
            line = watch.resting if self._came_in_tiny_chunks() else watch.resuming
            line.put(self.peer, self.go_on)

    def go_on(self) -> None:
        """Read again, after a pause."""
        self._resumes = False
        if self.transport is not None and self._reading_paused:
            super().resume_reading()

    def _came_in_tiny_chunks(self) -> bool:
        """Was reading paused for the number of the chunks, not for their octets?"""
        before, self._content_bytes = self._content_bytes, self._content.total_bytes
        return 0 < self._content_bytes - before < READ_BYTES

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """aiohttp's own errors, in our words: neither answer nor log has the parser's, which quote the peer."""
        request_id = self._watch.ids.new("req")
        if status == 400:
            error = _unread(exc)
            kind = type(exc).__name__
            self._watch.strangers.note(
                LogEvent.HTTP_MALFORMED, request_id=request_id, peer=self.peer, kind=kind
            )
        else:
            error = Refusal("internal_error", details={"requestId": request_id})
            log.error("request_failed", request_id=request_id, exc_info=exc)
        if request.writer.output_size > 0:
            raise ConnectionError("An answer was begun; another can't follow it")
        response = responses.refuse(error)
        response.headers.update({responses.REQUEST_ID: request_id, **responses.SERVER})
        response.force_close()
        return response

    def log_exception(self, *_: Any, **words: Any) -> None:
        log.error("http_connection_failed", peer=self.peer, exc_info=words.get("exc_info"))

    def look(self, now: float) -> None:
        """Cut the connection if its peer is too slow in what we wait for."""
        waits_for = self._waiting()
        if self._request is not self._current_request:
            self._request, self._body_began = self._current_request, now
        is_late = waits_for == "body" and now - self._body_began >= self._watch.body_timeout_s
        if is_late and self._watch.is_scarce:
            self._cut("body not complete in time")
            return
        unsent = self._not_taken()
        if self._takes_too_slowly(unsent, now):
            self._cut("answer taken too slowly")
            return
        if waits_for != self._waits_for or unsent != self._unsent:
            self._waits_for, self._unsent = waits_for, unsent
            self._seen, self._since = self._received, now
            return
        waited_s = now - self._since
        if unsent and waited_s >= self._watch.judged_over_s(self._watch.tuning.stalled_s):
            self._cut("answer not taken")
        elif waits_for == "head" and waited_s >= self._watch.header_timeout_s:
            self._cut("head of a request not complete")
        elif waits_for == "body" and waited_s >= self._watch.judged_over_s(self._watch.tuning.rate_window_s):
            if self._received - self._seen < self._watch.body_min_bytes_per_s * waited_s:
                self._cut("body too slow")
            self._seen, self._since = self._received, now

    def _not_taken(self) -> int:
        """Octets of answers that wait for their reader, what the kernel holds with them: it takes more of us when a
        third of that is gone, for which a slow line needs minutes."""
        transport = self.transport
        waiting = transport.get_write_buffer_size() if transport is not None else 0
        if transport is None or not waiting:
            return 0
        return waiting + unacknowledged.octets(transport)

    def _takes_too_slowly(self, unsent: int, now: float) -> bool:
        """Whether a reader of a long answer keeps less than the pace that is asked of a body."""
        request = self._current_request
        if request is None or not unsent:
            self._taken_since = None
            return False
        taken = request.writer.output_size - unsent
        window_s = self._watch.judged_over_s(self._watch.tuning.stalled_s)
        if self._taken_since is not None and now - self._taken_since < window_s:
            return False
        is_slow = self._taken_since is not None and (
            taken - self._taken < self._watch.body_min_bytes_per_s * (now - self._taken_since)
        )
        self._taken, self._taken_since = taken, now
        return is_slow

    def _waiting(self) -> str:
        """What this connection waits for: a `head`, a `body`, `us`, or the `next` request."""
        request = self._current_request
        if request is not None:
            return "us" if request.content.is_eof() else "body"
        # Between requests aiohttp's keep-alive time counts, until the next head begins.
        return "head" if self._head_begun else "next"

    def _cut(self, reason: str) -> None:
        self._watch.strangers.note(LogEvent.HTTP_CONNECTION_CUT, peer=self.peer, reason=reason)
        if self.transport is not None:
            self.transport.abort()


def _unread(exc: BaseException | None) -> Refusal:
    """What a peer is told whose request aiohttp's parser refused."""
    if isinstance(exc, InvalidURLError):
        return bad_request(_URL_UNREAD)
    if isinstance(exc, BadHttpMessage) and exc.message.startswith("Duplicate "):
        return bad_request(_FIELD_TWICE)
    return bad_request()


class HeardOut(NamedTuple):
    """A connection too many, which was answered and half closed."""

    transport: asyncio.Transport
    since: float


class Watch:
    """All connections: their number, in all and for one address (of IPv6 one /64), and their pace. Those too many are
    answered, and some of them listened to for a while, so that they take the answer."""

    def __init__(
        self,
        settings: Http,
        ids: Ids,
        strangers: StrangerLog,
        tuning: HttpTuning = HttpTuning(),
        is_memory_scarce: Callable[[], bool] = lambda: False,
    ) -> None:
        self.tuning = tuning
        self._is_memory_scarce = is_memory_scarce
        self.ids = ids
        self.strangers = strangers
        self.header_timeout_s = settings.header_timeout_s
        self.body_min_bytes_per_s = settings.body_min_bytes_per_s
        self.body_timeout_s = settings.body_timeout_s
        self.proxies = Proxies(settings.proxy_from)
        self.most = settings.max_connections
        self._max_per_address = settings.max_connections_per_address
        self._connections: set[ClientConnection] = set()
        self._refused: dict[ClientConnection, HeardOut] = {}
        self._per_address: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None
        # Paused connections that may go on. Each parses as much as READ_BYTES and request_bodies.PIECE_BYTES allow.
        self.resuming = OneARound()
        self.resting = OneARound(TINY_REST_S)

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    @property
    def is_scarce(self) -> bool:
        """May others need what a slow client has? While half of the connections is free, and of the memory, a line that
        is slow or stood still for a while gets on."""
        return 2 * self.open >= self.most or self._is_memory_scarce()

    def judged_over_s(self, scarce_s: float) -> float:
        """How long a client may do nothing; `scarce_s` where others may need what it has."""
        return scarce_s if self.is_scarce else max(scarce_s, self.tuning.patient_s)

    @property
    def open(self) -> int:
        """How many connections count at the moment."""
        return len(self._connections)

    def start(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self.tuning.look_s, self._look)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def opened(self, connection: ClientConnection) -> bool:
        """Count it; False, and it is not counted, when it is one too many."""
        address = network_of(connection.peer)
        has_share = self.proxies.have(connection.peer) or self._per_address[address] < self._max_per_address
        if len(self._connections) >= self.most or not has_share:
            return False
        self._connections.add(connection)
        self._per_address[address] += 1
        return True

    def refusal(self, peer: str) -> bytes:
        """What a connection too many hears."""
        request_id = self.ids.new("req")
        self.strangers.note(LogEvent.HTTP_CONNECTION_REFUSED, request_id=request_id, peer=peer)
        error = Refusal(
            "provider_unavailable",
            "Too many connections; try again later.",
            retry_after_s=RETRY_AFTER_S,
        )
        return responses.refusal_octets(error, "Service Unavailable", request_id)

    def hears_out(self, refused: ClientConnection, transport: asyncio.Transport) -> bool:
        """Whether a connection too many may stay until its peer has sent what it has to say, which nobody reads."""
        if len(self._refused) >= min(self.tuning.heard_out, self.most):
            return False
        self._refused[refused] = HeardOut(transport, self.now())
        return True

    def closed(self, connection: ClientConnection) -> None:
        self._refused.pop(connection, None)
        if connection in self._connections:
            self._connections.remove(connection)
            address = network_of(connection.peer)
            self._per_address[address] -= 1
            if not self._per_address[address]:
                del self._per_address[address]

    def _look(self) -> None:
        now = self.now()
        for connection in list(self._connections):
            connection.look(now)
        for one in list(self._refused.values()):
            if now - one.since >= self.tuning.heard_out_s:
                one.transport.abort()
        self.start()


def connection_of(request: web.BaseRequest) -> ClientConnection:
    """The one on which the request came."""
    return cast(ClientConnection, request.protocol)
