"""What the index proposes: which numbers hold all of some trigrams, newest first, and about how many hold one.

A proposal is no hit: terms are shared by trigrams, and what was deleted may still be proposed. The order is that of
numbers, which is that of ages unless the organization's clock was set back (`Span.is_ordered`).
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storage.engine.dialect import THEN_JOIN, array, array_of
from storage.engine.tx import Tx
from storage.recent import Recent
from storage.searching.index_schema import DOCUMENTS_BITS, inbox_term
from storage.searching.trigram_terms import terms_of_trigrams

SHARE_BYTES = 400

_MATCHING = "trigrams MATCH :match AND rowid >= :low AND rowid < :below"
# The candidates: the highest numbers; or, where numbers don't sort by age, the newest messages. What was taken out
# may still be proposed, without a message.
_BY_NUMBER = array_of(
    array("found", "message_id"),
    f"""(SELECT found, message_id FROM
          (SELECT rowid AS found FROM trigrams WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)
        LEFT JOIN documents ON document = found ORDER BY found DESC)""",
)
_BY_AGE = array_of(
    array("message_id", "message_id"),
    f"""(SELECT message_id FROM (SELECT rowid AS found FROM trigrams WHERE {_MATCHING})
        {THEN_JOIN} documents ON document = found
        WHERE message_id >= :first AND message_id < :last ORDER BY message_id DESC LIMIT :rows)""",
)
# How far the newest of what matches reach back.
_REACH = f"""SELECT count(*), min(found) FROM
    (SELECT rowid AS found FROM trigrams WHERE {_MATCHING} ORDER BY rowid DESC LIMIT :rows)"""
_REACH_ROWS = 32


class Span(NamedTuple):
    """Whose numbers begin at `low` and end before `end`."""

    low: int
    end: int
    is_ordered: bool


class TrigramShare(NamedTuple):
    """The share of a trigram when the organization's numbers were these."""

    share: float
    low: int
    end: int


class Proposals:
    """Questions to one state of the index. `shares`: what was told of any state (`share`)."""

    def __init__(self, tx: Tx, shares: Recent[TrigramShare]) -> None:
        self._tx = tx
        self._shares = shares

    def span(self, organization_id: str) -> Span | None:
        """None when nothing of the organization is indexed."""
        row = self._tx.one(
            "SELECT number, documents, is_ordered FROM indexed_organizations WHERE organization_id = ?",
            (organization_id,),
        )
        if row is None:
            return None
        number, documents, is_ordered = row
        low = number << DOCUMENTS_BITS
        return Span(low, low + documents + 1, bool(is_ordered))

    def number_from(self, span: Span, message_id: str) -> int:
        """The number from which on messages are as new as this id, where numbers go by age; `end` when none is."""
        low, end = span.low, span.end
        while message_id and low < end:
            middle = (low + end) // 2
            row = self._tx.one(
                """SELECT document, message_id FROM documents WHERE document >= ? AND document < ?
                   ORDER BY document LIMIT 1""",
                (middle, end),
            )
            if row is None or row[1] >= message_id:
                end = middle
            else:
                low = row[0] + 1
        return low

    def share(self, trigram: str, span: Span) -> float:
        """About how many of the span's numbers hold the trigram, told by the newest that do: 0 none, 1 all.

        FTS5 reads lists from their beginning to tell their end, so a common trigram costs 0.2 ms. They are the same few
        in most searches: what was told is remembered until the organization has an eighth more messages.
        """
        known = self._shares.get((span.low, trigram))
        if known is not None and span.end - known.end <= (known.end - known.low) // 8:
            return known.share
        share = self._share(trigram, span)
        self._shares.put((span.low, trigram), TrigramShare(share, span.low, span.end), SHARE_BYTES)
        return share

    def _share(self, trigram: str, span: Span) -> float:
        given = {
            "match": _all_of(terms_of_trigrams([trigram])),
            "low": span.low,
            "below": span.end,
            "rows": _REACH_ROWS,
        }
        row = self._tx.one(_REACH, given)
        assert row is not None
        count: int = row[0]
        since: int = row[1] if count == _REACH_ROWS else span.low
        return count / (span.end - since)

    def match(self, trigrams: Sequence[str], inbox_id: str | None) -> str | None:
        """The question for what holds all of them, in the inbox if one is given; None when that has nothing."""
        wanted = terms_of_trigrams(trigrams)
        if inbox_id is not None:
            number = self._tx.value("SELECT number FROM indexed_inboxes WHERE inbox_id = ?", (inbox_id,))
            if number is None:
                return None
            wanted.append(inbox_term(number))
        return _all_of(wanted)

    def by_number(self, match: str, low: int, below: int, rows: int) -> str:
        """JSON: [number, message's id or null] of the highest numbers from `low` on, below the other."""
        parameters = {"match": match, "low": low, "below": below, "rows": rows}
        return str(self._tx.value(f"SELECT {_BY_NUMBER}", parameters))

    def by_age(self, match: str, span: Span, first: str, last: str, rows: int) -> str:
        """JSON: [message's id, the same] of the newest messages from `first` on, older than `last`."""
        parameters = {
            "match": match,
            "low": span.low,
            "below": span.end,
            "first": first,
            "last": last,
            "rows": rows,
        }
        return str(self._tx.value(f"SELECT {_BY_AGE}", parameters))


def _all_of(terms: Iterable[str]) -> str:
    return " AND ".join(f'"{one}"' for one in terms)
