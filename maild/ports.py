"""What parts of the mail plane are handed by others that they don't know: mail from an inbox of this host to another,
the simulator's answers, and the control plane's way of sending.

The outbound queue and the inbound plane never import each other; the composition root gives the
queue a `PrepareLocal` and a `PrepareAnswer`. They are awaited outside a transaction (they may read, parse,
hash) and yield a unit of work, which the queue runs in the transaction that records the outcome:
delivered exactly once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from storage.engine.tx import Tx
from storage.mail.blobs import Blob, Stored
from storage.mail.evidence import EvidenceRow
from storage.records import AttachmentRow, MessageRow


@dataclass(frozen=True, slots=True)
class LocalMail:
    """One message for recipients on domains of ours. Its bytes are in the store already.

    `recipient_headers`: header fields that this copy has for itself, in front of the stored bytes.
    """

    message_id: str
    organization_id: str
    inbox_id: str
    sender_domain: str
    blob_id: str
    envelope_from: str
    recipients: tuple[str, ...]
    mode: str
    recipient_headers: bytes = b""


@dataclass(frozen=True, slots=True)
class SimulatedAnswer:
    """What a simulated recipient writes back to an inbox."""

    raw: bytes
    author: str
    inbox_address: str


@dataclass(frozen=True, slots=True)
class Reply:
    """As an SMTP server would reply for one recipient: 2xx accepted, 4xx transient, 5xx permanent (RFC 5321 §4.2.1).

    `refused_for`: why the inbox refused it, for the log: no sender hears that."""

    code: int
    enhanced: str
    text: str
    message_id: str | None = None  # of the inbox's copy
    refused_for: Sequence[str] = ()


# What may be an attack in a message that is about to be stored: its row (of no thread yet), attachments and bytes.
ExamineArrival = Callable[[MessageRow, Sequence[AttachmentRow], Blob], Awaitable[EvidenceRow]]
# Each recipient's reply; None: the sender's domain is not theirs any more.
DeliverLocal = Callable[[Tx], Mapping[str, Reply] | None]
PrepareLocal = Callable[[LocalMail], Awaitable[DeliverLocal]]
DeliverAnswer = Callable[[Tx], None]
PrepareAnswer = Callable[[SimulatedAnswer], Awaitable[DeliverAnswer]]
IsLocal = Callable[[str], Awaitable[bool]]  # domain (A-label) → do its inboxes live here?
MaySend = Callable[[str, str], Awaitable[bool]]  # organization, domain → may it send from there, now?


@dataclass(frozen=True, slots=True)
class QueuePorts:
    """What the outbound queue asks of parts that it does not know."""

    prepare_local: PrepareLocal
    prepare_answer: PrepareAnswer
    is_local: IsLocal
    may_send: MaySend


class SubmittedMail(NamedTuple):
    """A message that a client submits for the inbox that it logged in as, edited as it goes out.

    `recipients`: those of the envelope, domains as A-labels. `message_id`: the author's own, None where it is ours.
    `own_hash`: of what the author wrote. `token`: what our Message-ID and envelope senders carry. `has_long_lines`: no
    host has to take the body as it is.
    """

    stored: Stored
    recipients: tuple[str, ...]
    message_id: str | None
    own_hash: bytes
    token: str
    has_long_lines: bool


class Submitter(Protocol):
    """A client that logged in to send from one inbox. The errors are SmtpError."""

    @property
    def address(self) -> str:
        """The inbox's, as a comparison key."""

    @property
    def told(self) -> dict[str, str]:
        """What the log says of it: the ids of inbox, key and organization."""

    async def begin(self) -> None:
        """A message is about to be given: may one be, by the rate limit?"""

    async def submit(self, mail: SubmittedMail) -> str:
        """Queue the message, durably; its id. Of a message that was submitted before, the id that it has. Called inside
        `storage.mail.blobs.Blobs.keep`."""


LogIn = Callable[[str, str, str], Awaitable[Submitter | None]]  # username, password, peer → None: not these
