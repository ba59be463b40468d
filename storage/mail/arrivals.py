"""What the arrival of a message is, besides its row: conversation, queue of work, figures, and the event that tells.

A message arrives when it comes in, or, where it was held, when it is released (`storage/mail/held_mail.py`): then all
of it is as of that moment.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from storage import usage
from storage.agents import work
from storage.clock import day_of, iso
from storage.engine.tx import Tx
from storage.mail import threads
from storage.publishing import events
from storage.publishing.change_events import ChangeEvents
from storage.records import AttachmentRow, MessageRow

NewId = Callable[[str], str]


class ConversationClues(NamedTuple):
    """What the conversation of a message is found by, or begun with. `references`: the Message-IDs that may name it,
    the likeliest first; `correspondent`, `participants`: comparison keys. `correspondent` is "" where the mail shows
    nobody who could be one. `message_id`: its own, where copies of it are looked for. `root`: the first id of its
    References, where it may name the conversation although no message has it."""

    base_subject: str
    is_reply: bool
    correspondent: str
    references: Sequence[str]
    participants: Sequence[str]
    message_id: str | None = None
    root: str | None = None


class ThreadEntry(NamedTuple):
    """What a thread takes of a message."""

    organization_id: str
    inbox_id: str
    mode: str
    subject: str
    snippet: str


def find_thread(tx: Tx, inbox_id: str, clues: ConversationClues, now_ms: int) -> str | None:
    """The conversation that the headers name, else that of another copy, else one whose mail names the same that nobody
    has seen, else one by subject; None: it begins one."""
    known = threads.by_message_ids(tx, inbox_id, clues.references)
    if known is None and clues.message_id is not None:
        known = threads.by_copy(tx, inbox_id, clues.message_id, clues.base_subject)
    if known is None and clues.root is not None and clues.correspondent:
        known = threads.by_name(tx, inbox_id, clues.root, clues.base_subject, clues.correspondent)
    if known is None and clues.is_reply and clues.correspondent:
        known = threads.by_subject(tx, inbox_id, clues.base_subject, clues.correspondent, now_ms)
    return known


def join_thread(
    tx: Tx,
    entry: ThreadEntry,
    clues: ConversationClues,
    known: str | None,
    new_id: NewId,
    now_ms: int,
    begun_as: str | None = None,
) -> str:
    """Count a message, which is unread, in the conversation that is known, else begin one. `begun_as`: its id."""
    if known is None:
        known = _begin(tx, entry, clues, begun_as or new_id("thd"), now_ms)
    elif threads.join(
        tx, known, now_ms, snippet=entry.snippet, participants=clues.participants, is_unread=True
    ):
        told = ChangeEvents(new_id, now_ms)
        told.thread_updated(tx, entry.organization_id, entry.inbox_id, known, False, entry.mode)
    if clues.root is not None:
        threads.name(tx, entry.inbox_id, known, clues.root)
    return known


def _begin(tx: Tx, entry: ThreadEntry, clues: ConversationClues, thread_id: str, now_ms: int) -> str:
    threads.begin(
        tx,
        thread_id,
        now_ms,
        organization_id=entry.organization_id,
        inbox_id=entry.inbox_id,
        subject=entry.subject,
        base_subject=clues.base_subject,
        snippet=entry.snippet,
        participants=clues.participants,
        is_unread=True,
    )
    return thread_id


def announce(
    tx: Tx,
    message: MessageRow,
    attachments: Sequence[AttachmentRow],
    is_work: bool,
    new_id: NewId,
    now_ms: int,
) -> None:
    """The message stands in its thread: offer it as work, count it, and tell of it."""
    if is_work:
        work.put(tx, message)
    if message.mode == "live":
        usage.add(tx, message.organization_id, day_of(now_ms), "received")
    events.publish(
        tx,
        new_id("evt"),
        now_ms,
        organization_id=message.organization_id,
        type="email.received",
        data=received_event(message, attachments, now_ms),
        mode=message.mode,
        inbox_id=message.inbox_id,
        message_id=message.id,
    )


def received_event(
    message: MessageRow, attachments: Sequence[AttachmentRow], received_at_ms: int
) -> Mapping[str, Any]:
    """`email.received` (docs/contract.md, section 6) less the words, which are read when it is rendered."""
    return {
        "messageId": message.id,
        "inboxId": message.inbox_id,
        "threadId": message.thread_id,
        "direction": "inbound",
        "fromAddress": message.from_address,
        "fromName": message.from_name,
        "toAddresses": _as_it_stands(message.to_addresses),
        "subject": message.subject,
        "snippet": message.snippet,
        "hasHtml": message.html_slices is not None,
        "auth": _as_it_stands(message.auth) if message.auth else None,
        "attachments": [
            {
                "id": one.id,
                "filename": one.filename,
                "contentType": one.content_type,
                "sizeBytes": one.size_bytes,
            }
            for one in attachments
        ],
        "receivedAt": iso(received_at_ms),
    }


def _as_it_stands(json: str) -> msgspec.Raw:
    return msgspec.Raw(json.encode())
