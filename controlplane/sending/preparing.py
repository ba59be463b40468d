"""What comes before a message's transaction, and is the same whether it is sent or only judged (`preflight.py`): what
it answers, whether anything can be taken at all, what is attached, the composed bytes. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass

from conf.settings import Outbound
from controlplane.access.principal import Principal
from controlplane.contract.mail.messages import SendMessage
from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.sending.admitting.queue_room import RETRY_AFTER_S, QueueRoom
from controlplane.sending.submission import Submission, check_if_last
from controlplane.sending.writing.attachments import decode_attachments
from controlplane.sending.writing.composing import Composer, Letter
from maild.message.digest import KeptContent
from maild.message.writing.compose import OutgoingAttachment
from storage import switches
from storage.clock import DAY_MS, Clock, iso
from storage.disk import Disk
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes, messages
from storage.records import DraftRow, InboxRow, MessageRow, load
from storage.sending import relay_message_ids
from storage.turns.cpu_threads import CpuThreads

SCHEDULE_MIN_MS = 60_000  # docs/contract.md, section 8
SCHEDULE_MAX_MS = 30 * DAY_MS


@dataclass(frozen=True, slots=True)
class SendContext:
    """What a send needs to know before it composes. `known_as`: the Message-ID of the parent, where that is not its own
    (`storage/sending/relay_message_ids.py`)."""

    inbox: InboxRow
    parent: MessageRow | None
    known_as: str | None = None


def look(tx: Tx, submission: Submission) -> SendContext:
    """The inbox that sends, and the message that is answered; Refusal where one is not there."""
    organization_id, request = submission.principal.organization_id, submission.request
    inbox = inboxes.get_active(tx, organization_id, request.inboxId)
    if inbox is None:
        raise Refusal("inbox_not_found")
    if request.inReplyTo is None:
        return SendContext(inbox, None)
    parent = answered(tx, submission.principal, inbox.id, request.inReplyTo)
    check_if_last(tx, organization_id, parent.thread_id, request.ifLastMessageId)
    is_ours = parent.direction == "outbound"
    return SendContext(inbox, parent, relay_message_ids.of_message(tx, parent.id) if is_ours else None)


def answered(tx: Tx, principal: Principal, inbox_id: str, in_reply_to: str) -> MessageRow:
    """The message that `inReplyTo` names; a thread means its newest one that its people may have. Refusal where the
    inbox has none."""
    organization_id = principal.organization_id
    if in_reply_to.startswith("thd_"):
        parent = messages.newest_of_thread(tx, organization_id, in_reply_to, principal.mode)
    else:
        parent = messages.get(tx, organization_id, in_reply_to)
    if parent is None or parent.inbox_id != inbox_id:
        text = "'inReplyTo' names no message or thread of this inbox; it may have been deleted."
        raise Refusal("message_not_found", text)
    return parent


def refuse_when_paused(tx: Tx) -> None:
    """503 while the operator lets nothing into the queue."""
    if switches.off_since(tx, switches.QUEUE) is not None:
        raise Refusal("provider_unavailable", "The operator has paused sending; try again later.")


def spare_live_draft(principal: Principal, draft: DraftRow) -> None:
    """Refusal for a test key that would send, change or discard what a live key wrote and has not sent yet."""
    if draft.mode == "live" and draft.status == "draft":
        principal.require_live()


def refuse_changed(draft: DraftRow, updated_at: str | None) -> None:
    """Refusal for a draft that somebody changed since it was shown with this `updatedAt`; None: whenever that was."""
    if draft.status == "draft" and updated_at not in (None, iso(draft.updated_at)):
        raise Refusal("version_conflict")


def refuse_unsendable(draft: DraftRow, request: SendMessage) -> None:
    """Refusal for a draft that was not sent, and can't be. `request`: the send that it stands for."""
    if draft.status == "discarded":
        raise Refusal("draft_discarded")
    if draft.status == "draft" and not (request.to or request.cc or request.bcc):
        raise Refusal("draft_incomplete")


def request_of(draft: DraftRow) -> SendMessage:
    """The send that a draft stands for. Its fields were checked when it was written."""
    addresses: list[Sequence[str]] = [
        load(text) for text in (draft.to_addresses, draft.cc_addresses, draft.bcc_addresses)
    ]
    to, cc, bcc = addresses
    return SendMessage.model_construct(
        inboxId=draft.inbox_id,
        to=to,
        cc=cc,
        bcc=bcc,
        subject=draft.subject or None,
        text=draft.text_body,
        html=draft.html_body,
        inReplyTo=draft.in_reply_to,
        ifLastMessageId=draft.if_last,
        claimId=draft.claim_id,
        completeClaim=bool(draft.complete_claim),
    )


class Preparation:
    """The steps before the transaction; all of them raise a Refusal. `room`: that of the queue."""

    def __init__(
        self, db: Database, cpu: CpuThreads, disk: Disk, clock: Clock, ids: Ids, outbound: Outbound
    ) -> None:
        self.room = QueueRoom(db, clock, outbound.max_queued)
        self._db = db
        self._cpu = cpu
        self._disk = disk
        self._clock = clock
        self._ids = ids
        self._composer = Composer(cpu)
        self._takes_attachments = outbound.attachments or not (outbound.relay or outbound.relays)

    def check_schedule(self, request: SendMessage) -> None:
        """400 where it can't be sent at the time that it names."""
        if request.sendAt is None:
            return
        now_ms = self._clock.now_ms()
        if not SCHEDULE_MIN_MS <= request.sendAt - now_ms <= SCHEDULE_MAX_MS:
            told = f"Give a time from 1 minute to 30 days ahead; now it is {iso(now_ms)}"
            raise invalid([Fault("sendAt", "out_of_range", told)])
        if request.attachments:
            raise Refusal("attachments_not_schedulable")

    async def refuse_when_full(self) -> None:
        """503 while the queue takes nothing: paused, or no room on the disk. `room` is up to date then."""
        await self._db.lookup(refuse_when_paused)
        await self.look_for_room()

    async def look_for_room(self) -> None:
        """The same, but for the operator's switch."""
        if not self._disk.has_room():
            text = "The server is low on storage; try again later."
            raise Refusal("provider_unavailable", text, retry_after_s=RETRY_AFTER_S)
        await self.room.look()

    async def attachments(self, submission: Submission) -> Sequence[OutgoingAttachment]:
        """Those that were uploaded, decoded, and those of another message. 400, 413."""
        organization_id = submission.principal.organization_id
        uploaded = await decode_attachments(submission.request, self._cpu, organization_id)
        return (*uploaded, *submission.files)

    def check_attachments(self, count: int) -> None:
        """400 where the configured relay takes none."""
        if count and not self._takes_attachments:
            raise Refusal("attachments_unsupported")

    def letter(
        self,
        submission: Submission,
        around: SendContext,
        recipients: Sequence[tuple[str, str]],
        attachments: Sequence[OutgoingAttachment],
    ) -> Letter:
        """What is to be composed."""
        request = submission.request
        # The Date of a scheduled message is the one that it leaves at: an older one looks like a late mail.
        date_ms = request.sendAt or self._clock.now_ms()
        return Letter(
            request=request,
            recipients=recipients,
            inbox=around.inbox,
            parent=around.parent,
            known_as=around.known_as,
            attachments=attachments,
            token=self._ids.token(),
            date_s=date_ms // 1000,
        )

    async def compose(self, letter: Letter) -> tuple[bytes, KeptContent]:
        """The message, and what it says. 400."""
        return await self._composer.compose(letter)
