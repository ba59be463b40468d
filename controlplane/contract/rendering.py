"""Pieces of JSON that are there already, put together: columns that hold JSON, and what SQLite rendered."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec


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


def _with_members(json: bytes, more: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(json[:-1] + b"," + msgspec.json.encode(more)[1:])
