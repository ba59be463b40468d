"""Words that tell a program what to do: phrases in 14 languages (phrases.toml), found in one pass.

A phrase is a row of slots, each a choice of words; a word of each must come in this order, none further behind the one
before than the phrase allows, all in one clause. Every word of a text is looked up once, and moves each phrase that it
belongs to one slot on: the work is words × the phrases of a word, which the tables bound.

A text is looked at folded (projection.py). A word that mixes scripts, or letters with digits, is also looked up as what
it looks like (`1gn0re`, Cyrillic `о` in a Latin word); letters that stand apart (`i g n o r e`) are put together.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from maild.message.evidence import phrases
from maild.message.evidence.confusables import LOOKS_LIKE
from maild.message.evidence.projection import Folded, Folding
from maild.message.fences import CLOSING, OPENING

DIRECTIVE: Final = "directive"
SECRET: Final = "secret_request"  # noqa: S105 (the name of a kind)
SENDING: Final = "sending"

MAX_HITS: Final = 200
MAX_OCCURRENCES: Final = 5000  # of words of languages without blanks
_GAP = 32  # characters between a word and the next one's, where the phrase does not say
_SCRIPT_GAP = 10  # where words are not set apart

_BOUNDARY = r"[.!?;:](?=[\s\"')\]]|\Z)|[。！？；：]|\n[ \t]*\n"
_TOKEN = re.compile(r"[^\W_]+(?:[@$!|]+[^\W_]+)*")
_WORD = re.compile(rf"({_TOKEN.pattern})|({_BOUNDARY})")
_APART = re.compile(r"(?<![^\W_])(?:[^\W\d_]([ .\-_*·]))(?:[^\W\d_]\1){2,60}[^\W\d_](?![^\W_])")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_SLOT = re.compile(r"\s*\|(\d*)\s*")
_LEET = str.maketrans("013457@$!|", "oieastasil")
_LEET_L = str.maketrans("1", "l")
_DIGIT_OR_SIGN = re.compile(r"[013457@$!|]")


class Hit(NamedTuple):
    """A phrase in `text[start:end]` of the folded text. `group`: DIRECTIVE, SECRET or SENDING."""

    group: str
    id: str
    start: int
    end: int


class _Phrase(NamedTuple):
    group: str
    id: str
    gaps: tuple[int, ...]  # before each slot; the first has none
    slots: int


class _Reached(NamedTuple):
    clause: int
    start: int
    end: int


_Slots = tuple[tuple[int, int], ...]  # (phrase, slot) that a word belongs to, later slots first


class _Lexicon(NamedTuple):
    """`words`: whole ones. `stems`: beginnings, `lengths` of which there are. `unspaced`: of languages without blanks,
    found anywhere. `negations`: words that turn a request into a warning."""

    phrases: tuple[_Phrase, ...]
    words: Mapping[str, _Slots]
    stems: Mapping[str, _Slots]
    lengths: tuple[int, ...]
    unspaced: Mapping[str, _Slots]
    negations: frozenset[str]
    unspaced_negations: tuple[str, ...]


def _later(slot: tuple[int, int]) -> int:
    """Later slots first: a word must not be the one behind itself."""
    return -slot[1]


def _load() -> _Lexicon:
    fold = Folding().fold
    found: list[_Phrase] = []
    tables: tuple[dict[str, list[tuple[int, int]]], ...] = ({}, {}, {})
    for group, language, id, notation in phrases.rows():
        pieces = _SLOT.split(notation.strip())
        is_unspaced = language in phrases.UNSPACED
        usual = _SCRIPT_GAP if is_unspaced else _GAP
        gaps = (0, *(int(gap) if gap else usual for gap in pieces[1::2]))
        for slot, choice in enumerate(pieces[::2]):
            for word in choice.split():
                table = tables[2 if is_unspaced else word.endswith("*")]
                table.setdefault(fold(word.removesuffix("*")), []).append((len(found), slot))
        found.append(_Phrase(group, id, gaps, len(gaps)))
    words, stems, unspaced = (
        {word: tuple(sorted(slots, key=_later)) for word, slots in table.items()} for table in tables
    )
    return _Lexicon(
        tuple(found),
        words,
        stems,
        tuple(sorted({len(one) for one in stems})),
        unspaced,
        frozenset(fold(one) for one in phrases.NEGATIONS),
        tuple(fold(one) for one in phrases.UNSPACED_NEGATIONS),
    )


_LEXICON: Final = _load()


def hits(text: str) -> list[Hit]:
    """What the folded text says to a program, by place; at most MAX_HITS. Total and linear."""
    if len(text) < 4:
        return []
    found = list(_spaced(text))
    if (apart := _joined(text)) is not None:
        joined, places = apart
        found += [
            one._replace(start=places[one.start], end=places[one.end - 1] + 1) for one in _spaced(joined)
        ]
    if _UNSPACED.search(text):
        found += _unspaced(text)
    return sorted(set(found), key=lambda one: (one.start, one.end))[:MAX_HITS]


def _spaced(text: str) -> Iterator[Hit]:
    slots_of = _possible({word: _slots_of(word) for word in set(_TOKEN.findall(text))})
    if not slots_of:
        return
    progress = _Progress()
    clause, negated = 0, -1
    for found in _WORD.finditer(text):
        word = found[1]
        if word is None:
            clause += 1
            continue
        if word in _LEXICON.negations:
            negated = clause
        slots = slots_of.get(word)
        if slots:
            yield from progress.move(slots, clause, *found.span(), is_negated=negated == clause)


def _unspaced(text: str) -> Iterator[Hit]:
    letters = set(text)
    slots_of = _possible(
        {
            word: slots
            for word, slots in _LEXICON.unspaced.items()
            if letters.issuperset(word) and word in text
        }
    )
    if not slots_of:
        return
    negations = [one for one in _LEXICON.unspaced_negations if one in text]
    boundaries = [one.start() for one in re.finditer(_BOUNDARY, text)]
    progress = _Progress()
    for start, word in sorted(islice(_occurrences(text, slots_of), MAX_OCCURRENCES)):
        end = start + len(word)
        is_negated = any(text.find(one, max(0, start - 12), end + 12) >= 0 for one in negations)
        clause = bisect_left(boundaries, start)
        yield from progress.move(slots_of[word], clause, start, end, is_negated=is_negated)


def _occurrences(text: str, words: Iterable[str]) -> Iterator[tuple[int, str]]:
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at, word
            at = text.find(word, at + len(word))


def _possible(slots_of: Mapping[str, _Slots]) -> dict[str, _Slots]:
    """Of these words those that can be part of a whole phrase, as all slots of it have a word here."""
    present = {one for slots in slots_of.values() for one in slots}
    counts = Counter(number for number, _ in present)
    whole = {number for number, count in counts.items() if count == _LEXICON.phrases[number].slots}
    if not whole:
        return {}
    kept = {word: tuple(one for one in slots if one[0] in whole) for word, slots in slots_of.items() if slots}
    return {word: slots for word, slots in kept.items() if slots}


class _Progress:
    """How far each phrase has come."""

    def __init__(self) -> None:
        self._reached: dict[tuple[int, int], _Reached] = {}

    def move(self, slots: _Slots, clause: int, start: int, end: int, *, is_negated: bool) -> Iterator[Hit]:
        """A word of these slots stands there."""
        for number, slot in slots:
            phrase = _LEXICON.phrases[number]
            begin = start
            if slot:
                before = self._reached.get((number, slot - 1))
                if before is None or before.clause != clause or start < before.end:
                    continue
                if start - before.end > phrase.gaps[slot]:
                    continue
                begin = before.start
            if slot + 1 < phrase.slots:
                self._reached[number, slot] = _Reached(clause, begin, end)
            elif not (is_negated and phrase.group == SECRET):
                yield Hit(phrase.group, phrase.id, begin, end)


def _slots_of(word: str) -> _Slots:
    found = _looked_up(word)
    if not word.isascii() or _DIGIT_OR_SIGN.search(word):
        for other in _readings(word):
            found += _looked_up(other)
    return tuple(sorted(set(found), key=_later))


def _looked_up(word: str) -> _Slots:
    found = _LEXICON.words.get(word, ())
    for length in _LEXICON.lengths:
        if length > len(word):
            break
        found += _LEXICON.stems.get(word[:length], ())
    return found


def _readings(word: str) -> Iterator[str]:
    looks = word.translate(LOOKS_LIKE)
    if looks != word and looks.isascii():
        yield looks
    if any(one.isalpha() for one in looks):
        plain = looks.translate(_LEET)
        if plain != looks:
            yield plain
            yield looks.translate(_LEET_L).translate(_LEET)


def _joined(text: str) -> tuple[str, list[int]] | None:
    """The text with letters that stand apart put together, and where each character stood; None: there are none."""
    if not _APART.search(text):
        return None
    places: list[int] = []
    at = 0
    for found in _APART.finditer(text):
        places += range(at, found.start())
        places += range(found.start(), found.end(), 2)
        at = found.end()
    places += range(at, len(text))
    return "".join(text[place] for place in places), places


_ROLE_MARKUP = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id|begin_of_text)\|>"
    r"|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?(?:system|tool_call|tool_calls|function_calls?|invoke|tool_use"
    r"|tool_result|tool_response|assistant|system-reminder|system_prompt|antml:[a-z_]+|instructions?)(?:\s[^<>]{0,80})?>"
    r"|^[ \t>*]*#{2,4}[ \t]*(?:system|instructions?|assistant|developer)(?: prompt| message)?[ \t]*:?[ \t]*$"
    r"|^[ \t>*\[(]*(?:system|developer)[ _](?:prompt|override|instructions?)[\])]?[ \t*]*:(?=\s)"
    r"|^[ \t>*]*\[(?:system|developer|assistant)\](?=[\s:])"
    r"|^[ \t>*]*system:\s{1,3}(?=you (?:are|must|will|shall)|ignore|disregard|override|forget|new )"
    r'|"role"\s{0,3}:\s{0,3}"(?:system|assistant|tool|developer)"'
    r'|"(?:tool_calls?|function_call)"\s{0,3}:'
    r"|(?:begin|end|start of|end of)[ _](?:system|hidden|admin)[ _](?:prompt|message|instructions)"
    r"|(?:^|\n)[ \t]*(?:human|user):[^\n]{1,500}\n{1,3}[ \t]*assistant:",
    re.MULTILINE,
)
# What fences of ours look like: nobody outside may write them.
_FENCE = re.compile(
    rf"[{OPENING}]{{2,6}}\s{{0,5}}mail\b(?=\s+[0-9a-f]{{4,}})|\bmail\s{{1,5}}[0-9a-f]{{6,64}}\s{{0,5}}[{CLOSING}]{{2,6}}"
)


# One of these is part of whatever _ROLE_MARKUP finds: most texts have none.
_ROLE_SIGNS = (
    *(
        "<|",
        "inst]",
        "sys>",
        "_turn>",
        "<sys",
        "</",
        "<tool",
        "<func",
        "<invoke",
        "<assistant",
        "<instr",
        "<antml",
    ),
    *(
        "##",
        "system",
        "developer",
        "[assistant]",
        "assistant:",
        '"role"',
        '"tool_call',
        '"function_call',
        "hidden",
    ),
    "admin",
)
_BRACKETS = re.compile(f"[{OPENING}]{{2}}|[{CLOSING}]{{2}}")


def role_markup(text: str) -> Iterator[tuple[int, int]]:
    """Where the folded text has marks of a chat template or of tool calls."""
    if any(one in text for one in _ROLE_SIGNS):
        for found in islice(_ROLE_MARKUP.finditer(text), MAX_HITS):
            yield found.span()


def fences(text: str) -> Iterator[tuple[int, int]]:
    """Where the folded text imitates the fences that maild puts around mail."""
    if _BRACKETS.search(text):
        looks = text if text.isascii() else text.translate(_LOOKS_OF_FENCES)
        for found in islice(_FENCE.finditer(looks), MAX_HITS):
            yield found.span()


_LOOKS_OF_FENCES = {code: letter for code, letter in LOOKS_LIKE.items() if letter in "mail0123456789abcdef"}


def folded_hits(folded: Folded) -> list[Hit]:
    """`hits`, at the places of the source; those of SENDING, of which there are many, stay where they are folded."""
    return [
        one if one.group == SENDING else Hit(one.group, one.id, *folded.span(one.start, one.end))
        for one in hits(folded.text)
    ]
