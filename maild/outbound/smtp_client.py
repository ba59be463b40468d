"""One SMTP session as the client: aiosmtplib's protocol, with pipelining (RFC 2920) on top.

aiosmtplib 5.1 waits for each reply before the next command. Here a group of commands is written at
once and its replies are read in order; more bytes than the replies that were asked for mean that
we and the server no longer speak of the same thing, so the session is broken off.

A `Session` belongs to one task at a time. After any exception it is closed. Answer texts are a
stranger's: `Answer.text` is cleaned before anybody stores it.
"""

import asyncio
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aiosmtplib import SMTPException, SMTPResponseException, SMTPServerDisconnected
from aiosmtplib.errors import SMTPReadTimeoutError
from aiosmtplib.esmtp import parse_esmtp_extensions
from aiosmtplib.protocol import SMTPProtocol
from aiosmtplib.response import SMTPResponse

from maild.outbound.tls_policy import TlsPolicy

REPLY_CHARACTERS = 500
WRITE_CHUNK_BYTES = 64 * 1024

_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:\s+|$)")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds; RFC 5321 §4.5.3.2."""

    connect: float = 30
    greeting: float = 300
    command: float = 300
    data_start: float = 120
    data_block: float = 180
    data_end: float = 600
    quit: float = 2


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    enhanced: str | None
    text: str

    @classmethod
    def of(cls, code: int, message: str) -> "Answer":
        """Clean text, one line; the enhanced code (RFC 2034) taken off it where it agrees with the code."""
        text = message.encode("utf-8", "replace").decode()
        text = _CONTROLS.sub(" ", text).strip()
        match = _ENHANCED.match(text)
        if match is None or match[1][0] != str(code)[0]:
            return cls(code, None, text[:REPLY_CHARACTERS])
        # In a reply of several lines the code stands in each of them.
        return cls(code, match[1], text.replace(match[0], "")[:REPLY_CHARACTERS] or text[:REPLY_CHARACTERS])


class TlsFailed(Exception):
    """STARTTLS was offered and did not work; the session is closed."""


class Desynchronized(SMTPException):
    """The server said more than it was asked."""


class PipeliningProtocol(SMTPProtocol):
    """aiosmtplib's protocol, which can also wait for several replies at once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._replies: list[SMTPResponse] = []
        self._expected = 0
        self._group: asyncio.Future[None] | None = None
        self.spoke_unasked = False

    async def execute_group(self, commands: Sequence[bytes], timeout: float) -> list[SMTPResponse]:
        """Write the commands in one go; their replies, in order."""
        if not self.is_connected:
            raise SMTPServerDisconnected("Connection lost")
        self._replies, self._expected = [], len(commands)
        self._group = self._loop.create_future()
        try:
            self.write(b"".join(commands))
            async with asyncio.timeout(timeout):
                await self._group
        except TimeoutError:
            raise SMTPReadTimeoutError("Timed out waiting for server response") from None
        finally:
            self._group = None
        if self._buffer:
            raise Desynchronized("unexpected data behind a reply")
        return self._replies

    async def send_content(self, wire: bytes, block_timeout: float, end_timeout: float) -> SMTPResponse:
        """What follows a 354, already dot-stuffed and ended; returns the final reply."""
        self._response_pending = True
        if len(wire) <= WRITE_CHUNK_BYTES:
            self.write(wire)
        else:
            view = memoryview(wire)
            for start in range(0, len(wire), WRITE_CHUNK_BYTES):
                self.write(view[start : start + WRITE_CHUNK_BYTES])  # type: ignore[arg-type]
                try:
                    async with asyncio.timeout(block_timeout):
                        await self._drain_helper()
                except TimeoutError:
                    raise SMTPReadTimeoutError("Timed out sending the message") from None
        return await self.read_response(timeout=end_timeout)

    def data_received(self, data: bytes) -> None:
        if self._group is None:
            if not self._response_pending:
                self.spoke_unasked = True
            super().data_received(data)
            return
        self._buffer.extend(data)
        if self._group.done():
            return
        try:
            while len(self._replies) < self._expected:
                reply = self._read_response_from_buffer()
                if reply is None:
                    break
                self._replies.append(reply)
        except SMTPResponseException as error:
            self._group.set_exception(error)
            return
        if len(self._replies) == self._expected:
            self._group.set_result(None)
        elif len(self._buffer) > WRITE_CHUNK_BYTES:
            self._group.set_exception(Desynchronized("response too long"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail_group()
        super().connection_lost(exc)

    def eof_received(self) -> bool:
        self._fail_group()
        return super().eof_received()

    def _fail_group(self) -> None:
        if self._group is not None and not self._group.done():
            self._group.set_exception(SMTPServerDisconnected("Connection lost"))


class Session:
    """A connected, greeted SMTP session."""

    def __init__(self, protocol: PipeliningProtocol, timeouts: Timeouts) -> None:
        self._protocol = protocol
        self._timeouts = timeouts
        self.extensions: dict[str, str] = {}
        self.tls: str | None = None
        self.messages = 0  # begun on this session
        self.idle_since = 0.0

    @classmethod
    async def connect(cls, address: str, port: int, timeouts: Timeouts) -> "Session":
        """A TCP connection to the very address; the greeting is yet to be read. OSError, TimeoutError."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(timeouts.connect):
            _, protocol = await loop.create_connection(lambda: PipeliningProtocol(loop), address, port)
        return cls(protocol, timeouts)

    async def open(self, hostname: str, host: str, policy: TlsPolicy) -> Answer | None:
        """Greeting, EHLO, and TLS as the policy says; a Answer when the server refuses us. TlsFailed."""
        greeting = await self._protocol.read_response(timeout=self._timeouts.greeting)
        if greeting.code != 220:
            return Answer.of(*greeting)
        refusal = await self._hello(hostname)
        if refusal is not None or policy.context is None:
            return refusal
        if "starttls" not in self.extensions:
            return Answer(454, "4.7.0", "TLS is required and not offered") if policy.requires_tls else None
        await self._start_tls(policy.context, host)
        return await self._hello(hostname)

    async def _hello(self, hostname: str) -> Answer | None:
        reply = await self._command(b"EHLO", hostname.encode())
        if reply.code == 250:
            self.extensions = parse_esmtp_extensions(reply.message)[0]
            return None
        self.extensions = {}
        if reply.code >= 500:  # RFC 5321 §3.2: an old server; never after STARTTLS, where it would lose TLS
            reply = await self._command(b"HELO", hostname.encode())
        return None if reply.code == 250 else Answer.of(*reply)

    async def _start_tls(self, context: ssl.SSLContext, host: str) -> None:
        try:
            # aiosmtplib discards what came in plain text behind the 220 (RFC 3207 §6).
            await self._protocol.start_tls(context, server_hostname=host, timeout=self._timeouts.connect)
        except (SMTPException, OSError, ValueError) as error:  # ssl.SSLError is an OSError
            self.close()
            raise TlsFailed(str(error)) from error
        ssl_object: Any = self._protocol.transport and self._protocol.transport.get_extra_info("ssl_object")
        self.tls = f"{ssl_object.version()} {ssl_object.cipher()[0]}"

    async def _command(self, *words: bytes) -> SMTPResponse:
        return await self._protocol.execute_command(*words, timeout=self._timeouts.command)

    @property
    def is_usable(self) -> bool:
        return self._protocol.is_connected and not self._protocol.spoke_unasked

    @property
    def pipelines(self) -> bool:
        return "pipelining" in self.extensions

    async def envelope(self, mail: bytes, recipients: Sequence[bytes]) -> list[Answer]:
        """MAIL, RCPT for each, DATA: a reply for every command that was sent.

        In a pipeline all are sent. One after the other, a refusal of MAIL is the last reply, and DATA
        is not sent when every RCPT was refused.
        """
        if self.pipelines:
            commands = [mail + b"\r\n", *(rcpt + b"\r\n" for rcpt in recipients), b"DATA\r\n"]
            replies = await self._protocol.execute_group(commands, self._timeouts.command)
            return [Answer.of(*reply) for reply in replies]
        first = Answer.of(*await self._command(mail))
        if first.code != 250:
            return [first]
        answers = [Answer.of(*await self._command(rcpt)) for rcpt in recipients]
        if all(answer.code >= 300 for answer in answers):
            return [first, *answers]
        start = await self._protocol.execute_command(b"DATA", timeout=self._timeouts.data_start)
        return [first, *answers, Answer.of(*start)]

    async def content(self, wire: bytes) -> Answer:
        """The message, dot-stuffed and ended by a line with a dot; the reply to it."""
        times = self._timeouts
        return Answer.of(*await self._protocol.send_content(wire, times.data_block, times.data_end))

    async def reset(self) -> bool:
        """Forget a transaction that was given up; False when the session is of no more use."""
        return (await self._command(b"RSET")).code == 250

    async def quit(self) -> None:
        """Say goodbye, briefly, and close."""
        try:
            await self._protocol.execute_command(b"QUIT", timeout=self._timeouts.quit)
        except (SMTPException, OSError):
            pass  # it is gone already, which is all that was asked
        finally:
            self.close()

    def close(self) -> None:
        transport = self._protocol.transport
        if transport is not None:
            transport.abort() if isinstance(transport, asyncio.WriteTransport) else transport.close()
