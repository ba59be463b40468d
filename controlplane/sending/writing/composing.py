"""From a request to the bytes that are kept: sanitised, and composed once for all recipients.

What the API shows is what a receiver will see, not what was asked for: the bytes are read back, but those of a plain
text alone, of which that is known (`kept_of_composed`, held to reading by a property).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Fault, invalid
from controlplane.sending.submission import subject_of
from controlplane.sending.writing.html_shape import DEPTH_MAX, TAGS_MAX, is_too_complex
from controlplane.sending.writing.sanitize import Sanitizer, is_cleaned_soon
from maild.message.digest import KeptContent, kept_of_composed
from maild.message.fields.address import normalize
from maild.message.fields.thread_headers import reply_references
from maild.message.model import Mailbox
from maild.message.parsing.text import html_to_text
from maild.message.writing.compose import Composed, ComposeError, Outgoing, OutgoingAttachment, compose
from maild.message.writing.header_writer import MAX_SENT_HEADER_BYTES
from storage.records import InboxRow, MessageRow, load
from storage.turns.cpu_threads import CpuThreads

THREAD_BYTES = 128 * 1024  # composing and parsing more than this takes a thread of its own
THREAD_TAGS = 2000  # some milliseconds of sanitising


@dataclass(frozen=True, slots=True)
class Letter:
    """What is written, and what the server adds to it. `date_s`: Unix seconds, of the day it goes out.

    `recipients`: (kind, address) pairs, no address twice. `known_as`: see SendContext.
    """

    request: SendMessage
    recipients: Sequence[tuple[str, str]]
    inbox: InboxRow
    parent: MessageRow | None
    known_as: str | None
    attachments: Sequence[OutgoingAttachment]
    token: str
    date_s: int


class Composer:
    """Writes messages: small ones where it is called, others on a thread for what computes."""

    def __init__(self, cpu: CpuThreads) -> None:
        self._cpu = cpu
        self._sanitizer = Sanitizer()

    async def compose(self, letter: Letter) -> tuple[bytes, KeptContent]:
        """The message and what it says; Refusal for what can't be written safely."""
        request = letter.request
        size = sum(len(one.content) for one in letter.attachments)
        size += len(request.text or "") + len(request.html or "")
        if size <= THREAD_BYTES and is_cleaned_soon(request.html or "", THREAD_TAGS):
            outgoing, composed = self._compose(letter)
            return composed.raw, kept_of_composed(outgoing, composed)
        # Two turns, so that others and the loop have theirs between them.
        owner = letter.inbox.organization_id
        outgoing, composed = await self._cpu.run(owner, lambda: self._compose(letter))
        return composed.raw, await self._cpu.run(owner, lambda: kept_of_composed(outgoing, composed))

    def _compose(self, letter: Letter) -> tuple[Outgoing, Composed]:
        request = letter.request
        if request.html is not None and is_too_complex(request.html):
            limit = f"Use at most {TAGS_MAX} tags, at most {DEPTH_MAX} deep; close those that you open"
            raise invalid([Fault("html", "too_complex", limit)])
        html = self._sanitizer.clean(request.html) if request.html is not None else None
        text = request.text
        if text is None and html is not None:
            text = html_to_text(html)
        try:
            outgoing = _outgoing(letter, text, html)
            composed = compose(outgoing)
        except ComposeError as error:
            raise invalid([Fault("", "not_sendable", str(error))]) from error
        if composed.header_length > MAX_SENT_HEADER_BYTES:
            limit = f"With these the header is longer than {MAX_SENT_HEADER_BYTES:,} octets; give fewer or shorter ones"
            raise invalid([Fault("headers", "too_long", limit)])
        return outgoing, composed


def unique_recipients(request: SendMessage) -> list[tuple[str, str]]:
    """(kind, address) pairs; an address named twice stays in the list where it stands first."""
    seen: dict[str, tuple[str, str]] = {}
    for kind, addresses in (("to", request.to), ("cc", request.cc), ("bcc", request.bcc)):
        for address in addresses:
            seen.setdefault(normalize(address), (kind, address))
    return list(seen.values())


def _outgoing(letter: Letter, text: str | None, html: str | None) -> Outgoing:
    request, parent, inbox = letter.request, letter.parent, letter.inbox
    chain: tuple[str, ...] = ()
    answered = letter.known_as
    if parent is not None:
        answered = answered or parent.message_id_header
        own = [parent.message_id_header] if parent.message_id_header else []
        chain = reply_references(answered, [*load(parent.reference_ids), *own])
    return Outgoing(
        from_=Mailbox(inbox.name, inbox.address),
        to=tuple(address for kind, address in letter.recipients if kind == "to"),
        cc=tuple(address for kind, address in letter.recipients if kind == "cc"),
        reply_to=None,
        subject=subject_of(request),
        text=text,
        html=html,
        attachments=tuple(letter.attachments),
        message_id=f"<{letter.token}@{inbox.domain}>",
        date=datetime.fromtimestamp(letter.date_s, UTC),
        in_reply_to=answered,
        references=chain,
        headers=_extra_fields(request, parent),
        boundary_seed=letter.token,  # whoever wrote the text did not know it
    )


def _extra_fields(request: SendMessage, parent: MessageRow | None) -> tuple[tuple[str, str], ...]:
    """The caller's own, and those by which programs see that a program wrote this (RFC 3834 §5)."""
    ours = {
        "Auto-Submitted": "auto-generated" if parent is None else "auto-replied",
        "X-Auto-Response-Suppress": "All",
    }
    given = {name.lower() for name in request.headers}
    kept = [(name, value) for name, value in ours.items() if name.lower() not in given]
    return (*kept, *request.headers.items())
