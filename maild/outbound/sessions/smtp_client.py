"""One SMTP session as the client, over a protocol that pipelines (`maild/outbound/sessions/pipelining.py`).

A `NextHopSession` belongs to one task at a time. After any exception it is closed, and closing aborts: a host
that does not read would otherwise keep the socket and what waits in it.
"""

import asyncio
import base64
import re
import ssl
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiosmtplib import SMTPException, SMTPServerDisconnected
from aiosmtplib.esmtp import parse_esmtp_extensions
from aiosmtplib.response import SMTPResponse

from conf.tls import receive_little
from maild.outbound.sessions.attempt_record import HostRecord, SessionFacts
from maild.outbound.sessions.pipelining import PipeliningProtocol
from maild.outbound.sessions.replies import CLOSING, Meaning, SmtpReply, Step, meaning
from maild.outbound.sessions.session_faults import EnvelopeCut, TlsFailed, reason, tls_failure
from maild.outbound.sessions.tls_policy import TlsPolicy
from maild.outbound.signing.wire import LargeWire

_DER = 2  # _ssl.ENCODING_DER
_LIMIT = re.compile(r"(MAILMAX|RCPTMAX)=([1-9][0-9]{0,5})", re.IGNORECASE)  # RFC 9422 §4


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds; RFC 5321 §4.5.3.2.

    `content`: of a whole message, for which the RFC has no bound: a host that reads a block now and then would hold the
    session for a day. It does not go by the message's length, for a full line of our own is shared by all sessions: if
    each had to keep a pace, all of them would miss it, and begin anew, and no message would ever get through.
    """

    connect: float = 30
    tls: float = 120  # the reply to STARTTLS, and as long for the handshake: slow is no reason for plain text
    greeting: float = 300
    command: float = 300
    envelope: float = 1800  # MAIL, RCPT for each and DATA together, where the host takes them one by one
    data_start: float = 120
    data_block: float = 180
    content: float = 3600
    data_end: float = 600
    reset: float = 10  # the verdicts are known by then, and wait
    quit: float = 2
    kept: float = 10  # until a kept-open session whose host acknowledges nothing, as TCP does, is given up


class NextHopSession:
    """One SMTP session with a next hop. `extensions`: EHLO keyword in lower case → its parameters; `mechanisms`: of
    AUTH, in lower case; `tls`: version and cipher, and in brackets the policy that demanded it, None in plain text;
    `limits`: MAILMAX and RCPTMAX (RFC 9422), where the host tells them; `idle_since`: monotonic seconds. What is said
    goes into the record of who uses it, `go_on` after `go_on`."""

    def __init__(self, protocol: PipeliningProtocol, timeouts: Timeouts) -> None:
        self._protocol = protocol
        self._timeouts = timeouts
        self._record = protocol.record
        self._login_secrets: tuple[str, ...] = ()
        self.facts = self._record.facts = SessionFacts()
        self.extensions: dict[str, str] = {}
        self.mechanisms: list[str] = []
        self.limits: Mapping[str, int] = {}
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
        receive_little(transport.get_extra_info("socket"))
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
        # It may have died without a word: its host is off, or a translator on the way has forgotten it. A host that
        # takes its time to reply acknowledges at once.
        self._protocol.give_up_unacknowledged(self._timeouts.kept)

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
            self.limits = _limits(self.extensions.get("limits", ""))
            return None
        self.extensions, self.mechanisms, self.limits = {}, [], {}
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
            await self._protocol.start_tls(context, server_hostname=host, timeout=self._timeouts.tls)
        except (SMTPException, OSError, ValueError) as error:  # ssl.SSLError is an OSError
            self.close()
            error.__traceback__ = None  # the protocol keeps it, and is known to those frames
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
        initial, *answers = _responses(mechanism, username, password)
        self._login_secrets = tuple(
            word for word in (password, *(one.decode() for one in (initial, *answers))) if word
        )
        self._protocol.secrets = (*self._login_secrets, *self._protocol.secrets)
        verb = b"AUTH " + mechanism.upper().encode()
        shown = f"{verb.decode()} (credentials)" if initial else ""
        reply = await self._command(*filter(None, (verb, initial)), shown=shown)
        for answer in answers:
            if reply.code == 334:
                reply = await self._command(answer, shown="(credentials)")
        return None if reply.code == 235 else SmtpReply.of(*reply)

    async def _command(self, *words: bytes, shown: str = "") -> SMTPResponse:
        self._record.say(shown or b" ".join(words))
        return await self._protocol.execute_command(*words, timeout=self._timeouts.command)

    @property
    def is_usable(self) -> bool:
        return self._protocol.is_connected and not self._protocol.has_unsolicited_data

    def takes_another(self, messages_max: int) -> bool:
        """May one more message begin on it, of at most so many?"""
        return self.messages < min(messages_max, self.limits.get("MAILMAX", sys.maxsize))

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
        self._protocol.give_up_unacknowledged(0)
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
        reply = await self._protocol.send_content(wire, times.data_block, times.content, times.data_end, took)
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


def _limits(parameters: str) -> dict[str, int]:
    """Those that are well-formed; of one that is told twice the last."""
    found = filter(None, map(_LIMIT.fullmatch, parameters.split()))
    return {match[1].upper(): int(match[2]) for match in found}


def _responses(mechanism: str, username: str, password: str) -> list[bytes]:
    """The initial response, b"" for none, and what is answered to challenges (RFC 4954 §4)."""
    if mechanism == "login":
        # The host begins (draft-murchison-sasl-login). To one that asks for a name which it was told already, the
        # password would be said as the name, and may stand in its log.
        return [b"", _base64(username), _base64(password)]
    if mechanism == "xoauth2":  # the challenge tells why; the real reply comes to an empty answer
        return [_base64(f"user={username}\x01auth=Bearer {password}\x01\x01"), b""]
    return [_base64(f"\0{username}\0{password}")]  # RFC 4616


def _base64(text: str) -> bytes:
    return base64.b64encode(text.encode())
