"""What goes into the pipeline, and what comes out of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from controlplane.access.principal import Principal
from controlplane.contract.messages import SendMessage
from controlplane.contract.refusals import Fault, invalid
from maild.message.digest import Digest
from storage.blobs import Stored
from storage.records import DraftRow

KEY_CHARS_MAX = 255
NO_SUBJECT = "(no subject)"


class Retry(NamedTuple):
    """How a client that asks again is recognised. The same key with another fingerprint is a conflict; `family`, where
    it is not empty: so is another key that begins so."""

    endpoint: str
    key: str
    fingerprint: bytes
    family: str = ""


@dataclass(frozen=True, slots=True)
class WrittenMail:
    """A message that its author's program composed (`found` tells what it says): it is sent as it stands in `stored`.
    `token`: what its envelope senders carry."""

    stored: Stored
    found: Digest
    token: str


@dataclass(frozen=True, slots=True)
class Submission:
    """One wish to send, from any door. `draft`: the draft that it sends, as it was read. `written`: the message, where
    it is not to be composed of the request, which then says who sends it to whom."""

    principal: Principal
    request: SendMessage
    retry: Retry | None = None
    draft: DraftRow | None = None
    written: WrittenMail | None = None

    @property
    def subject(self) -> str:
        """As lists and threads show it."""
        return self.written.found.parsed.subject if self.written else subject_of(self.request)


def subject_of(request: SendMessage) -> str:
    """The subject of a message that is composed of this."""
    return request.subject or NO_SUBJECT


class Accepted(NamedTuple):
    """`message`: as the API shows it, JSON. `is_replay`: an earlier request made it; else `message_id` is new."""

    message: bytes
    is_replay: bool
    message_id: str | None = None


def read_key(values: Sequence[str]) -> str | None:
    """The Idempotency-Key of a call, which may have been given more than once (docs/contract.md, "Sending")."""
    if not values:
        return None
    fault = None
    if len(values) > 1:
        fault = Fault("Idempotency-Key", "given_twice", "Give this header once")
    elif not values[0].strip():
        fault = Fault("Idempotency-Key", "too_short", "Give a key of 1 to 255 characters, or no such header")
    elif len(values[0]) > KEY_CHARS_MAX:
        fault = Fault("Idempotency-Key", "too_long", "Give a key of at most 255 characters")
    elif not values[0].isprintable() or not values[0].isascii():
        fault = Fault("Idempotency-Key", "invalid_text", "Give a key of printable ASCII characters")
    if fault is not None:
        raise invalid([fault])
    return values[0]


def fingerprint(principal: Principal, request: SendMessage) -> bytes:
    """Equal for requests that ask for the same: what JSON leaves open (order, blanks) makes no difference."""
    # Contents are hashed by themselves: written as JSON once more, large ones would keep the interpreter for long.
    words = request.model_dump_json(exclude_defaults=True, exclude={"attachments": {"__all__": {"content"}}})
    asked = hashlib.sha256(f"{principal.mode}\n{words}".encode("utf-8", "surrogatepass"))
    for one in request.attachments:
        asked.update(hashlib.sha256(one.content.encode("utf-8", "surrogatepass")).digest())
    return asked.digest()


def size_of(request: SendMessage) -> int:
    """How many characters the fingerprint reads, about."""
    return (
        len(request.text or "")
        + len(request.html or "")
        + sum(len(one.content) for one in request.attachments)
    )
