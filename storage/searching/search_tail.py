"""What the search index has yet to be told: what is new, what was deleted, and everything where it is made anew.

What is durable when: `note` runs in the transaction that inserts the message and puts it in the tail, `forget` in the
one that deletes it, which leaves its words in `search_gone`. The indexer (`storage.searching.indexer`) asks what waits
(`waiting`, or `walk` of all messages), finds what these say (`said`), and tells the index (`tell`), which is durable
then. Only after that it takes them from the tail (`settle`), in the unit that names the index's new mark. Whoever is
killed in between tells the index again, which does no harm (`storage.searching.index_batches`).

What is held is indexed like all others, so that it has its number when it comes.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storage.engine.dialect import each_of, each_row_of
from storage.engine.tx import Tx
from storage.records import dump
from storage.searching.index_batches import BEHIND, Gone
from storage.searching.message_words import IndexedText, entries_of, texts
from storage.searching.search_index import SearchIndex, Walked
from storage.visibility import HELD, VISIBLE

BATCH_BYTES = 4 * 1024 * 1024  # of messages without their attachments, and one message at least
GONE_AT_ONCE = 500

# Of the raw message without its attachments: about as many as its words have at most. In a row of `messages` the size
# stands behind the text, all of which SQLite passes over to get there; what waits has it in the tail (`body_bytes`).
_BODY_BYTES = """m.size_bytes -
    (SELECT coalesce(sum(a.slice_length), 0) FROM attachments a WHERE a.message_id = m.id)"""

_FORGET_ID = """INSERT INTO search_gone (message_id, inbox_id, words) VALUES (?, ?, '')
    ON CONFLICT (message_id) DO NOTHING"""


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


def forget_inboxes(tx: Tx, inbox_ids: Sequence[str]) -> None:
    """These inboxes were deleted, their messages before them: the index is to let go of their ids too."""
    tx.run_many(_FORGET_ID, [(BEHIND + inbox_id, inbox_id) for inbox_id in inbox_ids])


def forget_organization(tx: Tx, organization_id: str) -> None:
    """The organization was deleted, all that it had before it; `is_gone`: has the index let go of all of it?"""
    tx.run(_FORGET_ID, (BEHIND + organization_id, ""))


def is_gone(tx: Tx, organization_id: str) -> bool:
    """Has the index let go of a deleted organization?"""
    return tx.one("SELECT 1 FROM search_gone WHERE message_id = ?", (BEHIND + organization_id,)) is None


def mark_of(tx: Tx) -> str | None:
    """Names the index that belongs to this store."""
    found: str | None = tx.value("SELECT mark FROM search_mark")
    return found


def length(tx: Tx) -> int:
    """How many messages the index has yet to be told of."""
    messages: int = tx.value("SELECT count(*) FROM search_tail")
    return messages


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
    """Put in what is said, and take out what is gone. index_file.IndexLost."""
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
