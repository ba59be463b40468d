"""What one change of the index puts in and takes out: messages with the terms of their words.

Called within the transaction of a change (`storage.searching.search_index`), which is durable as a whole or not at all,
so whoever was killed tells the same batch again: what is there already is not put in twice, and what is not there is
not taken out. FTS5 keeps no texts. To take a message out it is given the terms that were put in, which are those of the
same words under the same `FORM`; a term that stays behind proposes a number without a message.

A batch is put in by few statements, whatever its size: the interpreter's lock is taken once for each, and a busy loop
gives it up late.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from storage.engine.dialect import each_of, elements, item
from storage.engine.tx import Tx
from storage.records import dump
from storage.searching.index_schema import DOCUMENTS_BITS, inbox_term
from storage.searching.trigram_terms import terms_of_texts

BEHIND = "~"  # comes after every id: an inbox has its number until its last message is taken out


class Entry(NamedTuple):
    """A message and its folded words."""

    organization_id: str
    message_id: str
    inbox_id: str
    words: str


class Gone(NamedTuple):
    """A message that was deleted, and the words that were put in; or an inbox or an organization, under BEHIND and its
    id as `message_id`, whose messages were deleted before it."""

    message_id: str
    inbox_id: str
    words: str


def take_out(tx: Tx, gone: Sequence[Gone]) -> None:
    """Those that are there."""
    if not gone:
        return
    for one, terms in zip(gone, terms_of_texts([one.words for one in gone]), strict=True):
        document = tx.value(
            "DELETE FROM documents WHERE message_id = ? RETURNING document", (one.message_id,)
        )
        number = tx.value("SELECT number FROM indexed_inboxes WHERE inbox_id = ?", (one.inbox_id,))
        if document is not None:
            tx.run(
                "INSERT INTO trigrams (trigrams, rowid, terms) VALUES ('delete', ?, CAST(? AS TEXT))",
                (document, _said(number, terms)),
            )
    ids = dump([one.message_id.removeprefix(BEHIND) for one in gone])
    tx.run(f"DELETE FROM indexed_inboxes WHERE inbox_id IN {each_of('?')}", (ids,))
    tx.run(f"DELETE FROM indexed_organizations WHERE organization_id IN {each_of('?')}", (ids,))


def put(tx: Tx, entries: Sequence[Entry]) -> None:
    """Those that are not there yet, under the next numbers of their organizations."""
    ids = dump([one.message_id for one in entries])
    rows = tx.all(f"SELECT message_id FROM documents WHERE message_id IN {each_of('?')}", (ids,))
    known = {message_id for (message_id,) in rows}
    fresh = sorted(one for one in entries if one.message_id not in known)
    if not fresh:
        return
    inboxes = _numbers(tx, "indexed_inboxes", "inbox_id", {one.inbox_id for one in fresh})
    documents = _documents(tx, fresh)
    numbered = [(document, one.message_id) for document, one in zip(documents, fresh, strict=True)]
    said = [
        _said(inboxes[one.inbox_id], terms)
        for one, terms in zip(fresh, terms_of_texts([one.words for one in fresh]), strict=True)
    ]
    rows_of = f"SELECT {item('value', 0)}, {item('value', 1)} FROM {elements('?')}"
    tx.run(f"INSERT INTO documents (document, message_id) {rows_of}", (dump(numbered),))
    starts = accumulate(map(len, said), initial=1)
    slices = list(zip(documents, starts, map(len, said), strict=False))
    tx.run(
        f"""INSERT INTO trigrams (rowid, terms)
            SELECT {item("value", 0)}, CAST(substr(:said, {item("value", 1)}, {item("value", 2)}) AS TEXT)
            FROM {elements(":slices")}""",
        {"said": b"".join(said), "slices": dump(slices)},
    )


def _documents(tx: Tx, fresh: Sequence[Entry]) -> list[int]:
    """A number for each: the next ones of its organization."""
    _numbers(tx, "indexed_organizations", "organization_id", {one.organization_id for one in fresh})
    rows = tx.all(
        f"""SELECT organization_id, number, documents, newest_id, is_ordered FROM indexed_organizations
            WHERE organization_id IN {each_of("?")}""",
        (dump(sorted({one.organization_id for one in fresh})),),
    )
    standing = {row[0]: list(row[1:]) for row in rows}
    documents = []
    for one in fresh:
        mine = standing[one.organization_id]
        mine[1] += 1
        mine[3] = int(mine[3] and mine[2] < one.message_id)
        mine[2] = max(mine[2], one.message_id)
        documents.append((mine[0] << DOCUMENTS_BITS) + mine[1])
    for number, count, newest_id, is_ordered in standing.values():
        tx.run(
            "UPDATE indexed_organizations SET documents = ?, newest_id = ?, is_ordered = ? WHERE number = ?",
            (count, newest_id, is_ordered, number),
        )
    return documents


def _numbers(tx: Tx, table: str, column: str, ids: set[str]) -> dict[str, int]:
    """The number of each, given to those that have none."""
    given = dump(sorted(ids))
    tx.run(
        f"INSERT INTO {table} ({column}) SELECT value FROM {elements('?')} WHERE 1 ON CONFLICT DO NOTHING",
        (given,),
    )
    return dict(tx.all(f"SELECT {column}, number FROM {table} WHERE {column} IN {each_of('?')}", (given,)))


def _said(inbox_number: int, terms: bytes) -> bytes:
    return inbox_term(inbox_number).encode() + b" " + terms
