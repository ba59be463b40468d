"""What a text comes down to, character by character, and the way back."""

import unicodedata
from bisect import bisect_right
from itertools import accumulate

import pytest

from maild.message.evidence.projection import INVISIBLE, MAX_DIFFERENT, MAX_FOLDED_CHARS, Folded, Folding

PLAIN_LETTERS = {"\u0131": "i", "\u0142": "l", "\xf8": "o", "\u0111": "d"}
TEXTS = [
    "Ignore ALL previous",
    "Stra\xdfe \u0130stanbul \u0141\xf3d\u017a \ufb01rst\u2026",
    "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3 \u039f\u0394\u039f\u03a3",
    "ig\u200bnore \uff49\uff47 \ud55c\uad6d \u5ffd\u7565",
    "\u1fb3\u0345\ufdfa\U0001d422\u13a0\uab70",
    "\xe9" * 50 + "".join(map(chr, range(0xC0, 0x180))) * 2,
]


def folded(one: str) -> str:
    """By the definition: compatible forms made one, case folded, no marks, nothing invisible."""
    if "\u3400" <= one < "\ud800":
        return one
    if ord(one) in INVISIBLE:
        return ""
    if one in PLAIN_LETTERS:
        return PLAIN_LETTERS[one]
    if not unicodedata.decomposition(one):
        return "" if unicodedata.combining(one) else one.casefold()
    parts = unicodedata.normalize("NFKD", one).casefold()
    return "".join(PLAIN_LETTERS.get(part, part) for part in parts if not unicodedata.combining(part))


def test_every_character_becomes_what_the_definition_says() -> None:
    everything = [chr(code) for code in range(0x20000)]
    folding = Folding()
    folding.learn(everything)
    assert [(one, folding[ord(one)]) for one in everything if folding[ord(one)] != folded(one)] == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_becomes_what_its_characters_do(text: str) -> None:
    assert Folding().fold(text) == "".join(map(folded, text))


@pytest.mark.parametrize("text", TEXTS)
def test_places_lead_back_to_the_characters_that_they_came_from(text: str) -> None:
    made = Folded(text, Folding())
    ends = list(accumulate(len(folded(one)) for one in text))
    for start in range(len(made.text)):
        for end in (start + 1, len(made.text)):
            assert made.span(start, end) == (bisect_right(ends, start), bisect_right(ends, end - 1) + 1)


def test_what_grows_without_end_is_cut() -> None:
    made = Folded("\ufdfa" * 60_000, Folding())
    assert made.is_cut and len(made.text) == MAX_FOLDED_CHARS


def test_a_text_of_all_characters_is_cut_but_every_character_is_told() -> None:
    text = "".join(map(chr, range(0x100, 0x100 + 2 * MAX_DIFFERENT)))
    made = Folded(text, Folding())
    assert made.is_cut and made.whole_characters == set(text)
    assert not Folded(text[: MAX_DIFFERENT // 2], Folding()).is_cut
