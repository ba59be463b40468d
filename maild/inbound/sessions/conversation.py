"""The SMTP conversation that all listeners have: commands, their order, limits (RFC 5321, 1870, 2034, 2920, 3207).

The conversation alone: verbs, what they may follow, what a client may do how often. How octets come and go, TLS and
the timers are `smtp_protocol.py`'s; what stands behind a verb is read by `command_arguments.py`. Who may send to whom
is a subclass's: `session.py` takes mail for our inboxes from anybody, `maild/submission/session.py` mail for anybody
from those who log in.

What a client does wrong costs it an error reply; too much of that, and 421 ends the session. Once DATA has ended, the
commit runs to its end even if the client hangs up (it may have counted on the 250), and 250 is sent only after it.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from ssl import SSLContext
from typing import Any, ClassVar, NamedTuple, Protocol

import structlog
from structlog.contextvars import bind_contextvars
from structlog.typing import FilteringBoundLogger

from conf.log_events import LogEvent, clean, tell
from conf.settings import Smtp
from conf.strangers import StrangerLog
from conf.tuning import SmtpTuning
from maild.errors import SmtpError, out_of_resources, unavailable
from maild.inbound.envelope import MailTransaction, told_of_command
from maild.inbound.sessions.command_arguments import read_host_name
from maild.inbound.sessions.command_counts import CommandCounts
from maild.inbound.sessions.data_rate import DataRate
from maild.inbound.sessions.intake import Intake, want
from maild.inbound.wire.smtp_protocol import SmtpProtocol
from storage.engine.failures import is_refused
from storage.mail.blobs import Stored

log = structlog.get_logger("maild.smtp")

COMMAND_LINE_OCTETS = 4096  # RFC 5321 §4.5.3.1.4 asks for 512, RFC 6531 and long paths for more

Handler = Callable[[Any, bytes], Awaitable[None]]  # the conversation, what stands behind the verb


class ConversationHost(Protocol):
    """What a conversation asks of its listener. The errors are SmtpError."""

    strangers: StrangerLog
    log: FilteringBoundLogger

    @property
    def is_scarce(self) -> bool: ...
    def new_id(self) -> str: ...
    def refuse_message(self, size_bytes: int) -> SmtpError | None: ...
    def message_ended(self) -> None: ...
    def arrived(self, session: Any) -> SmtpError | None: ...
    def opened(self, session: Any) -> SmtpError | None: ...
    def is_balancer(self, peer: str) -> bool: ...
    def closed(self, session: Any) -> None: ...
    def committing(self) -> AbstractContextManager[None]: ...
    def place_to_decrypt(self, peer: str, *, is_tiny: bool) -> "asyncio.Future[None] | None": ...
    async def may_answer(self, peer: str) -> None: ...
    async def may_commit(self, peer: str) -> None: ...


class SessionSetup(NamedTuple):
    """What a session is begun with. `tls`: what STARTTLS begins, or with `is_tls_first` the session itself."""

    limits: Smtp
    tuning: SmtpTuning
    hostname: str
    tls: SSLContext
    is_tls_first: bool
    loop: asyncio.AbstractEventLoop


class Conversation(SmtpProtocol):
    """`id`: its name in the log. `commands`: what each verb does."""

    commands: ClassVar[Mapping[bytes, Handler]]

    def __init__(self, host: ConversationHost, setup: SessionSetup) -> None:
        super().__init__(
            setup.hostname,
            setup.tls,
            setup.is_tls_first,
            setup.limits.command_timeout_s,
            setup.limits.session_timeout_s,
            setup.tuning.hang_up_s,
            setup.loop,
        )
        self._host = host
        self._limits = setup.limits
        self._tuning = setup.tuning
        self.id = ""
        self._helo: str | None = None
        self._extended = False
        self._mail: MailTransaction | None = None
        self._counts = CommandCounts(setup.limits)
        self._rate: DataRate | None = None
        self._refusal: SmtpError | None = None
        self._verb = ""  # of the command that is being answered, and what it is about:
        self._about: MailTransaction | None = None
        self._address = ""

    # What a subclass says ------------------------------------------------------------------------

    @abstractmethod
    def _extensions(self) -> Sequence[str]:
        """What EHLO offers besides."""

    def _told(self) -> Mapping[str, str]:
        """What the log says of the client beside its address, where it is refused something."""
        return {}

    def _command_came(self) -> None:
        """The client says something: it has heard what was said to it before."""

    @abstractmethod
    def _intake(self, transaction: MailTransaction) -> Intake:
        """What keeps the message that comes next; SmtpError."""

    @abstractmethod
    async def _accept(self, transaction: MailTransaction, stored: Stored) -> str:
        """Take the message; what 250 says of it. SmtpError."""

    # The connection ---------------------------------------------------------------------------

    def arrived(self) -> bool:
        self.id = self._host.new_id()
        self._refusal = self._host.arrived(self)
        return self._host.is_balancer(self.peer)

    @property
    def is_welcome(self) -> bool:
        return self._refusal is None

    def opened(self) -> None:
        tell(self._host.log, LogEvent.CONNECTED, session=self.id, peer=self.peer)
        self._refusal = self._refusal or self._host.opened(self)

    def not_proxied(self, reason: str) -> None:
        self._host.strangers.note(
            LogEvent.PROXY_HEADER_REFUSED, session=self.id, peer=self.peer, reason=reason
        )

    def place_to_decrypt(self, is_tiny: bool) -> "asyncio.Future[None] | None":
        return self._host.place_to_decrypt(self.peer, is_tiny=is_tiny)

    def secured(self) -> None:
        tell(self._host.log, LogEvent.TLS_STARTED, session=self.id, peer=self.peer, tls=self.cipher())
        self._helo = self._mail = None

    def not_secured(self, reason: str | None) -> None:
        self._host.strangers.note(LogEvent.TLS_FAILED, session=self.id, peer=self.peer, reason=reason)

    @property
    def may_stay(self) -> bool:
        return self._rate is not None and not self._host.is_scarce

    def timed_out(self) -> None:
        self.hang_up(SmtpError(421, "4.4.2", "timeout, closing connection"))

    def failed(self) -> None:
        log.exception("session_failed", peer=self.peer)
        self.hang_up(SmtpError(421, "4.3.0", "local error, closing connection"))

    def disconnected(self) -> None:
        tell(self._host.log, LogEvent.DISCONNECTED, session=self.id, peer=self.peer, octets=self.octets)

    def ended(self) -> None:
        if self._rate is not None:
            self._rate.stop()
        self._host.closed(self)

    @property
    def client_has_word_since(self) -> float | None:
        """By the loop's clock; None while it is our turn. Of a message that is on its way, since DATA."""
        is_ours = self.is_busy and self._rate is None
        return None if is_ours else self._active_at

    def hang_up(self, reply: SmtpError) -> None:
        """Say why, and close (RFC 5321 §3.8)."""
        if self.is_open:
            self._refuse(reply)
            self.close()

    # Commands and replies ------------------------------------------------------------------------

    def begun(self) -> None:
        bind_contextvars(session=self.id)  # for all lines of this task, and of the commit that it begins

    def greet(self) -> None:
        if self._refusal is not None:
            self.hang_up(self._refusal)
        else:
            self.write(f"220 {self.hostname} ESMTP maild")

    async def one_command(self) -> None:
        self._verb, self._address, self._about = "", "", self._mail
        try:
            line = await self.read_line(COMMAND_LINE_OCTETS)
            self._command_came()
            await self._host.may_answer(self.peer)
            verb, _, argument = line.partition(b" ")
            handler = self.commands.get(verb.upper())
            if handler is None:
                raise self._counts.unrecognized()
            self._verb = verb.decode().upper()
            self.active()
            await handler(self, argument.strip())
        except SmtpError as error:
            self._counts.error()
            self._refuse(error)
            if error.closes:
                self.close()
            elif self._counts.has_too_many_errors:
                last = SmtpError(421, "4.7.0", "too many errors, closing connection")
                self._tell_refused(last)
                self.hang_up(last)
            else:
                await self.drain()

    def _refuse(self, reply: SmtpError) -> None:
        self._tell_refused(reply)
        if self.can_hear:
            self.write(f"{reply.code} {reply.enhanced} {reply.text}")

    def _tell_refused(self, reply: SmtpError) -> None:
        self._host.strangers.note(
            LogEvent.REFUSED,
            session=self.id,
            peer=self.peer,
            code=reply.code,
            enhanced=reply.enhanced,
            reason=clean(reply.text),
            **told_of_command(self._verb, self._helo, self._about, self._address),
            **self._told(),
            **reply.told,
        )

    # Commands --------------------------------------------------------------------------------

    async def _ehlo(self, argument: bytes) -> None:
        self._introduce(argument)
        size = f"SIZE {self._limits.max_message_bytes}"
        lines = [self.hostname, size, "8BITMIME", "SMTPUTF8", "PIPELINING"]
        if not self.is_encrypted:
            lines.append("STARTTLS")
        lines += self._extensions()
        lines.append(f"LIMITS RCPTMAX={self._limits.max_recipients}")  # RFC 9422
        lines.append("ENHANCEDSTATUSCODES")
        self._extended = True
        *others, last = lines
        await self.push("".join(f"250-{line}\r\n" for line in others) + f"250 {last}")

    async def _helo_(self, argument: bytes) -> None:
        self._introduce(argument)
        self._extended = False
        await self.push(f"250 {self.hostname}")

    def _introduce(self, argument: bytes) -> None:
        name = self._read_name(argument)
        if self._helo is not None:
            self._counts.idle()
        self._helo, self._mail = name, None

    def _read_name(self, argument: bytes) -> str:
        return read_host_name(argument)

    def _refuse_size(self, size: int) -> None:
        """SmtpError where no message of this declared size may begin now."""
        if size > self._limits.max_message_bytes:  # RFC 1870 §6.1
            raise SmtpError(552, "5.3.4", f"message is larger than {self._limits.max_message_bytes} octets")
        refusal = self._host.refuse_message(size)
        try:
            if refusal is not None:
                raise refusal
        finally:
            del refusal  # its traceback knows this frame

    async def _data(self, argument: bytes) -> None:
        if argument:
            raise SmtpError(501, "5.5.4", "syntax: DATA")
        if self._mail is None or not self._mail.recipients:
            raise SmtpError(503, "5.5.1", "say RCPT first")
        transaction, self._mail = self._mail, None
        intake = self._intake(transaction)
        self.is_busy = True
        try:
            reply = await self._take_message(transaction, intake)
        finally:
            self.is_busy = False
            self._host.message_ended()
            self.active()
        self._counts.mail_came()
        await self.push(reply)

    async def _rset(self, argument: bytes) -> None:
        self._counts.idle()
        self._mail = None
        await self.push_with_next("250 2.0.0 OK")

    async def _noop(self, argument: bytes) -> None:
        self._counts.idle()
        await self.push("250 2.0.0 OK")

    async def _vrfy(self, argument: bytes) -> None:
        self._counts.idle()
        await self.push("252 2.1.5 send some mail, I'll try my best")  # RFC 5321 §7.3

    async def _help(self, argument: bytes) -> None:
        self._counts.idle()
        await self.push("214 2.0.0 see RFC 5321")

    async def _quit(self, argument: bytes) -> None:
        await self.push("221 2.0.0 bye")
        self.close()

    async def _starttls(self, argument: bytes) -> None:
        if argument:
            raise SmtpError(501, "5.5.4", "syntax: STARTTLS")
        if self.is_encrypted:
            raise SmtpError(503, "5.5.1", "TLS is active already")
        await self.start_tls()

    # The message -----------------------------------------------------------------------------

    async def _take_message(self, transaction: MailTransaction, intake: Intake) -> str:
        try:
            await self.push("354 end data with <CR><LF>.<CR><LF>")
            await self._receive(intake)
        except BaseException:
            await intake.close()
            raise
        # In this task, not in one of its own: each hand-over would cost a round of the event loop.
        with self.undisturbed(), self._host.committing():
            return await self._commit(transaction, intake)

    async def _commit(self, transaction: MailTransaction, intake: Intake) -> str:
        """Runs to its end whatever becomes of the session."""
        try:
            stored = await intake.finish()
            await self._host.may_commit(self.peer)
            return await self._accept(transaction, stored)
        except SmtpError:
            raise
        except Exception as error:
            if is_refused(error):
                want.note(error)
                raise out_of_resources() from error
            log.exception("accept_failed", peer=self.peer)
            raise unavailable() from error
        finally:
            await intake.close()

    async def _receive(self, intake: Intake) -> None:
        """Read to the final dot, no more slowly than is allowed; from there on it is we who are slow."""
        self._rate = rate = DataRate(
            self._limits,
            self._tuning,
            self.loop,
            lambda: self.octets,
            intake.busy_s,
            lambda: self._host.is_scarce or self.waits_at_false_dot,  # which soon hears why
            self._too_slow,
        )
        try:
            await intake.take_all(self.pieces())
        finally:
            rate.stop()
            self._rate = None

    def _too_slow(self) -> None:
        slowly = "data comes too slowly"
        if self.waits_at_false_dot:  # MIME::Lite under TLS, and waits for the reply to it
            slowly = "the final dot is none, since a CR or LF stands alone: lines end with CR LF"
        self.hang_up(SmtpError(421, "4.4.2", f"{slowly}, closing connection"))


COMMON_COMMANDS: Mapping[bytes, Handler] = {
    b"EHLO": Conversation._ehlo,
    b"HELO": Conversation._helo_,
    b"DATA": Conversation._data,
    b"RSET": Conversation._rset,
    b"NOOP": Conversation._noop,
    b"QUIT": Conversation._quit,
    b"STARTTLS": Conversation._starttls,
    b"VRFY": Conversation._vrfy,
    b"HELP": Conversation._help,
}
