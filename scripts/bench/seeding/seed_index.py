"""The other half of scripts/bench/seed: the index of searches over the stream's messages, in a process of its own.

It never looks at the store, which another process fills. What is said of each message is what `search_tail.said` would
read there, and is put in by the function that the daemon calls; tests/unit/test_bench_seed.py compares the two.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from scripts.bench.seeding.stream import SENDER_NAME, Mail, Stream
from storage.records import dump
from storage.searching.index_schema import HASH_BYTES
from storage.searching.message_words import IndexedText, entries_of
from storage.searching.search_index import SearchIndex

PER_SEGMENT = 40_000  # messages; the fewer segments, the less is merged
SEGMENT_BYTES = 256 * 1024 * 1024  # more than their terms take
MERGE_PAGES = 1000
UNSAFE = "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -200000"


class SeedIndex(SearchIndex):
    """A new index, and nobody else's meanwhile: without journal and fsync, with larger segments."""

    def make(self) -> str:
        mark = super().make()
        self._run(*UNSAFE)
        self._keep_in_memory(SEGMENT_BYTES)
        return mark

    def finish(self) -> None:
        """Leave it as the daemon does when it has nothing to do."""
        self.complete()
        while self.merge(MERGE_PAGES):
            pass
        self._keep_in_memory(HASH_BYTES)
        self._run("PRAGMA journal_mode = WAL")
        self.close()

    def _keep_in_memory(self, size_bytes: int) -> None:
        self._run(f"INSERT INTO trigrams (trigrams, rank) VALUES ('hashsize', {size_bytes})")

    def _run(self, *statements: str) -> None:
        assert self._writer is not None
        for statement in statements:
            self._writer.execute(statement)


def build(path: Path, stream: Stream) -> str:
    """The index at `path`, of all messages of the stream; its mark."""
    index, mails = SeedIndex(path), stream.walk()
    with ThreadPoolExecutor(1) as thread:  # SQLite works outside the interpreter's lock
        mark: Future[str] = thread.submit(index.make)
        while batch := list(islice(mails, PER_SEGMENT)):
            entries = entries_of(_texts(batch))
            mark = thread.submit(index.change, mark.result(), entries, (), None)
    index.finish()
    return mark.result()


def _texts(batch: Iterable[Mail]) -> Iterator[IndexedText]:
    for mail in batch:
        yield IndexedText(
            mail.inbox.organization_id, mail.message_id, mail.inbox.id, mail.subject, mail.sender, SENDER_NAME, mail.body,
            dump([mail.to]), "[]", "[]",
        )  # fmt: skip
