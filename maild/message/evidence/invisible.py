"""Characters that a person does not see, or that change the order in which others are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from maild.message.evidence.finding import Kind

MAX_MARKS: Final = 200  # of each kind in one text
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
# UTS #51 ED-14: a black flag, its region in tags, the end.
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_VARIATIONS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_OVERRIDES = frozenset("\u202d\u202e")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ZERO_WIDTH = re.compile("[\u00ad\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0]+")
_MANY = 8  # in one row: bits, no spelling
_INVISIBLE = re.compile(
    "[^\x00-\xac\xae-\u034e\u0350-\u115e\u1161-\u180d\u180f-\u1fff\u2070-\u3163\u3165-\ufdff]"
)


class Mark(NamedTuple):
    """Such characters in `words[start:end]`. `why`: what tag characters spell."""

    kind: Kind
    start: int
    end: int
    why: str | None = None


def invisible_marks(words: str) -> Iterator[Mark]:
    """Runs of such characters, but for the spelling of emoji, Indic and Arabic. Linear."""
    if words.isascii() or not _INVISIBLE.search(words):
        return
    for found in islice(_TAGS.finditer(words), MAX_MARKS):
        if not (words[found.start() - 1 : found.start()] == "\U0001f3f4" and _FLAG.fullmatch(found[0])):
            yield Mark("tag_characters", *found.span(), tagged(found[0]) or None)
    for found in islice(_VARIATIONS.finditer(words), MAX_MARKS):
        yield Mark("variation_smuggling", *found.span())
    is_right_to_left = bool(_RIGHT_TO_LEFT.search(words))
    for found in islice(_DIRECTIONS.finditer(words), MAX_MARKS):
        if not is_right_to_left or not _OVERRIDES.isdisjoint(found[0]):
            yield Mark("bidi_control", *found.span())
    broken = (one for one in _ZERO_WIDTH.finditer(words) if _breaks_a_word(words, *one.span()))
    for found in islice(broken, MAX_MARKS):
        yield Mark("zero_width", *found.span())


def tagged(characters: str, limit: int = 200) -> str:
    """The ASCII that tag characters stand for, in one printable line of at most that many characters."""
    letters = (chr(ord(one) - 0xE0000) for one in characters[:limit])
    return "".join(one for one in letters if one.isprintable() and one.isascii())


def variation_bytes(selectors: str) -> str:
    """What variation selectors say where they stand for octets (VS1 is 0), as UTF-8."""
    octets = bytes(
        code - 0xFE00 if code < 0xFE10 else code - 0xE0100 + 16 for code in map(ord, selectors[:2000])
    )
    return octets.decode("utf-8", "replace")


def _breaks_a_word(words: str, start: int, end: int) -> bool:
    if end - start >= _MANY:
        return True
    before, behind = words[max(0, start - 1) : start], words[end : end + 1]
    return _is_latin_like(before) and _is_latin_like(behind) and "\u00ad" not in words[start:end]


def _is_latin_like(one: str) -> bool:
    """Letters and digits of scripts that are written without joiners: Latin, Greek, Cyrillic."""
    return one.isalnum() and (one < "\u0530" or "\u1e00" <= one < "\u2000")
