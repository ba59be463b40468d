"""Pieces of JSON that are there already, put together: columns that hold JSON, and what SQLite rendered."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

# Members of messages and threads that hold words or addresses → what they are without.
_WORDS: Mapping[str, Any] = {
    "fromAddress": "", "fromDomain": None, "fromDomainUnicode": None, "fromName": None, "toAddresses": [],
    "ccAddresses": [], "bccAddresses": [], "replyTo": None, "replyToAddresses": [], "subject": "", "snippet": "",
    "extractedText": None, "messageIdHeader": None, "inReplyTo": None, "references": [], "auth": None,
    "deliveredTo": None, "mailingList": None, "recipients": [], "attachments": [], "participants": [],
}  # fmt: skip


def json_column(text: str) -> msgspec.Raw:
    """A column that holds JSON goes out as it stands."""
    return msgspec.Raw(text.encode())


def message(shown: bytes, text: str | None, html: str | None) -> msgspec.Raw:
    """What SQLite rendered (storage.shown.message_json), and the bodies, which it can't read."""
    return _with_members(shown, {"textBody": text, "htmlBody": html})


def thread(shown: bytes, has_more: bool, messages: Sequence[msgspec.Raw]) -> msgspec.Raw:
    """A thread (`shown`: what SQLite rendered) with its messages, which are JSON already (`thread_message`)."""
    return _with_members(shown, {"hasMore": has_more, "messages": messages})


def thread_head(shown: bytes, has_more: bool) -> bytes:
    """The beginning of what `thread` renders, up to its messages."""
    return bytes(thread(shown, has_more, []))[: -len(b"[]}")]


def thread_message(shown: bytes, text: str | None, html: str | None) -> msgspec.Raw:
    """An element of a thread's `messages`: the short names stand beside the long ones."""
    return _with_members(shown, {"textBody": text, "htmlBody": html, "text": text, "html": html})


def wordless(shown: bytes) -> msgspec.Raw:
    """A message or thread (`shown`: what SQLite rendered) for who may change it and not read it: nothing that people
    wrote, and nobody's address."""
    members: dict[str, Any] = msgspec.json.decode(shown)
    more = {"textBody": None, "htmlBody": None} if "direction" in members else {}
    return msgspec.Raw(
        msgspec.json.encode({name: _WORDS.get(name, value) for name, value in members.items()} | more)
    )


def _with_members(json: bytes, more: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json[:-1] + b"," + msgspec.json.encode(more)[1:])
