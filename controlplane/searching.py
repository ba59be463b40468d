"""Search: the tail that is not indexed yet, then the index, each in reads of bounded length.

The tail comes first: a message that the indexer moves meanwhile is then seen twice, never missed. What the
index can't help with (one or two characters, a single thread) is read message by message.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from storage import search
from storage.database import Database
from storage.records import Message
from storage.search import Batch, Needle, Scope

At = TypeVar("At")

SCAN_ROWS = 400
CANDIDATES = 100


async def find(db: Database, scope: Scope, needle: Needle, before: str | None, limit: int) -> list[Message]:
    """The newest `limit` messages of the scope that hold the needle and are older than `before`."""
    if not needle.trigrams() or scope.thread_id is not None:
        return await _gather(
            lambda at, wanted: db.read(search.scan, scope, needle, at or before, wanted, SCAN_ROWS), limit
        )
    waiting = await _gather(
        lambda at, wanted: db.read(search.tail, scope, needle, at or before, wanted, SCAN_ROWS), limit
    )
    indexed = await _gather(
        lambda at, wanted: db.read(search.indexed, scope, needle, before, at, wanted, CANDIDATES), limit
    )
    found = {message.id: message for message in [*waiting, *indexed]}
    return sorted(found.values(), key=lambda message: message.id, reverse=True)[:limit]


# `look`: where to go on (None: at the beginning) and how many are wanted → what was found.
async def _gather(look: Callable[[At | None, int], Awaitable[Batch[At]]], limit: int) -> list[Message]:
    found: list[Message] = []
    at: At | None = None
    while True:
        batch = await look(at, limit - len(found))
        found += batch.messages
        at = batch.next
        if at is None or len(found) >= limit:
            return found
