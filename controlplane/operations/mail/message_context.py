"""One message as text for a model: all of its words, between fences, for doors that speak to models."""

import json
from collections import Counter
from functools import partial
from typing import NamedTuple

import msgspec

from controlplane.contract.refusals import Refusal
from controlplane.mail.bodies import EVENT_CHARS_MAX
from controlplane.operations.mail.thread_context import AT_ONCE_CHARS, context_message
from controlplane.operations.operation import Call
from controlplane.operations.results import Result
from maild.message.context.thread_context import ContextMessage, ReadThread, context
from storage.engine.tx import Tx
from storage.mail import conversation, evidence, thread_words, threads
from storage.mail.evidence import EvidenceRow
from storage.mail.thread_words import SpokenRow

KINDS_TOLD = 6


class SpokenMessage(NamedTuple):
    """A message as it is read. `last_message_id`: the newest of its conversation that counts
    (storage.mail.conversation)."""

    row: SpokenRow
    thread_id: str
    message_count: int
    last_message_id: str | None
    found: EvidenceRow | None


async def read_message(call: Call) -> Result:
    read = await call.read(_read, call)
    row = read.row
    if row.has_more:
        beginning = await call.services.load_text(call.organization_id, call.id)
        if beginning is not None:
            row = row._replace(words=beginning, has_more=int(len(beginning) >= EVENT_CHARS_MAX))
    work = partial(_told, read._replace(row=row), call.input.maxTokens, call.services.fence_key)
    is_small = len(row.words) <= AT_ONCE_CHARS
    return Result(
        msgspec.Raw(work() if is_small else await call.services.cpu.run(call.organization_id, work))
    )


def _read(tx: Tx, call: Call) -> SpokenMessage:
    row, thread_id = thread_words.whole(tx, call.organization_id, call.id) or (None, "")
    thread = threads.get(tx, call.organization_id, thread_id)
    if row is None or thread is None:
        raise Refusal("message_not_found")
    return SpokenMessage(
        row,
        thread_id,
        thread.message_count,
        conversation.newest(tx, call.organization_id, thread_id, call.principal.mode),
        evidence.get(tx, call.organization_id, call.id),
    )


def _told(read: SpokenMessage, max_tokens: int, key: bytes) -> bytes:
    """The answer as JSON."""
    shown = ReadThread(read.thread_id, read.message_count, [_message(read)])
    told = context(shown, max_tokens, None, key)
    return msgspec.json.encode(
        {
            "messageId": read.row.id,
            "threadId": read.thread_id,
            "lastMessageId": read.last_message_id,
            "risk": read.row.risk,
            "estimatedTokens": told.estimated_tokens,
            "isCut": any(one.is_cut for one in told.ranges),
            "text": told.text,
        }
    )


def _message(read: SpokenMessage) -> ContextMessage:
    message = context_message(read.row)
    facts = [*(["automatic"] if message.is_brief else []), _risk(read)]
    return message._replace(is_brief=False, facts=facts)


def _risk(read: SpokenMessage) -> str:
    """The risk, and what it is made of: words of our own."""
    if read.row.risk is None or read.found is None:
        return "risk: not looked at"
    kinds = Counter(item["kind"] for item in json.loads(read.found.items))
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(KINDS_TOLD))
    return f"risk: {read.row.risk}" + (f" ({told})" if told else "")
