"""How a search compares texts."""

import sys
import unicodedata
from typing import Literal

import pytest

from storage.searching.folding import fold, forms, holds


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
