"""The event stream: server-sent events (HTML Living Standard, §9.2), read from the event log.

- Nothing is queued for a reader. Each keeps its position in the log and reads small pages from the store, so a slow
  one costs a page of memory and the bytes that its socket takes; one that takes nothing for `STALLED_S` is cut off
  (aiohttp-sse, which also sends the heartbeats and frames the events).
- A position is a `seq`, which is the order of commits (storage.events): no event is skipped because an earlier number
  came later.
- One look-out for all readers asks the store whose events are new. `wake()` after a commit hastens it; a wake that is
  lost, or never comes because another process wrote, costs at most `LOOK_S` or `LOOK_AGAIN_S`.
- A reader's key is asked for with every page, and every `KEY_LOOK_S` between them: a revoked one hears no more.
- `stop()` ends every stream, and must run before the HTTP server's, which would wait for them. Clients come back
  with `Last-Event-ID`.
"""

import asyncio
from collections import Counter
from contextlib import suppress

import structlog
from aiohttp import web
from aiohttp_sse import EventSourceResponse

from conf.settings import Http
from controlplane.contract.refusals import Refusal
from controlplane.webhooks.events import LoadText, render
from storage import events, keys
from storage.database import Database, Tx
from storage.events import Selection, Told
from storage.service import Enduring, LoopService

log = structlog.get_logger("maild.api")

PAGE = 8
STALLED_S = 20.0
LOOK_S = 0.25
LOOK_AGAIN_S = 2.0
REST_S = 0.05  # between two looks: a burst of commits is one look
KEY_LOOK_S = 2.0
END_S = 1.0  # how long a stream that is in the middle of writing may take to end
RECONNECT_MS = 3000
BEGINNING = "evt_" + "0" * 26  # older than every event


class Reader:
    """One open stream."""

    def __init__(self, key_id: str, selection: Selection) -> None:
        self.key_id = key_id
        self.selection = selection
        self.position = 0
        self.news = asyncio.Event()
        self.transport: asyncio.Transport | None = None

    async def wait(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(KEY_LOOK_S):
                await self.news.wait()

    def is_gone(self) -> bool:
        return self.transport is None or self.transport.is_closing()

    def cut(self) -> None:
        if self.transport is not None:
            self.transport.abort()


class Streams(LoopService):
    name = "event streams"

    def __init__(self, db: Database, settings: Http, load_text: LoadText) -> None:
        super().__init__()
        self._db = db
        self._load_text = load_text
        self._heartbeat_s = settings.event_stream_heartbeat_s
        self._max_per_organization = settings.event_streams_per_organization
        self._max = max(1, settings.max_connections // 2)  # the other half stays for requests
        self._readers: set[Reader] = set()
        self._is_ending = False
        self._nobody = asyncio.Event()

    async def serve(
        self, request: web.Request, key_id: str, selection: Selection, after: str | None
    ) -> web.StreamResponse:
        """Tell what comes behind the event `after` (None: from now on) until either side ends it."""
        self._admit(selection.organization_id)
        reader = Reader(key_id, selection)
        self._readers.add(reader)
        self._nobody.clear()
        self.wake()
        try:
            reader.position, newest = await self._db.read_for(
                selection.organization_id, _begin, selection, after
            )
            reader.transport = request.transport
            if reader.is_gone():
                raise ConnectionResetError("the client left")
            response = EventSourceResponse(ping_interval=self._heartbeat_s, send_timeout=STALLED_S)
            await response.prepare(request)
            await self._stream(reader, response, newest)
            return response
        finally:
            self._readers.discard(reader)
            if not self._readers:
                self._nobody.set()

    def _admit(self, organization_id: str) -> None:
        if self._is_ending or len(self._readers) >= self._max:
            raise Refusal("provider_unavailable", "No event stream can be opened now; try again later.")
        open_of = Counter(reader.selection.organization_id for reader in self._readers)
        if open_of[organization_id] >= self._max_per_organization:
            raise Refusal("too_many_streams", headers={"Retry-After": str(RECONNECT_MS // 1000)})

    async def _stream(self, reader: Reader, response: EventSourceResponse, newest: str | None) -> None:
        try:
            async with response:
                # Without an event a reader that lost its connection would not know where it had been.
                known = f"id: {newest}\r\n" if newest else ""
                await response.write(f"retry: {RECONNECT_MS}\r\n{known}\r\n".encode())
                await self._tell(reader, response)
        except (ConnectionError, TimeoutError):  # lost (reset, or aborted by the kernel), or stalled
            reader.cut()
        except Exception:  # the answer has begun: no envelope can say it any more
            log.exception("event_stream_failed")
            reader.cut()

    async def _tell(self, reader: Reader, response: EventSourceResponse) -> None:
        while not self._is_ending:
            reader.news.clear()
            found = await self._db.read_for(
                reader.selection.organization_id, _page, reader.key_id, reader.selection, reader.position
            )
            if found is None:
                return
            page, reader.position = found
            for event, words in page:
                body = await render(event, words, self._load_text)
                await response.send(body.decode(), id=event.id, event=event.type)
            while not page and not reader.news.is_set():
                await reader.wait()
                if reader.is_gone() or not await self._db.lookup(keys.is_active, reader.key_id):
                    return

    # The look-out --------------------------------------------------------------------------------

    async def run(self) -> None:
        seen: int | None = None
        while True:
            while not self._readers:
                seen = None
                await self.pause(None)
            written = self._db.units_written
            with Enduring(log, "event_look_out_failed"):
                seen = await self._look(seen)
            await asyncio.sleep(REST_S)
            for _ in range(round(LOOK_AGAIN_S / LOOK_S)):
                if self._db.units_written != written:  # somebody wrote since we looked
                    break
                await self.pause(LOOK_S)

    async def _look(self, seen: int | None) -> int:
        """Tell the readers whose events are new; the newest position of all."""
        newest, organizations = await self._db.read(events.published_since, seen)
        for reader in self._readers:
            if seen is None or reader.selection.organization_id in organizations:
                reader.news.set()
        return newest

    async def stop(self) -> None:
        self._is_ending = True
        for reader in self._readers:
            reader.news.set()
        await super().stop()
        if self._readers:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._nobody.wait()
        for reader in self._readers:
            reader.cut()


def _begin(tx: Tx, selection: Selection, after: str | None) -> tuple[int, str | None]:
    """The position to begin behind, and the id that stands for it where the reader knows none."""
    if after is not None:
        return events.position(tx, selection, after), None
    position, newest = events.last(tx, selection)
    return position, newest or BEGINNING


def _page(tx: Tx, key_id: str, selection: Selection, after: int) -> tuple[list[Told], int] | None:
    """The next page and the position behind it. None: the key opens nothing any more."""
    if not keys.is_active(tx, key_id):
        return None
    page = events.list_events(tx, selection, after=after, limit=PAGE)
    # Behind what it does not want too: a reader of a quiet inbox passes over its neighbours' events once.
    return page, page[-1].event.seq if len(page) == PAGE else events.newest(tx)
