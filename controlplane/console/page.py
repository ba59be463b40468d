"""A page of the console, and what it works with: the call, and the kinds of answers.

A page asks operations for the member who is signed in, and shows what they answer. A form's POST acts and answers where
to go on (`SeeOther`), so that nothing is done twice by loading a page again.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec

from controlplane.access.principal import Principal
from controlplane.console.figures import KeptFigures
from controlplane.console.forms import Form
from controlplane.console.session import SignedIn
from controlplane.console.shown_once import ShownOnce
from controlplane.operations.invoke import Operations
from controlplane.operations.operation import Operation
from controlplane.operations.results import AnyResult, Download, JsonArray, JsonPieces, Result
from controlplane.operations.table import (
    BROWSE_AUDIT,
    BROWSE_EVENTS,
    DISCARD_SEEN_DRAFT,
    END_SESSION,
    LIST_FIRST_CONTACTS,
    LIST_SESSIONS,
    NAME_IDS,
    OPERATIONS,
    SAVE_DRAFT,
    SEND_SAVED_DRAFT,
    SHOW_THREAD,
    SHOW_WAITING,
)
from storage.turns.cpu_threads import CpuThreads

_OWN = (
    SHOW_WAITING,
    SHOW_THREAD,
    LIST_FIRST_CONTACTS,
    BROWSE_AUDIT,
    BROWSE_EVENTS,
    LIST_SESSIONS,
    NAME_IDS,
    END_SESSION,
    SAVE_DRAFT,
    SEND_SAVED_DRAFT,
    DISCARD_SEEN_DRAFT,
)
_BY_ID: Mapping[str, Operation] = {one.id: one for one in (*OPERATIONS, *_OWN)}
SHOWN_BYTES_MAX = (
    4 * 1024 * 1024
)  # of an answer's JSON: one that is longer is not shown, but its bytes can be had
PLACE_DIGITS = 9


class TooLong(Exception):
    """The answer is longer than a page shows."""


class Html(NamedTuple):
    """A page: its template, and what that shows."""

    template: str
    shown: Mapping[str, Any]
    status: int = 200


class SeeOther(NamedTuple):
    """Go on there, which a GET shows. `done`: the name of what the page tells there (`templates/notices.html`).
    `shown_once`: where the page finds what it shows once, and what that is."""

    path: str
    done: str | None = None
    shown_once: tuple[str, Any] | None = None


class MailDocument(NamedTuple):
    """HTML that came by mail, cleaned: for a frame without an origin."""

    html: str


@dataclass(frozen=True, slots=True)
class PageCall:
    """One request for a page. `id`: the resource that the path names. `query`, `form`: what was given, by name.
    `now_ms`: when it came. `public_url`: where clients reach the API. `cpu`: for what computes long."""

    operations: Operations
    signed_in: SignedIn
    now_ms: int
    public_url: str
    cpu: CpuThreads
    shown_once: ShownOnce
    figures: KeptFigures
    id: str
    query: Mapping[str, str]
    form: Form

    async def ask(self, operation: str, id: str = "", /, **given: Any) -> Any:
        """What the operation answers, as plain values; what is None was not given. Refusal; TooLong."""
        return await ask_operation(self.operations, self.signed_in.principal, operation, id, **given)

    async def ask_brief(self, operation: str, id: str, /, **given: Any) -> Any:
        """As `ask`, without bodies of messages where the operation can leave them out."""
        result = await _answer(self.operations, self.signed_in.principal, operation, id, given)
        if isinstance(result, JsonPieces) and result.brief is not None:
            return msgspec.json.decode(msgspec.json.encode(result.brief))
        return msgspec.json.decode(await _octets(result))

    def place(self, name: str) -> int:
        """Where the query says that the page is to begin with what is called so; 0: at its beginning."""
        asked = self.query.get(name, "")
        return int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= PLACE_DIGITS else 0

    async def open(self, operation: str, id: str, /, **given: Any) -> Download:
        """The bytes that the operation answers; Refusal."""
        row = _BY_ID[operation]
        principal = self.signed_in.principal
        given_values = self.operations.values(row, principal, given)
        return cast(Download, await self.operations.invoke(row, principal, given_values, id=id))


PageAnswer = Html | SeeOther | Download | MailDocument
Run = Callable[[PageCall], Awaitable[PageAnswer]]
Show = Callable[[PageCall], Awaitable[Html]]


class PageRoute(NamedTuple):
    """One row of the pages: `path` as routers write it, below /console. `again`: the page that has the
    form, which is shown where the form is refused."""

    method: str
    path: str
    run: Run
    again: Show | None = None


async def ask_operation(
    operations: Operations, principal: Principal, operation: str, id: str = "", /, **given: Any
) -> Any:
    """What the operation of that id answers to the principal, as plain values; what is None was not given. Refusal;
    TooLong."""
    return msgspec.json.decode(await _octets(await _answer(operations, principal, operation, id, given)))


async def _answer(
    operations: Operations, principal: Principal, operation: str, id: str, given: Mapping[str, Any]
) -> AnyResult:
    row = _BY_ID[operation]
    known = {name.rstrip("_"): value for name, value in given.items() if value is not None}
    return await operations.invoke(row, principal, operations.values(row, principal, known), id=id)


async def _octets(result: AnyResult) -> bytes:
    if isinstance(result, JsonArray):
        return b"[%s]" % b",".join(await _bounded(result.parts))
    if isinstance(result, JsonPieces):
        return await _whole(result)
    assert isinstance(result, Result)
    return bytes(result.data) if isinstance(result.data, msgspec.Raw) else msgspec.json.encode(result.data)


async def _whole(result: JsonPieces) -> bytes:
    try:
        return b"".join(await _bounded(result.pieces))
    except TooLong:
        if result.brief is None:
            raise
        return msgspec.json.encode(result.brief)


async def _bounded(parts: AsyncIterator[bytes]) -> list[bytes]:
    """Those that are not empty; TooLong, before more of them is in memory."""
    found, length = [], 0
    async for part in parts:
        length += len(part)
        if length > SHOWN_BYTES_MAX:
            raise TooLong
        if part:
            found.append(part)
    return found
