"""What sending asks of receiving, when a recipient is one of ours. The composition root joins the two.

`PrepareLocal` is awaited first (it may read, parse, hash); the unit that it returns runs inside the
transaction that records the outcome, so that a local message is in the inbox exactly when its
recipient row says `delivered`.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from storage.database import Tx


@dataclass(frozen=True, slots=True)
class LocalMail:
    message_id: str
    organization_id: str
    inbox_id: str
    blob_id: str
    envelope_from: str
    recipients: tuple[str, ...]
    mode: str


@dataclass(frozen=True, slots=True)
class Reply:
    """As an SMTP server would answer for one recipient: 2xx taken, 4xx later, 5xx never."""

    code: int
    enhanced: str
    text: str


DeliverLocal = Callable[[Tx], Mapping[str, Reply]]  # recipient → reply
PrepareLocal = Callable[[LocalMail], Awaitable[DeliverLocal]]
IsLocal = Callable[[str], Awaitable[bool]]  # domain → ours?
