"""What goes into the pipeline, and what comes out of it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from controlplane.access.principal import Principal
from controlplane.contract.mail.messages import AttachmentInput, SendMessage
from controlplane.contract.model import RequestBody
from controlplane.contract.refusals import Fault, Refusal, invalid
from maild.message.digest import Digest
from maild.message.fields.address import parse_mailboxes
from maild.message.writing.compose import OutgoingAttachment
from maild.message.writing.header_writer import clean_text
from maild.message.writing.outgoing_warnings import AuthoredWords
from storage import idempotency
from storage.engine.tx import Tx
from storage.idempotency import EVER, KeptWhen
from storage.mail import conversation
from storage.mail.blobs import Stored
from storage.records import DraftRow


class ComposableRequest(Protocol):
    """A request that a message is composed of."""

    text: str | None
    html: str | None

    @property
    def attachments(self) -> Sequence[AttachmentInput]: ...
    def model_dump_json(self, *, exclude_defaults: bool = ..., exclude: Any = ...) -> str: ...


KEY_CHARS_MAX = 255
NO_SUBJECT = "(no subject)"


class Retry(NamedTuple):
    """How a client that asks again is recognised. The same key with another fingerprint is a conflict; `family`, where
    it is not empty: so is another key that begins so. `when`: what was kept at another time does not count; where that
    is not ever, what counts is answered with the status that its message has now, since nobody asked for the very
    answer."""

    endpoint: str
    key: str
    fingerprint: bytes
    family: str = ""
    when: KeptWhen = EVER

    def keep(self, tx: Tx, organization_id: str, answer: bytes, message_id: str | None, now_ms: int) -> None:
        """Keep the answer in the transaction that made what it tells of, behind `recalled`, which found none."""
        if self.when != EVER:
            idempotency.forget(tx, organization_id, self.endpoint, self.key, self.when)
        idempotency.keep(
            tx,
            organization_id,
            self.endpoint,
            self.key,
            self.fingerprint,
            answer.decode(),
            message_id,
            now_ms,
        )


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
    it is not to be composed of the request, which then says who sends it to whom. `files`: attachments that were not
    uploaded with it, of the message `forward_of`. `authority`: of a key that may only answer
    (`controlplane/sending/admitting/participants.py`). `resolved`: how its recipients were found, JSON, for the
    answer. `words`: what its author wrote of it, where that is not all of the request."""

    principal: Principal
    request: SendMessage
    retry: Retry | None = None
    draft: DraftRow | None = None
    written: WrittenMail | None = None
    files: Sequence[OutgoingAttachment] = ()
    forward_of: str | None = None
    authority: str | None = None
    resolved: bytes | None = None
    words: AuthoredWords | None = None

    @property
    def subject(self) -> str:
        """As lists and threads show it."""
        return self.written.found.parsed.subject if self.written else subject_of(self.request)

    @property
    def answers_to(self) -> Sequence[str]:
        """Whom its author wants to be answered in his place."""
        if self.written is not None:
            return [one.address for one in self.written.found.parsed.reply_to]
        written = [value for name, value in self.request.headers.items() if name.lower() == "reply-to"]
        return [one.address for value in written for one in parse_mailboxes(value)]


def subject_of(request: SendMessage) -> str:
    """The subject of a message that is composed of this."""
    return clean_text(request.subject or "") or NO_SUBJECT


class Accepted(NamedTuple):
    """`message`: as the API shows it, JSON. `is_replay`: an earlier request made it; else `message_id` is new, and
    waits for the review `review_id` where there is one."""

    message: bytes
    is_replay: bool
    message_id: str | None = None
    review_id: str | None = None


def check_if_last(tx: Tx, organization_id: str, thread_id: str | None, if_last: str | None) -> None:
    """Refusal `validation_failed` unless `ifLastMessageId` names a message of the conversation that is answered."""
    if if_last is None:
        return
    if thread_id is None:
        raise invalid(
            [Fault("ifLastMessageId", "not_allowed", "Give 'inReplyTo' too: it names the conversation")]
        )
    if not conversation.has(tx, organization_id, thread_id, if_last):
        raise invalid(
            [Fault("ifLastMessageId", "invalid_id", "Expected a message of the conversation answered")]
        )


def recalled(tx: Tx, organization_id: str, retry: Retry | None) -> Accepted | None:
    """What was answered to this very request before; None: it is the first. Refusal `idempotency_conflict`."""
    if retry is None:
        return None
    kept = idempotency.find(tx, organization_id, retry.endpoint, retry.key, retry.when)
    if kept is None:
        if retry.family and idempotency.has_another(
            tx, organization_id, retry.endpoint, retry.family, retry.fingerprint
        ):
            raise Refusal("idempotency_conflict")
        return None
    if kept.request_hash != retry.fingerprint:
        raise Refusal("idempotency_conflict")
    answer = kept.answer.encode()
    if retry.when != EVER and kept.status is not None:
        answer = msgspec.json.encode({**msgspec.json.decode(answer), "status": kept.status})
    return Accepted(answer, is_replay=True)


def with_resolved(shown: bytes, resolved: bytes) -> bytes:
    """The JSON object with the member `resolved` besides."""
    return shown[:-1] + b',"resolved":' + resolved + b"}"


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


def fingerprint(principal: Principal, request: ComposableRequest, about: str = "") -> bytes:
    """Equal for requests that ask for the same: what JSON leaves open (order, blanks) makes no difference. `about`: the
    resource that the request is about, where its body does not say so."""
    # Contents are hashed by themselves: written as JSON once more, large ones would keep the interpreter for long.
    words = request.model_dump_json(exclude_defaults=True, exclude={"attachments": {"__all__": {"content"}}})
    asked = _hashed(principal, about, words)
    for one in request.attachments:
        asked.update(hashlib.sha256(one.content.encode("utf-8", "surrogatepass")).digest())
    return asked.digest()


def small_fingerprint(principal: Principal, request: RequestBody, about: str) -> bytes:
    """The same of a request that has nothing attached."""
    return _hashed(principal, about, request.model_dump_json(exclude_defaults=True)).digest()


def _hashed(principal: Principal, about: str, words: str) -> "hashlib._Hash":
    return hashlib.sha256(f"{principal.mode}{about}\n{words}".encode("utf-8", "surrogatepass"))


def size_of(request: ComposableRequest) -> int:
    """How many characters the fingerprint reads, about."""
    return (
        len(request.text or "")
        + len(request.html or "")
        + sum(len(one.content) for one in request.attachments)
    )
