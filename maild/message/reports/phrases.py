"""Phrases by how they begin, so that a few look-ups tell which of hundreds a text may have. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

_START: Final = 3
_WIDE: Final = re.compile("[\u3000-\uffff]")
_UNSPACED: Final = "\u3000"  # Chinese and Japanese put no blanks between words, Korean puts them as it likes


class HasPhrases(Protocol):
    @property
    def phrases(self) -> tuple[str, ...]: ...


Row = TypeVar("Row", bound=HasPhrases)


class Phrases(NamedTuple):
    """A row that has nothing else."""

    phrases: tuple[str, ...]


def as_found(phrase: str) -> str:
    """The phrase where a word begins; of an unspaced script wherever it stands."""
    return f" {phrase}" if phrase[0] < _UNSPACED else phrase


class PhraseIndex(Generic[Row]):
    """Rows that have phrases, as `plain_words` makes them. A phrase is found where a word begins; one that ends in a
    blank matches whole words alone. Blanks, which may stand for the end of a line, count in no unspaced script."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._by_start: dict[str, list[tuple[int, str]]] = {}
        self._unspaced: list[tuple[int, str]] = []
        for rank, row in enumerate(rows):
            for phrase in row.phrases:
                if phrase[0] < _UNSPACED:
                    self._by_start.setdefault(phrase.split()[0][:_START], []).append((rank, as_found(phrase)))
                else:
                    self._unspaced.append((rank, phrase.replace(" ", "")))

    def every(self, words: str) -> list[Row]:
        """The rows that have a phrase in these words, in their order."""
        return [self._rows[rank] for rank in sorted(set(self._ranks(words)))]

    def first(self, words: str) -> Row | None:
        """The first row that has a phrase in these words."""
        found = list(self._ranks(words))
        return self._rows[min(found)] if found else None

    def _ranks(self, words: str) -> Iterator[int]:
        for start in {word[:_START] for word in words.split()}:
            for rank, phrase in self._by_start.get(start, ()):
                if phrase in words:
                    yield rank
        if self._unspaced and _WIDE.search(words):
            joined = words.replace(" ", "")
            yield from (rank for rank, phrase in self._unspaced if phrase in joined)
