"""What a message says, for those who look for it: the fields of its row, and its words as the index is told them.

The words of its body stand in its row, or in `search_words` where the row does not have all of them. They are folded
here (`storage.searching.folding`) and nowhere kept so, but in `search_gone`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storage.engine.dialect import THEN_JOIN, elements
from storage.engine.tx import Tx
from storage.records import dump, load
from storage.searching.folding import forms
from storage.searching.index_batches import Entry

BODY = "coalesce(w.words, m.text_body, m.extracted_text, '')"
ADDRESSES = "m.to_addresses, m.cc_addresses, m.bcc_addresses"
JOIN_WORDS = "LEFT JOIN search_words w ON w.message_id = m.id"
# No JSON, which takes SQLite ten times as long to write as the rows take, and us three times as long to read.
_TEXTS = f"""SELECT m.organization_id, m.id, m.inbox_id, m.subject, m.from_address, m.from_name, {BODY}, {ADDRESSES}
    FROM (SELECT value AS wanted FROM {elements(":ids")}) {THEN_JOIN} messages m ON m.id = wanted {JOIN_WORDS}"""


class IndexedText(NamedTuple):
    """What a message says. `to`, `cc`, `bcc`: JSON."""

    organization_id: str
    message_id: str
    inbox_id: str
    subject: str
    sender: str
    name: str | None
    body: str
    to: str
    cc: str
    bcc: str


def texts(tx: Tx, message_ids: Sequence[str]) -> list[IndexedText]:
    """What the index is to know of these messages."""
    return [IndexedText(*row) for row in tx.all(_TEXTS, {"ids": dump(message_ids)})] if message_ids else []


def entries_of(texts: Iterable[IndexedText]) -> list[Entry]:
    return [Entry(one.organization_id, one.message_id, one.inbox_id, _folded(one)) for one in texts]


def _folded(one: IndexedText) -> str:
    everyone = [address for text in (one.to, one.cc, one.bcc) for address in load(text)]
    words = "\n".join([one.subject, one.sender, one.name or "", *everyone, one.body]).replace("\0", " ")
    return "\n".join(forms(words))
