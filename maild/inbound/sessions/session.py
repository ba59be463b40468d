"""A session with a host that brings mail: RCPT asks for an inbox of ours, and block lists have their say.

The rest of the conversation is `conversation.py`'s. No client may relay: a recipient is an inbox of ours or refused.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

import structlog

from maild.errors import SmtpError, unavailable
from maild.inbound.envelope import InboundEnvelope, InboundTransaction, MailTransaction
from maild.inbound.recipients import UnknownRecipient, is_operator_address
from maild.inbound.sessions.command_arguments import read_forward_path, read_reverse_path
from maild.inbound.sessions.conversation import (
    COMMON_COMMANDS,
    Conversation,
    ConversationHost,
    Handler,
    SessionSetup,
)
from maild.inbound.sessions.intake import Intake, want
from storage.engine.failures import is_refused
from storage.mail.blobs import Stored
from storage.mail.inboxes import RecipientInbox

log = structlog.get_logger("maild.smtp")

# Until a client whose kernel does not acknowledge our 250 is gone. Programs wait for as long, and come again.
ACKNOWLEDGED_S = 10.0


class StoredMessage(Protocol):
    """What a 250 tells of. `transaction_digest`: None where it does not matter whether the 250 is heard."""

    @property
    def first_id(self) -> str: ...
    @property
    def transaction_digest(self) -> bytes | None: ...


class SessionServices(ConversationHost, Protocol):
    """What a session asks of the listener, and of acceptance behind it. The errors are SmtpError."""

    async def find_mailbox(self, address: str) -> RecipientInbox: ...
    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> "StoredMessage": ...
    def reply_heard(self, transaction_digest: bytes) -> None: ...
    def reply_unheard(self, transaction_digest: bytes, message_id: str) -> None: ...
    def intake(self, peer: str, declared_bytes: int) -> Intake: ...
    def look_for(self, peer: str) -> "asyncio.Task[str | None] | None": ...


class Session(Conversation):
    """`id`: its name in the log."""

    _host: SessionServices
    _mail: InboundTransaction | None

    def __init__(self, host: SessionServices, setup: SessionSetup) -> None:
        super().__init__(host, setup)
        self._listing: asyncio.Task[str | None] | None = None  # the block list that has the peer
        self._unanswered: StoredMessage | None = None  # nothing came from the client since its 250

    def ended(self) -> None:
        if self._listing is not None:
            self._listing.cancel()
        self._end_reply(is_heard=False)
        super().ended()

    def _command_came(self) -> None:
        if self._unanswered is not None:
            self._end_reply(is_heard=True)

    def _end_reply(self, *, is_heard: bool) -> None:
        """It is known whether the client heard its last 250, if there was one."""
        stored, self._unanswered = self._unanswered, None
        if stored is None or stored.transaction_digest is None:
            return
        if is_heard:
            self.give_up_unacknowledged(0)
            self._host.reply_heard(stored.transaction_digest)
        else:
            self._host.reply_unheard(stored.transaction_digest, stored.first_id)

    def _extensions(self) -> Sequence[str]:
        return ()

    def _introduce(self, argument: bytes) -> None:
        is_first = self._helo is None
        super()._introduce(argument)
        if is_first and self._listing is None:
            self._listing = self._host.look_for(self.peer)

    async def _mail_from(self, argument: bytes) -> None:
        if self._helo is None:
            raise SmtpError(503, "5.5.1", "say HELO or EHLO first")
        if self._mail is not None:
            raise SmtpError(503, "5.5.1", "sender already given")
        address, size = read_reverse_path(argument)
        self._refuse_size(size)
        self._mail = InboundTransaction(address, [], size)
        await self.push_with_next("250 2.1.0 OK")

    async def _rcpt_to(self, argument: bytes) -> None:
        if self._mail is None:
            raise SmtpError(503, "5.5.1", "say MAIL first")
        self._address, parameters = read_forward_path(argument)
        if parameters:
            raise SmtpError(555, "5.5.4", "parameter not implemented")
        if len(self._mail.recipients) >= self._limits.max_recipients:  # RFC 5321 §4.5.3.1.10
            raise self._counts.recipient_beyond()
        await self._refuse_if_listed(self._address)
        self._mail.add(self._address, await self._find(self._address))
        await self.push_with_next("250 2.1.5 OK")

    async def _refuse_if_listed(self, address: str) -> None:
        if self._listing is None or is_operator_address(address):
            return
        zone = await self._listing
        if zone is not None:
            raise SmtpError(550, "5.7.1", f"your address {self.peer} is on the block list {zone}")

    async def _find(self, address: str) -> RecipientInbox:
        try:
            return await self._host.find_mailbox(address)
        except UnknownRecipient as refusal:
            raise self._counts.unknown_recipient(refusal) from None
        except SmtpError:
            raise
        except Exception as error:
            if is_refused(error):
                want.note(error)
            else:
                log.exception("lookup_failed", peer=self.peer)
            raise unavailable("recipient could not be checked, try again later") from error

    def _intake(self, transaction: MailTransaction) -> Intake:
        return self._host.intake(self.peer, transaction.declared_bytes)

    async def _accept(self, transaction: MailTransaction, stored: Stored) -> str:
        assert isinstance(transaction, InboundTransaction)
        self._unanswered = done = await self._host.accept(self._envelope(transaction), stored)
        if self.has_said_all or not self.is_open:
            self._end_reply(is_heard=False)
        elif done.transaction_digest is not None:
            self.give_up_unacknowledged(ACKNOWLEDGED_S)
        return f"250 2.0.0 OK: stored as {done.first_id}"

    def _envelope(self, transaction: InboundTransaction) -> InboundEnvelope:
        extended = "ESMTP" if self._extended else "SMTP"
        return InboundEnvelope(
            mail_from=transaction.mail_from,
            recipients=tuple(zip(transaction.recipients, transaction.inboxes, strict=True)),
            helo=self._helo or "unknown",
            peer=self.peer,
            protocol=f"{extended}S" if self.is_encrypted else extended,  # RFC 3848
            tls=self.cipher(),
        )

    commands: ClassVar[Mapping[bytes, Handler]] = {**COMMON_COMMANDS, b"MAIL": _mail_from, b"RCPT": _rcpt_to}
