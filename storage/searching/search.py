"""Search over words: what is said where, found by any part of it, case folded (`storage.searching.folding`).

The answer is exact whatever the index says: the index of trigrams only proposes messages, and each is confirmed by
looking for the folded needle in its folded fields (`storage.searching.needle`).

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

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from storage import id_spans
from storage.engine.dialect import (
    by_index,
    each_of,
    each_row_of,
    elements,
    item,
    joined,
)
from storage.engine.tx import Tx
from storage.records import dump, load
from storage.searching import labels
from storage.searching.index_batches import Gone
from storage.searching.labels import Owner
from storage.searching.message_words import JOIN_WORDS, IndexedText, entries_of, texts
from storage.searching.needle import Needle, holding
from storage.searching.search_index import SearchIndex, Walked
from storage.searching.search_scope import Scope
from storage.visibility import HELD, VISIBLE

At = str | int  # where a message stands: its id; in an index that is ordered, its document

SHARPENED_MIN = 4  # trigrams; fewer are asked for as they are
COMMON = 10  # times the share of the rarest
BATCH_BYTES = 4 * 1024 * 1024  # of messages without their attachments, and one message at least
GONE_AT_ONCE = 500

# Of the raw message without its attachments: about as many as its words have at most. In a row of `messages` the size
# stands behind the text, all of which SQLite passes over to get there; what waits has it in the tail (`body_bytes`).
_BODY_BYTES = """m.size_bytes -
    (SELECT coalesce(sum(a.slice_length), 0) FROM attachments a WHERE a.message_id = m.id)"""


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
    for one in entries_of(texts(tx, [message_id])):
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
    source = f"""FROM {walk.source} {JOIN_WORDS} WHERE {walk.condition} {since} AND {walk.at} < :last
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
        LEFT JOIN messages m ON m.id = t.message_id {JOIN_WORDS} ORDER BY t.message_id DESC"""
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
        {JOIN_WORDS} ORDER BY c.key"""
    conditions = f"m.id < :before AND {scope.conditions()}"
    return _hits(tx, needle, item("c.value", 0), conditions, source, parameters)


def among(tx: Tx, scope: Scope, needle: Needle, message_ids: Sequence[str]) -> list[str]:
    """Those of these messages that are in the scope and hold the needle."""
    source = f"""FROM {elements(":candidates")} c LEFT JOIN messages m ON m.id = c.value {JOIN_WORDS} ORDER BY c.key"""
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
    candidate = f"CASE WHEN {conditions} THEN {needle.verdict()} END"
    row = tx.one(
        f"""SELECT {joined("candidate")}, min(stands), count(*)
            FROM (SELECT {at} AS stands, {candidate} AS candidate {source})""",
        {**parameters, **needle.parameters()},
    )
    assert row is not None
    listed, last, count = row
    candidates = load(f"[{listed}]")
    missing = {message_id for message_id, is_seen in candidates if not is_seen}
    missing -= holding(tx, needle, list(missing))
    found = [message_id for message_id, _ in candidates if message_id not in missing]
    return Batch(found, last if count == parameters["rows"] else None)


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
    return Saying(texts(tx, some.message_ids), gone, has_more)


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
