"""How a search compares texts."""

import sys
import unicodedata
from typing import Literal

import pytest

from storage.searching.folding import fold, fold_words, forms, holds, holds_words


@pytest.mark.parametrize(
    ("text", "part", "found"),
    [
        ("cafe\u0301", "CAFÉ", True),
        ("café", "cafe\u0301", True),
        ("café", "cafe", False),
        ("e\u0323\u0302", "ệ", True),  # marks in either order
        ("e\u0302\u0323", "ệ", True),
        ("\u212b", "å", True),  # the sign of the unit, which is that letter
        ("Straße", "STRASSE", True),
        ("ｆｕｌｌ", "full", False),  # another character, not another spelling
        ("what\u037e", "what;", True),  # the Greek question mark, which is that character
        ("\u1fefa", "`a", True),
    ],
)
def test_case_and_composition_do_not_count(text: str, part: str, found: bool) -> None:
    assert holds(text, fold(part)) == found


@pytest.mark.parametrize(
    ("words", "part", "found"),
    [
        ("total\namount due", "Total Amount", True),  # wrapped at 72 columns
        ("total\u00a0amount, 1\u202f234 €", "total amount, 1 234 €", True),
        ("total amount", "total\u00a0amount", True),
        ("total amount", "total\namount", True),
        ("total  amount", "total amount", False),  # each blank for itself
        ("to\u00adtal a\u200bmount", "total amount", True),
        ("total amount", "to\u00adtal\ufeff", True),
        ("می\u200cخواهم", "میخواهم", True),
        ("order 4711\u201122", "order 4711-22", True),
        ("we don\u2019t \u201cknow\u201d", 'don\'t "know"', True),
        ("we don't", "don\u2019t", True),
        ("2020\u20132026", "2020-2026", False),  # a dash is seen to be none
        ("cafe\u0301\u00a0noir", "café noir", True),
    ],
)
def test_what_no_reader_sees_does_not_count_in_words(words: str, part: str, found: bool) -> None:
    assert holds_words(words, fold_words(part)) == found


def test_in_an_address_each_character_counts() -> None:
    assert not holds("bo\u200bss@corp.test", fold("boss@corp.test"))


def test_what_is_left_of_words_is_left_alone() -> None:
    """So it need not be looked for in words as they are spelled."""
    for code in range(sys.maxunicode + 1):
        folded = fold_words(chr(code))
        assert fold_words(folded) == folded, hex(code)


def test_a_text_that_is_composed_has_one_form() -> None:
    assert forms("Große Straße") == ["grosse strasse"]


def test_composing_has_no_seams() -> None:
    """In texts without a blank too, wherever a piece ends."""
    for letters in ("각", "ガ", "ệ", "é、"):
        text = unicodedata.normalize("NFD", letters * 40_000)
        assert holds(text, fold(letters * 200))
        assert forms(text)[1] == fold(letters * 40_000)


def test_no_other_ascii_comes_of_composing() -> None:
    """So what is ASCII need not be looked for in a second form."""
    spelled = [chr(code).casefold() for code in range(0x80, sys.maxunicode + 1)]
    composed = {one for text in spelled for one in set(unicodedata.normalize("NFC", text)) - set(text)}
    assert {one for one in composed if one.isascii()} == {";", "`"}


def test_marks_without_end_cost_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorting them takes the square of their number: seconds, for all of these at once."""
    pieces: list[str] = []
    normalize = unicodedata.normalize

    def noted(form: Literal["NFC"], piece: str) -> str:
        pieces.append(piece)
        return normalize(form, piece)

    monkeypatch.setattr(unicodedata, "normalize", noted)
    text = "a" + "\u0301\u0327" * 32 * 1024
    assert not holds(text, fold("é"))
    assert len(text) / 251 <= len(pieces) and max(map(len, pieces)) <= 251
