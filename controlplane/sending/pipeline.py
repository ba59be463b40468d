"""Every send takes these steps, whoever asks for it.

    look       the organization, the inbox, the message replied to
    decode     attachments: base64, sizes
    sanitise   HTML
    compose    one RFC 5322 message, once for all recipients
    keep       its bytes, durably
    commit     guards, thread, message, recipients (the queue), usage: one transaction

What is durable when: `send` returns after the commit, so an accepted message survives anything. A guard
that refuses inside the commit leaves nothing but an orphaned blob file at most, which is removed.
"""

import asyncio
import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from conf.settings import Settings
from controlplane.auth import Principal
from controlplane.errors import ApiError, Fault, invalid
from controlplane.schemas import SendMessage
from controlplane.sending import guards
from controlplane.sending.sanitize import Sanitizer
from maild.message.address import BOUNCE_PREFIX, normalize
from maild.message.compose import ComposeError, Outgoing, OutgoingAttachment, compose
from maild.message.digest import Digest, digest
from maild.message.model import Mailbox
from maild.message.text import html_to_text
from maild.message.thread_headers import base_subject, reply_references
from storage import blobs, inboxes, messages, organizations, outbound, threads, usage
from storage.blobs import Blobs, Stored
from storage.clock import Clock, day_of, month_of
from storage.database import Database, Tx
from storage.disk import Disk
from storage.ids import Ids
from storage.records import Attachment, Inbox, Message, Organization, Recipient, dump, load

MEGABYTE = 1_048_576
ATTACHMENT_MAX = 10 * MEGABYTE
ATTACHMENTS_MAX = 15 * MEGABYTE
PAYLOAD_MAX = 15 * MEGABYTE
THREAD_BYTES = 128 * 1024  # composing and parsing more than this takes a thread of its own
DEPTH_RECHECK_MS = 1000
NO_SUBJECT = "(no subject)"


@dataclass(frozen=True, slots=True)
class Sent:
    """An accepted message with its rows."""

    message: Message
    attachments: Sequence[Attachment]
    recipients: Sequence[Recipient]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a send needs to know before it composes."""

    organization: Organization
    inbox: Inbox
    parent: Message | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A composed message that waits for its transaction."""

    principal: Principal
    inbox_id: str
    recipients: Sequence[tuple[str, str]]
    parent: Message | None
    stored: Stored
    found: Digest
    token: str
    envelope_from: str
    subject: str


class Pipeline:
    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        disk: Disk,
        clock: Clock,
        ids: Ids,
        settings: Settings,
        wake_queue: Callable[[], None],
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._disk = disk
        self._clock = clock
        self._ids = ids
        self._settings = settings
        self._shared_domains = frozenset(settings.server.shared_domains)
        self._wake_queue = wake_queue
        self._sanitizer = Sanitizer()
        self._depth = 0
        self._depth_at = 0

    async def send(self, principal: Principal, request: SendMessage) -> Sent:
        """Accept one message for sending; ApiError when it is refused."""
        principal.confine(request.inboxId)
        await self._refuse_when_full()
        around = await self._db.read(self._look, principal, request)
        attachments = decode_attachments(request)
        if attachments and self._settings.outbound.relay and not self._settings.outbound.attachments:
            raise ApiError("attachments_unsupported")
        token = self._ids.token()
        raw, found = await self._compose(request, around, attachments, token)
        stored = await self._keep(raw)
        prepared = Prepared(
            principal=principal,
            inbox_id=request.inboxId,
            recipients=unique_recipients(request),
            parent=around.parent,
            stored=stored,
            found=found,
            token=token,
            envelope_from=f"{BOUNCE_PREFIX}{token}@{around.inbox.domain}",
            subject=request.subject or NO_SUBJECT,
        )
        try:
            sent = await self._db.write(self._commit, prepared)
        except ApiError:
            if stored.path is not None:
                self._blobs.remove(stored.id)
            raise
        self._wake_queue()
        return sent

    # Before the transaction --------------------------------------------------------------------

    async def _refuse_when_full(self) -> None:
        """503 while there is no room, on the disk or in the queue, to keep what we would accept."""
        if not self._disk.has_room():
            raise ApiError("provider_unavailable", "The server is low on storage; try again later.")
        now_ms = self._clock.now_ms()
        if now_ms - self._depth_at >= DEPTH_RECHECK_MS:
            self._depth_at = now_ms
            self._depth = await self._db.read(outbound.depth)
        if self._depth >= self._settings.outbound.max_queued:
            raise ApiError("provider_unavailable", "The sending queue is full; try again later.")

    def _look(self, tx: Tx, principal: Principal, request: SendMessage) -> Surroundings:
        organization = organizations.get(tx, principal.organization_id)
        inbox = inboxes.get_active(tx, principal.organization_id, request.inboxId)
        if organization is None or inbox is None:
            raise ApiError("inbox_not_found")
        parent = None
        if request.inReplyTo is not None:
            find = messages.newest_of_thread if request.inReplyTo.startswith("thd_") else messages.get
            parent = find(tx, principal.organization_id, request.inReplyTo)
            if parent is None or parent.inbox_id != inbox.id:
                raise ApiError("message_not_found")
        return Surroundings(organization, inbox, parent)

    async def _compose(
        self,
        request: SendMessage,
        around: Surroundings,
        attachments: Sequence[OutgoingAttachment],
        token: str,
    ) -> tuple[bytes, Digest]:
        size = (
            sum(len(one.content) for one in attachments) + len(request.text or "") + len(request.html or "")
        )
        if size > THREAD_BYTES:
            return await asyncio.to_thread(self._compose_now, request, around, attachments, token)
        return self._compose_now(request, around, attachments, token)

    def _compose_now(
        self,
        request: SendMessage,
        around: Surroundings,
        attachments: Sequence[OutgoingAttachment],
        token: str,
    ) -> tuple[bytes, Digest]:
        html = self._sanitizer.clean(request.html) if request.html is not None else None
        text = request.text
        if text is None and html is not None:
            text = html_to_text(html)
        outgoing = self._outgoing(request, around, tuple(attachments), token, text, html)
        try:
            raw = compose(outgoing).raw
        except ComposeError as error:
            raise invalid([Fault("", "not_sendable", str(error))]) from error
        return raw, digest(raw)

    def _outgoing(
        self,
        request: SendMessage,
        around: Surroundings,
        attachments: tuple[OutgoingAttachment, ...],
        token: str,
        text: str | None,
        html: str | None,
    ) -> Outgoing:
        parent, inbox = around.parent, around.inbox
        recipients = unique_recipients(request)
        chain: tuple[str, ...] = ()
        if parent is not None:
            chain = reply_references(parent.message_id_header, load(parent.reference_ids))
        return Outgoing(
            from_=Mailbox(inbox.name, inbox.address),
            to=tuple(address for kind, address in recipients if kind == "to"),
            cc=tuple(address for kind, address in recipients if kind == "cc"),
            reply_to=None,
            subject=request.subject or NO_SUBJECT,
            text=text,
            html=html,
            attachments=attachments,
            message_id=f"<{token}@{inbox.domain}>",
            date=datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC),
            in_reply_to=parent.message_id_header if parent else None,
            references=chain,
            headers=loop_suppression(parent),
            boundary_seed=self._ids.token(),
        )

    async def _keep(self, raw: bytes) -> Stored:
        try:
            return await self._blobs.store(raw)
        except OSError as error:
            raise ApiError(
                "provider_unavailable", "The message could not be stored; try again later."
            ) from error

    # The transaction ---------------------------------------------------------------------------

    def _commit(self, tx: Tx, prepared: Prepared) -> Sent:
        now_ms = self._clock.now_ms()
        principal = prepared.principal
        organization = organizations.get(tx, principal.organization_id)
        if organization is None:
            raise ApiError("inbox_not_found")
        inbox = guards.check(tx, self._attempt(organization, prepared, now_ms))
        message_id = self._ids.new("msg")
        row = self._message(prepared, inbox, message_id, self._thread(tx, prepared, inbox, now_ms), now_ms)
        attachments = messages.attachment_rows(self._ids, message_id, prepared.found.parts())
        blobs.insert(tx, prepared.stored, now_ms)
        messages.insert(tx, row, attachments, prepared.found.search_words)
        outbound.enqueue(
            tx,
            message_id,
            organization.id,
            prepared.recipients,
            now_ms,
            now_ms + self._settings.outbound.give_up_after_s * 1000,
        )
        inboxes.sent(tx, inbox.id, now_ms)
        if principal.mode == "live":
            usage.add(tx, organization.id, day_of(now_ms), "messages")
            usage.add(tx, organization.id, month_of(now_ms), "messages")
            if inbox.domain not in self._shared_domains:
                usage.add(tx, organization.id, day_of(now_ms), "messages", scope=inbox.domain)
        return Sent(row, attachments, messages.recipients_of(tx, [message_id])[message_id])

    def _attempt(self, organization: Organization, prepared: Prepared, now_ms: int) -> guards.Attempt:
        return guards.Attempt(
            organization=organization,
            plan=self._settings.plan(organization.plan),
            inbox_id=prepared.inbox_id,
            shared_domains=self._shared_domains,
            recipients=prepared.recipients,
            keys=[normalize(address) for _, address in prepared.recipients],
            mode=prepared.principal.mode,
            now_ms=now_ms,
        )

    def _thread(self, tx: Tx, prepared: Prepared, inbox: Inbox, now_ms: int) -> str:
        """The parent's conversation, or a new one."""
        people = list(
            dict.fromkeys(
                [inbox.address, *(normalize(one) for kind, one in prepared.recipients if kind != "bcc")]
            )
        )
        snippet = prepared.found.snippet
        if prepared.parent is not None:
            thread_id = prepared.parent.thread_id
            threads.join(tx, thread_id, now_ms, snippet=snippet, participants=people, is_unread=False)
            return thread_id
        thread_id = self._ids.new("thd")
        threads.begin(
            tx,
            thread_id,
            now_ms,
            organization_id=inbox.organization_id,
            inbox_id=inbox.id,
            subject=prepared.subject,
            base_subject=base_subject(prepared.subject)[0],
            snippet=snippet,
            participants=people,
            is_unread=False,
        )
        return thread_id

    def _message(
        self, prepared: Prepared, inbox: Inbox, message_id: str, thread_id: str, now_ms: int
    ) -> Message:
        found, parsed = prepared.found, prepared.found.parsed
        addresses = {
            kind: dump([address for each, address in prepared.recipients if each == kind])
            for kind in ("to", "cc", "bcc")
        }
        return Message(
            id=message_id,
            organization_id=inbox.organization_id,
            inbox_id=inbox.id,
            thread_id=thread_id,
            direction="outbound",
            mode=prepared.principal.mode,
            status="queued",
            from_address=inbox.address,
            from_name=inbox.name,
            to_addresses=addresses["to"],
            cc_addresses=addresses["cc"],
            bcc_addresses=addresses["bcc"],
            reply_to=None,
            subject=prepared.subject,
            snippet=found.snippet,
            text_body=found.text_body,
            text_slices=dump(found.text_slices) if found.text_slices else None,
            html_slices=dump(found.html_slices) if found.html_slices else None,
            extracted_text=found.extracted_text,
            message_id_header=parsed.message_id,
            in_reply_to=parsed.in_reply_to,
            reference_ids=dump(parsed.references),
            labels="[]",
            is_auto_reply=0,
            is_spam=0,
            auth=None,
            trace=None,
            blob_id=prepared.stored.id,
            size_bytes=prepared.stored.size_bytes,
            header_length=parsed.header_length,
            envelope_from=prepared.envelope_from,
            bounce_token=prepared.token,
            failure_reason=None,
            scheduled_at=None,
            sent_at=None,
            created_at=now_ms,
        )


def decode_attachments(request: SendMessage) -> tuple[OutgoingAttachment, ...]:
    """Base64 → bytes; every attachment that does not decode is named, sizes are checked after."""
    faults: list[Fault] = []
    decoded: list[OutgoingAttachment] = []
    for index, one in enumerate(request.attachments):
        try:
            content = base64.b64decode(one.content, validate=True)
        except (binascii.Error, ValueError):
            message = "Expected standard base64 (RFC 4648 §4) without line breaks"
            faults.append(Fault(f"attachments[{index}].content", "invalid_base64", message))
            continue
        decoded.append(OutgoingAttachment(one.filename, one.contentType.lower(), content))
    if faults:
        raise invalid(faults)
    total = sum(len(one.content) for one in decoded)
    for index, attachment in enumerate(decoded):
        if len(attachment.content) > ATTACHMENT_MAX:
            size = len(attachment.content)
            raise ApiError(
                "attachment_too_large",
                details={
                    "index": index,
                    "filename": attachment.filename,
                    "sizeBytes": size,
                    "limit": ATTACHMENT_MAX,
                },
            )
    if total > ATTACHMENTS_MAX:
        raise ApiError("attachment_too_large", details={"sizeBytes": total, "limit": ATTACHMENTS_MAX})
    words = sum(len(text.encode()) for text in (request.text, request.html) if text)
    if total + words > PAYLOAD_MAX:
        raise ApiError("payload_too_large")
    return tuple(decoded)


def unique_recipients(request: SendMessage) -> list[tuple[str, str]]:
    """(kind, address) pairs; an address named twice stays in the list where it stands first."""
    seen: dict[str, tuple[str, str]] = {}
    for kind, addresses in (("to", request.to), ("cc", request.cc), ("bcc", request.bcc)):
        for address in addresses:
            seen.setdefault(normalize(address), (kind, address))
    return list(seen.values())


def loop_suppression(parent: Message | None) -> tuple[tuple[str, str], ...]:
    """RFC 3834 §5: programs that answer mail must be able to see that a program wrote it."""
    kind = "auto-generated" if parent is None else "auto-replied"
    return (("Auto-Submitted", kind), ("X-Auto-Response-Suppress", "All"))
