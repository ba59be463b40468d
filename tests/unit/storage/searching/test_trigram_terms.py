"""What the search index is told of words (storage/searching/trigram_terms.py): all that is asked for, alone and among
others."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storage.searching import trigram_terms
from storage.searching.trigram_terms import (
    PARTS,
    PIECE,
    TRIGRAM,
    terms_of_texts,
    terms_of_trigrams,
    trigrams_of,
)

LETTERS = st.text("aß東京한😀 \n\t\x1c\x85\u2003\u3000\0\ud800", max_size=40)


def terms(text: str) -> set[str]:
    [said] = terms_of_texts([text])
    return set(said.decode().split())


@given(LETTERS, LETTERS, LETTERS)
@example("", "a b", "")
@example("", "\0ab\0", "")
def test_what_is_asked_of_the_index_is_put_in_wherever_a_text_holds_it(
    before: str, part: str, after: str
) -> None:
    assert set(terms_of_trigrams(trigrams_of(part))) <= terms(before + part + after)


@given(LETTERS)
def test_nothing_else_is_put_in(text: str) -> None:
    pairs = [pair for at in range(len(text) - 1) for pair in trigrams_of(text[at : at + 2])]
    assert terms(text) == set(terms_of_trigrams([*trigrams_of(f" {text} "), *pairs]))


@pytest.mark.parametrize(
    ("part", "is_asked_for"),
    [
        ("発票", True),
        ("회의", True),
        ("メモ", True),
        ("発", False),
        ("ab", False),
        ("発a", False),
        ("発\u3000", False),
    ],
)
def test_words_of_two_characters_are_asked_for_where_they_are_the_rule(part: str, is_asked_for: bool) -> None:
    assert bool(trigrams_of(part)) == is_asked_for


@given(st.lists(LETTERS, max_size=8))
def test_texts_have_the_terms_that_each_has_alone(texts: list[str]) -> None:
    assert [set(one.decode().split()) for one in terms_of_texts(texts)] == [terms(one) for one in texts]


@given(st.text(min_size=TRIGRAM, max_size=TRIGRAM))
def test_a_term_is_one_character_that_fts5_does_not_cut(trigram: str) -> None:
    [term] = terms_of_trigrams([trigram])
    assert len(term) == 1 and ord(term) >= 0x10000


def test_a_text_is_cut_into_pieces_without_losing_a_trigram(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "how a sentence goes on, überall in the wörld, 東京での会議の請求書を送ります"
    whole = terms(text)
    monkeypatch.setattr(trigram_terms, "PIECE", 7)
    assert terms(text) >= whole
    assert [set(one.decode().split()) for one in terms_of_texts(["short", text])] == [
        terms("short"),
        terms(text),
    ]


def test_more_texts_than_one_piece_can_number() -> None:
    texts = [f"n{number}" for number in range(PARTS + 3)]
    assert [set(one.decode().split()) for one in terms_of_texts(texts)] == [terms(one) for one in texts]


def test_terms_that_share_a_place_are_all_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["many words that are not the same", "many others that are"]
    apart = [terms(one) for one in texts]
    monkeypatch.setattr(trigram_terms, "_PLACES_BITS", 1)
    assert [set(one.decode().split()) for one in terms_of_texts(texts)] == apart


def test_what_is_said_again_is_put_in_once() -> None:
    once, often = terms_of_texts(["again and again ", "again and again " * (PIECE // 20)])
    assert len(often) == len(once)


def test_blank_texts_have_none() -> None:
    assert terms_of_texts([]) == []
    assert terms_of_texts(["", " ", " \n\t  ", "\u3000\0"]) == [b"", b"", b"", b""]


@pytest.mark.parametrize("long", [PIECE - 1, PIECE, PIECE + 1, PIECE + 2, 2 * PIECE + 1])
def test_the_last_word_of_a_long_text_is_put_in(long: int) -> None:
    assert terms_of_trigrams(["end"])[0] in terms("x" * (long - 4) + " end")
