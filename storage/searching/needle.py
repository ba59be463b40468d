"""What is looked for, and whether a message holds it: exactly, whatever the index says.

The store, which folds ASCII alone, sees most messages that hold it (`_SEEN`), and of most that don't, being ASCII, that
they don't (`_ABSENT`); it is never wrong in either (`Needle.verdict`). The rest is folded and looked at by us
(`holding`). So a character of a trigram that another Unicode version folds otherwise costs a search, never a wrong
answer.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from storage.engine.dialect import array, containing, contains, each_of, is_ascii
from storage.engine.tx import Tx
from storage.records import dump, load
from storage.searching.folding import fold, fold_words, holds, holds_words
from storage.searching.message_words import ADDRESSES, BODY, JOIN_WORDS
from storage.searching.trigram_terms import trigrams_of

TRIGRAMS_MAX = 24  # of a long needle, evenly spread: the rest is for the confirmation

_UNPLAIN = re.compile(r'[\x00-\x1f\x7f"\\]')  # stands otherwise in the JSON of addresses, or is a NUL
_FIELDS = (BODY, "m.subject", "m.from_address", "coalesce(m.from_name, '')")
_ANYWHERE = (*_FIELDS, *ADDRESSES.split(", "))


def _any_contains(texts: Iterable[str], part: str) -> str:
    return "(" + " OR ".join(contains(text, part) for text in texts) + ")"


# Sound, not complete: folding goes character by character, and folds what is folded no further (`verdict`: or else).
_SEEN = {"words": _any_contains(_FIELDS, ":words"), "sender": contains("m.from_address", ":sender")}
# Surely not, of those that are not seen. Addresses may hold it in what is JSON: then they are looked at.
_ABSENT = {
    "words": " AND ".join(
        [*map(is_ascii, _ANYWHERE), f"NOT {_any_contains(ADDRESSES.split(', '), ':words')}"]
    ),
    "sender": f"{is_ascii('m.from_address')} AND NOT {_SEEN['sender']}",
}
# Nor its words with one character between them, which may be any blank. In JSON that is escaped: whatever is between.
_ABSENT["phrase"] = (
    f"{_ABSENT['words']} AND NOT {_any_contains(_FIELDS, ':words_next')}"
    f" AND NOT {_any_contains(ADDRESSES.split(', '), ':words_apart')}"
)
# Before it is looked for: what is no ASCII is not in what is.
_TOO_PLAIN = {"words": " AND ".join(map(is_ascii, _ANYWHERE)), "sender": is_ascii("m.from_address")}
_HOLDING = f"""SELECT m.id, m.from_address, m.subject, m.from_name, {BODY}, {ADDRESSES}
    FROM messages m {JOIN_WORDS} WHERE m.id IN {each_of("?")}"""


class Needle(NamedTuple):
    """What is looked for, folded: `words` in any field, `sender` in the sender's address. `rare`: the trigrams that are
    enough to ask the index for (`sharpened`)."""

    words: str | None
    sender: str | None
    rare: tuple[str, ...] | None = None

    @classmethod
    def of(cls, words: str | None, sender: str | None) -> "Needle | None":
        """None when nothing is looked for (an empty needle is in everything, and so is one that no reader sees)."""
        seen = fold_words(words) if words else ""
        return cls(seen or None, fold(sender) if sender else None) if seen or sender else None

    def trigrams(self) -> list[str]:
        """Some of those that a message must have; none when the needle is too short."""
        if self.rare is not None:
            return list(self.rare)
        found: list[str] = []
        for part in (self.words, self.sender and fold_words(self.sender)):  # as `forms` tells the index
            if part is not None:
                own = trigrams_of(part)
                step = -(-len(own) // TRIGRAMS_MAX) or 1
                found += own[::step]
        return list(dict.fromkeys(found))

    def verdict(self) -> str:
        """SQL: [id, whether it is seen to hold the needle], or NULL where it is seen not to."""
        given = self._given()
        if any(_UNPLAIN.search(folded) or folded.casefold() != folded for folded in given.values()):
            return array("m.id", "0")  # ǰ is folded to two characters, and composed again
        odd = (
            " OR ".join(f"({_TOO_PLAIN[name]})" for name, folded in given.items() if not folded.isascii())
            or "0"
        )
        seen = " AND ".join(_SEEN[name] for name in given) or "1"
        absent = " OR ".join(f"({self._absent(name)})" for name in given) or "0"
        return f"""CASE WHEN {odd} THEN NULL WHEN {seen} THEN {array("m.id", "1")}
            WHEN NOT ({absent}) THEN {array("m.id", "0")} END"""

    def _absent(self, name: str) -> str:
        return _ABSENT["phrase" if name == "words" and self._is_phrase else name]

    @property
    def _is_phrase(self) -> bool:
        return self.words is not None and " " in self.words

    def parameters(self) -> dict[str, str]:
        """By name, for `verdict`."""
        patterns = {name: containing(folded) for name, folded in self._given().items()}
        if self._is_phrase:
            patterns["words_next"] = patterns["words"].replace(" ", "_")
            patterns["words_apart"] = patterns["words"].replace(" ", "%")
        return patterns

    def _given(self) -> dict[str, str]:
        given = (("words", self.words), ("sender", self.sender))
        return {name: folded for name, folded in given if folded is not None}


IN_EVERYTHING = Needle(None, None)


def holding(tx: Tx, needle: Needle, message_ids: Sequence[str]) -> set[str]:
    """Those of these messages that hold it."""
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
    return any(holds_words(field, needle.words) for field in fields)
