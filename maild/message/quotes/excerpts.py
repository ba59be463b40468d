"""Lines that are marked as a quote, above the original and with nobody named for them: an excerpt of it, which goes, or
what the author shows so (output of a program, a page), which stays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby, islice, pairwise
from operator import itemgetter

_WORDS_MAX = 50_000  # no honest original has more
# Scripts that put no blanks between words: each letter is one there.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"  # Thai to Han
_WORD = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]++")


class UnattributedQuotes:
    """They are taken off at first: what the original says shows only at the end."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []

    def add(self, place: int, line: str) -> None:
        """A line that stood there among the lines that are kept."""
        self._lines.append((place, line))

    def put_back(self, kept: list[str], original: list[str]) -> list[str]:
        """The lines that are kept, with those that the original does not say."""
        # An attribution that is quoted itself may be one within the very quote whose own is unknown.
        if not self._lines or original[0][:1] == ">":
            return kept
        said = _OriginalWords(original)
        whole, done = [], 0
        for place, quote in groupby(self._lines, itemgetter(0)):
            lines = [line for _, line in quote]
            whole += kept[done:place]
            whole += [] if said.include(lines) else lines
            done = place
        return whole + kept[done:]


class _OriginalWords:
    """Word by word, because clients wrap an excerpt anew, and authors leave something out of it."""

    def __init__(self, lines: Iterable[str]) -> None:
        words = _words(lines)
        self._words = set(words)
        self._pairs = set(pairwise(words))

    def include(self, lines: Iterable[str]) -> bool:
        """These lines, or most of them."""
        words = _words(lines)
        pairs = list(pairwise(words))
        if not pairs:
            return self._words.issuperset(words)
        return 2 * sum(pair in self._pairs for pair in pairs) >= len(pairs)


def _words(lines: Iterable[str]) -> list[str]:
    found = (word[0] for line in lines for word in _WORD.finditer(line.lstrip("> \t|")))
    return list(islice(found, _WORDS_MAX))
