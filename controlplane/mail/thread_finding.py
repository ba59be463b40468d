"""Threads by their labels, in reads of bounded length.

Which labels a thread has is said by its messages. Where few messages have one of those that are asked for, the threads
of these are looked at; else thread after thread, in the order of the page. Where that has passed over very many and the
page is not full, what is asked for is rare among them, and a few thousand messages of the label are less than the rest.
Those that are read, where unread ones are asked for, are passed over in an index.
"""

import time

from storage.engine.database import READ_S, Database
from storage.engine.tx import Tx
from storage.searching import labels
from storage.searching.labels import COUNTED_MAX, Owner, ThreadPlace, WantedThreads
from storage.shown import thread_json
from storage.shown.kept_json import KeptJson
from storage.shown.message_json import Part

THREADS_MAX = 100  # looked at in one statement
PASSED_MAX = 10_000  # threads, before so many messages are looked at in their place


async def find(db: Database, kept: KeptJson, wanted: WantedThreads, before: ThreadPlace, limit: int) -> Part:
    """The latest `limit` of these threads behind `before`."""
    finding = _Finding(kept, wanted, before, limit)
    while (found := await db.read_for(wanted.owner.organization_id, finding.go_on)) is None:
        pass
    return found


class _Gathering:
    """The threads that come into question, while the messages of a label are looked at, the newest first."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._behind: str | None = None
        self._seen: set[str] = set()
        self._places: list[ThreadPlace] = []

    def look(self, tx: Tx, owner: Owner, before: ThreadPlace) -> list[ThreadPlace] | None:
        """Look at some messages; all threads behind `before`, the latest first, once there are no more."""
        found = labels.labelled_threads(tx, owner, self._label, self._behind)
        self._behind = found.behind
        self._places += labels.places_behind(tx, found.thread_ids - self._seen, before)
        self._seen |= found.thread_ids
        return sorted(self._places, reverse=True) if found.behind is None else None


class _Finding:
    """Where it stands between two reads. `few`: all threads that come into question, where they are few."""

    def __init__(self, kept: KeptJson, wanted: WantedThreads, before: ThreadPlace, limit: int) -> None:
        self._kept = kept
        self._wanted = wanted
        self._at = before
        self._limit = limit
        self._gathering: _Gathering | None = None
        self._few: list[ThreadPlace] | None = None
        self._passed = 0
        self._is_begun = False
        self._found: list[tuple[str, int]] = []

    def go_on(self, tx: Tx) -> Part | None:
        """Look on for a while; the page once it is full, or there are no more."""
        until = time.perf_counter() + READ_S
        if not self._is_begun:
            self._begin(tx)
        while self._look(tx):
            if time.perf_counter() > until:
                return None
        organization_id = self._wanted.owner.organization_id
        return thread_json.some(tx, organization_id, self._found[: self._limit], self._kept)

    def _begin(self, tx: Tx) -> None:
        self._is_begun = True
        self._look_for_few(tx, COUNTED_MAX)

    def _look_for_few(self, tx: Tx, most: int) -> None:
        """Go on with the threads of messages that have the label, where these are less than `most`."""
        if self._wanted.needed:
            label = labels.rarest(tx, self._wanted.owner, self._wanted.needed)
            if labels.count(tx, self._wanted.owner, label, most) < most:
                self._gathering = _Gathering(label)

    def _look(self, tx: Tx) -> bool:
        """Look at some threads; are there more to look at?"""
        if self._few is None and self._gathering is not None:
            self._few = self._gathering.look(tx, self._wanted.owner, self._at)
            return True
        places, end = self._next(tx)
        self._found += labels.fitting(tx, self._wanted, [place.id for place in places])
        if end is None:
            return False
        self._at = end
        before, self._passed = self._passed, self._passed + len(places)
        if self._few is None and before < PASSED_MAX <= self._passed:
            self._look_for_few(tx, PASSED_MAX)
        return len(self._found) < self._limit

    def _next(self, tx: Tx) -> tuple[list[ThreadPlace], ThreadPlace | None]:
        """Threads to look at, and where to go on behind them; None where there are no more."""
        # As many as are wanted first: mostly these are they.
        size = min(THREADS_MAX, max(self._limit, 2 * len(self._found)))
        if self._few is None:
            return thread_json.places(tx, self._wanted, self._at, size)
        places, self._few = self._few[:size], self._few[size:]
        return places, places[-1] if places else None
