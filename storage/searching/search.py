"""Search over words: what is said where, found by any part of it, case folded (`storage.searching.folding`).

The answer is exact whatever the index says: the index of trigrams only proposes messages, and each is
confirmed by looking for the folded needle in its folded fields. The store, which folds ASCII alone, sees most
that hold it (`_SEEN`), and of most that don't, being ASCII, that they don't (`_ABSENT`); it is never wrong in either.
The rest is folded and looked at by us (`_holds`). So a character of a trigram that another Unicode version folds
otherwise costs a search, never a wrong answer.

What is durable when: `note` runs in the transaction that inserts the message and puts it in the tail, `forget` in the
one that deletes it. The index is a file of its own (`storage.searching.search_index`), written behind the commits in
batches (`storage.searching.indexer`): what a batch needs is read here (`waiting`, `walk`), and once the index is
committed, `settle` takes it from the tail. A search reads the tail message by message, and then the index: so it misses
nothing that is committed, and what is in both it finds once. What was deleted stands in `search_gone` until the index
has let go of it, and is found no more in the meantime, for each hit is a row of `messages`. What is held is indexed
like all others, so that it has its number when it comes, and is no hit before it is released.

Where a message stands in the index: its number there (`document`) is the organization's number × 2^36 +
a count, so an organization's messages lie side by side, in the order of their age, and a search reads
the lists of its own organization alone, from the newest on, however much mail the others have. The inbox
is a trigram of its own, made of private-use characters. Should the clock have been set back, ages and
numbers disagree; then `is_ordered` is 0 and a search looks at all its candidates before it sorts them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from storage import id_spans
from storage.engine.dialect import (
    array,
    by_index,
    containing,
    contains,
    each_of,
    each_row_of,
    elements,
    is_ascii,
    item,
    joined,
)
from storage.engine.tx import Tx
from storage.records import dump, load
from storage.searching import labels
from storage.searching.folding import fold, forms, holds
from storage.searching.index_batches import Entry, Gone
from storage.searching.labels import Owner
from storage.searching.search_index import SearchIndex, Walked
from storage.searching.search_scope import Scope
from storage.searching.trigram_terms import trigrams_of
from storage.visibility import HELD, VISIBLE

At = str | int  # where a message stands: its id; in an index that is ordered, its document

TRIGRAMS_MAX = 24  # of a long needle, evenly spread: the rest is for the confirmation
SHARPENED_MIN = 4  # trigrams; fewer are asked for as they are
COMMON = 10  # times the share of the rarest
BATCH_BYTES = 4 * 1024 * 1024  # of messages without their attachments, and one message at least
GONE_AT_ONCE = 500

_BODY = "coalesce(w.words, m.text_body, m.extracted_text, '')"
# Of the raw message without its attachments: about as many as its words have at most. In a row of `messages` the size
# stands behind the text, all of which SQLite passes over to get there; what waits has it in the tail (`body_bytes`).
_BODY_BYTES = """m.size_bytes -
    (SELECT coalesce(sum(a.slice_length), 0) FROM attachments a WHERE a.message_id = m.id)"""
_ADDRESSES = "m.to_addresses, m.cc_addresses, m.bcc_addresses"
_JOIN_WORDS = "LEFT JOIN search_words w ON w.message_id = m.id"
_UNPLAIN = re.compile(r'[\x00-\x1f\x7f"\\]')  # stands otherwise in the JSON of addresses, or is a NUL
_FIELDS = (_BODY, "m.subject", "m.from_address", "coalesce(m.from_name, '')")
_ANYWHERE = (*_FIELDS, *_ADDRESSES.split(", "))


def _any_contains(texts: Iterable[str], part: str) -> str:
    return "(" + " OR ".join(contains(text, part) for text in texts) + ")"


# Sound, not complete: folding goes character by character, and folds what is folded no further (`_verdict`: or else).
_SEEN = {"words": _any_contains(_FIELDS, ":words"), "sender": contains("m.from_address", ":sender")}
# Surely not, of those that are not seen. Addresses may hold it in what is JSON: then they are looked at.
_ABSENT = {
    "words": " AND ".join(
        [*map(is_ascii, _ANYWHERE), f"NOT {_any_contains(_ADDRESSES.split(', '), ':words')}"]
    ),
    "sender": f"{is_ascii('m.from_address')} AND NOT {_SEEN['sender']}",
}
# Before it is looked for: what is no ASCII is not in what is.
_TOO_PLAIN = {"words": " AND ".join(map(is_ascii, _ANYWHERE)), "sender": is_ascii("m.from_address")}
_HOLDING = f"""SELECT m.id, m.from_address, m.subject, m.from_name, {_BODY}, {_ADDRESSES}
    FROM messages m {_JOIN_WORDS} WHERE m.id IN {each_of("?")}"""


class Needle(NamedTuple):
    """What is looked for, folded: `words` in any field, `sender` in the sender's address. `rare`: the trigrams that are
    enough to ask the index for (`sharpened`)."""

    words: str | None
    sender: str | None
    rare: tuple[str, ...] | None = None

    @classmethod
    def of(cls, words: str | None, sender: str | None) -> "Needle | None":
        """None when nothing is looked for (an empty needle is in everything)."""
        if not words and not sender:
            return None
        return cls(fold(words) if words else None, fold(sender) if sender else None)

    def trigrams(self) -> list[str]:
        """Some of those that a message must have; none when the needle is too short."""
        if self.rare is not None:
            return list(self.rare)
        found: list[str] = []
        for part in (self.words, self.sender):
            if part is not None:
                own = trigrams_of(part)
                step = -(-len(own) // TRIGRAMS_MAX) or 1
                found += own[::step]
        return list(dict.fromkeys(found))


IN_EVERYTHING = Needle(None, None)


class Batch(NamedTuple):
    """Messages that hold the needle, and where to go on: None when there are no more."""

    message_ids: list[str]
    next: At | None


def note(tx: Tx, organization_id: str, message_id: str, body_bytes: int, words: str | None = None) -> None:
    """A message was inserted. `body_bytes`: its raw size less its attachments; `words`: what its body says, where its
    row does not say it in full."""
    tx.run(
        "INSERT INTO search_tail (organization_id, message_id, body_bytes) VALUES (?, ?, ?)",
        (organization_id, message_id, body_bytes),
    )
    if words is not None:
        tx.run("INSERT INTO search_words (message_id, words) VALUES (?, ?)", (message_id, words))


def forget(tx: Tx, organization_id: str, message_id: str) -> None:
    """The message is about to be deleted: the index is to let go of its words."""
    tx.run(
        "DELETE FROM search_tail WHERE organization_id = ? AND message_id = ?", (organization_id, message_id)
    )
    for one in entries_of(_texts(tx, [message_id])):
        tx.run(
            "INSERT INTO search_gone (message_id, inbox_id, words) VALUES (?, ?, ?)",
            (message_id, one.inbox_id, one.words),
        )
    tx.run("DELETE FROM search_words WHERE message_id = ?", (message_id,))


# Reading -----------------------------------------------------------------------------------------


def bounded(tx: Tx, scope: Scope, before: str | None) -> tuple[Scope, str | None]:
    """The same messages, of which ids say where a window of time begins and ends, and a label where they are found."""
    first, last = id_spans.between(tx, scope.organization_id, scope.since_ms, scope.until_ms)
    needed = (*scope.labels, labels.UNREAD) if scope.is_unread else scope.labels
    label = None
    if needed and scope.thread_id is None and scope.few is None:
        label = labels.rarest(tx, Owner(scope.organization_id, scope.inbox_id), needed)
    return scope._replace(first_id=first, walked_label=label), min(filter(None, (before, last)), default=None)


def sharpened(index: SearchIndex, scope: Scope, needle: Needle) -> Needle:
    """The same, asking the index for its rare trigrams alone: each common one costs a look at a long list for every
    message that the rare ones propose. search_index.IndexLost."""
    trigrams = needle.trigrams()
    if len(trigrams) < SHARPENED_MIN:
        return needle
    with index.reading() as proposals:
        span = proposals.span(scope.organization_id)
        if span is None:
            return needle
        shares = {one: proposals.share(one, span) for one in trigrams}
    enough = COMMON * min(shares.values())
    return needle._replace(rare=tuple(one for one, share in shares.items() if share <= enough))


def scan(tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int) -> Batch:
    """Look at so many of the scope's messages older than `at` (at first: `before`), newest first; of `walked_label`'s
    alone, where there is one."""
    walk = _walk(scope)
    since = f"AND {walk.at} >= :first_id" if scope.first_id is not None else ""
    source = f"""FROM {walk.source} {_JOIN_WORDS} WHERE {walk.condition} {since} AND {walk.at} < :last
        ORDER BY {walk.at} DESC LIMIT :rows"""
    parameters = {**scope.parameters(), "last": at or before or "~", "rows": rows}
    return _hits(tx, needle, walk.at, scope.conditions(), source, parameters)


def _walk(scope: Scope) -> labels.Walk:
    by = Owner(scope.organization_id, scope.inbox_id).by
    if scope.walked_label is not None:
        return labels.walk(by, scope.walked_label)
    index = by_index(f"{scope.few.indexes}_by_{by}") if scope.few is not None else ""
    return labels.Walk(f"messages m {index}", scope.walked(), "m.id")


def tail(tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int) -> Batch:
    """The same of those that are not indexed yet."""
    source = f"""FROM (SELECT message_id FROM search_tail
          WHERE organization_id = :organization_id AND message_id >= :first AND message_id < :last
          ORDER BY message_id DESC LIMIT :rows) t
        LEFT JOIN messages m ON m.id = t.message_id {_JOIN_WORDS} ORDER BY t.message_id DESC"""
    parameters = {
        **scope.parameters(),
        "first": scope.first_id or "",
        "last": at or before or "~",
        "rows": rows,
    }
    return _hits(tx, needle, "t.message_id", scope.conditions(), source, parameters)


def indexed(
    index: SearchIndex, tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int
) -> Batch:
    """The same of the index's candidates. search_index.IndexLost."""
    candidates = _candidates(index, scope, needle, before, at, rows)
    parameters = {**scope.parameters(), "candidates": candidates, "before": before or "~", "rows": rows}
    # The candidates first, bounded; the filters are for those.
    source = f"""FROM {elements(":candidates")} c LEFT JOIN messages m ON m.id = {item("c.value", 1)}
        {_JOIN_WORDS} ORDER BY c.key"""
    conditions = f"m.id < :before AND {scope.conditions()}"
    return _hits(tx, needle, item("c.value", 0), conditions, source, parameters)


def among(tx: Tx, scope: Scope, needle: Needle, message_ids: Sequence[str]) -> list[str]:
    """Those of these messages that are in the scope and hold the needle."""
    source = f"""FROM {elements(":candidates")} c LEFT JOIN messages m ON m.id = c.value {_JOIN_WORDS} ORDER BY c.key"""
    parameters = {**scope.parameters(), "candidates": dump(list(message_ids)), "rows": 0}
    return _hits(tx, needle, "m.id", scope.conditions(), source, parameters).message_ids


def _candidates(
    index: SearchIndex, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int
) -> str:
    """JSON: where each stands and its message. Nothing but the index is read in here."""
    first, last = scope.first_id or "", before or "~"
    with index.reading() as proposals:
        span = proposals.span(scope.organization_id)
        match = proposals.match(needle.trigrams(), scope.inbox_id)
        if span is None or match is None:
            return "[]"
        if not span.is_ordered:  # `at` is a number if it was until now: then from the beginning
            return proposals.by_age(match, span, first, at if isinstance(at, str) else last, rows)
        low = proposals.number_from(span, first)
        below = at if isinstance(at, int) else proposals.number_from(span, last) if before else span.end
        return proposals.by_number(match, low, below, rows)


def _hits(tx: Tx, needle: Needle, at: str, conditions: str, source: str, parameters: dict[str, Any]) -> Batch:
    """Those rows of `source` that fulfil the conditions and hold the needle; `at` is the column that says where a row
    stands."""
    given = {name: folded for name in _SEEN if (folded := getattr(needle, name)) is not None}
    candidate = f"CASE WHEN {conditions} THEN {_verdict(given)} END"
    row = tx.one(
        f"""SELECT {joined("candidate")}, min(stands), count(*)
            FROM (SELECT {at} AS stands, {candidate} AS candidate {source})""",
        {**parameters, **{name: containing(folded) for name, folded in given.items()}},
    )
    assert row is not None
    listed, last, count = row
    candidates = load(f"[{listed}]")
    missing = {message_id for message_id, is_seen in candidates if not is_seen}
    missing -= _holding(tx, needle, list(missing))
    found = [message_id for message_id, _ in candidates if message_id not in missing]
    return Batch(found, last if count == parameters["rows"] else None)


def _verdict(given: dict[str, str]) -> str:
    """[id, whether it is seen to hold the needle], or NULL where it is seen not to."""
    if any(_UNPLAIN.search(folded) or folded.casefold() != folded for folded in given.values()):
        return array("m.id", "0")  # ǰ is folded to two characters, and composed again
    odd = (
        " OR ".join(f"({_TOO_PLAIN[name]})" for name, folded in given.items() if not folded.isascii()) or "0"
    )
    seen = " AND ".join(_SEEN[name] for name in given) or "1"
    absent = " OR ".join(f"({_ABSENT[name]})" for name in given) or "0"
    return f"""CASE WHEN {odd} THEN NULL WHEN {seen} THEN {array("m.id", "1")}
        WHEN NOT ({absent}) THEN {array("m.id", "0")} END"""


def _holding(tx: Tx, needle: Needle, message_ids: Sequence[str]) -> set[str]:
    if not message_ids:
        return set()
    rows = tx.all(_HOLDING, (dump(message_ids),))
    return {message_id for message_id, *fields in rows if _holds(needle, *fields)}


def _holds(
    needle: Needle, sender: str, subject: str, name: str | None, body: str | None, *addresses: str
) -> bool:
    if needle.sender is not None and not holds(sender, needle.sender):
        return False
    if needle.words is None:
        return True
    fields = [body or "", subject, sender, name or ""]
    fields += [one for text in addresses if text != "[]" for one in load(text)]
    return any(holds(field, needle.words) for field in fields)


# Indexing ----------------------------------------------------------------------------------------


class Unsettled(NamedTuple):
    """What the index has yet to be told. `mark`: of the index that belongs to the store.

    `body_bytes`: of these messages without their attachments. `keys`: whose they are, and their ids; a walk has none,
    since it leaves the tail alone. `has_gone`: others were deleted. `has_more`: not all messages that wait are in it.
    """

    mark: str | None
    message_ids: list[str]
    body_bytes: int
    has_gone: bool
    keys: list[tuple[str, str]]
    has_more: bool = False
    walked: Walked | None = None

    @property
    def is_empty(self) -> bool:
        return not self.has_gone and not self.keys and self.walked is None


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


class Saying(NamedTuple):
    """What these messages say, as far as they are still there, and which are gone: of those, `has_more` than are in
    it."""

    texts: list[IndexedText]
    gone: list[Gone]
    has_more: bool


class Settlement(NamedTuple):
    """What the index has, durable under this mark. `gone`: the ids of what it has let go of; of those, `has_more`."""

    mark: str
    messages: int
    gone: list[str]
    has_more: bool


def mark_of(tx: Tx) -> str | None:
    """Names the index that belongs to this store."""
    found: str | None = tx.value("SELECT mark FROM search_mark")
    return found


def waiting(tx: Tx, limit: int, after: str = "", max_bytes: int = BATCH_BYTES) -> Unsettled:
    """Up to `limit` messages of the tail, first of the organizations behind `after`; and what was deleted."""
    sql = """SELECT organization_id, message_id, body_bytes FROM search_tail WHERE organization_id {} ?
        ORDER BY organization_id, message_id LIMIT ?"""
    rows = tx.all(sql.format(">"), (after, limit))
    if len(rows) < limit:
        rows += tx.all(sql.format("<="), (after, limit - len(rows)))
    count, size_bytes = _fitting((row[2] for row in rows), max_bytes)
    keys = [(row[0], row[1]) for row in rows[:count]]
    ids = [message_id for _, message_id in keys]
    has_more = count < len(rows) or len(rows) == limit
    return Unsettled(mark_of(tx), ids, size_bytes, _has_gone(tx), keys, has_more)


# What is held stands in indexes of its own.
_WALK = "SELECT * FROM ({} UNION ALL {}) ORDER BY id LIMIT :limit".format(
    *(
        f"""SELECT * FROM (SELECT m.id AS id, {_BODY_BYTES} FROM messages m
              WHERE m.organization_id = :organization AND m.id > :after AND m.{seen} ORDER BY m.id LIMIT :limit)"""
        for seen in (VISIBLE, HELD)
    )
)
_NEXT_ORGANIZATION = "SELECT min(next) FROM ({} UNION ALL {})".format(
    *(
        f"SELECT min(organization_id) AS next FROM messages WHERE organization_id > :organization AND {seen}"
        for seen in (VISIBLE, HELD)
    )
)


def walk(tx: Tx, since: Walked, limit: int, max_bytes: int = BATCH_BYTES) -> Unsettled:
    """Up to `limit` messages of all, whether in the tail or not, that come behind `since`; none: that was all."""
    organization_id: str | None = since.organization_id
    given = {"organization": since.organization_id, "after": since.message_id, "limit": limit}
    rows = tx.all(_WALK, given)
    if not rows:
        organization_id = tx.value(_NEXT_ORGANIZATION, given)
        rows = tx.all(_WALK, {**given, "organization": organization_id, "after": ""})
    count, size_bytes = _fitting((row[1] for row in rows), max_bytes)
    ids = [row[0] for row in rows[:count]]
    walked = Walked(organization_id, ids[-1]) if organization_id and ids else None
    return Unsettled(mark_of(tx), ids, size_bytes, _has_gone(tx), [], walked=walked)


def said(tx: Tx, some: Unsettled, max_bytes: int = BATCH_BYTES) -> Saying:
    """`tx` sees one state of the store: else what is deleted meanwhile might be taken out first, and then put in."""
    gone, has_more = _gone(tx, max_bytes)
    return Saying(_texts(tx, some.message_ids), gone, has_more)


def tell(index: SearchIndex, some: Unsettled, said: Saying) -> Settlement:
    """Put in what is said, and take out what is gone. search_index.IndexLost."""
    entries = entries_of(said.texts)
    mark = index.change(some.mark, entries, said.gone, some.walked)
    return Settlement(mark, len(entries), [one.message_id for one in said.gone], said.has_more)


def settle(tx: Tx, done: Unsettled, told: Settlement) -> None:
    """The index has it."""
    if done.keys:
        tx.run(
            f"DELETE FROM search_tail WHERE (organization_id, message_id) IN {each_row_of('?', 2)}",
            (dump(done.keys),),
        )
    if told.gone:
        tx.run(f"DELETE FROM search_gone WHERE message_id IN {each_of('?')}", (dump(told.gone),))
    name(tx, told.mark)


def name(tx: Tx, mark: str) -> None:
    """The index of this mark belongs to the store from now on."""
    if not tx.run("UPDATE search_mark SET mark = ?", (mark,)):
        tx.run("INSERT INTO search_mark (mark) VALUES (?)", (mark,))


def _fitting(sizes: Iterable[int], total: int) -> tuple[int, int]:
    """How many of them make up no more than that, the first in any case, and how much these are."""
    count, sum_bytes = 0, 0
    for size in sizes:
        if count and sum_bytes + size > total:
            break
        count, sum_bytes = count + 1, sum_bytes + size
    return count, sum_bytes


def _has_gone(tx: Tx) -> bool:
    return bool(tx.value("SELECT EXISTS (SELECT 1 FROM search_gone)"))


def _gone(tx: Tx, max_bytes: int) -> tuple[list[Gone], bool]:
    """Some of what was deleted, and whether there is more."""
    sizes = "SELECT message_id, length(words) FROM search_gone ORDER BY message_id LIMIT ?"
    rows = tx.all(sizes, (GONE_AT_ONCE + 1,))
    count, _ = _fitting((size for _, size in rows[:GONE_AT_ONCE]), max_bytes)
    ids = dump([message_id for message_id, _ in rows[:count]])
    gone = f"SELECT message_id, inbox_id, words FROM search_gone WHERE message_id IN {each_of('?')}"
    return [Gone(*row) for row in tx.all(gone, (ids,))], count < len(rows)


# No JSON, which takes SQLite ten times as long to write as the rows take, and us three times as long to read.
_TEXTS = f"""SELECT m.organization_id, m.id, m.inbox_id, m.subject, m.from_address, m.from_name, {_BODY}, {_ADDRESSES}
    FROM (SELECT value AS wanted FROM {elements(":ids")}) JOIN messages m ON m.id = wanted {_JOIN_WORDS}"""


def _texts(tx: Tx, message_ids: Sequence[str]) -> list[IndexedText]:
    """What the index is to know of these messages."""
    return [IndexedText(*row) for row in tx.all(_TEXTS, {"ids": dump(message_ids)})] if message_ids else []


def entries_of(texts: Iterable[IndexedText]) -> list[Entry]:
    return [Entry(one.organization_id, one.message_id, one.inbox_id, _folded(one)) for one in texts]


def _folded(one: IndexedText) -> str:
    everyone = [address for text in (one.to, one.cc, one.bcc) for address in load(text)]
    words = "\n".join([one.subject, one.sender, one.name or "", *everyone, one.body]).replace("\0", " ")
    return "\n".join(forms(words))
