"""Every send takes these steps, whichever door it came by.

    recall     was it asked for before (Idempotency-Key, draft)? Then nothing else matters
    check      the time it is scheduled for
    look       the inbox, the message replied to, has the operator paused the queue?
               (these three in one look at the store)
    room       on the disk, in the queue
    decode     attachments: base64, sizes
    compose    HTML sanitised, one RFC 5322 message for all recipients
    keep       its bytes, durably
               (these three were done before for a message that its author's program composed: `written_mail.py`)
    commit     the key and the pause again, guards, is it held? (`holding.py`), thread, message, queue or review,
               usage, stored answer: one transaction

A scheduled message takes them all but the queue; its recipients enter that when its time has come
(`scheduler.py`), through the same guards (`admission.py`). So does one that is held, when somebody has approved it
(`reviewing.py`); until then nothing of it is counted. Where what looks wrong in its words decides, or is to be shown to
who reviews it, the commit breaks off to have it looked for, and begins anew.

What is durable when: `send` returns after the commit, so an accepted message survives anything, and its
Idempotency-Key finds it again. A guard that refuses inside the commit leaves nothing but an orphaned blob file
at most, which is removed. Of requests that race under one key, or for one draft, the first to commit makes the
message; the others find it there.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import structlog

from conf.log_events import LogEvent, tell
from controlplane.access.principal import Principal
from controlplane.contract.refusals import Refusal
from controlplane.sending import rows
from controlplane.sending.admitting import guards, holding
from controlplane.sending.admitting.admission import Admission, Refused, SendingWakes
from controlplane.sending.admitting.guards import Attempt
from controlplane.sending.completing import complete
from controlplane.sending.outgoing import OutgoingWarning
from controlplane.sending.preparing import (
    Preparation,
    SendContext,
    look,
    refuse_changed,
    refuse_unsendable,
    refuse_when_paused,
    request_of,
    spare_live_draft,
)
from controlplane.sending.recording import record_send
from controlplane.sending.rows import Prepared
from controlplane.sending.submission import (
    Accepted,
    Submission,
    WrittenMail,
    recalled,
    with_resolved,
)
from controlplane.sending.writing.composing import unique_recipients
from maild.message.digest import KeptContent
from storage.agents import reviews
from storage.audit.acts import Act
from storage.audit.trail import Records
from storage.clock import Clock, iso
from storage.engine.database import Database
from storage.engine.failures import StoreFailure, in_words, is_refused
from storage.engine.tx import Tx
from storage.engine.writer import DatabaseClosed
from storage.exhaustion import is_exhaustion
from storage.ids import Ids
from storage.mail import blobs, drafts, inboxes, messages
from storage.mail.blobs import Blobs, Stored
from storage.publishing.change_events import ChangeEvents
from storage.records import AttachmentRow, DraftRow, InboxRow, MessageRow, RecipientRow, ReviewRow
from storage.sending import recipient_reports
from storage.shown import message_json, new_message_json

log = structlog.get_logger("maild.sending")


class DraftChanged(Exception):
    """The draft was edited while it was composed: what is sent must be what is there."""


class WarningsAsked(Exception):
    """Whether it is held, or what a reviewer sees of it, depends on what looks wrong in it; nobody has looked."""


# What looks wrong in a composed message: `Preflight.warnings`.
FindWarnings = Callable[
    [Database, Submission, SendContext, Sequence[tuple[str, str]], KeptContent],
    Awaitable[Sequence[OutgoingWarning]],
]


class Pipeline:
    """What sends and drafts go through, from a request to committed rows; the steps stand in the module's head."""

    def __init__(
        self,
        db: Database,
        blob_store: Blobs,
        clock: Clock,
        ids: Ids,
        preparation: Preparation,
        admission: Admission,
        find_warnings: FindWarnings,
        audit: Records,
        wakes: SendingWakes,
    ) -> None:
        self._db = db
        self._blobs = blob_store
        self._clock = clock
        self._ids = ids
        self._preparation = preparation
        self._admission = admission
        self._find_warnings = find_warnings
        self._audit = audit
        self._wakes = wakes

    async def send(self, submission: Submission) -> Accepted:
        """Accept one message for sending; Refusal when it is refused."""
        around = await self._db.lookup(self._look, submission)
        if isinstance(around, Accepted):
            return around
        await self._preparation.look_for_room()
        is_scheduled = submission.request.sendAt is not None
        recipients = unique_recipients(submission.request)
        with self._preparation.room.place(0 if is_scheduled else len(recipients)) as place:
            prepared = await self._prepare(submission, around, recipients)
            done = await self._blobs.keep(prepared.stored, lambda: self._accept(prepared, around))
            place.is_taken = not done.is_replay and done.review_id is None
        if done.is_replay:
            return done
        _tell_taken(submission, recipients, done)
        if done.review_id is not None:
            pass  # who waits for reviews has heard the commit
        elif is_scheduled:
            self._wakes.scheduler()
        else:
            self._wakes.queue()
        return done

    async def send_draft(
        self, principal: Principal, draft_id: str, updated_at: str | None = None
    ) -> Accepted:
        """Send a draft, or find the message that it was sent as. `updated_at`: refuse to send it where it was changed
        since then."""
        while True:
            organization_id = principal.organization_id
            draft = await self._db.read_for(organization_id, drafts.get, organization_id, draft_id)
            if draft is None:
                raise Refusal("draft_not_found")
            refuse_changed(draft, updated_at)
            try:
                return await self.send(Submission(principal, request_of(draft), draft=draft))
            except DraftChanged:
                continue

    # Before the transaction --------------------------------------------------------------------

    def _look(self, tx: Tx, submission: Submission) -> Accepted | SendContext:
        """What was answered before, or what there is to know; all in one state of the store."""
        submission.principal.refuse_beyond_reach(tx, "inbox", submission.request.inboxId)
        made = self._made_before(tx, submission)
        if made is not None:
            return made
        self._preparation.check_schedule(submission.request)
        around = look(tx, submission)
        refuse_when_paused(tx)
        return around

    async def _prepare(
        self, submission: Submission, around: SendContext, recipients: Sequence[tuple[str, str]]
    ) -> Prepared:
        if submission.written is not None:
            return self._prepare_written(submission, submission.written, recipients)
        attachments = await self._preparation.attachments(submission)
        self._preparation.check_attachments(len(attachments))
        letter = self._preparation.letter(submission, around, recipients, attachments)
        raw, found = await self._preparation.compose(letter)
        return Prepared(
            submission=submission,
            recipients=letter.recipients,
            parent=around.parent,
            stored=await self._keep(raw),
            found=found,
            token=letter.token,
        )

    def _prepare_written(
        self, submission: Submission, written: WrittenMail, recipients: Sequence[tuple[str, str]]
    ) -> Prepared:
        self._preparation.check_attachments(len(written.found.parsed.attachments))
        return Prepared(
            submission=submission,
            recipients=recipients,
            parent=None,
            stored=written.stored,
            found=written.found.kept(),
            token=written.token,
        )

    async def _keep(self, raw: bytes) -> Stored:
        try:
            return await self._blobs.store(raw)
        except OSError as error:
            if is_exhaustion(error):
                raise
            log.error("blob_not_stored", error=str(error))
            raise Refusal(
                "provider_unavailable", "The message could not be stored; try again later."
            ) from error

    async def _accept(self, prepared: Prepared, around: SendContext) -> Accepted:
        try:
            return await self._write(prepared)
        except WarningsAsked:
            submission, recipients, found = prepared.submission, prepared.recipients, prepared.found
            warnings = await self._find_warnings(self._db, submission, around, recipients, found)
            return await self._write(replace(prepared, warnings=warnings))

    async def _write(self, prepared: Prepared) -> Accepted:
        try:
            done = await self._db.impatient().write_repeatable(self._commit, prepared)
        except StoreFailure as error:
            if is_exhaustion(error):
                raise
            # Nothing of the transaction was kept, what it had claimed of the allowance included.
            trace = None if is_refused(error) else error  # of a disk that fails, each send would have one
            inbox_id = prepared.submission.request.inboxId
            log.error("message_not_queued", inbox_id=inbox_id, error=in_words(error), exc_info=trace)
            raise _not_queued(prepared.submission) from error
        except DatabaseClosed as error:
            raise Refusal("provider_unavailable") from error
        try:
            if isinstance(done, Refused):
                raise done.error
            return done
        finally:
            del done  # its error knows this frame

    # The transaction ---------------------------------------------------------------------------

    def _commit(self, tx: Tx, prepared: Prepared) -> Accepted | Refused:
        submission, now_ms = prepared.submission, self._clock.now_ms()
        made = self._made_before(tx, submission)
        if made is not None:
            return made
        refuse_when_paused(tx)
        if submission.written is not None:
            _refuse_borrowed_id(tx, submission.written)
        answers_in = rows.thread_of(tx, prepared, now_ms)
        attempt = self._admission.attempt_of(
            tx, submission, prepared.recipients, thread_id=answers_in, now_ms=now_ms
        )
        try:
            inbox = guards.check(tx, attempt)
        except guards.BulkPattern as error:
            self._admission.trip(tx, attempt)
            return Refused(error.to_keep())
        reasons = _reasons_to_hold(tx, attempt, prepared.warnings)
        thread_id = rows.join_thread(tx, prepared, answers_in, inbox, self._ids, now_ms)
        message = rows.message(prepared, inbox, self._ids.new("msg"), thread_id, now_ms, bool(reasons))
        attachments = messages.attachment_rows(self._ids, message.id, prepared.found.parts)
        blobs.insert(tx, prepared.stored, now_ms)
        messages.insert(tx, message, attachments, prepared.found.search_words)
        review, queued = None, list[RecipientRow]()
        if reasons:
            review = holding.review_of(
                attempt, message, reasons, prepared.warnings or (), self._ids.new("rev")
            )
            reviews.open_(tx, review, self._ids.new("evt"))
        elif submission.request.sendAt is None:
            queued = self._admission.enqueue(tx, attempt, inbox, message.id)
        inboxes.sent(tx, inbox.id, now_ms)
        self._end_work(tx, submission, message.id, now_ms)
        self._record(tx, prepared, attempt, inbox, message.id, review)
        return _answered(tx, submission, message, attachments, queued, review)

    def _end_work(self, tx: Tx, submission: Submission, message_id: str, now_ms: int) -> None:
        """What the message is the end of: a claim, where it says so, and the draft that it was. DraftChanged."""
        principal, request = submission.principal, submission.request
        told = ChangeEvents(self._ids.new, now_ms)
        if request.claimId is not None and request.completeClaim:
            complete(tx, principal.organization_id, request.claimId, told)
        if submission.draft is not None:
            draft = drafts.mark_sent(tx, submission.draft.id, message_id, now_ms)
            if draft is None:
                raise DraftChanged
            told.draft_changed(tx, "updated", draft, principal.mode)

    def _record(
        self,
        tx: Tx,
        prepared: Prepared,
        attempt: Attempt,
        inbox: InboxRow,
        message_id: str,
        review: ReviewRow | None,
    ) -> None:
        submission = prepared.submission
        send_at, draft = submission.request.sendAt, submission.draft
        act = Act.MESSAGE_QUEUED if send_at is None else Act.MESSAGE_SCHEDULED
        record_send(
            tx,
            self._audit,
            submission.principal.actor,
            act if review is None else Act.MESSAGE_HELD,
            attempt,
            inbox,
            message_id,
            sha256=prepared.stored.sha256,
            send_at=send_at,
            draft_id=None if draft is None else draft.id,
            review=review,
        )

    def _made_before(self, tx: Tx, submission: Submission) -> Accepted | None:
        """The message that this very request, or this draft, has made already. A revoked key asks in vain."""
        submission.principal.ask(tx)
        if submission.draft is not None:
            return _draft_sent_before(tx, submission, submission.draft)
        return recalled(tx, submission.principal.organization_id, submission.retry)


def _reasons_to_hold(tx: Tx, attempt: Attempt, warnings: Sequence[OutgoingWarning] | None) -> Sequence[str]:
    policy = attempt.policies.effective
    reasons = holding.reasons_to_hold(tx, attempt, policy, warnings or ())
    if warnings is None and (reasons or policy.outbound.hold_on):
        raise WarningsAsked
    return reasons


def _tell_taken(submission: Submission, recipients: Sequence[tuple[str, str]], done: Accepted) -> None:
    send_at, principal = submission.request.sendAt, submission.principal
    tell(
        log,
        LogEvent.HELD if done.review_id else LogEvent.QUEUED if send_at is None else LogEvent.SCHEDULED,
        message_id=done.message_id,
        inbox_id=submission.request.inboxId,
        recipients=[address for _, address in recipients],
        mode=principal.mode,
        key_id=principal.key_id,
        organization_id=principal.organization_id,
        **({} if done.review_id is None else {"review_id": done.review_id}),
        **({} if send_at is None else {"send_at": iso(send_at)}),
    )


def _refuse_borrowed_id(tx: Tx, written: WrittenMail) -> None:
    """Complaints quote a Message-ID, and those that we give carry a token: nobody's message may have another's."""
    message_id = written.found.parsed.message_id or ""
    token = message_id.strip("<>").lower().rpartition("@")[0]
    if recipient_reports.reported(tx, token) is not None:
        raise Refusal("idempotency_conflict")


def _not_queued(submission: Submission) -> Refusal:
    """A transaction that failed may come to light after a crash all the same: then only a key knows its message."""
    is_safe = submission.retry is not None or submission.draft is not None
    advice = (
        "Retrying is safe: the same request finds the message if it was kept after all."
        if submission.draft is not None
        else "Retrying with the same Idempotency-Key is safe."
        if is_safe
        else "Without an Idempotency-Key a second copy is possible when you retry; look at the messages first."
    )
    return Refusal(
        "email_delivery_failed",
        f"The queue refused the message; nothing was counted. {advice}",
        {"isRetrySafe": is_safe},
    )


def _draft_sent_before(tx: Tx, submission: Submission, seen: DraftRow) -> Accepted | None:
    """The message that the draft was sent as; None when it may be sent as it was seen."""
    organization_id = submission.principal.organization_id
    draft = drafts.get(tx, organization_id, seen.id)
    if draft is None:
        raise Refusal("draft_not_found")
    if draft.status == "sent":
        if draft.message_id is None or messages.get(tx, organization_id, draft.message_id) is None:
            raise Refusal("message_not_found", "This draft was sent, and its message deleted since.")
        return Accepted(_shown(tx, organization_id, draft.message_id), is_replay=True)
    if draft != seen:
        raise DraftChanged
    spare_live_draft(submission.principal, draft)
    refuse_unsendable(draft, submission.request)
    return None


def _answered(
    tx: Tx,
    submission: Submission,
    message: MessageRow,
    attachments: Sequence[AttachmentRow],
    queued: Sequence[RecipientRow],
    review: ReviewRow | None,
) -> Accepted:
    """The answer to the send of a new message, kept under its Idempotency-Key. `review`: what it waits for."""
    if review is not None:
        shown = _shown(tx, message.organization_id, message.id)
    else:
        shown = new_message_json.rendered(message, attachments, queued)
    if submission.resolved is not None:
        shown = with_resolved(shown, submission.resolved)
    if submission.retry is not None:
        submission.retry.keep(tx, message.organization_id, shown, message.id, message.created_at)
    return Accepted(shown, is_replay=False, message_id=message.id, review_id=review.id if review else None)


def _shown(tx: Tx, organization_id: str, message_id: str) -> bytes:
    """The message as the answer to a send shows it."""
    shown = message_json.get(tx, organization_id, message_id)
    assert shown is not None
    return shown.json
