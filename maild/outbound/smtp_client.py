"""One SMTP session as the client: aiosmtplib's protocol, with pipelining (RFC 2920) on top.

aiosmtplib 5.1 waits for each reply before the next command. Here a group of commands is written at
once and its replies are read in order; octets beyond the expected replies mean that client and server are out of
step, so nothing more is written.

A `NextHopSession` belongs to one task at a time. After any exception it is closed, and closing aborts: a host
that does not read would otherwise keep the socket and what waits in it.
"""

import asyncio
import base64
import os
import ssl
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from aiosmtplib import SMTPException, SMTPResponseException, SMTPServerDisconnected
from aiosmtplib.errors import SMTPReadTimeoutError
from aiosmtplib.esmtp import parse_esmtp_extensions
from aiosmtplib.protocol import SMTPProtocol
from aiosmtplib.response import SMTPResponse

from maild.message.delivery_evidence import TlsFailure
from maild.outbound.attempt_record import HostRecord, SessionFacts, masked
from maild.outbound.replies import Malformed, Meaning, ReplyReader, SmtpReply, Step, clean, meaning
from maild.outbound.tls_policy import TlsPolicy
from maild.outbound.wire import END, LargeWire

# X509_V_ERR_CERT_HAS_EXPIRED, _HOSTNAME_MISMATCH, _IP_ADDRESS_MISMATCH of OpenSSL
_CERTIFICATE_FAULTS: dict[int, TlsFailure] = {
    10: "certificate-expired",
    62: "certificate-host-mismatch",
    64: "certificate-host-mismatch",
}
_DER = 2  # _ssl.ENCODING_DER
# A host that reads a block now and then would hold the session for a day.
CONTENT_MIN_BYTES_PER_S = 20_000
CLOSING = 421  # RFC 5321 §3.8: the host says no more
LEAST_REFUSAL = 400  # RFC 5321 §4.2.1


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds; RFC 5321 §4.5.3.2."""

    connect: float = 30
    greeting: float = 300
    command: float = 300
    envelope: float = 1800  # MAIL, RCPT for each and DATA together, where the host takes them one by one
    data_start: float = 120
    data_block: float = 180
    data_end: float = 600
    reset: float = 10  # the verdicts are known by then, and wait
    quit: float = 2


class TlsFailed(Exception):
    """STARTTLS was offered and did not work; the session is closed."""

    def __init__(self, text: str, failure: TlsFailure) -> None:
        super().__init__(text)
        self.failure = failure


class EnvelopeCut(SMTPException):
    """The session was lost in the middle of an envelope. `heard`: the replies that came before, in order, one at least;
    `text`: how it was lost."""

    def __init__(self, heard: Sequence[SmtpReply], text: str) -> None:
        super().__init__(text)
        self.heard = heard
        self.text = text


class MessageCut(SMTPException):
    """The session was lost before the final dot was handed to the network: the host can't have taken the message."""


class Desynchronized(SMTPException):
    """The host sent more replies than there were commands: replies can't be matched to commands any more."""


class PipeliningProtocol(SMTPProtocol):
    """aiosmtplib's protocol, which can also wait for several replies at once, and bounds what it reads. `record`: hears
    every reply; `secrets`: what no reply is to repeat."""

    def __init__(self, loop: asyncio.AbstractEventLoop, record: HostRecord) -> None:
        super().__init__(loop=loop)
        self.record = record
        self.secrets = record.secrets
        self._reader = ReplyReader()
        self._replies: list[SMTPResponse] = []
        self._expected = 0
        self._group: asyncio.Future[None] | None = None
        self.has_unsolicited_data = False
        self.may_have_message = False  # the host, of this transaction

    async def read_response(self, timeout: float | None = None) -> SMTPResponse:
        """The reply to what was written last; the greeting, where nothing was."""
        try:
            return await super().read_response(timeout)
        except (SMTPException, OSError) as error:
            # A frame down there knows the exception, which knows the frame: a circle, and a message in it.
            error.with_traceback(None)
            raise

    async def execute_group(self, commands: Sequence[bytes], timeout: float) -> list[SMTPResponse]:
        """Write the commands in one go; their replies, in order."""
        group = self._expect(len(commands))
        try:
            self.write(b"".join(commands))
            await self._until(group, timeout)
        finally:
            self._group = None
            del group  # a circle as well
        if self.has_unsolicited_data:
            raise Desynchronized("the host said more than it was asked")
        return self._replies

    @property
    def heard(self) -> Sequence[SMTPResponse]:
        """What came of the replies to the last group, also where not all did."""
        return self._replies

    async def send_content(
        self,
        wire: bytes | LargeWire,
        block_timeout: float,
        end_timeout: float,
        took: Callable[[int], None] | None = None,
    ) -> SMTPResponse:
        """What follows a 354, already dot-stuffed and ended; returns the final reply, or a refusal that came before the
        end: then the session is of no more use. `took`: hears how many octets the network took. MessageCut, and what
        `StoredWire` raises: the host can't have taken it; after any other exception it may have."""
        group = self._expect(1)
        try:
            if isinstance(wire, bytes):
                self.may_have_message = True
                self.write(wire)
            elif not await self._write_blocks(wire, group, block_timeout, took):
                self._refuse_acceptance()
                return self._replies[0]
            self.record.enter("answer")
            await self._until(group, end_timeout)
        finally:
            self._group = None
            del group
        return self._replies[0]

    def _refuse_acceptance(self) -> None:
        """What was not sent to its end can be refused, not taken."""
        self.has_unsolicited_data = True
        if self._replies[0].code < LEAST_REFUSAL:
            raise Desynchronized("the host answered before the end of the message")

    def _expect(self, replies: int) -> "asyncio.Future[None]":
        """Before the write: they may come at any time after it."""
        self._replies, self._expected = [], replies
        self._group = self._loop.create_future()
        return self._group

    async def _until(self, group: "asyncio.Future[None]", timeout: float) -> None:
        # One timer for all replies of a group: `asyncio.timeout` and `wait_for` cost several times as much.
        timer = self._loop.call_later(timeout, _late, group)
        try:
            await group
        finally:
            timer.cancel()
            del group

    async def _write_blocks(
        self,
        wire: LargeWire,
        group: "asyncio.Future[None]",
        block_timeout: float,
        took: Callable[[int], None] | None,
    ) -> bool:
        """False where the host has answered before the last block was written; MessageCut."""
        written = 0
        try:
            async with (
                asyncio.timeout(block_timeout + len(wire) / CONTENT_MIN_BYTES_PER_S),
                aclosing(wire.pieces()) as pieces,
            ):
                async for piece in pieces:
                    if self._replies:
                        return False
                    if group.done():
                        group.result()  # raises: it is lost, or was given up
                    self.may_have_message = written + len(piece) > len(wire) - len(END)
                    self.write(piece)
                    written += len(piece)
                    async with asyncio.timeout(block_timeout):
                        await self._drain_helper()
                    if took is not None:
                        took(len(piece))
                    # What the host says must be read before a write fails: nothing is read after that.
                    await asyncio.sleep(0)
        except (SMTPException, OSError) as error:  # a timeout is an OSError
            if self._replies and not isinstance(error, TimeoutError):
                return False
            if written <= len(wire) - len(END):
                if group.done() and isinstance(given_up := group.exception(), SMTPReadTimeoutError):
                    error = given_up
                raise MessageCut(f"{reason(error)} in the middle of the message") from None
            if isinstance(error, TimeoutError):
                raise SMTPReadTimeoutError("timed out sending the message") from None
            raise
        return True

    def write(self, data: bytes) -> None:
        if self.has_unsolicited_data:
            raise Desynchronized("the host said more than it was asked")
        super().write(data)

    def tls_started(self) -> None:
        """Drop what came in plain text (RFC 3207 §6)."""
        self._reader.clear()
        self.has_unsolicited_data = False

    def data_received(self, data: bytes) -> None:
        if not self._awaits_reply():
            # Whatever it is (a 421, as a rule), the connection is of no use any more, and what follows has no bound.
            self.has_unsolicited_data = True
            self.abort()
            return
        self._reader.feed(data)
        try:
            while self._awaits_reply() and (reply := self._reader.take()) is not None:
                self._answer(reply)
        except Malformed as error:
            self._fail(Malformed(masked(str(error), self.secrets)))
        if not self._awaits_reply() and not self._reader.is_empty:
            self.has_unsolicited_data = True
            self._reader.clear()

    def _awaits_reply(self) -> bool:
        if self._group is not None:
            return not self._group.done()
        waiter = self._response_waiter
        return self._response_pending and waiter is not None and not waiter.done()

    def _answer(self, reply: SMTPResponse) -> None:
        if self.secrets:
            reply = SMTPResponse(reply.code, masked(reply.message, self.secrets))
        self.record.hear(reply)
        if self._group is None:
            assert self._response_waiter is not None
            self._response_waiter.set_result(reply)
            return
        self._replies.append(reply)
        if len(self._replies) == self._expected:
            self._group.set_result(None)

    def _fail(self, error: SMTPException) -> None:
        if self._group is not None:
            if not self._group.done():
                self._group.set_exception(error)
                self._group.exception()  # whoever writes may fail before he asks for it
        elif self._response_waiter is not None and not self._response_waiter.done():
            self._set_response_exception(self._response_waiter, error)

    def give_up(self) -> None:
        """Wait no longer for what the host was asked."""
        self._fail(SMTPReadTimeoutError("timed out, and others wait"))
        if self._paused:  # it does not read
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._group is not None:
            self._fail(SMTPServerDisconnected("connection lost"))
        super().connection_lost(exc)

    def eof_received(self) -> bool:
        self._fail(SMTPServerDisconnected("connection lost"))
        return super().eof_received()

    def abort(self) -> None:
        """Close now, with what the host did not read and what it is still sending."""
        if self.transport is not None:
            cast(asyncio.WriteTransport, self.transport).abort()


def _late(group: "asyncio.Future[None]") -> None:
    if not group.done():
        group.set_exception(SMTPReadTimeoutError("timed out waiting for replies"))


class NextHopSession:
    """One SMTP session with a next hop. `extensions`: EHLO keyword in lower case → its parameters; `mechanisms`: of
    AUTH, in lower case; `tls`: version and cipher, and in brackets the policy that demanded it, None in plain text;
    `idle_since`: monotonic seconds. What is said goes into the record of who uses it, `go_on` after `go_on`."""

    def __init__(self, protocol: PipeliningProtocol, timeouts: Timeouts) -> None:
        self._protocol = protocol
        self._timeouts = timeouts
        self._record = protocol.record
        self._login_secrets: tuple[str, ...] = ()
        self.facts = self._record.facts = SessionFacts()
        self.extensions: dict[str, str] = {}
        self.mechanisms: list[str] = []
        self.tls: str | None = None
        self.messages = 0  # begun on this session
        self.idle_since = 0.0

    @classmethod
    async def connect(
        cls,
        address: str,
        port: int,
        timeouts: Timeouts,
        record: HostRecord,
        *,
        source: str = "",
        tls: ssl.SSLContext | None = None,
        host: str = "",
    ) -> "NextHopSession":
        """A TCP connection to the very address, from `source` where one is given; the greeting is yet to be read. With
        `tls` it begins with a handshake, and the certificate must be `host`'s. OSError, TimeoutError."""
        loop = asyncio.get_running_loop()
        record.dial()
        async with asyncio.timeout(timeouts.connect):
            transport, protocol = await loop.create_connection(
                lambda: PipeliningProtocol(loop, record),
                address,
                port,
                ssl=tls,
                server_hostname=host if tls else None,
                local_addr=(source, 0) if source else None,
            )
        session = cls(protocol, timeouts)
        session.facts.source_address = transport.get_extra_info("sockname", (None,))[0]
        session._note_tls()
        record.enter("wait")
        return session

    def go_on(self, record: HostRecord) -> None:
        """The next message begins: what is said from now on goes into this record."""
        self._record = self._protocol.record = record
        self._protocol.secrets = (*self._login_secrets, *record.secrets)
        record.facts, record.is_reused = self.facts, True
        self._protocol.may_have_message = False

    async def open(self, hostname: str, host: str, policy: TlsPolicy) -> SmtpReply | None:
        """Greeting, EHLO, and TLS as the policy says; the reply when the server refuses the session.

        TlsFailed; SMTPException or OSError when the connection is lost."""
        self._record.enter("greeting")
        if policy.is_implicit:
            self.facts.verified_by = policy.verified_by
        greeting = await self._protocol.read_response(timeout=self._timeouts.greeting)
        if meaning(Step.CONNECTION, greeting.code) is not Meaning.GO_ON:
            return SmtpReply.of(*greeting).at(Step.CONNECTION)
        refusal = await self._hello(hostname)
        if refusal is not None or policy.context is None or policy.is_implicit:
            return refusal
        if "starttls" not in self.extensions:
            self.facts.tls_failure = "starttls-not-supported"
            text = f"{policy.words}TLS is required and not offered"
            return SmtpReply(454, "4.7.0", text) if policy.requires_tls else None
        await self._start_tls(policy, policy.context, host)
        return await self._hello(hostname)

    async def _hello(self, hostname: str) -> SmtpReply | None:
        self._record.enter("hello")
        self.facts.ehlo_name = hostname
        reply = await self._command(b"EHLO", hostname.encode())
        if meaning(Step.HELLO, reply.code) is Meaning.GO_ON:
            self.extensions, self.mechanisms = parse_esmtp_extensions(reply.message)
            return None
        self.extensions, self.mechanisms = {}, []
        # RFC 5321 §3.2: an old server; never after STARTTLS, where it would lose TLS
        if meaning(Step.HELLO, reply.code) is Meaning.NEVER:
            try:
                reply = await self._command(b"HELO", hostname.encode())
            except (SMTPException, OSError):  # it said why before it hung up
                self.close()
        answer = SmtpReply.of(*reply)
        return None if meaning(Step.HELLO, answer.code) is Meaning.GO_ON else answer.at(Step.HELLO)

    async def _start_tls(self, policy: TlsPolicy, context: ssl.SSLContext, host: str) -> None:
        self._record.enter("tls")
        self._record.say(b"STARTTLS")
        try:
            await self._protocol.start_tls(context, server_hostname=host, timeout=self._timeouts.connect)
        except (SMTPException, OSError, ValueError) as error:  # ssl.SSLError is an OSError
            self.close()
            raise TlsFailed(reason(error), tls_failure(error)) from error
        if policy.accepts is not None and not policy.accepts(self._chain()):
            self.close()
            raise TlsFailed(
                "no TLSA record of the host vouches for its certificate", "certificate-not-trusted"
            )
        self._protocol.tls_started()
        self._note_tls(policy.demanded_by)
        self.facts.verified_by = policy.verified_by

    def _chain(self) -> list[bytes]:
        """What the host showed as its certificates, unverified, as DER; its own first."""
        assert self._protocol.transport is not None
        ssl_object = self._protocol.transport.get_extra_info("ssl_object")
        if hasattr(ssl_object, "get_unverified_chain"):  # Python 3.13
            return list(ssl_object.get_unverified_chain() or ())
        found = ssl_object._sslobj.get_unverified_chain() or ()
        return [one.public_bytes(_DER) for one in found]

    def _note_tls(self, demanded_by: str = "") -> None:
        ssl_object: Any = self._protocol.transport and self._protocol.transport.get_extra_info("ssl_object")
        if ssl_object is not None:
            facts = self.facts
            facts.tls_version, facts.cipher = ssl_object.version(), ssl_object.cipher()[0]
            self.tls = f"{facts.tls_version} {facts.cipher}"
            if demanded_by:
                self.tls += f" ({demanded_by})"

    async def authenticate(self, mechanism: str, username: str, password: str) -> SmtpReply | None:
        """AUTH (RFC 4954); the reply when the host refuses it. Never in plain text: the caller sees to that."""
        self._record.enter("auth")
        first, *more = _responses(mechanism, username, password)
        self._login_secrets = tuple(
            word for word in (password, *(one.decode() for one in (first, *more))) if word
        )
        self._protocol.secrets = (*self._login_secrets, *self._protocol.secrets)
        verb = b"AUTH " + mechanism.upper().encode()
        reply = await self._command(verb, first, shown=verb.decode() + " (credentials)")
        if more and reply.code == 334:
            reply = await self._command(more[0], shown="(credentials)")
        return None if reply.code == 235 else SmtpReply.of(*reply)

    async def _command(self, *words: bytes, shown: str = "") -> SMTPResponse:
        self._record.say(shown or b" ".join(words))
        return await self._protocol.execute_command(*words, timeout=self._timeouts.command)

    @property
    def is_usable(self) -> bool:
        return self._protocol.is_connected and not self._protocol.has_unsolicited_data

    @property
    def pipelines(self) -> bool:
        return "pipelining" in self.extensions

    async def envelope(self, mail: bytes, recipients: Sequence[bytes]) -> list[SmtpReply]:
        """MAIL, RCPT for each, DATA: a reply for every command that was sent.

        In a pipeline all are sent. One after the other, any reply to MAIL but 250 is the last, and DATA
        is not sent when no RCPT was taken. EnvelopeCut.
        """
        self._record.enter("envelope")
        heard: list[SmtpReply] = []
        try:
            if self.pipelines:
                await self._all_at_once(mail, recipients, heard)
            else:
                async with asyncio.timeout(self._timeouts.envelope):
                    await self._one_by_one(mail, recipients, heard)
        except (SMTPServerDisconnected, OSError) as error:  # a timeout is an OSError
            if not heard:
                raise
            raise EnvelopeCut(heard, reason(error)) from None
        return heard

    async def _all_at_once(self, mail: bytes, recipients: Sequence[bytes], heard: list[SmtpReply]) -> None:
        self._record.say(mail)
        for rcpt in recipients:
            self._record.say_recipient(rcpt)
        self._record.say(b"DATA")
        commands = [mail + b"\r\n", *(rcpt + b"\r\n" for rcpt in recipients), b"DATA\r\n"]
        try:
            await self._protocol.execute_group(commands, self._timeouts.command)
        finally:
            heard += [SmtpReply.of(*reply) for reply in self._protocol.heard]

    async def _one_by_one(self, mail: bytes, recipients: Sequence[bytes], heard: list[SmtpReply]) -> None:
        heard.append(SmtpReply.of(*await self._command(mail)))
        if meaning(Step.MAIL, heard[0].code) is not Meaning.GO_ON:
            return
        for rcpt in recipients:
            heard.append(await self._recipient(rcpt))
            if heard[-1].code == CLOSING:
                raise SMTPServerDisconnected("the host ends the session")
        if any(meaning(Step.RECIPIENT, answer.code) is Meaning.GO_ON for answer in heard[1:]):
            self._record.say(b"DATA")
            start = await self._protocol.execute_command(b"DATA", timeout=self._timeouts.data_start)
            heard.append(SmtpReply.of(*start))

    async def _recipient(self, rcpt: bytes) -> SmtpReply:
        self._record.say_recipient(rcpt)
        return SmtpReply.of(*await self._protocol.execute_command(rcpt, timeout=self._timeouts.command))

    async def content(self, wire: bytes | LargeWire, took: Callable[[int], None] | None = None) -> SmtpReply:
        """The message, dot-stuffed and ended by a line with a dot; the reply to it. `took`: hears how many octets the
        network took. MessageCut, BlobMissing, BlobDamaged; after any other exception the host may have taken it."""
        times = self._timeouts
        self._record.enter("data")
        self._record.say(f"(the message, {len(wire)} octets)")
        reply = await self._protocol.send_content(wire, times.data_block, times.data_end, took)
        return SmtpReply.of(*reply)

    async def reset(self) -> bool:
        """Forget a transaction that was given up; False when the session is of no more use."""
        self._record.say(b"RSET")
        reply = await self._protocol.execute_command(b"RSET", timeout=self._timeouts.reset)
        return reply.code == 250

    async def quit(self) -> None:
        """QUIT, without long waiting for the reply, and close. Never raises."""
        try:
            await self._protocol.execute_command(b"QUIT", timeout=self._timeouts.quit)
        except (SMTPException, OSError):
            pass  # it is gone already, which is all that was asked
        finally:
            self.close()

    def give_way(self) -> bool:
        """The host has had its time, unless it may have the message: who gives up then may send a second copy."""
        if self._protocol.may_have_message:
            return False
        self._protocol.give_up()
        return True

    def close(self) -> None:
        self._protocol.abort()


def _responses(mechanism: str, username: str, password: str) -> list[bytes]:
    """The initial response, and what is answered to a challenge (RFC 4954 §4)."""
    if mechanism == "login":
        return [_base64(username), _base64(password)]
    if mechanism == "xoauth2":  # the challenge tells why; the real reply comes to an empty answer
        return [_base64(f"user={username}\x01auth=Bearer {password}\x01\x01"), b""]
    return [_base64(f"\0{username}\0{password}")]  # RFC 4616


def _base64(text: str) -> bytes:
    return base64.b64encode(text.encode())


def tls_failure(error: Exception) -> TlsFailure:
    """What a handshake that failed is called (RFC 8460 §4.3.1)."""
    match error:
        case SMTPResponseException():  # to STARTTLS, which was offered
            return "starttls-not-supported"
        case ssl.SSLCertVerificationError(verify_code=code):
            return _CERTIFICATE_FAULTS.get(code, "certificate-not-trusted")
        case _:
            return "validation-failure"


def reason(error: Exception) -> str:
    """Why a session ended, in words that may be shown."""
    match error:
        case SMTPServerDisconnected():
            return "connection lost"
        case TimeoutError():
            return "timed out"
        case SMTPResponseException():
            return clean(f"{error.code} {error.message}")
        case ssl.SSLError():
            return _tls_reason(error)
        case OSError():  # `strerror` may be asyncio's own words
            return os.strerror(error.errno) if error.errno else "connection lost"
        case _:
            return clean(str(error))


def _tls_reason(error: ssl.SSLError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return clean(f"the certificate does not verify: {error.verify_message}")
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "connection lost"
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return "the host does not speak TLS"
        case _:
            words = error.reason or "handshake failure"
            return clean(f"no TLS: {words.replace('_', ' ').lower()}")
