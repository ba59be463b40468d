"""One SMTP session: commands, their order, and their limits (RFC 5321, 1870, 2034, 2920, 3207, 6152, 6531).

aiosmtpd gives the transport, the stream and STARTTLS. The conversation is ours: its own reader reads a
line into memory before it looks at it, answers exceptions with their text, and counts nothing.

Who may do what: nobody may relay; a recipient is an inbox of ours or refused. What a peer does wrong
costs it an error reply; too much of that, and 421 ends the session. Once DATA has ended, the commit runs
to its end even if the peer hangs up (it may have counted on the 250), and 250 is sent only after it.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any, Protocol

import structlog
from aiosmtpd.smtp import SMTP, TLSSetupException
from structlog.contextvars import bind_contextvars
from structlog.typing import FilteringBoundLogger

from conf.log_events import LogEvent, clean, tell
from conf.settings import Smtp
from conf.strangers import StrangerLog
from maild.errors import SmtpError, unavailable
from maild.inbound.accept import InboundEnvelope
from maild.inbound.intake import Intake
from maild.message.address import AddressSyntaxError, parse_path
from storage.blobs import Stored
from storage.inboxes import RecipientInbox

log = structlog.get_logger("maild.smtp")

COMMAND_LINE_OCTETS = 4096  # RFC 5321 §4.5.3.1.4 asks for 512, RFC 6531 and long paths for more
DATA_PIECE_OCTETS = 64 * 1024
TOLD_RECIPIENTS = 10  # of a refused message, in the log
DRAIN_FACTOR = 2  # an oversized message is read to this many times the limit, then cut off
RATE_CHECK_S = 10
AVERAGE_CHECKS = 12  # the average is that of two minutes
HANG_UP_S = 10  # for a peer to read our last reply
END_OF_DATA = b"\r\n.\r\n"
# 8-bit and UTF-8 mail is taken as it comes, announced or not (RFC 6152, RFC 6531).
_WITHOUT_EFFECT = {("BODY", "7BIT"), ("BODY", "8BITMIME"), ("SMTPUTF8", "")}
_SIZE = re.compile(r"[0-9]{1,20}")  # RFC 1870 §4
_HELO = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")

Handler = Callable[["Session", bytes], Awaitable[None]]


class Host(Protocol):
    """What a session asks of the listener and the rooms behind it."""

    strangers: StrangerLog
    log: FilteringBoundLogger

    def new_id(self) -> str: ...
    async def find_mailbox(self, address: str) -> RecipientInbox | None: ...
    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> str: ...
    def intake(self, peer: str, declared_bytes: int) -> Intake: ...
    def refuse_message(self, size_bytes: int) -> SmtpError | None: ...
    def message_ended(self) -> None: ...
    def opened(self, session: "Session") -> SmtpError | None: ...
    def closed(self, session: "Session") -> None: ...
    def finish(self, work: "asyncio.Task[str]") -> None: ...


@dataclass(slots=True)
class MailTransaction:
    """From MAIL to the end of DATA."""

    mail_from: str
    recipients: list[tuple[str, RecipientInbox]]
    declared_bytes: int


class Session(SMTP):
    def __init__(
        self, host: Host, limits: Smtp, hostname: str, tls: SSLContext, loop: asyncio.AbstractEventLoop
    ) -> None:
        # Not aiosmtpd's own __init__: it looks through all members of the instance for hooks that we don't have,
        # which cost more than the rest of a short session. This is what the methods that we keep need.
        reader = asyncio.StreamReader(limit=DATA_PIECE_OCTETS, loop=loop)
        asyncio.StreamReaderProtocol.__init__(self, reader, self._cb_client_connected, loop)
        self.loop = loop
        self.hostname = hostname
        self.tls_context = tls
        self.enable_SMTPUTF8 = True
        self.session = self.envelope = self.transport = None
        self._handle_hooks = {}
        self._timeout_duration = limits.command_timeout_s
        self._timeout_handle = None
        self._tls_protocol = self._original_transport = self._handler_coroutine = None
        self._host = host
        self._limits = limits
        self._helo: str | None = None
        self._extended = False
        self._mail: MailTransaction | None = None
        self._active_at = 0.0
        self._errors = self._junk = self._unknown = 0
        self._in_data = self._is_encrypted = False
        self._received = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._abort: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._marks: deque[int] = deque()  # what had come at the last checks of the rate
        self._refusal: SmtpError | None = None
        self.peer = ""
        self.id = ""
        self._verb = ""  # of the command that is being answered, and what it is about:
        self._about: MailTransaction | None = None
        self._address = ""

    # Life ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self._original_transport is None:
            peer = transport.get_extra_info("peername")
            self.peer = peer[0] if peer else "unknown"
            self.id = self._host.new_id()
            tell(self._host.log, LogEvent.CONNECTED, session=self.id, peer=self.peer)
            self._refusal = self._host.opened(self)
            self._deadline = self.loop.call_later(self._limits.session_timeout_s, self._expire)
        else:
            self._is_encrypted = True
            cipher = _cipher(transport)
            tell(self._host.log, LogEvent.TLS_STARTED, session=self.id, peer=self.peer, tls=cipher)
            # RFC 3207 §4.2: what was said before TLS counts for nothing.
            self._helo = self._mail = None
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._end()
        tell(self._host.log, LogEvent.DISCONNECTED, session=self.id, peer=self.peer, octets=self._received)
        super().connection_lost(error)

    def _end(self) -> None:
        """Leave no timer and give the place back; idempotent."""
        for timer in (self._deadline, self._abort, self._timeout_handle):
            if timer is not None:
                timer.cancel()
        self._stop_watch()
        self._host.closed(self)

    def eof_received(self) -> bool:
        """A peer that has said everything may still listen: what it said is answered, then we close.

        aiosmtpd cancels the conversation here and leaves the socket, and its place, to the timer."""
        self._reader.feed_eof()
        return self._tls_protocol is None  # a TLS transport can't stay half open

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def _reset_timeout(self, duration: float | None = None) -> None:
        # One timer that looks when it fires, instead of a new one for each command.
        self._active_at = self.loop.time()
        if self._timeout_handle is None:
            self._timeout_handle = self.loop.call_later(self._timeout_duration, self._timeout_cb)

    def _timeout_cb(self) -> None:
        silent_s = self.loop.time() - self._active_at
        # A transfer has its own watch: the command timer is about silence between commands.
        if not self._in_data and silent_s >= self._timeout_duration:
            self._expire()
        else:
            wait_s = self._timeout_duration if self._in_data else self._timeout_duration - silent_s
            self._timeout_handle = self.loop.call_later(wait_s, self._timeout_cb)

    def _expire(self) -> None:
        self.hang_up(SmtpError(421, "4.4.2", "timeout, closing connection"))

    def hang_up(self, reply: SmtpError) -> None:
        """Say why, and close (RFC 5321 §3.8)."""
        if self.transport is not None and not self.transport.is_closing():
            self._write(reply)
            self._close()

    @property
    def is_busy(self) -> bool:
        """Is a message being transferred or committed?"""
        return self._in_data

    # The conversation ------------------------------------------------------------------------

    async def _handle_client(self) -> None:
        bind_contextvars(session=self.id)  # for all lines of this task, and of the commit that it begins
        try:
            if self._refusal is not None:
                self.hang_up(self._refusal)
                return
            await self.push(f"220 {self.hostname} ESMTP maild")
            while self.transport is not None and not self.transport.is_closing():
                await self._one_command()
        except (asyncio.IncompleteReadError, ConnectionError):
            self._close()  # the peer is gone
        except TLSSetupException:
            self._host.strangers.note(LogEvent.TLS_FAILED, session=self.id, peer=self.peer)
            self._cut_off()
        except Exception:
            log.exception("session_failed", peer=self.peer)
            self.hang_up(SmtpError(421, "4.3.0", "local error, closing connection"))
        finally:
            if self._tls_protocol is not None and not self._is_encrypted:
                self._end()  # asyncio tells of a lost connection only those whose handshake succeeded

    async def _one_command(self) -> None:
        self._verb, self._address, self._about = "", "", self._mail
        try:
            line = await self._read_line()
            verb, _, argument = line.partition(b" ")
            handler = COMMANDS.get(verb.upper())
            if handler is None:
                raise self._junk_error()
            self._verb = verb.decode().upper()
            self._reset_timeout()
            await handler(self, argument.strip())
        except SmtpError as error:
            self._errors += 1
            if error.closes or self._errors > self._limits.max_errors:
                self._write(error)
                too_many = SmtpError(421, "4.7.0", "too many errors, closing connection")
                self.hang_up(too_many) if not error.closes else self._close()
                return
            self._write(error)
            await self._writer.drain()

    async def _read_line(self) -> bytes:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError as overrun:
            await self._skip_line(overrun.consumed)
            raise SmtpError(500, "5.5.2", "line too long") from None
        if len(line) > COMMAND_LINE_OCTETS:
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

    def _junk_error(self) -> SmtpError:
        self._errors -= 1  # junk has a limit of its own
        self._junk += 1
        if self._junk > self._limits.max_junk_commands:
            return SmtpError(421, "4.7.0", "too many unrecognized commands, closing connection", closes=True)
        return SmtpError(500, "5.5.1", "command not recognized")

    def _write(self, reply: SmtpError) -> None:
        self._tell_refused(reply)
        self._writer.write(f"{reply.code} {reply.enhanced} {reply.text}\r\n".encode())

    def _tell_refused(self, reply: SmtpError) -> None:
        """What was asked is told as far as it was understood: what was not may be a password, or part of a mail."""
        about: dict[str, Any] = {}
        if self._verb:
            about["command"] = self._verb
        if self._helo is not None:
            about["helo"] = self._helo
        if self._about is not None:
            about["mail_from"] = self._about.mail_from
        if self._address:
            about["recipient"] = self._address
        elif self._about is not None and self._verb == "DATA":
            recipients = [address for address, _ in self._about.recipients]
            about |= {"recipients": recipients[:TOLD_RECIPIENTS], "recipient_count": len(recipients)}
        self._host.strangers.note(
            LogEvent.REFUSED,
            session=self.id,
            peer=self.peer,
            code=reply.code,
            enhanced=reply.enhanced,
            reason=clean(reply.text),
            **about,
        )

    def _close(self) -> None:
        """Close when the peer has read all that we said; it gets a while for that, not for ever."""
        if self.transport is not None:
            self.transport.close()
            if self._abort is None:
                self._abort = self.loop.call_later(HANG_UP_S, self._cut_off)

    def _cut_off(self) -> None:
        for transport in (self.transport, self._original_transport):  # the second one when there is TLS
            if transport is not None:
                transport.abort()  # type: ignore[attr-defined]  # every stream's has it

    # Commands --------------------------------------------------------------------------------

    async def _ehlo(self, argument: bytes) -> None:
        self._greet(argument)
        lines = [
            self.hostname,
            f"SIZE {self._limits.max_message_bytes}",
            "8BITMIME",
            "SMTPUTF8",
            "PIPELINING",
        ]
        if self._tls_protocol is None:
            lines.append("STARTTLS")
        lines.append("ENHANCEDSTATUSCODES")
        self._extended = True
        *others, last = lines
        await self.push("".join(f"250-{line}\r\n" for line in others) + f"250 {last}")

    async def _helo_(self, argument: bytes) -> None:
        self._greet(argument)
        self._extended = False
        await self.push(f"250 {self.hostname}")

    def _greet(self, argument: bytes) -> None:
        name = argument.decode("ascii", "replace")
        if not _HELO.fullmatch(name):
            raise SmtpError(501, "5.5.4", "give your host name or address literal")
        if self._helo is not None:
            self._count_idle()
        self._helo, self._mail = name, None

    async def _mail_from(self, argument: bytes) -> None:
        if self._helo is None:
            raise SmtpError(503, "5.5.1", "say HELO or EHLO first")
        if self._mail is not None:
            raise SmtpError(503, "5.5.1", "sender already given")
        address, parameters = self._path(argument, b"FROM:", "MAIL FROM:<address>")
        size = self._check_mail_parameters(parameters)
        if size > self._limits.max_message_bytes:  # RFC 1870 §6.1
            raise SmtpError(552, "5.3.4", f"message is larger than {self._limits.max_message_bytes} octets")
        refusal = self._host.refuse_message(size)
        if refusal is not None:
            raise refusal
        self._mail = MailTransaction(address, [], size)
        await self.push("250 2.1.0 OK")

    def _path(self, argument: bytes, keyword: bytes, syntax: str) -> tuple[str, Mapping[str, str | None]]:
        if argument[: len(keyword)].upper() != keyword:
            raise SmtpError(501, "5.5.4", f"syntax: {syntax}")
        try:
            path = parse_path(argument[len(keyword) :].strip(), smtputf8=True)
        except AddressSyntaxError as error:
            raise SmtpError(501, "5.1.3" if keyword == b"TO:" else "5.1.7", str(error)) from error
        return path.address, path.parameters

    def _check_mail_parameters(self, parameters: Mapping[str, str | None]) -> int:
        """The declared size (0 when none was); unknown parameters are refused (RFC 5321 §4.1.1.11)."""
        size = 0
        for keyword, value in parameters.items():
            if keyword == "SIZE" and value is not None and _SIZE.fullmatch(value):
                size = int(value)
            elif keyword not in ("SIZE", "BODY", "SMTPUTF8"):
                raise SmtpError(555, "5.5.4", "parameter not implemented")
            elif (keyword, (value or "").upper()) not in _WITHOUT_EFFECT:
                raise SmtpError(501, "5.5.4", f"bad value of {keyword}")
        return size

    async def _rcpt_to(self, argument: bytes) -> None:
        if self._mail is None:
            raise SmtpError(503, "5.5.1", "say MAIL first")
        address, parameters = self._path(argument, b"TO:", "RCPT TO:<address>")
        self._address = address
        if parameters:
            raise SmtpError(555, "5.5.4", "parameter not implemented")
        if len(self._mail.recipients) >= self._limits.max_recipients:  # RFC 5321 §4.5.3.1.10
            raise SmtpError(452, "4.5.3", "too many recipients, send the rest in another message")
        mailbox = await self._find(address)
        if mailbox is None:
            raise self._unknown_recipient()
        self._mail.recipients.append((address, mailbox))
        await self.push("250 2.1.5 OK")

    async def _find(self, address: str) -> RecipientInbox | None:
        try:
            return await self._host.find_mailbox(address)
        except SmtpError:
            raise
        except Exception as error:
            log.exception("lookup_failed", peer=self.peer)
            raise unavailable("recipient could not be checked, try again later") from error

    def _unknown_recipient(self) -> SmtpError:
        """One text for all reasons: a stranger learns nothing about what exists here."""
        self._errors -= 1  # unknown recipients have a limit of their own
        self._unknown += 1
        if self._unknown > self._limits.max_unknown_recipients:
            return SmtpError(421, "4.7.0", "too many unknown recipients, closing connection", closes=True)
        return SmtpError(550, "5.1.1", "mailbox unavailable")

    async def _data(self, argument: bytes) -> None:
        if argument:
            raise SmtpError(501, "5.5.4", "syntax: DATA")
        if self._mail is None or not self._mail.recipients:
            raise SmtpError(503, "5.5.1", "say RCPT first")
        transaction, self._mail = self._mail, None
        intake = self._host.intake(self.peer, transaction.declared_bytes)
        self._in_data = True
        try:
            reply = await self._take_message(transaction, intake)
        finally:
            self._in_data = False
            self._host.message_ended()
            self._stop_watch()
            self._reset_timeout()
        self._junk = 0  # a session that brings mail may go on for long
        await self.push(reply)

    async def _rset(self, argument: bytes) -> None:
        self._count_idle()
        self._mail = None
        await self.push("250 2.0.0 OK")

    async def _noop(self, argument: bytes) -> None:
        self._count_idle()
        await self.push("250 2.0.0 OK")

    def _count_idle(self) -> None:
        """Commands that move no mail: any number is allowed (RFC 5321 §4.1.1.9), nobody needs more than the limit."""
        self._junk += 1
        if self._junk > self._limits.max_junk_commands:
            raise SmtpError(421, "4.7.0", "too many commands, closing connection", closes=True)

    async def _vrfy(self, argument: bytes) -> None:
        self._count_idle()
        await self.push("252 2.1.5 send some mail, I'll try my best")  # RFC 5321 §7.3

    async def _help(self, argument: bytes) -> None:
        self._count_idle()
        await self.push("214 2.0.0 see RFC 5321")

    async def _quit(self, argument: bytes) -> None:
        await self.push("221 2.0.0 bye")
        self._close()

    async def _starttls(self, argument: bytes) -> None:
        if argument:
            raise SmtpError(501, "5.5.4", "syntax: STARTTLS")
        if self._tls_protocol is not None:
            raise SmtpError(503, "5.5.1", "TLS is active already")
        await super().smtp_STARTTLS(None)

    # The message -----------------------------------------------------------------------------

    async def _take_message(self, transaction: MailTransaction, intake: Intake) -> str:
        try:
            await self.push("354 end data with <CR><LF>.<CR><LF>")
            self._marks = deque([self._received], maxlen=AVERAGE_CHECKS)
            self._watch_rate()
            await self._receive(intake)
            self._stop_watch()  # from here on it is we who are slow
            work = self.loop.create_task(self._commit(transaction, intake))
        except BaseException:
            await intake.close()
            raise
        self._host.finish(work)
        return await asyncio.shield(work)

    async def _commit(self, transaction: MailTransaction, intake: Intake) -> str:
        """Runs to its end whatever becomes of the session."""
        try:
            envelope = self._envelope(transaction)
            message_id = await self._host.accept(envelope, await intake.finish())
        except SmtpError:
            raise
        except Exception as error:
            log.exception("accept_failed", peer=self.peer)
            raise unavailable() from error
        finally:
            await intake.close()
        return f"250 2.0.0 OK: stored as {message_id}"

    async def _receive(self, intake: Intake) -> None:
        """Read to the final dot; SmtpError when the message can't be taken (the dot was read even so)."""
        refusal: SmtpError | None = None
        octets = 0
        async for piece in self._pieces():
            octets += len(piece)
            if octets > self._limits.max_message_bytes * DRAIN_FACTOR:
                raise SmtpError(552, "5.3.4", "message is far too large, closing connection", closes=True)
            try:
                if refusal is None:
                    await intake.take(piece)
            except SmtpError as error:
                refusal = error
        if refusal is not None:
            raise refusal

    async def _pieces(self) -> AsyncIterator[bytes]:
        """The octets up to the final dot, in pieces of bounded size, never looking past it.

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

    def _watch_rate(self) -> None:
        """RFC 5321 §4.5.3.2 wants patience; a peer slower than the least rates gets 421."""
        self._watch = self.loop.call_later(RATE_CHECK_S, self._check_rate)

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()

    def _check_rate(self) -> None:
        if self._is_slow():
            self.hang_up(SmtpError(421, "4.4.2", "data comes too slowly, closing connection"))
            return
        self._marks.append(self._received)
        self._watch_rate()

    def _is_slow(self) -> bool:
        lately, in_all = self._received - self._marks[-1], self._received - self._marks[0]
        is_average_due = len(self._marks) == AVERAGE_CHECKS
        return lately < self._limits.data_min_bytes_per_s * RATE_CHECK_S or (
            is_average_due
            and in_all < self._limits.data_min_average_bytes_per_s * AVERAGE_CHECKS * RATE_CHECK_S
        )

    def _envelope(self, transaction: MailTransaction) -> InboundEnvelope:
        encrypted = self._tls_protocol is not None
        extended = "ESMTP" if self._extended else "SMTP"
        return InboundEnvelope(
            mail_from=transaction.mail_from,
            recipients=tuple(transaction.recipients),
            helo=self._helo or "unknown",
            peer=f"IPv6:{self.peer}" if ":" in self.peer else self.peer,
            protocol=f"{extended}S" if encrypted else extended,  # RFC 3848
            tls=_cipher(self.transport) if encrypted else None,
        )


def _cipher(transport: asyncio.BaseTransport | None) -> str | None:
    cipher = transport.get_extra_info("cipher") if transport else None
    return f"{cipher[1]} {cipher[0]}" if cipher else None


COMMANDS: Mapping[bytes, Handler] = {
    b"EHLO": Session._ehlo,
    b"HELO": Session._helo_,
    b"MAIL": Session._mail_from,
    b"RCPT": Session._rcpt_to,
    b"DATA": Session._data,
    b"RSET": Session._rset,
    b"NOOP": Session._noop,
    b"QUIT": Session._quit,
    b"STARTTLS": Session._starttls,
    b"VRFY": Session._vrfy,
    b"HELP": Session._help,
}
