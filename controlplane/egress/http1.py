"""HTTP/1.1 as a client of small requests that wants the beginning of the answer (RFC 9112). No policy, no dials.

A general client costs more than everything else in a delivery together; llhttp reads the answers here, and what
is left for us are the rules around it:
- One exchange at a time. What arrives when nothing was asked, or behind a whole answer, ends the connection.
- At most `ANSWER_BYTES_MAX` bytes of a body are kept; what is longer counts as whole, and ends the connection.
- A head takes at most `HEAD_BYTES_MAX`, what is wrapped around a body no more; bodies are as sent, never inflated.
- Each exchange has a deadline, which its answer must meet with its last byte.
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import httptools

from storage.turns.patient_timer import PatientTimer

ANSWER_BYTES_MAX = 64 * 1024
HEAD_BYTES_MAX = 64 * 1024  # with all heads of 1xx before it
WIRE_BYTES_MAX = HEAD_BYTES_MAX + ANSWER_BYTES_MAX


class HttpResponse(NamedTuple):
    """`body`: its first ANSWER_BYTES_MAX bytes, as sent. `is_whole`: False where it was cut, or only the end of the
    connection tells its end. `content_type`: the last such field, as sent."""

    status: int
    body: bytes
    is_whole: bool = True
    content_type: str = ""


class NoResponse(Exception):
    """There was no whole answer; `reason` is ours, never words of the far end."""

    reason: str


class Closed(NoResponse):
    """Before the first byte of an answer; a kept-open connection may end so at any moment (RFC 9112 §9.3.1)."""

    reason = "the connection was closed before an answer"


class BrokenOff(NoResponse):
    """After the first byte of an answer, and before its end."""

    reason = "the answer broke off"


class NotHttp(NoResponse):
    """The answer breaks RFC 9112, or its head is too large."""

    reason = "the answer is not valid HTTP"


class TooLate(NoResponse):
    """The time of the call was over before the whole answer had come."""

    reason = "timeout"


def post(target: str, fields: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """The bytes of a POST. `target`: path and query, percent-encoded. ValueError for what is not a header field."""
    return _request("POST", target, [*fields, ("Content-Length", str(len(body)))]) + body


def get(target: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """The bytes of a GET, otherwise as `post`."""
    return _request("GET", target, fields)


def _request(method: str, target: str, fields: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    head = "\r\n".join(lines)
    if head.count("\n") >= len(lines) or head.count("\r") >= len(lines) or "\0" in head:
        raise ValueError("a header field holds a line end or NUL")  # RFC 9110 §5.5
    return head.encode("ascii") + b"\r\n\r\n"


class EndpointConnection(asyncio.Protocol):
    """The protocol of a connected transport. A caller waits for the answer before it asks again."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None  # uvloop's TLS transport is not an asyncio.Transport
        self._is_open = False
        self._parser: httptools.HttpResponseParser  # as long as it is connected: it knows the connection
        self._waiting: asyncio.Future[HttpResponse] | None = None
        self._deadline: PatientTimer | None = None
        self._forget()

    @property
    def is_idle(self) -> bool:
        """May it be asked? Not once the far end, or we, began to close it."""
        return self._is_open and self._waiting is None

    def ask(self, request: bytes, deadline_s: float) -> asyncio.Future[HttpResponse]:
        """Send the request at once; its response, or a NoResponse, at the loop's time `deadline_s` at the latest."""
        self._forget()
        self._waiting = answer = self._loop.create_future()
        self._deadline = PatientTimer(deadline_s - self._loop.time(), partial(self._fail, TooLate))
        if self._is_open:
            self._transport.write(request)
        else:
            self._fail(Closed)
        return answer

    def close(self) -> None:
        """A caller that waits hears that it was closed. Nothing of the far end is waited for."""
        self._fail(Closed)

    def _forget(self) -> None:
        self.status: int | None = None  # of an answer whose head has come
        self._body = bytearray()
        self._head_bytes = 0
        self._wire_bytes = 0
        self._is_framed = False
        self._content_type = b""

    # What the transport says -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._is_open = True
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_optional_cr_before_lf=True,  # RFC 9112 §2.2: a lone LF may end a line
            lenient_headers=True,  # §5.2: a line may be folded; what is in it is of no concern here
            lenient_spaces_after_chunk_size=True,  # old servers fill it up to a fixed width
        )

    def data_received(self, data: bytes) -> None:
        if self._waiting is None:
            self._fail(NotHttp)
            return
        self._wire_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            raise  # a fault of ours
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(NotHttp)
        if self.status is None and self._wire_bytes > HEAD_BYTES_MAX:
            self._fail(NotHttp)
        elif self._wire_bytes > WIRE_BYTES_MAX:
            self._succeed(keep=False, is_whole=False)

    def eof_received(self) -> None:
        self._at_end()

    def connection_lost(self, error: Exception | None) -> None:
        self._at_end()
        del self._parser

    def _at_end(self) -> None:
        if self.status is None:
            self._fail(NotHttp if self._wire_bytes else Closed)
        elif self._is_framed:
            self._fail(BrokenOff)
        else:  # RFC 9112 §6.3: its end is that of the connection
            self._succeed(keep=False, is_whole=False)

    # What the parser says --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._is_framed = False
        self._content_type = b""
        if self._waiting is None:  # RFC 9112 §9.2: an answer to no request
            self._fail(NotHttp)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > HEAD_BYTES_MAX:
            self._fail(NotHttp)
        lower = name.lower()
        if lower == b"content-length":
            self._is_framed = True
        elif lower == b"transfer-encoding":
            # RFC 9112 §6.3: what is not chunked last ends with the connection.
            self._is_framed = value.rstrip(b" ").lower().endswith(b"chunked")
        elif lower == b"content-type":
            self._content_type = value

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 100:  # RFC 9110 §15: of no class
            self._fail(NotHttp)
        elif status >= 200 and self._waiting is not None:  # §15.2: any number of 1xx may come before
            self.status = status

    def on_body(self, body: bytes) -> None:
        self._body += body
        if len(self._body) >= ANSWER_BYTES_MAX:
            self._succeed(keep=False, is_whole=False)

    def on_message_complete(self) -> None:
        if self.status is not None:
            self._succeed(keep=self._parser.should_keep_alive(), is_whole=True)

    # What follows ----------------------------------------------------------------------------

    def _succeed(self, *, keep: bool, is_whole: bool) -> None:
        answer = self._settle(keep=keep)
        if answer is not None:
            assert self.status is not None
            body, content_type = bytes(self._body[:ANSWER_BYTES_MAX]), self._content_type.decode("latin-1")
            answer.set_result(HttpResponse(self.status, body, is_whole, content_type))

    def _fail(self, failure: type[NoResponse]) -> None:
        answer = self._settle(keep=False)
        if answer is not None:
            answer.set_exception(failure())

    def _settle(self, *, keep: bool) -> asyncio.Future[HttpResponse] | None:
        """What is to hear of the end of the exchange; None when there is no listener."""
        answer, self._waiting = self._waiting, None
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._is_open and not keep:
            self._is_open = False
            self._transport.abort()
        return None if answer is None or answer.done() else answer
