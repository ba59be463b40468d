"""A store with messages of given words, its index, and whether a search tells the truth."""

import json
from pathlib import Path

from controlplane.mail import searching
from storage.clock import Clock
from storage.engine.tx import Tx
from storage.mail import messages
from storage.searching.indexer import IndexingPace, SearchIndexer
from storage.searching.needle import Needle
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope
from storage.shown.kept_json import KeptJson
from tests.support.worlds.store import INBOX, ORGANIZATION, Store, message

NEEDLES = ("common", "mon wor", "rare3x", "rare1", "x", "absent", "ÄRGER", "hello")
ALL = 1000


class Searched:
    def __init__(self, folder: Path, store: Store, pace: IndexingPace) -> None:
        self.store = store
        self.path = folder / "search.sqlite3"
        self.index = SearchIndex(self.path)
        self.indexer = SearchIndexer(store.db, self.index, Clock(), pace)

    @classmethod
    async def open(cls, folder: Path, pace: IndexingPace = IndexingPace()) -> "Searched":
        return cls(folder, await Store.open(folder), pace)

    async def close(self) -> None:
        await self.indexer.stop()
        await self.store.close()

    async def receive(self, *numbers: int, words: str = "common words, Ärger") -> list[str]:
        """A message each, with a word of its own; their ids."""
        return await self.store.db.write(self._receive, numbers, words)

    def _receive(self, tx: Tx, numbers: tuple[int, ...], words: str) -> list[str]:
        ids = [self.store.ids.new("msg") for _ in numbers]
        for message_id, number in zip(ids, numbers, strict=True):
            one = message(message_id, self.store.clock.now_ms(), ["you@there.test"], "", b"raw")
            messages.insert(tx, one._replace(blob_id=None, text_body=f"{words} rare{number}x"))
        return ids

    async def delete(self, message_id: str) -> None:
        one = await self.store.message(message_id)
        await self.store.db.write(messages.delete, one)

    async def settle(self) -> None:
        """Have everything indexed."""
        while await self.indexer.round() or await self.waits() or not self.index.is_complete:
            pass

    async def waits(self) -> int:
        """How many messages are to be put in or taken out."""
        sql = "SELECT (SELECT count(*) FROM search_tail) + (SELECT count(*) FROM search_gone)"
        return int(await self.store.scalar(sql))

    async def found(self, words: str, inbox_id: str | None = INBOX, limit: int = ALL) -> list[str]:
        needle = Needle.of(words, None)
        assert needle is not None
        scope = Scope(ORGANIZATION, inbox_id)
        part = await searching.find(self.store.db, self.index, KeptJson(), scope, needle, None, limit)
        assert part.rest is None  # fewer than are read at once
        return [one["id"] for one in json.loads(b"[" + part.json + b"]")]

    async def assert_exact(self) -> None:
        """Each search finds what a look at all the messages finds, newest first."""
        said = "SELECT id, subject || char(10) || text_body FROM messages ORDER BY id DESC"
        everything = await self.store.db.read(lambda tx: tx.all(said))
        for words in NEEDLES:
            wanted = [message_id for message_id, text in everything if words.casefold() in text.casefold()]
            assert await self.found(words) == wanted, words
            assert await self.found(words, None, limit=3) == wanted[:3], words
