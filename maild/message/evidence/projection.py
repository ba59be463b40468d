"""Texts made of others with a way back: which characters of the source became those.

Words are looked for in what a text comes down to (NFKC, lower case, no marks, nothing invisible, entities decoded), and
told by their place in what the API shows.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Set
from itertools import accumulate, compress
from operator import ne
from typing import Final

# Format characters and fillers that take no room. Tag characters and variation selectors have findings of their own.
INVISIBLE: Final = frozenset(
    [
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
        *(*range(0x180B, 0x180E), *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)),
        *(*range(0xFE00, 0xFE10), *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0)),
    ]
)
_OWN = {0x131: "i", 0x142: "l", 0xF8: "o", 0x111: "d"}  # letters that Unicode does not take apart
MAX_REPLACED: Final = 32  # different characters; a table takes as long whatever it has
MAX_DIFFERENT: Final = 8192  # characters of one text: no script that people write has as many
MAX_FOLDED_CHARS: Final = 128 * 1024  # one character alone may become eighteen
_KEPT = re.compile("[\u3400-\ud7ff]")  # ideographs and Hangul
_BETWEEN = "\n"


class Folding(dict[int, str]):
    """What each character becomes, worked out once for a message."""

    def __init__(self) -> None:
        super().__init__(_OWN)
        self[ord(_BETWEEN)] = _BETWEEN

    def fold(self, text: str) -> str:
        """Lower case, compatible forms made one, without marks and invisible characters."""
        return self.fold_of(text, () if text.isascii() else set(text))

    def fold_of(self, text: str, characters: Collection[str]) -> str:
        """`fold` of a text that has these characters; none are asked for where all are of ASCII."""
        if text.isascii():
            return text.lower()
        self.learn(characters)
        # Most texts have few characters that not `lower` alone makes what they become: a sigma asks where it stands.
        changed = {
            one: self[ord(one)] for one in characters if self[ord(one)] != one.lower() or one == "\u03a3"
        }
        become = "".join(changed.values())
        if len(changed) > MAX_REPLACED or become != become.lower() or not changed.keys().isdisjoint(become):
            return text.translate(self)
        for one, becomes in changed.items():
            text = text.replace(one, becomes)
        return text.lower()

    def learn(self, characters: Collection[str]) -> None:
        """Work out those that are new, all at one go: a text may have every character there is."""
        new = "".join(one for one in characters if ord(one) not in self)
        folded = unicodedata.normalize("NFKD", _BETWEEN.join(new)).casefold().split(_BETWEEN)
        self.update(zip(map(ord, new), folded, strict=False))
        for one, becomes in compress(zip(new, folded, strict=False), map(ne, new, folded)):
            self[ord(one)] = _without_marks(one, becomes)
        marks = compress(new, map(unicodedata.combining, new))
        self.update(dict.fromkeys([*map(ord, marks), *INVISIBLE.intersection(map(ord, new))], ""))
        kept = _KEPT.findall(new)
        self.update(zip(map(ord, kept), kept, strict=True))


def _without_marks(one: str, becomes: str) -> str:
    if not unicodedata.decomposition(one):
        return becomes
    return "".join(_OWN.get(ord(part), part) for part in becomes if not unicodedata.combining(part))


class Folded:
    """`text`: a source, folded; `characters`: those that it has, None where all are of ASCII; `whole_characters`: the
    same of the whole source. `span` goes back. `is_cut`: it has too many different characters, or becomes too long, and
    only its beginning is there."""

    def __init__(self, source: str, folding: Folding) -> None:
        different = self.whole_characters = None if source.isascii() else set(source)
        self.is_cut = different is not None and len(different) > MAX_DIFFERENT
        if self.is_cut:
            source = source[:MAX_DIFFERENT]
            different = set(source)
        self._different = different or set()
        self.text = folding.fold_of(source, self._different)
        if len(self.text) > MAX_FOLDED_CHARS:
            self.text, self.is_cut = self.text[:MAX_FOLDED_CHARS], True
        self.characters = self._characters(folding)
        self._source = source
        self._folding = folding
        self._odd: tuple[list[int], list[int]] | None = None

    def _characters(self, folding: Folding) -> Set[str] | None:
        if self.text.isascii():
            return None
        return set("".join(folding[ord(one)] for one in self._different))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the source that `text[start:end]` was made of; end > start."""
        if self._source.isascii():
            return start, end
        if self._odd is None:
            self._odd = self._find_odd()
        return self._place(start), self._place(end - 1) + 1

    def _find_odd(self) -> tuple[list[int], list[int]]:
        """Characters that become none or several: where they stand, and where what they become ends."""
        odd = {one for one in self._different if len(self._folding[ord(one)]) != 1}
        if not odd:
            return [], []
        places = [at for at, one in enumerate(self._source) if one in odd]
        lengths = (len(self._folding[ord(self._source[at])]) - 1 for at in places)
        return places, [at + 1 + more for at, more in zip(places, accumulate(lengths), strict=True)]

    def _place(self, at: int) -> int:
        """Of the first character of the source whose becoming ends behind `at`."""
        places, ends = self._odd or ([], [])
        number = bisect_right(ends, at)  # so many odd ones lie before
        place = at - (ends[number - 1] - places[number - 1] - 1) if number else at
        return min(place, places[number]) if number < len(places) else place


class Pieced:
    """A text put together from pieces of a source, each as it stands there or as what it is decoded to."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._starts: list[int] = []
        self._sources: list[tuple[int, int]] = []
        self.length = 0

    def add(self, text: str, start: int, end: int) -> None:
        """What `source[start:end]` says. An empty range: a character of ours, such as a line end between blocks."""
        if text:
            self._pieces.append(text)
            self._starts.append(self.length)
            self._sources.append((start, end))
            self.length += len(text)

    @property
    def count(self) -> int:
        """How many pieces there are."""
        return len(self._pieces)

    @property
    def text(self) -> str:
        """All pieces in order."""
        return "".join(self._pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """From the first to the last character of the source that `text[start:end]` was made of; end > start."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._starts, at) - 1
        start, end = self._sources[number]
        offset = at - self._starts[number]
        if end - start != len(self._pieces[number]):  # decoded: one thing
            return start, end
        return start + offset, start + offset + 1
