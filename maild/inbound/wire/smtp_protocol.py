"""One SMTP connection below its conversation: transport, streams, TLS, timers. What is inside aiosmtpd and asyncio's
streams is known here and nowhere else; pyproject.toml pins aiosmtpd for it.

    arrive     a balancer's PROXY header, where one is due; TLS, where it comes first (RFC 8314 §3)
    greet      and then one command after the other, STARTTLS among them

aiosmtpd gives the transport and the stream. Its own conversation is not used: it reads a line into memory
before it looks at it, answers exceptions with their text, and counts nothing. A subclass has the conversation; it
gives the abstract methods, and calls what has a public name here.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from ssl import SSLContext, SSLError

from aiosmtpd.smtp import SMTP

from conf import unacknowledged
from maild.errors import SmtpError
from maild.inbound.wire.proxy_header import FIXED_OCTETS, ProxyHeaderError, read_head, read_source
from maild.inbound.wire.tls_layer import TlsLayer
from storage.turns.patient_timer import PatientTimer

STREAM_OCTETS = 64 * 1024  # the longest piece of DATA
END_OF_DATA = b"\r\n.\r\n"
FALSE_ENDS = (b"\n.\r\n", b"\n.\n", b"\r.\r")


class HandshakeFailed(Exception):
    """TLS did not come about. `reason`: OpenSSL's word for why, GIVEN_UP where we ended the connection (its time was
    over, as a rule), None where the peer did."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


class SmtpProtocol(SMTP, ABC):
    """`is_tls_first`: the client begins with the TLS handshake. `peer`: the client's IP address, without port or zone,
    until a balancer has told it that of the balancer; "unknown" where the connection was lost before it began.
    `octets`: how many came, in clear text. `has_said_all`: the client will say nothing any more.
    `is_encrypted`: TLS stands. `is_busy`, for the subclass to set: a message
    is being transferred or committed, so the command timer waits."""

    def __init__(
        self,
        hostname: str,
        tls: SSLContext,
        is_tls_first: bool,
        command_timeout_s: float,
        session_timeout_s: float,
        hang_up_s: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        # Not aiosmtpd's own __init__: it looks through all members of the instance for hooks that we don't have,
        # which cost more than the rest of a short session. This is what the methods that we keep need.
        reader = asyncio.StreamReader(limit=STREAM_OCTETS, loop=loop)
        asyncio.StreamReaderProtocol.__init__(self, reader, self._cb_client_connected, loop)
        self.loop = loop
        self.hostname = hostname
        self.tls_context = tls
        self.enable_SMTPUTF8 = True
        self.session = self.envelope = self.transport = None
        self._handle_hooks = {}
        self._timeout_duration = command_timeout_s
        self._timeout_handle = None
        self._tls_protocol = self._original_transport = self._handler_coroutine = None
        # From here on it is ours.
        self._is_tls_first = is_tls_first
        self._is_proxied = False
        self.peer = ""
        self.octets = 0
        self._held = b""  # replies that leave with the next one
        self.is_encrypted = self.is_busy = self.has_said_all = False
        self._session_timeout_s = session_timeout_s
        self._hang_up_s = hang_up_s
        self._active_at = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._abort: asyncio.TimerHandle | None = None

    # What a conversation is: commands in the connection's task, the others called back ---------------

    @abstractmethod
    def arrived(self) -> bool:
        """A client, or a balancer, connected; nothing was sent yet. True when `peer` is a balancer, whose header is to
        be read."""

    @property
    @abstractmethod
    def is_welcome(self) -> bool:
        """False: the session is refused by `greet`, and before TLS without a word."""

    @abstractmethod
    def greet(self) -> None:
        """The first reply."""

    @abstractmethod
    def begun(self) -> None:
        """The connection's task has begun."""

    @abstractmethod
    async def one_command(self) -> None:
        """The next command and its reply. An exception that leaves it ends the connection."""

    @abstractmethod
    def opened(self) -> None:
        """`peer` is the client."""

    @abstractmethod
    def not_proxied(self, reason: str) -> None:
        """The balancer did not send the header that it must; the connection is closed next."""

    @abstractmethod
    def place_to_decrypt(self, is_tiny: bool) -> "asyncio.Future[None] | None":
        """None: what came under TLS may be looked at now; else what is done when it may. `is_tiny`: were the last
        records?"""

    @abstractmethod
    def secured(self) -> None:
        """The TLS handshake succeeded (RFC 3207 §4.2: what was said before counts for nothing)."""

    @abstractmethod
    def not_secured(self, reason: str | None) -> None:
        """The TLS handshake failed (`HandshakeFailed.reason`); the connection is cut off next."""

    @property
    @abstractmethod
    def may_stay(self) -> bool:
        """Does a message get on, at a time when nobody needs the session's place? Then its time is not over."""

    @abstractmethod
    def timed_out(self) -> None:
        """No command came for the command's time, or the session's time is over."""

    @abstractmethod
    def failed(self) -> None:
        """A fault of ours, called while its exception is handled."""

    @abstractmethod
    def disconnected(self) -> None:
        """The connection was lost or closed; not called where the handshake failed."""

    @abstractmethod
    def ended(self) -> None:
        """Give back what the session holds, however it ended. Idempotent: it may be called twice."""

    # For the conversation --------------------------------------------------------------------

    @property
    def can_hear(self) -> bool:
        """Would the peer understand a reply? Not while it waits for TLS, and not once it is gone."""
        return self.is_open and (self.is_encrypted or not self._is_tls_first)

    @property
    def is_open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """What is done within runs to its end though the connection is lost; ConnectionError then, at its end."""
        instead = self.loop.create_future()
        # aiosmtpd cancels what stands there when the connection is lost, and does nothing else with it.
        self._handler_coroutine = instead  # type: ignore[assignment]
        try:
            yield
        finally:
            self._handler_coroutine = self._conversation
        if instead.cancelled():
            raise ConnectionResetError

    def active(self) -> None:
        """A command came: the command timer begins anew."""
        self._active_at = self.loop.time()

    async def read_line(self, limit: int) -> bytes:
        """The next line of at most `limit` octets, without its end; SmtpError for a longer one, which is skipped."""
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as overrun:
            await self._skip_line(overrun.consumed)
            raise SmtpError(500, "5.5.2", "line too long") from None
        if len(line) > limit:
            raise SmtpError(500, "5.5.2", "line too long")
        return line.rstrip(b"\r\n")

    async def _skip_line(self, octets: int) -> None:
        """Throw the rest of an endless line away, piece by piece; the session's deadline bounds it."""
        while True:
            await self._reader.readexactly(octets)
            try:
                await self._reader.readuntil(b"\n")
                return
            except asyncio.LimitOverrunError as overrun:
                octets = overrun.consumed

    async def pieces(self) -> AsyncIterator[bytes]:
        """The octets of DATA up to the final dot, in pieces of at most STREAM_OCTETS, never looking past it.

        The CRLF before the dot belongs to the message (RFC 5321 §4.1.1.4)."""
        # The CRLF that ended the DATA command serves an empty message as the one before its dot; asyncio
        # has no public way to put it back.
        self._reader._buffer[:0] = b"\r\n"  # type: ignore[attr-defined]
        skip = 2
        while True:
            try:
                piece = await self._reader.readuntil(END_OF_DATA)
            except asyncio.LimitOverrunError as overrun:
                piece = await self._reader.readexactly(overrun.consumed)
                yield piece[skip:]
                skip = 0
                continue
            yield piece[skip:-3]
            return

    @property
    def waits_at_false_dot(self) -> bool:
        """Is the last that came of DATA a dot alone in its line that ends nothing, since a CR or LF stands alone?"""
        came: bytearray = self._reader._buffer  # type: ignore[attr-defined]
        # A true end is there too, for as long as it was not this session's turn to read it.
        return came.endswith(FALSE_ENDS) and not came.endswith(END_OF_DATA)

    def write(self, line: str) -> None:
        """Write a reply without waiting for the client to read it."""
        held, self._held = self._held, b""
        self._writer.write(held + f"{line}\r\n".encode())

    async def push(self, status: str) -> None:  # type: ignore[override]  # aiosmtpd's STARTTLS replies by it, too
        """Write a reply, and wait until the client has read most of what was written."""
        self.write(status)
        await self.drain()

    async def push_with_next(self, line: str) -> None:
        """`push`, but where the client has sent its next command already, the reply leaves with that one's.

        For commands that RFC 2920 §3.2 allows it for."""
        if b"\n" in self._reader._buffer:  # type: ignore[attr-defined]
            self._held += f"{line}\r\n".encode()
        else:
            await self.push(line)

    async def drain(self) -> None:
        """Wait until the client has read most of what was written."""
        await self._writer.drain()

    async def start_tls(self) -> None:
        """Reply 220 and shake hands. What came in clear text behind the command is dropped (RFC 3207 §4.2)."""
        await self.push("220 Ready to start TLS")
        await self._shake_hands()

    async def _shake_hands(self) -> None:
        """Put TLS between the transport and us; HandshakeFailed."""
        assert self.tls_context is not None
        waiter = self.loop.create_future()
        protocol = TlsLayer(self.loop, self, self.tls_context, waiter, self.place_to_decrypt)
        self._tls_protocol = protocol
        plain = self._original_transport = self.transport
        assert plain is not None
        plain.set_protocol(protocol)
        self.transport = protocol._app_transport
        protocol.connection_made(plain)
        self._hand_over(protocol)
        try:
            await waiter
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise HandshakeFailed(error.reason if isinstance(error, SSLError) else None) from error
        finally:
            del waiter  # its exception knows this frame
        if plain.is_closing():  # asyncio tells it as a success where we closed the connection ourselves
            raise HandshakeFailed("GIVEN_UP")

    def _hand_over(self, protocol: TlsLayer) -> None:
        """What came before the handshake was begun: its first octets where TLS comes first, else nothing of worth."""
        already = bytes(self._reader._buffer)  # type: ignore[attr-defined]
        self._reader._buffer.clear()  # type: ignore[attr-defined]
        self._reader._maybe_resume_transport()  # type: ignore[attr-defined]
        if not self._is_tls_first:
            return
        while already:
            room = protocol.get_buffer(len(already))
            piece, already = already[: len(room)], already[len(room) :]
            room[: len(piece)] = piece
            protocol.buffer_updated(len(piece))

    def cipher(self) -> str | None:
        """TLS version and cipher suite as the log and the trace show them; None in clear text."""
        cipher = self.transport.get_extra_info("cipher") if self.transport is not None else None
        return f"{cipher[1]} {cipher[0]}" if cipher else None

    def take_time(self, command_timeout_s: float, session_timeout_s: float) -> None:
        """From now on the client may be silent for so long, and the session lasts so long."""
        self._timeout_duration = command_timeout_s
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(session_timeout_s, self._time_is_over)

    def give_up_unacknowledged(self, after_s: float) -> None:
        """Lose the connection when the client acknowledges nothing for so long; 0: when the kernel says so."""
        if self.transport is not None:
            unacknowledged.give_up(self.transport, after_s)

    def close(self) -> None:
        """Close when the client has read all that we said; it gets `hang_up_s` for that, not for ever."""
        if self.transport is not None:
            self.transport.close()
            if self._abort is None:
                self._abort = self.loop.call_later(self._hang_up_s, self._cut_off)

    # asyncio's callbacks, and what aiosmtpd does in them -----------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        is_first = self._original_transport is None
        if is_first:
            peer = transport.get_extra_info("peername")
            self.peer = peer[0] if peer else "unknown"
            self._is_proxied = self.arrived()
            if not self._is_proxied:
                self.opened()
            self._deadline = self.loop.call_later(self._session_timeout_s, self._time_is_over)
        super().connection_made(transport)
        if not is_first:
            self.is_encrypted = True
            self.secured()
            return
        assert self._handler_coroutine is not None
        self._conversation = self._handler_coroutine
        if not self._is_greeted_late:
            self.greet()  # here, and not in the task, which begins a pass of the event loop later

    def connection_lost(self, error: Exception | None) -> None:
        self._end()
        self.disconnected()
        super().connection_lost(error)
        self._conversation.add_done_callback(self._forget_conversation)

    def _cb_client_connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        super()._cb_client_connected(reader, writer)
        self._client_connected_cb = None  # it is called once, and knows the session

    def _forget_conversation(self, _: "asyncio.Task[None]") -> None:
        """Where it was cancelled, its exception knows the session too."""
        self._handler_coroutine = None
        del self._conversation
        self._forget_writer()

    def _forget_writer(self) -> None:
        """It knows the session: a circle, and what hangs on it, would be left to the collector of circles, which holds
        the event loop."""
        self._stream_writer = None
        del self._writer

    def data_received(self, data: bytes) -> None:
        self.octets += len(data)
        super().data_received(data)

    def eof_received(self) -> bool:
        """A client that has said everything may still listen: what it said is answered, then we close.

        aiosmtpd cancels the conversation here and leaves the socket, and its place, to the timer."""
        self.has_said_all = True
        self._reader.feed_eof()
        return self._tls_protocol is None  # a TLS transport can't stay half open

    @property
    def _is_greeted_late(self) -> bool:
        return self._is_proxied or self._is_tls_first

    async def _arrive(self) -> None:
        """What stands before the first command; HandshakeFailed, ProxyHeaderError."""
        if self._is_proxied and self.is_welcome:
            head = read_head(await self._reader.readexactly(FIXED_OCTETS))
            source = read_source(head, await self._reader.readexactly(head.more_octets))
            self.peer = source or self.peer
            self.opened()
        if self._is_tls_first and self.is_welcome:
            await self._shake_hands()
        if self._is_greeted_late:
            self.greet()

    async def _handle_client(self) -> None:
        try:
            self.begun()
            await self._arrive()
            while self.is_open:
                await self.one_command()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.close()  # the client is gone
        except ProxyHeaderError as error:
            self.not_proxied(str(error))
            self.close()
        except HandshakeFailed as error:
            self.not_secured(error.reason)
            self._cut_off()
        except Exception:
            self.failed()
        finally:
            if self._tls_protocol is not None and not self.is_encrypted:
                self._end()  # asyncio tells of a lost connection only those whose handshake succeeded
                self._forget_writer()

    def _end(self) -> None:
        """Leave no timer and give the place back; idempotent."""
        for timer in (self._deadline, self._abort, self._timeout_handle):
            if timer is not None:
                timer.cancel()
        self.ended()

    def _time_is_over(self) -> None:
        if self.may_stay:
            self._deadline = self.loop.call_later(self._timeout_duration, self._time_is_over)
        else:
            self.timed_out()

    def _cut_off(self) -> None:
        for transport in (self.transport, self._original_transport):  # the second one when there is TLS
            if transport is not None:
                transport.abort()  # type: ignore[attr-defined]  # every stream's has it

    def _reset_timeout(self, duration: float | None = None) -> None:
        # One timer that looks when it fires, instead of a new one for each command.
        self._active_at = self.loop.time()
        if self._timeout_handle is None:
            self._wait_for_silence(self._timeout_duration)

    def _wait_for_silence(self, seconds: float) -> None:
        # aiosmtpd cancels it, and does nothing else with it.
        self._timeout_handle = PatientTimer(seconds, self._timeout_cb)  # type: ignore[assignment]

    def _timeout_cb(self) -> None:
        silent_s = self.loop.time() - self._active_at
        # A transfer has its own watch: the command timer is about silence between commands.
        if not self.is_busy and silent_s >= self._timeout_duration:
            self.timed_out()
        else:
            self._wait_for_silence(self._timeout_duration - (0 if self.is_busy else silent_s))
