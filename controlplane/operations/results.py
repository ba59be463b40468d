"""What operations answer: a value, or bytes that are read piece by piece as they are sent."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from controlplane.contract.refusals import Refusal
from controlplane.webhooks.event_streams import Feed


@dataclass(frozen=True, slots=True)
class Result:
    """`data` as JSON. `is_replay`: an earlier call made it. `tag`: names this very answer."""

    data: Any
    is_replay: bool = False
    tag: str | None = None


@dataclass(frozen=True, slots=True)
class JsonArray:
    """A list that may be too large to be in memory. A part is one element or several, with commas, or empty.
    `has_gap`: between the place that was asked for and the first element something is not kept any more."""

    parts: AsyncIterator[bytes]
    has_gap: bool = False


@dataclass(frozen=True, slots=True)
class JsonPieces:
    """A value that is too large to be in memory, as pieces of its JSON. `is_replay`: an earlier call made it.
    `brief`: the same without bodies of messages, for doors that show none; None: there is no such thing."""

    pieces: AsyncIterator[bytes]
    is_replay: bool = False
    brief: Any = None


@dataclass(frozen=True, slots=True)
class Download:
    """Stored bytes. `open(start, stop)` gives them in pieces; BlobMissing at the first where they are gone.

    `tag` names these very bytes, which never change, so that a range of them can be asked for; None: all or nothing.
    `is_inline`: a browser may show them.
    """

    content_type: str
    filename: str
    size_bytes: int
    open: Callable[[int, int], AsyncIterator[bytes]]
    tag: str | None = None
    is_inline: bool = False


@dataclass(frozen=True, slots=True)
class EventFeed:
    """Events as they happen, for as long as the door reads. Entering it may refuse."""

    subscription: AbstractAsyncContextManager[Feed]


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page for a person. `refusal`: what it tells of."""

    html: str
    refusal: Refusal | None = None


AnyResult = Result | JsonArray | JsonPieces | Download | EventFeed | HtmlPage
