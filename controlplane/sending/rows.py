"""The rows of a message that is sent: its conversation, and itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from controlplane.contract.refusals import Refusal
from controlplane.sending.composing import subject_of
from controlplane.sending.submission import Submission
from maild.message.address import normalize
from maild.message.digest import Digest
from maild.message.thread_headers import base_subject
from storage import threads
from storage.blobs import Stored
from storage.database import Tx
from storage.ids import Ids
from storage.records import InboxRow, MessageRow, dump


@dataclass(frozen=True, slots=True)
class Prepared:
    """A composed message that waits for its transaction. `recipients`: (kind, address) pairs."""

    submission: Submission
    recipients: Sequence[tuple[str, str]]
    parent: MessageRow | None
    stored: Stored
    found: Digest
    token: str


def join_thread(tx: Tx, prepared: Prepared, inbox: InboxRow, ids: Ids, now_ms: int) -> str:
    """The parent's conversation, or a new one."""
    seen = (normalize(address) for kind, address in prepared.recipients if kind != "bcc")
    people = list(dict.fromkeys([inbox.address, *seen]))
    snippet = prepared.found.snippet
    if prepared.parent is not None:
        thread_id = prepared.parent.thread_id
        if threads.get(tx, inbox.organization_id, thread_id) is None:
            raise Refusal("message_not_found")  # deleted meanwhile, with all its conversation
        threads.join(tx, thread_id, now_ms, snippet=snippet, participants=people, is_unread=False)
        return thread_id
    thread_id, subject = ids.new("thd"), subject_of(prepared.submission.request)
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


def message(prepared: Prepared, inbox: InboxRow, message_id: str, thread_id: str, now_ms: int) -> MessageRow:
    found, parsed = prepared.found, prepared.found.parsed
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
        status="queued" if request.sendAt is None else "scheduled",
        from_address=inbox.address,
        from_name=inbox.name,
        to_addresses=addresses["to"],
        cc_addresses=addresses["cc"],
        bcc_addresses=addresses["bcc"],
        reply_to=parsed.reply_to[0].address if parsed.reply_to else None,
        subject=subject_of(request),
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
        envelope_from="",  # one for each destination (maild/message/envelope_sender.py)
        bounce_token=prepared.token,
        failure_reason=None,
        scheduled_at=request.sendAt,
        sent_at=None,
        created_at=now_ms,
        unsubscribe=int(request.unsubscribe),
    )
