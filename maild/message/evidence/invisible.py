"""Characters that a person does not see, or that change the order in which others are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice
from typing import Final, NamedTuple

from maild.message.evidence.finding import Kind

MAX_MARKS: Final = 200  # of each kind in one text
_TAG_RUN = re.compile("[\U000e0000-\U000e007f]+")
# UTS #51 ED-14: a black flag, its region in tags, the end.
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_VARIATION_RUN = re.compile(f"{_VARIATION.pattern}{{2,}}")
_DIRECTION_RUN = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_OVERRIDES = frozenset("\u202d\u202e")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINERS = "\u034f\u115f\u1160\u180e\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0"
_ZERO_WIDTH = re.compile(f"[\u00ad{_JOINERS}]")
_MANY = 8  # in one row: bits, no spelling
# Fewer break a word of a script that is written without them (Latin, Greek, Cyrillic), but where a hyphen may stand.
_WITHOUT = r"[^\W_\u0530-\u1dff\u2000-\U0010ffff]"
_BREAKING_RUN = re.compile(
    f"{_ZERO_WIDTH.pattern}{{{_MANY},}}|(?<={_WITHOUT})[{_JOINERS}]{{1,{_MANY - 1}}}(?={_WITHOUT})"
)


class Mark(NamedTuple):
    """Such characters in `words[start:end]`. `why`: what tag characters spell."""

    kind: Kind
    start: int
    end: int
    why: str | None = None


def invisible_marks(words: str, characters: Set[str] | None = None) -> Iterator[Mark]:
    """Runs of such characters, but for the spelling of emoji, Indic and Arabic. Linear. `characters`: those that the
    words have, where they are known."""
    if words.isascii():
        return
    different = "".join(characters or set(words))
    for looked_for, marks in _LOOKS:
        if looked_for.search(different):
            yield from islice(marks(words), MAX_MARKS)


def _tag_characters(words: str) -> Iterator[Mark]:
    for found in islice(_TAG_RUN.finditer(words), MAX_MARKS):
        if not (words[found.start() - 1 : found.start()] == "\U0001f3f4" and _FLAG.fullmatch(found[0])):
            yield Mark("tag_characters", *found.span(), tagged(found[0]) or None)


def _variations(words: str) -> Iterator[Mark]:
    for found in _VARIATION_RUN.finditer(words):
        yield Mark("variation_smuggling", *found.span())


def _directions(words: str) -> Iterator[Mark]:
    is_right_to_left = bool(_RIGHT_TO_LEFT.search(words))
    for found in islice(_DIRECTION_RUN.finditer(words), MAX_MARKS):
        if not is_right_to_left or not _OVERRIDES.isdisjoint(found[0]):
            yield Mark("bidi_control", *found.span())


def _zero_width(words: str) -> Iterator[Mark]:
    for found in _BREAKING_RUN.finditer(words):
        yield Mark("zero_width", *found.span())


# What a text must have for the dearer look.
_LOOKS: Final = (
    (_TAG_RUN, _tag_characters),
    (_VARIATION, _variations),
    (_DIRECTION_RUN, _directions),
    (_ZERO_WIDTH, _zero_width),
)


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
