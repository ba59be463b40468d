"""Texts made of others with a way back: which characters of the source became those.

Words are looked for in what a text comes down to (NFKC, lower case, no marks, nothing invisible, entities decoded), and
told by their place in what the API shows.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from itertools import accumulate
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


class Folding(dict[int, str]):
    """What each character becomes, worked out once for a message."""

    def __missing__(self, code: int) -> str:
        self[code] = result = _folded(code)
        return result

    def fold(self, text: str) -> str:
        """Lower case, compatible forms made one, without marks and invisible characters."""
        return text.lower() if text.isascii() else text.translate(self)


def _folded(code: int) -> str:
    if 0x3400 <= code < 0xD800:  # ideographs and Hangul stay
        return chr(code)
    if code in INVISIBLE:
        return ""
    if code in _OWN:
        return _OWN[code]
    one = chr(code)
    if not unicodedata.decomposition(one):
        return "" if unicodedata.combining(one) else one.casefold()
    parts = unicodedata.normalize("NFKD", one).casefold()
    return "".join(_OWN.get(ord(one), one) for one in parts if not unicodedata.combining(one))


class Folded:
    """`text`: a source, folded. `span` goes back."""

    def __init__(self, source: str, folding: Folding) -> None:
        self._source = source
        self._folding = folding
        self.text = folding.fold(source)
        self._ends: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the source that `text[start:end]` was made of; end > start."""
        if self._source.isascii():
            return start, end
        if self._ends is None:
            self._ends = list(accumulate(len(self._folding[ord(one)]) for one in self._source))
        return bisect_right(self._ends, start), bisect_right(self._ends, end - 1) + 1


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
