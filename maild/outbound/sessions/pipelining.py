"""aiosmtplib's protocol, with pipelining (RFC 2920) on top.

aiosmtplib 5.1 waits for each reply before the next command. Here a group of commands is written at
once and its replies are read in order; octets beyond the expected replies mean that client and server are out of
step, so nothing more is written.
"""

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import cast

from aiosmtplib import SMTPException, SMTPServerDisconnected
from aiosmtplib.errors import SMTPReadTimeoutError
from aiosmtplib.protocol import SMTPProtocol
from aiosmtplib.response import SMTPResponse

from conf import unacknowledged
from maild.outbound.sessions.attempt_record import HostRecord, masked
from maild.outbound.sessions.replies import LEAST_REFUSAL, Malformed, ReplyReader
from maild.outbound.sessions.session_faults import (
    Desynchronized,
    MessageCut,
    NotAcknowledged,
    reason,
)
from maild.outbound.signing.wire import END, LargeWire
from storage.turns.patient_timer import PatientTimer

_BYTES_ACKED_AT = 120  # tcpi_bytes_acked of struct tcp_info, linux/tcp.h


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
        content_timeout: float,
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
            elif not await self._write_blocks(wire, group, block_timeout, content_timeout, took):
                self._refuse_acceptance()
                return self._replies[0]
            self.record.enter("answer")
            await self._until(group, end_timeout)
        except SMTPReadTimeoutError:
            if self.transport is None or self.transport.is_closing():
                raise
            octets = unacknowledged.octets(self.transport)
            if not octets:
                raise
            raise NotAcknowledged(octets) from None
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
        timer = PatientTimer(timeout, partial(_late, group))
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
        content_timeout: float,
        took: Callable[[int], None] | None,
    ) -> bool:
        """False where the host has answered before the last block was written; MessageCut."""
        written = 0
        try:
            async with asyncio.timeout(content_timeout), aclosing(wire.pieces()) as pieces:
                async for piece in pieces:
                    if self._replies:
                        return False
                    if group.done():
                        group.result()  # raises: it is lost, or was given up
                    self.may_have_message = written + len(piece) > len(wire) - len(END)
                    self.write(piece)
                    written += len(piece)
                    await self._drained(block_timeout)
                    if took is not None:
                        took(len(piece))
                    # What the host says must be read before a write fails: nothing is read after that.
                    await asyncio.sleep(0)
        except (SMTPException, OSError) as error:  # a timeout is an OSError
            if self._replies and not isinstance(error, TimeoutError):
                return False
            if written <= len(wire) - len(END):
                raise MessageCut(f"{_why_lost(group, error)} in the middle of the message") from None
            if isinstance(error, TimeoutError):
                raise SMTPReadTimeoutError("timed out sending the message") from None
            raise
        finally:
            del group
        return True

    async def _drained(self, block_timeout: float) -> None:
        """Wait until most of what was written has left; TimeoutError where the host takes nothing for so long."""
        while True:
            before = self._acknowledged() if self._paused else 0
            try:
                async with asyncio.timeout(block_timeout):
                    await self._drain_helper()
                    return
            except TimeoutError:
                # On a line that all sessions share a piece may need longer, and yet get on.
                if self._acknowledged() <= before:
                    raise

    def _acknowledged(self) -> int:
        """How many octets the host has acknowledged, TLS included; 0 once the connection is closed."""
        if self.transport is None or self.transport.is_closing():
            return 0
        connection: socket.socket = self.transport.get_extra_info("socket")
        facts = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_ACKED_AT + 8)
        return int.from_bytes(facts[_BYTES_ACKED_AT:], sys.byteorder)

    def give_up_unacknowledged(self, after_s: float) -> None:
        """Lose the connection when the host acknowledges nothing for so long; 0: when the kernel says so."""
        if self.transport is not None:
            unacknowledged.give_up(self.transport, after_s)

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


def _why_lost(group: "asyncio.Future[None]", error: Exception) -> str:
    """Who gave the wait for replies up knows better than the write that failed behind it."""
    given_up = group.exception() if group.done() else None
    return reason(given_up if isinstance(given_up, SMTPReadTimeoutError) else error)
