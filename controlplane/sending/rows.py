"""The rows of a message that is sent: its conversation, and itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from controlplane.contract.refusals import Refusal
from controlplane.sending.outgoing import OutgoingWarning
from controlplane.sending.submission import Submission, WrittenMail
from maild.message.digest import KeptContent
from maild.message.fields.address import normalize
from maild.message.fields.thread_headers import base_subject, named_messages
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import threads
from storage.mail.blobs import Stored
from storage.records import InboxRow, MessageRow, dump


@dataclass(frozen=True, slots=True)
class Prepared:
    """A composed message that waits for its transaction. `recipients`: (kind, address) pairs. `warnings`: what looks
    wrong in it; None: nobody has looked."""

    submission: Submission
    recipients: Sequence[tuple[str, str]]
    parent: MessageRow | None
    stored: Stored
    found: KeptContent
    token: str
    warnings: Sequence[OutgoingWarning] | None = None


def thread_of(tx: Tx, prepared: Prepared, now_ms: int) -> str | None:
    """The conversation that the message answers in; None where it begins one."""
    submission = prepared.submission
    if submission.written is None:
        return prepared.parent.thread_id if prepared.parent is not None else None
    return written_thread(tx, submission, submission.written, prepared.recipients, now_ms)


def written_thread(
    tx: Tx, submission: Submission, written: WrittenMail, recipients: Sequence[tuple[str, str]], now_ms: int
) -> str | None:
    """The same of a message whose header says what it answers."""
    parsed, inbox_id = written.found.parsed, submission.request.inboxId
    known = threads.by_message_ids(tx, inbox_id, named_messages(parsed.answered, parsed.references))
    base, is_reply = base_subject(parsed.subject)
    if known is None and is_reply and recipients:
        correspondent = normalize(recipients[0][1])
        known = threads.by_subject(tx, inbox_id, base, correspondent, now_ms)
    return known


def join_thread(
    tx: Tx, prepared: Prepared, thread_id: str | None, inbox: InboxRow, ids: Ids, now_ms: int
) -> str:
    """Join that conversation, or begin one."""
    seen = (normalize(address) for kind, address in prepared.recipients if kind != "bcc")
    people = list(dict.fromkeys([inbox.address, *seen]))
    snippet = prepared.found.snippet
    if thread_id is not None:
        if threads.get(tx, inbox.organization_id, thread_id) is None:
            raise Refusal("message_not_found")  # deleted meanwhile, with all its conversation
        threads.join(tx, thread_id, now_ms, snippet=snippet, participants=people, is_unread=False)
        return thread_id
    thread_id, subject = ids.new("thd"), prepared.submission.subject
    threads.begin(
        tx,
        thread_id,
        now_ms,
        organization_id=inbox.organization_id,
        inbox_id=inbox.id,
        subject=subject,
        base_subject=base_subject(subject)[0],
        snippet=snippet,
        participants=people,
        is_unread=False,
    )
    return thread_id


def message(
    prepared: Prepared, inbox: InboxRow, message_id: str, thread_id: str, now_ms: int, is_held: bool = False
) -> MessageRow:
    """`is_held`: it waits until somebody has decided about it."""
    found = prepared.found
    request = prepared.submission.request
    addresses = {
        kind: dump([address for each, address in prepared.recipients if each == kind])
        for kind in ("to", "cc", "bcc")
    }
    return MessageRow(
        id=message_id,
        organization_id=inbox.organization_id,
        inbox_id=inbox.id,
        thread_id=thread_id,
        direction="outbound",
        mode=prepared.submission.principal.mode,
        status="held" if is_held else "queued" if request.sendAt is None else "scheduled",
        from_address=inbox.address,
        from_name=_shown_name(prepared, inbox),
        to_addresses=addresses["to"],
        cc_addresses=addresses["cc"],
        bcc_addresses=addresses["bcc"],
        reply_to=found.reply_to[0] if found.reply_to else None,
        subject=prepared.submission.subject,
        snippet=found.snippet,
        text_body=found.text_body,
        text_slices=dump(found.text_slices) if found.text_slices else None,
        html_slices=dump(found.html_slices) if found.html_slices else None,
        extracted_text=found.extracted_text,
        message_id_header=found.message_id,
        in_reply_to=found.in_reply_to,
        reference_ids=dump(found.references),
        labels="[]",
        is_auto_reply=0,
        is_spam=0,
        auth=None,
        trace=None,
        blob_id=prepared.stored.id,
        size_bytes=prepared.stored.size_bytes,
        header_length=found.header_length,
        envelope_from="",  # one for each destination (maild/message/envelope_sender.py)
        bounce_token=prepared.token,
        failure_reason=None,
        scheduled_at=request.sendAt,
        sent_at=None,
        created_at=now_ms,
        unsubscribe=int(request.unsubscribe),
        reply_to_addresses=dump(found.reply_to) if len(found.reply_to) > 1 else None,
        forward_of=prepared.submission.forward_of,
        if_last=request.ifLastMessageId,
        authority=prepared.submission.authority,
        submitted_by=prepared.submission.principal.key_id,
    )


def _shown_name(prepared: Prepared, inbox: InboxRow) -> str | None:
    written = prepared.submission.written
    if written is None:
        return inbox.name
    author = written.found.parsed.from_
    return author.name if author is not None else None
