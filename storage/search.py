"""Search over words: what is said where, found by any part of it, case folded.

The answer is exact whatever the index says: the index of trigrams only proposes messages, and each is
confirmed by looking for the folded needle in its folded fields. The store, which folds ASCII alone, sees most
that hold it (`_SEEN`), and of most that don't, being ASCII, that they don't (`_ABSENT`); it is never wrong in either.
The rest is folded and looked at by us (`_holds`). So a character of a trigram that another Unicode version folds
otherwise costs a search, never a wrong answer.

What is durable when: `note` runs in the transaction that inserts the message and puts it in the tail;
`index` moves messages from the tail into the index, in batches behind their commit
(`storage.indexer`), because making trigrams of a 4 KiB message costs as much as accepting it. A search
reads the tail message by message, so it misses nothing that is committed. `forget` runs in the
transaction that deletes the message.

Where a message stands in the index: its number there (`document`) is the organization's number × 2^36 +
a count, so an organization's messages lie side by side, in the order of their age, and a search reads
the lists of its own organization alone, from the newest on, however much mail the others have. The inbox
is a trigram of its own, made of private-use characters. Should the clock have been set back, ages and
numbers disagree; then `is_ordered` is 0 and a search looks at all its candidates before it sorts them.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from storage import id_spans, search_index
from storage.database import Tx
from storage.dialect import array, containing, contains, each_of, greatest, is_ascii, joined, unindexed
from storage.records import dump, load

At = str | int  # where a message stands: its id; in an index that is ordered, its document

TRIGRAM = 3
TRIGRAMS_MAX = 24  # of a long needle, evenly spread: the rest is for the confirmation
SHARPENED_MIN = 4  # trigrams; fewer are asked for as they are
COMMON = 10  # times the share of the rarest
DOCUMENTS_BITS = 36
BATCH_CHARS = 256 * 1024
_PRIVATE = 0xF0000  # plane 15: nobody's letters
_DIGITS = 0x8000

_BODY = "coalesce(w.words, m.text_body, m.extracted_text, '')"
_ADDRESSES = "m.to_addresses, m.cc_addresses, m.bcc_addresses"
_JOIN_WORDS = "LEFT JOIN search_words w ON w.message_id = m.id"
_UNPLAIN = re.compile(r'[\x00-\x1f\x7f"\\]')  # stands otherwise in the JSON of addresses, or is a NUL
_FIELDS = (_BODY, "m.subject", "m.from_address", "coalesce(m.from_name, '')")
_ANYWHERE = (*_FIELDS, *_ADDRESSES.split(", "))


def _any_contains(texts: Iterable[str], part: str) -> str:
    return "(" + " OR ".join(contains(text, part) for text in texts) + ")"


# Sound, not complete: folding goes character by character, and folds what is folded no further.
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
_SPAN = "SELECT number, documents, is_ordered FROM search_organizations WHERE organization_id = ?"
_NUMBER = f"""INSERT INTO search_organizations (organization_id, documents, newest_id, is_ordered)
    VALUES (:organization, 1, :message, 1) ON CONFLICT (organization_id) DO UPDATE SET
      documents = documents + 1, newest_id = {greatest("newest_id", ":message")},
      is_ordered = is_ordered AND newest_id < :message
    RETURNING (number << :bits) + documents"""


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
        return cls(words.casefold() if words else None, sender.casefold() if sender else None)

    def trigrams(self) -> list[str]:
        """Some of those that a message must have; none when the needle is too short."""
        if self.rare is not None:
            return list(self.rare)
        found: list[str] = []
        for part in (self.words, self.sender):
            if part is not None:
                own = list(dict.fromkeys(part[at : at + TRIGRAM] for at in range(len(part) - TRIGRAM + 1)))
                step = -(-len(own) // TRIGRAMS_MAX) or 1
                found += own[::step]
        return [one for one in dict.fromkeys(found) if "\0" not in one]


IN_EVERYTHING = Needle(None, None)


class Scope(NamedTuple):
    """Whose messages, and which of them; None: no matter. `first_id` is what `bounded` makes of `since_ms`."""

    organization_id: str
    inbox_id: str | None = None
    thread_id: str | None = None
    direction: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    first_id: str | None = None

    @property
    def is_filtered(self) -> bool:
        """Whether some of the messages that are walked over may be left out."""
        return (self.direction, self.since_ms, self.until_ms) != (None,) * 3 or bool(
            self.inbox_id and self.thread_id
        )

    def walked(self) -> str:
        """By which index its messages are walked over: nobody walks over the whole organization's mail for one quiet
        inbox."""
        by = "thread" if self.thread_id else "inbox" if self.inbox_id else "organization"
        return f"m.{by}_id = :{by}_id" + (" AND m.id >= :first_id" if self.first_id is not None else "")

    def conditions(self) -> str:
        """All of them; none but `walked` chooses an index."""
        optional = (
            ("direction = :direction", self.direction),
            ("inbox_id = :inbox_id", self.inbox_id),
            ("thread_id = :thread_id", self.thread_id),
            ("created_at >= :since_ms", self.since_ms),
            ("created_at < :until_ms", self.until_ms),
        )
        held = [unindexed(f"m.{condition}") for condition, value in optional if value is not None]
        # The direction stands in the indexes: who is left out by it is left out before its row is read.
        return " AND ".join([self.walked(), *held, unindexed("m.organization_id = :organization_id")])


class Batch(NamedTuple):
    """Messages that hold the needle, and where to go on: None when there are no more."""

    message_ids: list[str]
    next: At | None


def note(tx: Tx, organization_id: str, message_id: str, words: str | None = None) -> None:
    """A message was inserted. `words`: what its body says, where its row does not say it in full."""
    tx.run(
        "INSERT INTO search_tail (organization_id, message_id) VALUES (?, ?)", (organization_id, message_id)
    )
    if words is not None:
        tx.run("INSERT INTO search_words (message_id, words) VALUES (?, ?)", (message_id, words))


def forget(tx: Tx, organization_id: str, message_id: str) -> None:
    """The message is about to be deleted: take its words out."""
    key = (organization_id, message_id)
    if not tx.run("DELETE FROM search_tail WHERE organization_id = ? AND message_id = ?", key):
        document = tx.value(
            "DELETE FROM search_documents WHERE message_id = ? RETURNING document", (message_id,)
        )
        if document is not None:
            search_index.take_out(tx, document, _document(tx, message_id))
    tx.run("DELETE FROM search_words WHERE message_id = ?", (message_id,))


# Reading -----------------------------------------------------------------------------------------


def bounded(tx: Tx, scope: Scope, before: str | None) -> tuple[Scope, str | None]:
    """The same messages, of which ids say where a window of time begins and ends."""
    first, last = id_spans.between(tx, scope.organization_id, scope.since_ms, scope.until_ms)
    return scope._replace(first_id=first), min(filter(None, (before, last)), default=None)


def sharpened(tx: Tx, scope: Scope, needle: Needle) -> Needle:
    """The same, asking the index for its rare trigrams alone: each common one costs a look at a long list for every
    message that the rare ones propose."""
    trigrams = needle.trigrams()
    span = tx.one(_SPAN, (scope.organization_id,))
    if len(trigrams) < SHARPENED_MIN or span is None:
        return needle
    number, documents, _ = span
    low = number << DOCUMENTS_BITS
    shares = {one: search_index.share(tx, one, low, low + documents + 1) for one in trigrams}
    enough = COMMON * min(shares.values())
    return needle._replace(rare=tuple(one for one, share in shares.items() if share <= enough))


def scan(tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int) -> Batch:
    """Look at so many of the scope's messages older than `at` (at first: `before`), newest first."""
    source = f"""FROM messages m {_JOIN_WORDS} WHERE {scope.walked()} AND m.id < :last
        ORDER BY m.id DESC LIMIT :rows"""
    parameters = {**scope._asdict(), "last": at or before or "~", "rows": rows}
    return _hits(tx, needle, "m.id", scope.conditions(), source, parameters)


def tail(tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int) -> Batch:
    """The same of those that are not indexed yet."""
    source = f"""FROM (SELECT message_id FROM search_tail
          WHERE organization_id = :organization_id AND message_id >= :first AND message_id < :last
          ORDER BY message_id DESC LIMIT :rows) t
        LEFT JOIN messages m ON m.id = t.message_id {_JOIN_WORDS} ORDER BY t.message_id DESC"""
    parameters = {**scope._asdict(), "first": scope.first_id or "", "last": at or before or "~", "rows": rows}
    return _hits(tx, needle, "t.message_id", scope.conditions(), source, parameters)


def indexed(tx: Tx, scope: Scope, needle: Needle, before: str | None, at: At | None, rows: int) -> Batch:
    """The same of the index's candidates."""
    span = tx.one(_SPAN, (scope.organization_id,))
    match = _match(tx, scope, needle)
    if span is None or match is None:
        return Batch([], None)
    number, documents, is_ordered = span
    low = number << DOCUMENTS_BITS
    parameters = {
        **scope._asdict(),
        "match": match,
        "low": low,
        "below": low + documents + 1,
        "first": scope.first_id or "",
        "before": before or "~",
        "rows": rows,
    }
    if is_ordered:
        parameters["low"] = _from(tx, low, low + documents + 1, scope.first_id)
        parameters["below"] = _from(tx, low, low + documents + 1, before or "~") if at is None else at
        candidates, stands = search_index.BY_NUMBER, "c.document"
    else:  # `at` is a document if the index was ordered until now: then from the beginning
        parameters["last"] = at if isinstance(at, str) else before or "~"
        candidates, stands = search_index.BY_AGE, "c.message_id"
    # The candidates first, bounded; the filters are for those.
    source = f"""FROM ({candidates}) c LEFT JOIN messages m ON m.id = c.message_id
        {_JOIN_WORDS} ORDER BY {stands} DESC"""
    return _hits(tx, needle, stands, f"m.id < :before AND {scope.conditions()}", source, parameters)


def _from(tx: Tx, low: int, end: int, message_id: str | None) -> int:
    """The number from which on messages are as new as this id, where numbers go by age; `end` when none is."""
    while message_id and low < end:
        middle = (low + end) // 2
        row = tx.one(
            """SELECT document, message_id FROM search_documents WHERE document >= ? AND document < ?
               ORDER BY document LIMIT 1""",
            (middle, end),
        )
        if row is None or row[1] >= message_id:
            end = middle
        else:
            low = row[0] + 1
    return low


def _match(tx: Tx, scope: Scope, needle: Needle) -> str | None:
    """What the index is asked; None when the inbox has nothing indexed."""
    trigrams = needle.trigrams()
    if scope.inbox_id is not None:
        number = tx.value("SELECT number FROM search_inboxes WHERE inbox_id = ?", (scope.inbox_id,))
        if number is None:
            return None
        trigrams.append(_inbox_trigram(number))
    return search_index.all_of(trigrams)


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
    if any(_UNPLAIN.search(folded) for folded in given.values()):
        return array("m.id", "0")
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
    if needle.sender is not None and needle.sender not in sender.casefold():
        return False
    if needle.words is None:
        return True
    fields = [body or "", subject, sender, name or ""]
    fields += [one for text in addresses if text != "[]" for one in load(text)]
    return any(needle.words in field.casefold() for field in fields)


# Indexing ----------------------------------------------------------------------------------------


class Indexed(NamedTuple):
    moved: int
    last_organization: str  # where the next batch goes on, so that each organization has its turn


def index(tx: Tx, limit: int, after: str = "", max_chars: int = BATCH_CHARS) -> Indexed:
    """Move up to `limit` messages of the organizations after `after` from the tail into the index."""
    rows = tx.all(
        """SELECT organization_id, message_id FROM search_tail WHERE organization_id > ?
           ORDER BY organization_id, message_id LIMIT ?""",
        (after, limit),
    )
    if not rows and after:
        return index(tx, limit, max_chars=max_chars)
    count, chars = 0, 0
    for organization_id, message_id in rows:
        chars += _index_one(tx, organization_id, message_id)
        count += 1
        if chars > max_chars:
            break
    return Indexed(count, rows[count - 1][0] if rows else "")


def _index_one(tx: Tx, organization_id: str, message_id: str) -> int:
    words = ""
    inbox_id = tx.value("SELECT inbox_id FROM messages WHERE id = ?", (message_id,))
    if inbox_id is not None:
        tx.run("INSERT INTO search_inboxes (inbox_id) VALUES (?) ON CONFLICT DO NOTHING", (inbox_id,))
        words = _document(tx, message_id)
        row = tx.one(
            _NUMBER, {"organization": organization_id, "message": message_id, "bits": DOCUMENTS_BITS}
        )
        assert row is not None
        document = row[0]
        tx.run("INSERT INTO search_documents (document, message_id) VALUES (?, ?)", (document, message_id))
        search_index.put(tx, document, words)
    tx.run(
        "DELETE FROM search_tail WHERE organization_id = ? AND message_id = ?", (organization_id, message_id)
    )
    return len(words)


def _document(tx: Tx, message_id: str) -> str:
    """What the index knows of a message; the same when it is taken out again."""
    row = tx.one(
        f"""SELECT i.number, {_BODY}, m.subject, m.from_name, m.from_address, {_ADDRESSES} FROM messages m {_JOIN_WORDS}
            JOIN search_inboxes i ON i.inbox_id = m.inbox_id WHERE m.id = ?""",
        (message_id,),
    )
    assert row is not None
    number, body, subject, name, sender, *addresses = row
    everyone = [one for text in addresses for one in load(text)]
    fields = [subject, sender, name or "", *everyone, body or ""]
    folded = "\n".join(fields).casefold().replace("\0", " ")
    return f"{_inbox_trigram(number)}\n{folded}"


def _inbox_trigram(number: int) -> str:
    high, low = divmod(number, _DIGITS)
    higher, high = divmod(high, _DIGITS)
    return "".join(chr(_PRIVATE + digit) for digit in (higher, high, low))
