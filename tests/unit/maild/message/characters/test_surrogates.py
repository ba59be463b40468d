"""Lone surrogates (maild/message/characters/surrogates.py), wherever in a long text."""

import pytest

from maild.message.characters import surrogates
from maild.message.characters.surrogates import replace_surrogates


@pytest.mark.parametrize("at", range(9))
def test_each_is_replaced_whichever_piece_it_stands_in(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setattr(surrogates, "_PIECE_CHARS", 4)
    text = "ä" * at + "\ud83d" + "ä" * (8 - at)
    assert replace_surrogates(text) == text.replace("\ud83d", "\ufffd")


def test_two_that_would_be_one_character_are_two() -> None:
    assert replace_surrogates("a\ud83d\ude00b") == "a\ufffd\ufffdb"


@pytest.mark.parametrize("text", ["", "plain", "Grüße 東京 😀"])
def test_other_text_stays(text: str) -> None:
    assert replace_surrogates(text) == text
