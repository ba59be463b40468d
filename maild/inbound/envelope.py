"""The SMTP envelope of a message that comes in (RFC 5321 §2.3.1): while it is given, and as it is handed over."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from storage.inboxes import RecipientInbox

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


@dataclass(slots=True)
class MailTransaction:
    """From MAIL to the end of DATA. `declared_bytes`: the SIZE of MAIL (RFC 1870), 0 when none was given."""

    mail_from: str
    recipients: list[tuple[str, RecipientInbox]]
    declared_bytes: int

    def told_recipients(self) -> dict[str, Any]:
        """For a line of the log about all of them."""
        told = [address for address, _ in self.recipients[:TOLD_RECIPIENTS]]
        return {"recipients": told, "recipient_count": len(self.recipients)}
