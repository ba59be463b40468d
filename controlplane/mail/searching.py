"""Search: the tail that is not indexed yet, then the index, in reads of bounded length.

The tail comes first: a message that the indexer moves meanwhile is then seen twice, never missed. What the
index can't help with (one character, two letters, a single thread, what is held, filters without words) is read message
by message; so are the few that have a label, or are what few are, where more hold the words; and so is everything while
there is no index, or when it is lost in the middle of a search, which then begins anew.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from storage.engine.database import READ_S, Database
from storage.engine.tx import Tx
from storage.searching import search
from storage.searching.index_file import IndexLost
from storage.searching.needle import Needle
from storage.searching.search import At, Batch
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from storage.shown import message_json
from storage.shown.kept_json import KeptJson
from storage.shown.message_json import Part

ROWS_MAX = 400

Look = Callable[[Tx, Scope, Needle, str | None, At | None, int], Batch]


async def find(
    db: Database,
    index: SearchIndex,
    kept: KeptJson,
    scope: Scope,
    needle: Needle,
    before: str | None,
    limit: int,
) -> Part:
    """The newest `limit` messages of the scope that hold the needle and are older than `before`."""
    searching = _Search(index, kept, scope, needle, before, limit)
    while (found := await db.read_for(scope.organization_id, searching.go_on)) is None:
        pass
    return found


class _Search:
    """Where a search stands between two reads."""

    def __init__(
        self,
        index: SearchIndex,
        kept: KeptJson,
        scope: Scope,
        needle: Needle,
        before: str | None,
        limit: int,
    ) -> None:
        self._index = index
        self._kept = kept
        self._scope = scope
        self._needle = needle
        self._before = before
        self._limit = limit
        self._is_begun = False
        self._has_index = index.is_complete and bool(needle.trigrams())
        # The index goes by what is visible.
        self._has_index = self._has_index and scope.thread_id is None and not scope.is_held
        indexed: Look = partial(search.indexed, index)
        self._places = [indexed, search.tail] if self._has_index else [search.scan]  # the next one last
        self._found: set[str] = set()
        self._begin_place()

    def go_on(self, tx: Tx) -> Part | None:
        """Look on for a while; what was found once that is all, or enough."""
        until = time.perf_counter() + READ_S
        if not self._is_begun:
            self._begin(tx)
        while self._places:
            try:
                self._look(tx)
            except IndexLost:
                self._places = [search.scan]
                self._begin_place()
            if time.perf_counter() > until:
                return None
        newest = sorted(self._found, reverse=True)[: self._limit]
        return message_json.of(tx, self._scope.organization_id, newest, self._kept, self._scope.is_held)

    def _begin(self, tx: Tx) -> None:
        self._scope, self._before = search.bounded(tx, self._scope, self._before)
        if self._has_index:
            with suppress(IndexLost):  # it will be met again
                if search.walks_fewer(self._index, tx, self._scope, self._needle):
                    self._places = [search.scan]
                else:
                    self._needle = search.sharpened(self._index, self._scope, self._needle)
        self._is_begun = True

    def _begin_place(self) -> None:
        self._at: At | None = None
        self._here: set[str] = set()
        # As many as are wanted first: most of what the index proposes does hold the needle.
        self._rows = self._limit

    def _look(self, tx: Tx) -> None:
        batch = self._places[-1](tx, self._scope, self._needle, self._before, self._at, self._rows)
        self._here.update(batch.message_ids)
        self._at = batch.next
        self._rows = min(4 * self._rows, ROWS_MAX)
        if self._at is None or len(self._here) >= self._limit:
            self._places.pop()
            self._found |= self._here
            self._begin_place()
