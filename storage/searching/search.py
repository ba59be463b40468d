"""Search over words: what is said where, found by any part of it, case folded (`storage.searching.folding`).

The answer is exact whatever the index says: the index of trigrams only proposes messages, and each is confirmed by
looking for the folded needle in its folded fields (`storage.searching.needle`).

The index is a file of its own (`storage.searching.search_index`), written behind the commits; what it was not told yet
waits in the tail (`storage.searching.search_tail`). A search reads the tail message by message (`tail`), and then the
index (`indexed`): so it misses nothing that is committed, and what is in both it finds once. Where no index helps it
reads the messages themselves (`scan`). Each of the three looks at a bounded number of messages and says where to go on;
whoever calls (`controlplane.mail.searching`) puts the slices together. What was deleted is found no more, whatever the
index still has of it, for each hit is a row of `messages`; what is held is no hit before it is released.

An organization's messages lie side by side in the index, in the order of their age (`storage.searching.index_schema`):
a search reads the lists of its own organization alone, from the newest on, however much mail the others have. Should
the clock have been set back, ages and numbers disagree; then it looks at all its candidates before it sorts them.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from storage import id_spans
from storage.engine.dialect import by_index, elements, item, joined
from storage.engine.tx import Tx
from storage.records import dump, load
from storage.searching import labels
from storage.searching.labels import Owner
from storage.searching.message_words import JOIN_WORDS
from storage.searching.needle import Needle, holding
from storage.searching.search_index import SearchIndex
from storage.searching.search_scope import Scope

At = str | int  # where a message stands: its id; in an index that is ordered, its document

SHARPENED_MIN = 4  # trigrams; fewer are asked for as they are
FEW = 100  # messages of a label: as many of a thread cost as much
COMMON = 10  # times the share of the rarest


class Batch(NamedTuple):
    """Messages that hold the needle, and where to go on: None when there are no more."""

    message_ids: list[str]
    next: At | None


def bounded(tx: Tx, scope: Scope, before: str | None) -> tuple[Scope, str | None]:
    """The same messages, of which ids say where a window of time begins and ends, and a label where they are found."""
    first, last = id_spans.between(tx, scope.organization_id, scope.since_ms, scope.until_ms)
    label = _walked_label(tx, scope)
    return scope._replace(first_id=first, walked_label=label), min(filter(None, (before, last)), default=None)


def _walked_label(tx: Tx, scope: Scope) -> str | None:
    """The rarest that is asked for. Of a thread, where fewer messages have it than the thread may have."""
    needed = (*scope.labels, labels.UNREAD) if scope.is_unread else scope.labels
    if not needed or scope.few is not None:
        return None
    owner = Owner(scope.organization_id, scope.inbox_id)
    label = labels.rarest(tx, owner, needed)
    if scope.thread_id is not None and labels.count(tx, owner, label, FEW) == FEW:
        return None
    return label


def walks_fewer(index: SearchIndex, tx: Tx, scope: Scope, needle: Needle) -> bool:
    """Do fewer messages have the label that is walked, or are what few are, than hold the needle?

    index_file.IndexLost."""
    if scope.walked_label is None and scope.few is None:
        return False
    most = min(_count_holders(index, scope, needle), labels.COUNTED_MAX)
    return _count_walked(tx, scope, most) < most


def _count_holders(index: SearchIndex, scope: Scope, needle: Needle) -> int:
    """About how many messages of the organization the index proposes."""
    with index.reading() as proposals:
        span = proposals.span(scope.organization_id)
        if span is None:
            return 0
        return int((span.end - span.low) * min(proposals.share(one, span) for one in needle.trigrams()))


def _count_walked(tx: Tx, scope: Scope, most: int) -> int:
    """How many messages are walked; `most` where there are so many or more."""
    if scope.walked_label is not None:
        return labels.count(tx, Owner(scope.organization_id, scope.inbox_id), scope.walked_label, most)
    walk = _walk(scope)
    counted: int = tx.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {walk.source} WHERE {walk.condition} LIMIT :most)",
        {**scope.parameters(), "most": most},
    )
    return counted


def sharpened(index: SearchIndex, scope: Scope, needle: Needle) -> Needle:
    """The same, asking the index for its rare trigrams alone: each common one costs a look at a long list for every
    message that the rare ones propose. index_file.IndexLost."""
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
    """The same of the index's candidates. index_file.IndexLost."""
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
