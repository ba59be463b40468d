"""The SMTP envelope of a message that comes in (RFC 5321 §2.3.1): while it is given, and as it is handed over."""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from storage.mail.inboxes import RecipientInbox
from storage.records import dump

TOLD_RECIPIENTS = 10  # of a refused message, in the log


class InboundEnvelope(NamedTuple):
    """What the SMTP session knows of a message.

    `mail_from`: the envelope sender, "" for the null one. `recipients`: (address as given, inbox) pairs, at least one.
    `peer`: the client's IP address, without port or zone. `protocol`: RFC 3848: SMTP, ESMTP, ESMTPS. `tls`: version
    and cipher suite, None in clear text.
    """

    mail_from: str
    recipients: tuple[tuple[str, RecipientInbox], ...]
    helo: str
    peer: str
    protocol: str
    tls: str | None

    def transaction_digest(self, content: bytes) -> bytes:
        """The same 32 octets whenever this client brings the same content (its SHA-256) from the same sender to the
        same recipients, in whatever order, in the same inboxes."""
        to = sorted((address, box.inbox_id) for address, box in self.recipients)
        return sha256(content + dump((self.peer, self.mail_from, to)).encode()).digest()


@dataclass(slots=True)
class MailTransaction:
    """From MAIL to the end of DATA. `declared_bytes`: the SIZE of MAIL (RFC 1870), 0 when none was given."""

    mail_from: str
    recipients: list[str]
    declared_bytes: int


@dataclass(slots=True)
class InboundTransaction(MailTransaction):
    """`inboxes`: what each recipient reaches, in the same order."""

    inboxes: list[RecipientInbox] = field(default_factory=list)

    def add(self, address: str, inbox: RecipientInbox) -> None:
        self.recipients.append(address)
        self.inboxes.append(inbox)


def told_of_command(
    verb: str, helo: str | None, transaction: MailTransaction | None, recipient: str
) -> dict[str, Any]:
    """Fields of the log about a command that is refused, as far as it was understood: what was not may be a password,
    or part of a mail. `verb` and `recipient` are "" where none was understood."""
    told: dict[str, Any] = {}
    if verb:
        told["command"] = verb
    if helo is not None:
        told["helo"] = helo
    if transaction is not None:
        told["mail_from"] = transaction.mail_from
    if recipient:
        told["recipient"] = recipient
    elif transaction is not None and verb == "DATA":
        first = transaction.recipients[:TOLD_RECIPIENTS]
        told |= {"recipients": first, "recipient_count": len(transaction.recipients)}
    return told
