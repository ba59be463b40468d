"""The table of phrases as it is looked up: which phrases a word moves on, and from where.

Every slot of every phrase is a state, a number; the states of a phrase follow each other. Sets of states are the bits
of one integer, so that one operation asks for all phrases of a word at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import Final, NamedTuple

from maild.message.evidence import phrases
from maild.message.evidence.confusables import LOOKS_LIKE
from maild.message.evidence.projection import Folding

DIRECTIVE: Final = "directive"
SECRET: Final = "secret_request"  # noqa: S105 (the name of a kind)
SENDING: Final = "sending"

SIGNS: Final = "@$!|"  # stand for letters inside a word
_GAP = 32  # characters between a word and the next one's, where the phrase does not say
_SCRIPT_GAP = 10  # where words are not set apart
_SLOT = re.compile(r"\s*\|(\d*)\s*")
_LEET_MARKS = f"013457{SIGNS}"
_LEET = str.maketrans(_LEET_MARKS, "oieastasil")
_LEET_L = str.maketrans("1", "l")
# Words that another reading may change look like ASCII, or have what stands for a letter, or what looks like that.
_LOOKS_ASCII = re.compile(f"[\x00-\x7f{''.join(map(chr, LOOKS_LIKE))}]*")
_LOOKS_LEET = re.compile(
    f"[{_LEET_MARKS}{''.join(chr(code) for code, looks in LOOKS_LIKE.items() if set(looks) & set(_LEET_MARKS))}]"
)
_HEAD = 3  # letters by which beginnings of words are found
_SHORT_HEAD = 2


class Phrase(NamedTuple):
    """`group`: DIRECTIVE, SECRET or SENDING. `states`: all of its bits."""

    group: str
    id: str
    states: int


class Slot(NamedTuple):
    """What a state asks for. `gap`: characters that may lie between the word of the slot before and this one's.
    `is_second`: the slot before is the first."""

    phrase: Phrase
    gap: int
    is_second: bool
    is_last: bool


class Moves(NamedTuple):
    """What a word does. `alone`: phrases that it is the whole of. `opens`: the second states of those that it begins;
    `later`: the states, but for first ones, that it reaches from the one before."""

    alone: tuple[Phrase, ...]
    opens: int
    later: int

    def within(self, states: int) -> Moves:
        """Of the phrases alone that have these states."""
        return Moves(self.alone, self.opens & states, self.later & states)


Table = Mapping[str, Moves]


class Lexicon(NamedTuple):
    """`words`: whole ones. `heads`: beginnings of words by their first letters. `unspaced`: of languages without
    blanks, found anywhere. `negations`: words that turn a request into a warning."""

    phrases: tuple[Phrase, ...]
    slots: tuple[Slot, ...]
    words: Table
    heads: Mapping[str, tuple[tuple[str, Moves], ...]]
    unspaced: Table
    negations: frozenset[str]
    unspaced_negations: tuple[str, ...]
    longest_gap: int


def _load() -> Lexicon:
    fold = Folding().fold
    found: list[Phrase] = []
    slots: list[Slot] = []
    words, stems, unspaced = (dict[str, list[Moves]]() for _ in range(3))
    for group, language, id, notation in phrases.rows():
        pieces = _SLOT.split(notation.strip())
        is_unspaced = language in phrases.UNSPACED
        usual = _SCRIPT_GAP if is_unspaced else _GAP
        gaps = (0, *(int(gap) if gap else usual for gap in pieces[1::2]))
        first = len(slots)
        phrase = Phrase(group, id, ((1 << len(gaps)) - 1) << first)
        for slot, choice in enumerate(pieces[::2]):
            moves = _moves(phrase, slot, first + slot, len(gaps))
            for word in choice.split():
                table = unspaced if is_unspaced else stems if word.endswith("*") else words
                table.setdefault(fold(word.removesuffix("*")), []).append(moves)
            slots.append(Slot(phrase, gaps[slot], slot == 1, slot + 1 == len(gaps)))
        found.append(phrase)
    return Lexicon(
        tuple(found),
        tuple(slots),
        _joined(words),
        _by_head(_joined(stems)),
        _joined(unspaced),
        frozenset(fold(one) for one in phrases.NEGATIONS),
        tuple(fold(one) for one in phrases.UNSPACED_NEGATIONS),
        max(one.gap for one in slots),
    )


def _moves(phrase: Phrase, slot: int, state: int, slots: int) -> Moves:
    if slots == 1:
        return Moves((phrase,), 0, 0)
    return Moves((), 2 << state, 0) if slot == 0 else Moves((), 0, 1 << state)


def _joined(table: Mapping[str, Iterable[Moves]]) -> dict[str, Moves]:
    return {word: reduce(_both, moves) for word, moves in table.items()}


def _both(one: Moves, other: Moves) -> Moves:
    alone = one.alone + tuple(phrase for phrase in other.alone if phrase not in one.alone)
    return Moves(alone, one.opens | other.opens, one.later | other.later)


def _by_head(stems: Table) -> dict[str, tuple[tuple[str, Moves], ...]]:
    found: dict[str, list[tuple[str, Moves]]] = {}
    for stem, moves in stems.items():
        found.setdefault(stem[: _HEAD if len(stem) >= _HEAD else _SHORT_HEAD], []).append((stem, moves))
    return {head: tuple(ones) for head, ones in found.items()}


LEXICON: Final = _load()
# What a word begins with that is none of these is unknown.
_HEADS = frozenset([*(word[:_HEAD] for word in LEXICON.words), *LEXICON.heads])
_SHORT_HEADS = frozenset(head for head in LEXICON.heads if len(head) == _SHORT_HEAD)


def known(words: Collection[str]) -> dict[str, Moves]:
    """Of these words those that a phrase knows; such as mix scripts or have digits also as what they look like."""
    found = _looked_up(words)
    odd = [
        word
        for word in words
        if _LOOKS_LEET.search(word) or (not word.isascii() and _LOOKS_ASCII.fullmatch(word))
    ]
    readings = list(_readings(odd)) if odd else []
    moves = _looked_up([other for _, other in readings])
    for word, other in readings:
        if other in moves:
            found[word] = _both(found[word], moves[other]) if word in found else moves[other]
    return found


def _looked_up(words: Iterable[str]) -> dict[str, Moves]:
    likely = [word for word in words if word[:_HEAD] in _HEADS or word[:_SHORT_HEAD] in _SHORT_HEADS]
    return {word: moves for word in likely if (moves := _moves_of(word)) is not None}


def _moves_of(word: str) -> Moves | None:
    found = LEXICON.words.get(word)
    heads = LEXICON.heads
    for stem, moves in (*heads.get(word[:_HEAD], ()), *heads.get(word[:_SHORT_HEAD], ())):
        if word.startswith(stem):
            found = moves if found is None else _both(found, moves)
    return found


def _readings(words: list[str]) -> Iterable[tuple[str, str]]:
    """(word, what it looks like) in each way that changes it."""
    looks = _translated(words, LOOKS_LIKE)
    plain = _translated(looks, _LEET)
    for word, look, other in zip(words, looks, plain, strict=True):
        if look != word and look.isascii():
            yield word, look
        if other != look and (look.isalpha() or any(map(str.isalpha, look))):
            yield word, other
            if "1" in look:
                yield word, look.translate(_LEET_L).translate(_LEET)


def _translated(words: list[str], table: Mapping[int, str] | Mapping[int, int]) -> list[str]:
    """Each word by the table, all at one go."""
    return "\n".join(words).translate(table).split("\n")


def whole(moves: Iterable[Moves]) -> int:
    """The states of the phrases of which every slot has one of these words."""
    opens = later = 0
    for one in moves:
        opens |= one.opens
        later |= one.later
    if not opens & later:
        return 0
    present = opens >> 1 | later
    return reduce(int.__or__, (one.states for one in LEXICON.phrases if one.states & ~present == 0), 0)
