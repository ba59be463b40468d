"""Mail that this host sends on its own, from the operator's inbox: no caller asked for it, so no guard is asked.

Durable when `queue` returns; what the caller marks, it marks in the same transaction.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from controlplane.access.principal import LIVE, Principal
from controlplane.contract.mail.messages import SendMessage
from controlplane.sending import rows
from controlplane.sending.recording import said_of
from controlplane.sending.rows import Prepared
from controlplane.sending.submission import Submission, WrittenMail
from maild.message.digest import digest
from maild.message.fields.address import normalize
from maild.message.model import Mailbox
from maild.message.writing.compose import Outgoing, compose
from storage.audit.acts import Act, system
from storage.audit.trail import Records
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import blobs, inboxes, messages
from storage.mail.blobs import Blobs
from storage.mail.inboxes import RecipientInbox
from storage.sending import outbound
from storage.turns.cpu_threads import CpuThreads

# Given a token and an address of ours, the message; called in a thread.
WriteMail = Callable[[str, str], bytes]
# Given the message's id, is it still to be sent? Whatever it writes commits with the message.
MarkMail = Callable[[Tx, str], bool]

HOST = system("operator_mail")


class OperatorMail:
    """Queues whole messages. `wake_queue`: is called after a commit."""

    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        cpu: CpuThreads,
        clock: Clock,
        ids: Ids,
        give_up_after_s: int,
        wake_queue: Callable[[], None],
        audit: Records,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._cpu = cpu
        self._clock = clock
        self._ids = ids
        self._give_up_after_s = give_up_after_s
        self._wake_queue = wake_queue
        self._audit = audit

    async def sender(self) -> RecipientInbox | None:
        """The operator's inbox; None where there is none."""
        return await self._db.lookup(inboxes.operator_mailbox)

    async def queue(self, sender: RecipientInbox, to: str, write: WriteMail, mark: MarkMail) -> str | None:
        """The id of the message, which is queued; None where `mark` says no, or the inbox is gone."""
        token = self._ids.token()
        raw = await self._cpu.run(sender.organization_id, lambda: write(token, sender.address))
        found = await self._cpu.run(sender.organization_id, lambda: digest(raw))
        stored = await self._blobs.store(raw)
        request = SendMessage.model_construct(inboxId=sender.inbox_id, to=[to], subject=found.parsed.subject)
        principal = Principal("", sender.organization_id, None, (), LIVE)
        submission = Submission(principal, request, written=WrittenMail(stored, found, token))
        prepared = Prepared(submission, [("to", to)], None, stored, found.kept(), token)
        message_id = self._ids.new("msg")

        async def commit() -> bool:
            return await self._db.write(self._commit, prepared, message_id, mark)

        if not await self._blobs.keep(stored, commit):
            return None
        self._wake_queue()
        return message_id

    def _commit(self, tx: Tx, prepared: Prepared, message_id: str, mark: MarkMail) -> bool:
        now_ms, principal = self._clock.now_ms(), prepared.submission.principal
        inbox = inboxes.get_active(tx, principal.organization_id, prepared.submission.request.inboxId)
        if inbox is None or not mark(tx, message_id):
            return False
        thread_id = rows.join_thread(tx, prepared, None, inbox, self._ids, now_ms)
        blobs.insert(tx, prepared.stored, now_ms)
        attachments = messages.attachment_rows(self._ids, message_id, prepared.found.parts)
        row = rows.message(prepared, inbox, message_id, thread_id, now_ms)
        messages.insert(tx, row, attachments, prepared.found.search_words)
        give_up_at_ms = now_ms + self._give_up_after_s * 1000
        outbound.enqueue(tx, message_id, inbox.organization_id, prepared.recipients, now_ms, give_up_at_ms)
        inboxes.sent(tx, inbox.id, now_ms)
        keys = [normalize(address) for _, address in prepared.recipients]
        told = said_of(inbox.organization_id, inbox.id, "live", keys, prepared.stored.sha256)
        self._audit.record(tx, inbox.organization_id, Act.MESSAGE_QUEUED, HOST, message_id, told)
        return True


def plain_mail(to: str, subject: str, lines: Sequence[str], sender: str, token: str, now_ms: int) -> bytes:
    """A text that a program wrote, for a `WriteMail` to give. `token`: of its Message-ID."""
    return compose(
        Outgoing(
            from_=Mailbox(None, sender),
            to=(to,),
            cc=(),
            reply_to=None,
            subject=subject,
            text="\n".join(lines),
            html=None,
            attachments=(),
            message_id=f"<{token}@{sender.rpartition('@')[2]}>",
            date=datetime.fromtimestamp(now_ms // 1000, UTC),
            in_reply_to=None,
            references=(),
            headers=(("Auto-Submitted", "auto-generated"), ("X-Auto-Response-Suppress", "All")),
            boundary_seed=token,
        )
    ).raw
