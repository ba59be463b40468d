"""The event stream: feeds of the event log as it grows.

- Nothing is queued for a reader. Each keeps its position in the log and reads small pages from the store, so a slow
  one costs a page of memory.
- A position is a `seq`, which is the order of commits (storage.publishing.events): no event is skipped because an
  earlier number came later.
- One look-out for all readers, and for all who wait (`waits.py`), asks the store whose events are new. `wake()` after
  a commit hastens it; a wake that is lost, or never comes because another process wrote, costs at most `look_s` or
  `look_again_s` (conf.tuning).
- A reader's key (or session, where it is a member) is asked for with every page, and every `KEY_LOOK_S` between them: a
  revoked one hears no more. For those who wait the look-out asks, for all at once, every `WAITS_LOOK_S`; and whether
  their inboxes still take mail.
- `stop()` ends every feed and wait, and must run before the door's, which would wait for them. Clients come back with
  the id of the last event that they have seen.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

import structlog

from conf.settings import Http
from conf.tuning import FeedTuning
from controlplane.contract.refusals import Refusal
from controlplane.webhooks.events import LoadText, render
from controlplane.webhooks.waits import OnLeave, Wait
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.publishing import events
from storage.publishing.events import LogPage, Selection
from storage.service import Enduring, LoopService
from storage.tenants import callers

log = structlog.get_logger("maild.api")

PAGE = 8
KEY_LOOK_S = 2.0
WAITS_LOOK_S = 1.0
END_S = 1.0  # how long a reader that is in the middle of writing may take to end
RECONNECT_S = 3
BEGINNING = "evt_" + "0" * 26  # older than every event


class FeedEvent(NamedTuple):
    """One event as webhooks tell it: `body` is its JSON."""

    id: str
    type: str
    body: bytes


class Feed:
    """One open stream. `known`: the id that stands for where it begins; None: the reader knows. `has_gap`: events
    behind that are not kept any more."""

    def __init__(self, db: Database, load_text: LoadText, key_id: str, selection: Selection) -> None:
        self._db = db
        self._load_text = load_text
        self._key_id = key_id
        self.selection = selection
        self.known: str | None = None
        self.has_gap = False
        self._position = 0
        self._news = asyncio.Event()
        self._is_ending = False
        self._cut: Callable[[], None] | None = None

    async def begin(self, after: str | None) -> None:
        """Find the position to begin behind: that of the event `after`, or of the newest one (None)."""
        self._position, self.known, self.has_gap = await self._db.read_for(
            self.selection.organization_id, _begin, self.selection, after
        )

    def cut_with(self, cut: Callable[[], None]) -> None:
        """`cut`: ends the connection of a reader that does not end by itself."""
        self._cut = cut

    def hear(self) -> None:
        """There may be events for it."""
        self._news.set()

    def end(self) -> None:
        """No event follows."""
        self._is_ending = True
        self._news.set()

    def cut(self) -> None:
        """End the reader's connection where it is, with `cut_with`'s function."""
        if self._cut is not None:
            self._cut()

    async def events(self) -> AsyncGenerator[FeedEvent | None, None]:
        """The events behind its position, for as long as its key is active; None now and then, when there are none."""
        while not self._is_ending:
            self._news.clear()
            page = await self._db.read_for(
                self.selection.organization_id, _page, self._key_id, self.selection, self._position
            )
            if page is None:
                return
            self._position = page.position
            for event, words in page.told:
                yield FeedEvent(event.id, event.type, await render(event, words, self._load_text))
            while page.is_end and not page.told and not self._news.is_set():
                await self._wait()
                yield None
                if not await self._db.lookup(callers.is_active, self._key_id):
                    return

    async def _wait(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(KEY_LOOK_S):
                await self._news.wait()


class Streams(LoopService):
    """All open feeds and waits, and the look-out that wakes them. They take half of the connections at most."""

    name = "event streams"

    def __init__(
        self, db: Database, settings: Http, load_text: LoadText, tuning: FeedTuning = FeedTuning()
    ) -> None:
        super().__init__()
        self._tuning = tuning
        self._db = db
        self._load_text = load_text
        self._max_per_organization = settings.event_streams_per_organization
        self._max = max(1, settings.max_connections // 2)  # the other half stays for requests
        self._max_waits = settings.waits_per_organization
        self._feeds: set[Feed] = set()
        self._waits: set[Wait] = set()
        self._waits_seen = 0.0
        self._is_ending = False
        self._all_ended = asyncio.Event()

    def wake(self) -> None:
        """For each commit of an event: without a reader there is nothing to look for."""
        if self._feeds or self._waits:
            super().wake()

    @asynccontextmanager
    async def subscribe(self, key_id: str, selection: Selection, after: str | None) -> AsyncIterator[Feed]:
        """A feed of what comes behind the event `after` (None: from now on). Refusal where there are too many."""
        self._admit(selection.organization_id)
        feed = Feed(self._db, self._load_text, key_id, selection)
        self._feeds.add(feed)
        self._all_ended.clear()
        self.wake()
        try:
            await feed.begin(after)
            yield feed
        finally:
            self._feeds.discard(feed)
            if not self._feeds:
                self._all_ended.set()

    @asynccontextmanager
    async def waiting(
        self, key_id: str, organization_id: str, inbox_id: str | None, on_leave: OnLeave
    ) -> AsyncIterator[Wait]:
        """A place to wait for events of the organization, or of one of its inboxes. Refusal where too many wait."""
        self._refuse_beyond("No request can wait now; try again later.")
        if sum(one.organization_id == organization_id for one in self._waits) >= self._max_waits:
            text = "Too many requests of this organization wait for something; let one end first."
            raise Refusal("too_many_streams", text, retry_after_s=RECONNECT_S)
        wait = Wait(key_id, organization_id, inbox_id)
        self._waits.add(wait)
        on_leave(wait.end)
        self.wake()
        try:
            yield wait
        finally:
            on_leave(None)
            self._waits.discard(wait)

    def awaited_inboxes(self) -> set[str]:
        """The inboxes that somebody waits for something in."""
        return {wait.inbox_id for wait in self._waits if wait.inbox_id is not None}

    def hear_of(self, inbox_ids: Collection[str]) -> None:
        """Something happened in these inboxes that no event tells: let those look who wait for it."""
        for wait in self._waits:
            if wait.inbox_id in inbox_ids:
                wait.hear()

    def _admit(self, organization_id: str) -> None:
        self._refuse_beyond("No event stream can be opened now; try again later.")
        open_of = Counter(feed.selection.organization_id for feed in self._feeds)
        if open_of[organization_id] >= self._max_per_organization:
            raise Refusal("too_many_streams", retry_after_s=RECONNECT_S)

    def _refuse_beyond(self, text: str) -> None:
        if self._is_ending or len(self._feeds) + len(self._waits) >= self._max:
            raise Refusal("provider_unavailable", text, retry_after_s=RECONNECT_S)

    # The look-out --------------------------------------------------------------------------------

    async def run(self) -> None:
        seen: int | None = None
        while True:
            while not self._feeds and not self._waits:
                seen = None
                await self.pause(None)
            written = self._db.units_written
            with Enduring(log, "event_look_out_failed"):
                seen = await self._look(seen)
            await asyncio.sleep(self._tuning.rest_s)
            for _ in range(round(self._tuning.look_again_s / self._tuning.look_s)):
                if self._db.units_written != written:  # there was a write since the last look
                    break
                if self._waits and self._now() - self._waits_seen >= WAITS_LOOK_S:
                    break
                await self.pause(self._tuning.look_s)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    async def _look(self, seen: int | None) -> int:
        """Tell the readers whose events are new, and end what waits with a revoked key or in a deactivated inbox; the
        newest position of all."""
        newest, published = await self._db.read(events.published_since, seen)
        organizations = {organization_id for organization_id, _ in published}
        for feed in self._feeds:
            if seen is None or feed.selection.organization_id in organizations:
                feed.hear()
        for wait in self._waits:
            mine = (wait.organization_id, wait.inbox_id)
            if (
                seen is None
                or mine in published
                or (wait.inbox_id is None and wait.organization_id in organizations)
            ):
                wait.hear()
        if self._waits and self._now() - self._waits_seen >= WAITS_LOOK_S:
            self._waits_seen = self._now()
            await self._end_what_waits_in_vain()
        return newest

    async def _end_what_waits_in_vain(self) -> None:
        key_ids = {wait.key_id for wait in self._waits}
        revoked, closed = await self._db.read(_ended, key_ids, self.awaited_inboxes())
        for wait in self._waits:
            if wait.key_id in revoked:
                wait.revoke()
            elif wait.inbox_id in closed:
                wait.close()

    async def stop(self) -> None:
        self._is_ending = True
        for feed in self._feeds:
            feed.end()
        for wait in self._waits:
            wait.end()
        await super().stop()
        if self._feeds:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._all_ended.wait()
        for feed in self._feeds:
            feed.cut()


def _ended(tx: Tx, key_ids: set[str], inbox_ids: set[str]) -> tuple[set[str], set[str]]:
    """Which of these keys are revoked, and which of these inboxes deactivated."""
    return callers.revoked_among(tx, key_ids), inboxes.inactive_among(tx, inbox_ids)


def _begin(tx: Tx, selection: Selection, after: str | None) -> tuple[int, str | None, bool]:
    """The position to begin behind, the id that stands for it where the reader knows none, and whether there is a gap
    behind it."""
    if after is not None:
        return (
            events.position(tx, selection, after),
            None,
            events.has_gap(tx, selection, after),
        )
    position, newest = events.last(tx, selection)
    return position, newest or BEGINNING, False


def _page(tx: Tx, key_id: str, selection: Selection, after: int) -> LogPage | None:
    """The next page. None: the key opens nothing any more.

    It goes on behind what it does not want too: a reader of a quiet inbox passes over its neighbours' events once.
    """
    if not callers.is_active(tx, key_id):
        return None
    return events.list_events(tx, selection, after=after, limit=PAGE)
