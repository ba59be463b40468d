"""A received message as values: what is the same for every inbox it reaches, its row, its event. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from maild.message.address import normalize
from maild.message.digest import Digest
from storage.clock import iso
from storage.inboxes import Mailbox
from storage.records import Attachment, Message, dump

THREAD_REFERENCES = 20
PARTICIPANTS = 50


class Arrival(NamedTuple):
    """One message on its way to one or more inboxes: all that is the same for each of them.

    `is_report`: a mail system wrote it about mail of ours."""

    digest: Digest
    blob_id: str
    size_bytes: int
    from_address: str
    from_name: str | None
    to: tuple[str, ...]
    cc: tuple[str, ...]
    reply_to: str | None
    envelope_from: str
    auth: Mapping[str, str | None]
    mode: str = "live"
    is_report: bool = False


def arrive(
    found: Digest, blob_id: str, size_bytes: int, envelope_from: str, auth: Mapping[str, str | None]
) -> Arrival:
    parsed = found.parsed
    # Without one unambiguous author the envelope sender stands in (it is checked syntax, not a claim).
    return Arrival(
        digest=found,
        blob_id=blob_id,
        size_bytes=size_bytes,
        from_address=parsed.from_.address if parsed.from_ else envelope_from,
        from_name=parsed.from_.name if parsed.from_ else None,
        to=tuple(one.address for one in parsed.to),
        cc=tuple(one.address for one in parsed.cc),
        reply_to=parsed.reply_to[0].address if parsed.reply_to else None,
        envelope_from=envelope_from,
        auth=auth,
    )


def references(arrival: Arrival) -> list[str]:
    """The Message-IDs that may name a known thread, the likeliest first."""
    parsed = arrival.digest.parsed
    newest_first = [*([parsed.in_reply_to] if parsed.in_reply_to else []), *reversed(parsed.references)]
    return list(dict.fromkeys(newest_first))[:THREAD_REFERENCES]


def participants(arrival: Arrival) -> list[str]:
    everyone = [arrival.from_address, *arrival.to, *arrival.cc]
    return list(dict.fromkeys(normalize(one) for one in everyone if one))[:PARTICIPANTS]


def message_row(
    arrival: Arrival, box: Mailbox, message_id: str, thread_id: str, trace: bytes, now_ms: int
) -> Message:
    found, parsed = arrival.digest, arrival.digest.parsed
    return Message(
        id=message_id,
        organization_id=box.organization_id,
        inbox_id=box.inbox_id,
        thread_id=thread_id,
        direction="inbound",
        mode=arrival.mode,
        status="received",
        from_address=arrival.from_address,
        from_name=arrival.from_name,
        to_addresses=dump(arrival.to),
        cc_addresses=dump(arrival.cc),
        bcc_addresses="[]",
        reply_to=arrival.reply_to,
        subject=parsed.subject,
        snippet=found.snippet,
        text_body=found.text_body,
        text_slices=dump(found.text_slices) if found.text_slices else None,
        html_slices=dump(found.html_slices) if found.html_slices else None,
        extracted_text=found.extracted_text,
        message_id_header=parsed.message_id,
        in_reply_to=parsed.in_reply_to,
        reference_ids=dump(parsed.references),
        labels='["unread"]',
        is_auto_reply=int(parsed.is_auto_reply or arrival.is_report),
        is_spam=0,
        auth=dump(arrival.auth),
        trace=trace,
        blob_id=arrival.blob_id,
        size_bytes=arrival.size_bytes,
        header_length=parsed.header_length,
        envelope_from=arrival.envelope_from,
        bounce_token=None,
        failure_reason=None,
        scheduled_at=None,
        sent_at=None,
        created_at=now_ms,
    )


def received_event(
    message: Message, arrival: Arrival, attachments: Iterable[Attachment]
) -> dict[str, object]:
    """`email.received` (docs/contract.md, section 6) less the words, which are read when it is rendered."""
    return {
        "messageId": message.id,
        "inboxId": message.inbox_id,
        "threadId": message.thread_id,
        "direction": "inbound",
        "fromAddress": message.from_address,
        "fromName": message.from_name,
        "toAddresses": arrival.to,
        "subject": message.subject,
        "snippet": message.snippet,
        "hasHtml": message.html_slices is not None,
        "auth": arrival.auth,
        "attachments": [
            {
                "id": one.id,
                "filename": one.filename,
                "contentType": one.content_type,
                "sizeBytes": one.size_bytes,
            }
            for one in attachments
        ],
        "receivedAt": iso(message.created_at),
    }
