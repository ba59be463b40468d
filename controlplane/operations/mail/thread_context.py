"""A thread as one text for a model: what of it is read, and what is answered of it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from controlplane.contract.refusals import Fault, Refusal, invalid
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.context.thread_context import (
    ContextAttachment,
    ContextMessage,
    ReadThread,
    ToldThread,
    context,
)
from maild.message.fields.address import normalize
from storage.clock import iso
from storage.engine.tx import Tx
from storage.mail import conversation, thread_words, threads
from storage.mail.thread_words import SpokenRow
from storage.records import answers_to, verified_domain

T = TypeVar("T")

PAGE_MESSAGES = 20
MESSAGE_TOKENS_MIN = 50  # of what is shown of a message; no more are read than the budget could show
READ_CHARS_A_TOKEN = 16
# More is put together beside the event loop.
AT_ONCE_CHARS = 8 * 1024
AT_ONCE_MESSAGES = 10
NEWEST = "~"  # behind all ids
_TOLD_STATES = ("held", "scheduled", "failed", "cancelled")


class SpokenThread(NamedTuple):
    """The messages that a context may show, newest first, and the newest that counts (storage.mail.conversation)."""

    message_count: int
    last_message_id: str | None
    rows: list[SpokenRow]


async def get_thread_context(call: Call) -> Result:
    max_tokens, focus = call.input.maxTokens, call.input.focus
    words = await call.read(_read, call, call.id, max_tokens, focus)
    answer = await _apart_where_long(
        call, words, partial(_told, call.id, words, max_tokens, focus, call.services.fence_key)
    )
    return Result(msgspec.Raw(answer), tag=hashlib.sha256(answer).hexdigest()[:32])


async def context_text(call: Call, thread_id: str, max_tokens: int) -> str | None:
    """The text of such an answer; None where the thread is gone."""
    words = await call.read(_read_if_there, call, thread_id, max_tokens)
    if words is None:
        return None
    work = partial(_context, thread_id, words, max_tokens, None, call.services.fence_key)
    return (await _apart_where_long(call, words, work)).text


async def _apart_where_long(call: Call, words: SpokenThread, work: Callable[[], T]) -> T:
    is_small = (
        len(words.rows) <= AT_ONCE_MESSAGES and sum(len(row.words) for row in words.rows) <= AT_ONCE_CHARS
    )
    return work() if is_small else await call.services.cpu.run(call.organization_id, work)


def _read_if_there(tx: Tx, call: Call, thread_id: str, max_tokens: int) -> SpokenThread | None:
    if threads.get(tx, call.organization_id, thread_id) is None:
        return None
    return _read(tx, call, thread_id, max_tokens, None)


def _read(tx: Tx, call: Call, thread_id: str, max_tokens: int, focus: str | None) -> SpokenThread:
    """The newest messages, as many as the budget may show; beside them the first, and the one that is asked about."""
    organization_id = call.organization_id
    thread = threads.get(tx, organization_id, thread_id)
    if thread is None:
        raise Refusal("thread_not_found")
    rows: list[SpokenRow] = []
    chars, before = 0, NEWEST
    while len(rows) <= max_tokens // MESSAGE_TOKENS_MIN and chars <= max_tokens * READ_CHARS_A_TOKEN:
        page = thread_words.before(tx, organization_id, thread_id, before, PAGE_MESSAGES)
        rows += page
        chars += sum(len(row.words) for row in page)
        if len(page) < PAGE_MESSAGES:
            break
        before = page[-1].id
    read = {row.id for row in rows}
    for other in (
        thread_words.one(tx, organization_id, thread_id, focus) if focus else None,
        thread_words.first(tx, organization_id, thread_id),
    ):
        if other is not None and other.id not in read:
            rows.append(other)
            read.add(other.id)
    if focus is not None and focus not in read:
        raise invalid([Fault("focus", "invalid_id", "Name a message of this thread, or leave 'focus' out")])
    newest = conversation.newest(tx, organization_id, thread_id, call.principal.mode)
    return SpokenThread(thread.message_count, newest, rows)


def _told(thread_id: str, words: SpokenThread, max_tokens: int, focus: str | None, key: bytes) -> bytes:
    """The answer as JSON."""
    told = _context(thread_id, words, max_tokens, focus, key)
    return msgspec.json.encode(
        {
            "threadId": thread_id,
            "lastMessageId": words.last_message_id,
            "contextHash": f"sha256:{hashlib.sha256(told.text.encode()).hexdigest()}",
            "estimatedTokens": told.estimated_tokens,
            "maxTokens": max_tokens,
            "truncated": told.is_truncated,
            "omittedMessages": told.omitted,
            "text": told.text,
            "messages": _places(told, words.rows),
        }
    )


def _context(
    thread_id: str, words: SpokenThread, max_tokens: int, focus: str | None, key: bytes
) -> ToldThread:
    shown = [context_message(row) for row in words.rows]
    return context(ReadThread(thread_id, words.message_count, shown), max_tokens, focus, key)


def _places(told: ToldThread, rows: Sequence[SpokenRow]) -> list[dict[str, Any]]:
    shown, risks = {row.id: context_message(row) for row in rows}, {row.id: row.risk for row in rows}
    return [
        {
            "id": place.id,
            "direction": "inbound" if shown[place.id].is_inbound else "outbound",
            "verifiedDomain": shown[place.id].verified_domain,
            "risk": risks[place.id],
            "start": place.start,
            "end": place.end,
            "isCut": place.is_cut,
            "attachments": [
                {
                    "id": one.id,
                    "filename": one.filename,
                    "contentType": one.content_type,
                    "sizeBytes": one.size_bytes,
                }
                for one in shown[place.id].attachments
            ],
        }
        for place in told.ranges
    ]


def context_message(row: SpokenRow) -> ContextMessage:
    """What a text for a model may show of the message."""
    name, address = row.from_name, row.from_address
    answered = answers_to(row.reply_to, row.reply_to_addresses)
    return ContextMessage(
        id=row.id,
        is_inbound=row.direction == "inbound",
        state=row.status if row.status in _TOLD_STATES else "",
        is_brief=bool(row.is_auto_reply),
        verified_domain=verified_domain(row.auth),
        sender=f"{name} <{address}>" if name else address,
        recipients=json.loads(row.recipients),
        moment=iso(row.created_at),
        subject=row.subject,
        words=row.words,
        has_more=bool(row.has_more),
        attachments=[ContextAttachment(*one) for one in json.loads(row.attachments)],
        reply_to=() if list(map(normalize, answered)) == [normalize(address)] else answered,
    )
