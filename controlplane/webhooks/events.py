"""Events as receivers see them: the JSON envelope, with the words read from the message."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from maild.message.reports import bounces
from storage.clock import iso
from storage.publishing.events import Words
from storage.records import EventRow, load

API_VERSION = "v1"
TEXT_BYTES_MAX = 64 * 1024
_FAILURES = ("email.bounced", "email.delayed")

# As much as is shown of a text that is too large for its row (organization, message); None when it is gone.
LoadText = Callable[[str, str], Awaitable[str | None]]


async def render(event: EventRow, words: Words | None, load_text: LoadText) -> bytes:
    """The request body. `words`: those of the event's message, None when it has none any more."""
    text = words and words.text
    if words is not None and words.is_sliced and event.type == "email.received":
        text = await load_text(event.organization_id, event.message_id or "")
    return encode(envelope(event, text, words and words.extracted_text))


def envelope(event: EventRow, text: str | None, extracted_text: str | None) -> dict[str, Any]:
    """docs/contract.md, section 6. `extracted_text` None: the same as `text`."""
    data = load(event.data)
    if event.type == "email.received":
        data["text"], data["textTruncated"] = _cut(text)
        data["extractedText"] = data["text"] if extracted_text is None else _cut(extracted_text)[0]
    if event.type in _FAILURES and "class" not in data:
        data |= _meaning(event.type, data)
    document = {
        "id": event.id,
        "type": event.type,
        "apiVersion": API_VERSION,
        "createdAt": iso(event.created_at),
        "organizationId": event.organization_id,
        "data": data,
    }
    if event.mode == "test":
        document["mode"] = "test"
    return document


def encode(document: dict[str, Any]) -> bytes:
    """As JSON, whatever its texts hold."""
    try:
        return msgspec.json.encode(document)
    except UnicodeEncodeError:
        # A lone surrogate, which mail can smuggle into a text, becomes "?" and not a failed delivery.
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def _meaning(kind: str, data: dict[str, Any]) -> dict[str, str]:
    """What a failure means of which the first versions wrote down only what was said, as `…/attempts` tells it."""
    is_lasting = kind == "email.bounced" and data["bounceType"] != "transient"
    is_ours = any(
        one["address"] == data["recipient"] and one["remoteHost"] is None for one in data["recipients"]
    )
    said = (data["smtpCode"], data["enhancedCode"], data["diagnostic"] or "")
    found = bounces.of_reply(*said, is_ours=is_ours) if is_lasting else bounces.of_expiry(*said)
    return {"class": found.bounce_class, "advice": found.advice}


def _cut(text: str | None) -> tuple[str | None, bool]:
    """At most TEXT_BYTES_MAX of UTF-8, never through the middle of a character; was it longer?"""
    if text is None or len(text) * 4 <= TEXT_BYTES_MAX:
        return text, False
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= TEXT_BYTES_MAX:
        return text, False
    return encoded[:TEXT_BYTES_MAX].decode("utf-8", "ignore"), True
