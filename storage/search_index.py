"""The index of trigrams itself: an FTS5 table that keeps no words, only which numbers each trigram stands under.

What is put in and why is `storage.search`'s matter; here is how SQLite says it. An index of another store has to give
the same four answers: which numbers of a span hold all of some trigrams, newest first; put in; take out (with the
words that were put in); one bounded step of tidying up.
"""

from collections.abc import Iterable

from storage.database import Tx
from storage.dialect import THEN_JOIN

MERGE_PAGES = 16

_MATCHING = "search_index MATCH :match AND rowid >= :low AND rowid < :below"
# The candidates (document, message_id): the highest numbers; or, where numbers don't sort by age, the newest messages.
BY_NUMBER = f"""SELECT document, message_id FROM
      (SELECT rowid AS found FROM search_index WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)
    {THEN_JOIN} search_documents ON document = found"""
BY_AGE = f"""SELECT document, message_id FROM (SELECT rowid AS found FROM search_index WHERE {_MATCHING})
    {THEN_JOIN} search_documents ON document = found
    WHERE message_id >= :first AND message_id < :last ORDER BY message_id DESC LIMIT :rows"""

# How far the newest of what matches reach back.
_REACH = f"""SELECT count(*), min(found) FROM
    (SELECT rowid AS found FROM search_index WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)"""
_REACH_ROWS = 32


def all_of(trigrams: Iterable[str]) -> str:
    """The query (`:match`) for what holds every one of them."""
    return " AND ".join('"' + one.replace('"', '""') + '"' for one in trigrams)


def share(tx: Tx, trigram: str, low: int, below: int) -> float:
    """About how many of the numbers of a span hold the trigram, told by the newest that do: 0 none, 1 all."""
    given = {"match": all_of([trigram]), "low": low, "below": below, "rows": _REACH_ROWS}
    row = tx.one(_REACH, given)
    assert row is not None
    count: int = row[0]
    since: int = row[1] if count == _REACH_ROWS else low
    return count / (below - since)


def put(tx: Tx, document: int, words: str) -> None:
    tx.run("INSERT INTO search_index (rowid, words) VALUES (?, ?)", (document, words))


def take_out(tx: Tx, document: int, words: str) -> None:
    """`words`: the same that were put in."""
    tx.run("INSERT INTO search_index (search_index, rowid, words) VALUES ('delete', ?, ?)", (document, words))


def merge(tx: Tx) -> bool:
    """One bounded step of tidying the index up; False when there is nothing to do."""
    before: int = tx.value("SELECT total_changes()")
    tx.run("INSERT INTO search_index (search_index, rank) VALUES ('merge', ?)", (MERGE_PAGES,))
    after: int = tx.value("SELECT total_changes()")
    return after - before >= 2  # the statement itself is one
