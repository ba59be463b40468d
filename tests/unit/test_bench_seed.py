"""scripts/bench/seed: a store that is whole, and an index of searches like the one that would be made of its rows."""

import argparse
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from maild.commands.checking import check
from scripts.bench.mails import words
from scripts.bench.seed import seed
from scripts.bench.seeding import seed_index
from scripts.bench.seeding.seed_store import SeedStore
from scripts.bench.seeding.stream import Inbox, Stream
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.engine import migrate
from storage.engine.tx import Tx
from storage.searching import index_schema, search, search_tail
from storage.searching.needle import Needle
from storage.searching.search_index import SearchIndex, Walked
from storage.searching.search_scope import Scope

INBOXES = [[Inbox(f"inb_{org}{at}", f"org_{org}", f"{org}{at}@bench.test") for at in "12"] for org in "mxab"]
STREAM = Stream(messages=300, mine=60, words=15, seed=1, begin_ms=1_700_000_000_000, inboxes=INBOXES)


@pytest.fixture(autouse=True)
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "WORDS", 500)
    monkeypatch.setattr(words, "POOL", 5000)


@contextmanager
def rows_of(path: Path) -> Iterator[Tx]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        yield Tx(conn)


def said(path: Path) -> tuple[list[Any], set[tuple[str, str]]]:
    """The messages in the order of their numbers, and which term or inbox stands for which message."""
    with rows_of(path) as tx:
        tx.run("CREATE VIRTUAL TABLE temp.said USING fts5vocab (main, trigrams, instance)")
        messages = dict(tx.all("SELECT document, message_id FROM documents"))
        inboxes = {
            index_schema.inbox_term(number): inbox_id
            for number, inbox_id in tx.all("SELECT number, inbox_id FROM indexed_inboxes")
        }
        pairs = {
            (inboxes.get(term, term), messages[at]) for term, at in tx.all("SELECT term, doc FROM temp.said")
        }
        order = tx.all(
            f"""SELECT o.organization_id, d.message_id FROM documents d
                JOIN indexed_organizations o ON o.number = d.document >> {index_schema.DOCUMENTS_BITS}
                ORDER BY o.organization_id, d.document"""
        )
        assert tx.all("SELECT min(is_ordered), max(is_ordered) FROM indexed_organizations") == [(1, 1)]
    return order, pairs


def test_each_walk_through_the_stream_is_the_same() -> None:
    assert list(STREAM.walk()) == list(STREAM.walk())


def test_the_index_is_the_one_that_the_stores_rows_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed_index, "PER_SEGMENT", 70)
    mark = seed_index.build(tmp_path / "seeded", STREAM)
    migrate.prepare(tmp_path / "store")
    store = SeedStore(tmp_path / "store")
    assert len(list(store.fill(STREAM))) == STREAM.messages
    store.finish(mark, analyze=False)

    anew, since = SearchIndex(tmp_path / "anew"), Walked()
    anew.make()
    with rows_of(tmp_path / "store") as tx:
        while (batch := search_tail.walk(tx, since, 1000)).walked is not None:
            since = batch.walked
            search_tail.tell(anew, batch, search_tail.said(tx, batch))
    anew.close()
    assert said(tmp_path / "seeded") == said(tmp_path / "anew")


def test_a_seeded_store_is_whole_and_names_its_index(tmp_path: Path) -> None:
    options = argparse.Namespace(
        folder=tmp_path / "data", messages=400, mine=100, organizations=3, inboxes=2, words=15, seed=1, analyze=False
    )  # fmt: skip
    facts = seed(options)
    folder = DataFolder(options.folder)
    assert check(folder, Clock()) == {"ok": True, "blobs": 400, "damage": [], "strayFiles": []}
    index = SearchIndex(folder.search_index)
    with rows_of(folder.database) as tx:
        assert tx.value("PRAGMA journal_mode") == "wal"
        assert tx.value("SELECT count(*) FROM search_tail") == 0
        assert index.open(search_tail.mark_of(tx)) is None and index.is_complete
        mine = facts["mine"]
        needle = Needle.of(mine["rare"], None)
        assert needle is not None
        hits = search.indexed(index, tx, Scope(mine["organizationId"]), needle, None, None, 10)
        assert hits.message_ids == [mine["messageId"]]
        assert (
            tx.value("SELECT count(*) FROM messages WHERE organization_id = ?", (mine["organizationId"],))
            == 100
        )
    index.close()
    with rows_of(folder.search_index) as tx:
        assert tx.value("PRAGMA journal_mode") == "wal"
        kept = tx.value("SELECT v FROM trigrams_config WHERE k = 'hashsize'")
        assert kept == index_schema.HASH_BYTES
