"""Words that tell a program what to do: phrases in 14 languages (phrases.toml), found in one pass.

A phrase is a row of slots, each a choice of words; a word of each must come in this order, none further behind the one
before than the phrase allows, all in one clause. Every different word of a text is looked up once (lexicon.py), and
what no whole phrase of the text needs is left out; the others move their phrases on, where one waits for them near by.

A text is looked at folded (projection.py). A word that mixes scripts, or letters with digits, is also looked up as what
it looks like (`1gn0re`, Cyrillic `о` in a Latin word); letters that stand apart (`i g n o r e`) are put together.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, compress, islice
from typing import Final, NamedTuple, TypeVar

from maild.message.evidence.lexicon import LEXICON, SECRET, SENDING, SIGNS, Moves, Phrase, known, whole
from maild.message.evidence.projection import MAX_REPLACED, Folded

MAX_HITS: Final = 200
MAX_OCCURRENCES: Final = 5000  # of words of languages without blanks
_NEGATION_LOOK = 12  # characters around a word of those in which a negation may stand
_OVERLAP = 64  # no word of those is longer

_BOUNDARY = re.compile(
    r"[.!?;:。！？；：\n](?:(?<=[。！？；：])|(?<=\n)[ \t]*\n|(?<=[.!?;:])(?=[\s\"')\]]|\Z))"
)
_APART = re.compile(r"(?<![^\W_])(?:[^\W\d_]([ .\-_*·]))(?:[^\W\d_]\1){2,60}[^\W\d_](?![^\W_])")
_MAYBE_APART = re.compile(
    "|".join(rf"{re.escape(one)}[^\W\d_]{re.escape(one)}[^\W\d_]{re.escape(one)}" for one in " .-_*·")
)
_OF_WORDS = re.compile(rf"[^\W_]|[{re.escape(SIGNS)}]")
_OTHERS = re.compile(rf"(?![{re.escape(SIGNS)}])[\W_]")
_ASCII_BLANKING = {code: " " for code in range(128) if not _OF_WORDS.match(chr(code))}
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_UNSPACED_RUN = re.compile(f"{_UNSPACED.pattern}[^ ]*")
_SET_APART = "\n \n"

_What = TypeVar("_What")
_Step = tuple[Moves, int, int]  # what a word does, where it begins and ends


class Hit(NamedTuple):
    """A phrase in `text[start:end]` of the folded text. `group`: DIRECTIVE, SECRET or SENDING."""

    group: str
    id: str
    start: int
    end: int


def hits(text: str, characters: Set[str] | None = None) -> list[Hit]:
    """What the folded text says to a program, by place; at most MAX_HITS beside those of SENDING, of which every verb
    is one. Total and linear. `characters`: those that the text has, where they are known."""
    if len(text) < 4:
        return []
    clauses = _Clauses(text)
    found: set[Hit] = set()
    _gather(found, _spaced(text, clauses, characters), clauses)
    if _MAYBE_APART.search(text) and (runs := [one.span() for one in _APART.finditer(text)]):
        _gather(found, _apart(text, clauses, runs), clauses)
    if not text.isascii() and _UNSPACED.search(text if characters is None else "".join(characters)):
        _gather(found, _unspaced(text, clauses), clauses)
    orders = sorted((one for one in found if one.group != SENDING), key=_place)[:MAX_HITS]
    return sorted([*orders, *(one for one in found if one.group == SENDING)], key=_place)


def _place(hit: Hit) -> tuple[int, int, str, str]:
    return hit.start, hit.end, hit.group, hit.id


def _gather(found: set[Hit], more: Iterator[Hit], clauses: _Clauses) -> None:
    """Take these in, but for those behind the clause in which there are enough: no phrase goes back before its own.
    Verbs of sending, of which any text may have many, leave the others their room."""
    until = None
    count = sum(one.group != SENDING for one in found)
    for one in more:
        if until is not None and one.start >= until:
            return
        count += one.group != SENDING and one not in found
        found.add(one)
        if until is None and count >= MAX_HITS:
            until = clauses.around(max(each.start for each in found if each.group != SENDING))[1]


def folded_hits(folded: Folded) -> list[Hit]:
    """`hits`, at the places of the source; those of SENDING, of which there are many, stay where they are folded."""
    return [
        one if one.group == SENDING else Hit(one.group, one.id, *folded.span(one.start, one.end))
        for one in hits(folded.text, folded.characters)
    ]


def directing(texts: Sequence[str]) -> set[int]:
    """Which of these folded texts tell a program something, other than to send. Many short ones cost what a long one
    does: those that may are found in all of them put together, where no phrase reaches from one into the next."""
    joined = _SET_APART.join(texts)
    ends = list(accumulate(len(one) + len(_SET_APART) for one in texts))
    likely = {
        bisect_right(ends, one.start) for one in _spaced(joined, _Clauses(joined)) if one.group != SENDING
    }
    likely.update(bisect_right(ends, one.start()) for one in _MAYBE_APART.finditer(joined))
    if not joined.isascii():
        likely.update(bisect_right(ends, one.start()) for one in _UNSPACED_RUN.finditer(joined))
    return {number for number in likely if any(one.group != SENDING for one in hits(texts[number]))}


class _Clauses:
    """Where the clauses of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [one.start() for one in _BOUNDARY.finditer(text)]
        self._length = len(text)

    def number(self, at: int) -> int:
        """Of the clause of that place."""
        return bisect_left(self._starts, at)

    def around(self, at: int) -> tuple[int, int]:
        """From where to where the clause of that place goes."""
        number = self.number(at)
        begin = self._starts[number - 1] if number else 0
        return begin, self._starts[number] if number < len(self._starts) else self._length


# Words with blanks between them ------------------------------------------------------------------


def _blanked(text: str, characters: Set[str] | None) -> str:
    """The text with a blank for whatever is no part of a word."""
    if text.isascii():
        return text.translate(_ASCII_BLANKING)
    different = "".join(characters or set(text))
    others = set(different).difference(_OF_WORDS.findall(different))
    if len(others) > MAX_REPLACED:
        return text.translate(dict(zip(map(ord, different), _OTHERS.sub(" ", different), strict=True)))
    for one in others:
        text = text.replace(one, " ")
    return text


class _Words:
    """A text cut at what is no part of a word."""

    def __init__(self, text: str, characters: Set[str] | None = None) -> None:
        self._pieces = _blanked(text, characters).split(" ")
        self._words = {piece: piece.strip(SIGNS) for piece in set(self._pieces)}

    def steps(self) -> Iterator[_Step]:
        """Each word that a whole phrase of the text has, in order."""
        moves = known(set(self._words.values()))
        states = whole(moves.values())
        useful = {word: less for word, one in moves.items() if any(less := one.within(states))}
        return self._placed({piece: useful[word] for piece, word in self._words.items() if word in useful})

    def negations(self) -> list[int]:
        """Where words stand that turn a request into a warning."""
        negating = {piece: None for piece, word in self._words.items() if word in LEXICON.negations}
        return [start for _, start, _ in self._placed(negating)]

    def _placed(self, chosen: Mapping[str, _What]) -> Iterator[tuple[_What, int, int]]:
        """What these pieces have, with the place of the word, wherever one of them stands."""
        if not chosen:
            return
        pieces = self._pieces
        ends = list(accumulate(map(len, pieces)))  # but for the blanks between
        ranges = {piece: (piece.index(word := self._words[piece]), len(word)) for piece in chosen}
        for number in compress(range(len(pieces)), map(chosen.__contains__, pieces)):
            piece = pieces[number]
            lead, length = ranges[piece]
            start = ends[number] - len(piece) + number + lead
            yield chosen[piece], start, start + length


def _spaced(text: str, clauses: _Clauses, characters: Set[str] | None = None) -> Iterator[Hit]:
    words = _Words(text, characters)
    negations: list[int] | None = None
    for phrase, begin, start, end in _followed(words.steps(), clauses):
        if phrase.group == SECRET:
            negations = words.negations() if negations is None else negations
            last = bisect_right(negations, start) - 1
            if last >= 0 and clauses.number(negations[last]) == clauses.number(start):
                continue
        yield Hit(phrase.group, phrase.id, begin, end)


def _apart(text: str, clauses: _Clauses, runs: Sequence[tuple[int, int]]) -> Iterator[Hit]:
    """What clauses say in which letters stand apart (`runs`), once those are put together."""
    pieces: list[str] = []
    places: list[int] = []  # where each character stood
    at = until = 0  # the rest of a clause
    for start, end in runs:
        if start >= until:
            pieces += (text[at:until], "\n\n")
            places += (*range(at, until), until, until)
            at, until = clauses.around(start)
        pieces += (text[at:start], text[start:end:2])
        places += (*range(at, start), *range(start, end, 2))
        at = end
    joined = "".join((*pieces, text[at:until]))
    places += range(at, until)
    for one in _spaced(joined, _Clauses(joined)):
        yield one._replace(start=places[one.start], end=places[one.end - 1] + 1)


# Words with none ---------------------------------------------------------------------------------


def _unspaced(text: str, clauses: _Clauses) -> Iterator[Hit]:
    letters, table = set(text), LEXICON.unspaced
    firsts = {word: text.find(word) for word in table if letters.issuperset(word)}
    present = {word: table[word] for word, first in firsts.items() if first >= 0}
    states = whole(present.values())
    useful = {word: less for word, one in present.items() if any(less := one.within(states))}
    places = islice(_occurrences(text, {word: firsts[word] for word in useful}), MAX_OCCURRENCES)
    steps = ((useful[word], start, start + len(word)) for start, word in sorted(places))
    for phrase, begin, start, end in _followed(steps, clauses, _OVERLAP):
        if phrase.group == SECRET:
            around = text[max(0, start - _NEGATION_LOOK) : end + _NEGATION_LOOK]
            if any(one in around for one in LEXICON.unspaced_negations):
                continue
        yield Hit(phrase.group, phrase.id, begin, end)


def _occurrences(text: str, firsts: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for word, first in firsts.items():
        at = first
        while at >= 0:
            yield at, word
            at = text.find(word, at + len(word))


# Phrases -----------------------------------------------------------------------------------------


def _followed(
    steps: Iterable[_Step], clauses: _Clauses, overlap: int = 0
) -> Iterator[tuple[Phrase, int, int, int]]:
    """(phrase, its begin, begin and end of its last word). Words may lie `overlap` characters deep in each other.

    A word asks at once which of its states wait for it, of all that were reached in the block of the text that it is in
    and in the one before: blocks are as long as any phrase waits.
    """
    progress = _Progress(clauses, overlap)
    reach = LEXICON.longest_gap + overlap
    newer = older = 0
    block = last_end = -1
    for (alone, opens, later), start, end in steps:
        for phrase in alone:
            yield phrase, start, start, end
        if (newer or older) and start - block > reach:
            older, newer, block = newer if start - last_end <= reach else 0, 0, start
        if states := later & (newer | older):
            reached, ended = progress.move(states, start, end)
            for phrase, begin in ended:
                yield phrase, begin, start, end
            if reached:
                newer |= reached
                last_end = max(end, last_end)
        if opens:
            if not newer and not older:
                block = start
            newer |= opens
            progress.begun.append((start, end, opens))
            last_end = max(end, last_end)


class _Progress:
    """How far each phrase has come. `begun`: (start, end, states that may follow) of the words that begin some."""

    def __init__(self, clauses: _Clauses, overlap: int) -> None:
        self.begun: list[tuple[int, int, int]] = []
        self._clauses = clauses
        self._overlap = overlap
        self._reached: dict[int, tuple[int, int]] = {}  # where the phrase begins, where its last word ends

    def move(self, states: int, start: int, end: int) -> tuple[int, list[tuple[Phrase, int]]]:
        """A word that stands there may reach these: which ones wait now, and the phrases that end, with their begin."""
        waiting, ended = 0, []
        clause = self._clauses.number(start)
        while states:  # later ones first: a word must not be the one behind itself
            state = states.bit_length() - 1
            states ^= 1 << state
            phrase, gap, is_second, is_last = LEXICON.slots[state]
            before = self._began(state, start, gap) if is_second else self._reached.get(state - 1)
            if before is None or not before[1] <= start <= before[1] + gap:
                continue
            if self._clauses.number(before[0]) != clause:
                continue
            if is_last:
                ended.append((phrase, before[0]))
            else:
                self._reached[state] = before[0], end
                waiting |= 2 << state
        return waiting, ended

    def _began(self, state: int, start: int, gap: int) -> tuple[int, int] | None:
        """The last word that begins the phrase of that second state."""
        furthest = start - gap - self._overlap
        for begin, end, states in reversed(self.begun):
            if states >> state & 1:
                return begin, end
            if end < furthest:
                break
        return None
