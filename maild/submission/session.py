"""A session with a client that logs in and submits mail for anybody (RFC 6409, 4954, 8314).

The rest of the conversation is `maild/inbound/sessions/conversation.py`'s: limits, timers, DATA and its defences are
those of mail that comes in. What may be sent is decided behind the port (`maild.ports.Submitter`), by the same
operation as for the API.

A password is asked for under TLS alone, is handed on and not kept, and stands in no reply and no line of the log.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import structlog

from conf.log_events import LogEvent, clean, tell
from maild.errors import SmtpError
from maild.inbound.envelope import MailTransaction
from maild.inbound.sessions.command_arguments import read_any_name, read_authenticated_path, read_forward_path
from maild.inbound.sessions.conversation import (
    COMMAND_LINE_OCTETS,
    COMMON_COMMANDS,
    Conversation,
    ConversationHost,
    Handler,
    SessionSetup,
)
from maild.inbound.sessions.intake import Intake
from maild.message.fields.address import AddressSyntaxError, normalize, validate
from maild.ports import SubmittedMail, Submitter
from maild.submission.credentials import (
    Credentials,
    read_initial_response,
    read_login,
    read_plain,
    read_response,
)
from maild.submission.header_filter import SubmittedSection
from maild.submission.replies import reply_text
from storage.mail.blobs import Stored

log = structlog.get_logger("maild.submission")

FAILED_LOGINS_MAX = 3  # in one session
SILENT_S = 300  # RFC 5321 §4.5.3.2.7: workers keep a session from mail to mail
KEPT_S = 24 * 3600.0  # who reads no reply has no word left to be late with
_USERNAME, _PASSWORD = "334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6"  # what all servers ask in LOGIN
# RFC 4954 §6, and what is wanted, which mail programs show to whoever fills in their form; not what was wrong.
_INVALID = (
    "authentication credentials invalid:"
    " the username is the address of an inbox, the password an API key that may send from it"
)


class SubmissionHost(ConversationHost, Protocol):
    """What a session asks of its listener. The errors are SmtpError."""

    async def log_in(self, credentials: Credentials | None, peer: str) -> Submitter | None: ...
    def token(self) -> str: ...
    def section(self, token: str, domain: str) -> SubmittedSection: ...
    async def submit(self, submitter: Submitter, mail: SubmittedMail, peer: str) -> str: ...
    def intake(self, section: SubmittedSection, peer: str, declared_bytes: int) -> Intake: ...


class SubmissionSession(Conversation):
    """`id`: its name in the log."""

    _host: SubmissionHost

    def __init__(self, host: SubmissionHost, setup: SessionSetup) -> None:
        super().__init__(host, setup)
        self._submitter: Submitter | None = None
        self._failed_logins = 0
        self._token = ""  # of the message that is given, and what reads its header:
        self._section: SubmittedSection | None = None

    def secured(self) -> None:
        super().secured()
        self._submitter = None  # RFC 3207 §4.2

    def _extensions(self) -> Sequence[str]:
        return ("AUTH PLAIN LOGIN",) if self.is_encrypted else ()  # RFC 4954 §4: none that can't be used

    def _read_name(self, argument: bytes) -> str:
        return read_any_name(argument)

    def _told(self) -> Mapping[str, str]:
        return self._submitter.told if self._submitter is not None else {}

    # Who it is -----------------------------------------------------------------------------------

    async def _auth(self, argument: bytes) -> None:
        if self._submitter is not None or self._mail is not None:  # RFC 4954 §4
            raise SmtpError(503, "5.5.1", "authenticated already, or in a transaction")
        if not self.is_encrypted:
            raise SmtpError(538, "5.7.11", "encryption required: say STARTTLS first")
        if self._helo is None:
            raise SmtpError(503, "5.5.1", "say EHLO first")
        mechanism, _, initial = argument.partition(b" ")
        ask = MECHANISMS.get(mechanism.upper())
        if ask is None:
            raise SmtpError(504, "5.5.4", "mechanism not offered: use PLAIN or LOGIN")
        await self._log_in(await ask(self, initial.strip()))

    async def _log_in(self, credentials: Credentials | None) -> None:
        submitter = await self._host.log_in(credentials, self.peer)
        if submitter is None:
            self._failed_logins += 1
            self._host.strangers.note(
                LogEvent.LOGIN_FAILED, session=self.id, peer=self.peer, username=_shown(credentials)
            )
            if self._failed_logins >= FAILED_LOGINS_MAX:
                raise SmtpError(421, "4.7.0", "too many failed logins, closing connection", closes=True)
            raise SmtpError(535, "5.7.8", _INVALID)
        self._submitter = submitter
        self._counts.known()
        limits = self._limits
        self.take_time(max(SILENT_S, limits.command_timeout_s), max(KEPT_S, limits.session_timeout_s))
        tell(self._host.log, LogEvent.LOGGED_IN, session=self.id, peer=self.peer, **submitter.told)
        await self.push("235 2.7.0 authenticated")

    async def _plain(self, initial: bytes) -> Credentials | None:
        return read_plain(read_initial_response(initial) if initial else await self._answer("334 "))

    async def _login(self, initial: bytes) -> Credentials | None:
        username = read_initial_response(initial) if initial else await self._answer(_USERNAME)
        return read_login(username, await self._answer(_PASSWORD))

    async def _answer(self, challenge: str) -> bytes:
        await self.push(challenge)
        line = await self.read_line(COMMAND_LINE_OCTETS)
        self.active()
        return read_response(line)

    # What it sends -------------------------------------------------------------------------------

    async def _mail_from(self, argument: bytes) -> None:
        submitter = self._known()
        if self._helo is None:
            raise SmtpError(503, "5.5.1", "say EHLO first")
        if self._mail is not None:
            raise SmtpError(503, "5.5.1", "sender already given")
        address, size = read_authenticated_path(argument)
        if address and normalize(address) != submitter.address:
            raise SmtpError(550, "5.7.1", f"you may send as {submitter.address} alone")
        self._refuse_size(size)
        await submitter.begin()
        self._mail = MailTransaction(address, [], size)
        await self.push_with_next("250 2.1.0 OK")

    async def _rcpt_to(self, argument: bytes) -> None:
        self._known()
        if self._mail is None:
            raise SmtpError(503, "5.5.1", "say MAIL first")
        self._address, parameters = read_forward_path(argument)
        if parameters:
            raise SmtpError(555, "5.5.4", "parameter not implemented")
        try:
            recipient = validate(self._address)
        except AddressSyntaxError as error:
            raise SmtpError(553, "5.1.3", reply_text(f"<{self._address}>: {error}")) from error
        if len(self._mail.recipients) >= self._limits.max_recipients:  # RFC 5321 §4.5.3.1.10
            raise self._counts.recipient_beyond()
        self._mail.recipients.append(recipient)
        await self.push_with_next("250 2.1.5 OK")

    def _known(self) -> Submitter:
        if not self.is_encrypted:  # RFC 3207 §4
            raise SmtpError(530, "5.7.0", "say STARTTLS first")
        if self._submitter is None:  # RFC 4954 §6
            raise SmtpError(530, "5.7.0", "authentication required")
        return self._submitter

    def _intake(self, transaction: MailTransaction) -> Intake:
        self._token = self._host.token()
        self._section = self._host.section(self._token, self._known().address.rpartition("@")[2])
        return self._host.intake(self._section, self.peer, transaction.declared_bytes)

    async def _accept(self, transaction: MailTransaction, stored: Stored) -> str:
        assert self._section is not None
        mail = SubmittedMail(
            stored,
            tuple(transaction.recipients),
            self._section.message_id,
            self._section.own_hash,
            self._token,
            self._section.has_long_lines,
        )
        message_id = await self._host.submit(self._known(), mail, self.peer)
        tell(
            self._host.log,
            LogEvent.SUBMITTED,
            peer=self.peer,
            tls=self.cipher(),
            message_id=message_id,
            size_bytes=stored.size_bytes,
        )
        return f"250 2.0.0 OK: queued as {message_id}"

    commands: ClassVar[Mapping[bytes, Handler]] = {
        **COMMON_COMMANDS,
        b"AUTH": _auth,
        b"MAIL": _mail_from,
        b"RCPT": _rcpt_to,
    }


Ask = Callable[[Any, bytes], Awaitable[Credentials | None]]  # the session, the initial response

MECHANISMS: Mapping[bytes, Ask] = {b"PLAIN": SubmissionSession._plain, b"LOGIN": SubmissionSession._login}


def _shown(credentials: Credentials | None) -> str | None:
    """The name that was given, where it is an address: what else stands there may be the password."""
    if credentials is None:
        return None
    try:
        return clean(validate(credentials.username))
    except AddressSyntaxError:
        return None
