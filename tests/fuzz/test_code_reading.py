"""Any mail: looking for its code never fails, points at what stands there, and looks at no more for a longer text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.sign_in import code_words, codes, number_words
from maild.message.sign_in.codes import CANDIDATES_MAX, CANDIDATES_TOLD, TEXT_CHARS, FoundValue, find_code

# What mails with codes are made of: an example of each branch, to be put together in any order.
PIECES = st.sampled_from(
    [
        "Your verification code is ",
        "Verification code:",
        "Sign in",
        "promo code ",
        "order no. ",
        "ending in ",
        "482913",
        "4 8 2 9 1 3",
        "482 913",
        "K7M-P2Q",
        "KTP-WXR",
        "TXKPQW",
        "\nk4x8p2\n",
        "\n4\n8\n2\n9\n",
        "PIN1: ",
        "٤٨٢٩١٣",
        "رمز التحقق: ",
        "인증번호",
        "mã xác nhận ",
        "G-123456",
        "SAVE20",
        "2026",
        "$",
        " EUR",
        "*482913*",
        "**** 4471",
        "７４１８０６",
        "認証コード：",
        "验证码",
        "код ",
        "https://a.example/verify?code=482913",
        "code@a.example",
        "\n",
        "\n\n",
        ". ",
        " ",
        "\u00a0",
        "\u2028",
        "\ud800",
        "İ",
        "ß",
    ]
)
WORDS = st.lists(PIECES | st.text(max_size=12), max_size=30).map("".join)


@given(WORDS, WORDS)
def test_a_found_code_stands_where_it_is_said_to(subject: str, words: str) -> None:
    found = find_code(subject, words)
    if found is None:
        return
    if found.confidence == "ambiguous":
        assert (found.value, found.shown, found.view, found.start, found.end) == (None, None, None, 0, 0)
        assert 2 <= len(set(found.candidates)) == len(found.candidates) <= CANDIDATES_TOLD
        return
    assert found.shown == (subject if found.view == "subject" else words)[found.start : found.end]
    assert found.value is not None
    assert re.fullmatch(r"(?=[A-Za-z]*[0-9])[0-9A-Za-z]{4,10}|[B-DF-HJ-NP-TV-XZ]{6,8}", found.value)
    assert found.candidates == ()


@given(WORDS)
def test_the_same_words_give_the_same_code(words: str) -> None:
    assert find_code("", words) == find_code("", words)


TORTURES: dict[str, str] = {
    "digits": "4829130571",
    "codes": "code 1234 ",
    "colons": "code: 1234\n",
    "letters": "code",
    "capitals": "A1B2-",
    "blanks": "1 ",
    "links": "https://a.example/code/123456 ",
    "endless link": "https://a.example/",
    "addresses": "code.1234@a.example ",
    "stars": "*1234",
    "ideographs": "验证码：1234，",
    "lines": "\n",
    "digits of their own": "4\n",
    "small letters": "ab1cd\n",
    "consonants": "BCDFGH ",
    "Arabic": "الرمز ٤٨٢٩١٣ ",
    "Korean": "인증 코드 1234 ",
}

Found = TypeVar("Found")


class Looks:
    """Counts how often the tables of words are asked."""

    def __init__(self) -> None:
        self.calls = 0

    def counted(self, function: Callable[..., Found]) -> Callable[..., Found]:
        """The function, counted."""

        def count(*arguments: object) -> Found:
            self.calls += 1
            return function(*arguments)

        return count


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    counted = Looks()
    monkeypatch.setattr(code_words, "_is_anothers", counted.counted(code_words._is_anothers))
    monkeypatch.setattr(codes, "means_something_else", counted.counted(number_words.means_something_else))
    return counted


# Each number is asked after once; of the words for codes so many fit where somebody looks, and into one window more.
LOOKS_A_NUMBER = 1 + 80


@pytest.mark.parametrize("piece", TORTURES.values(), ids=TORTURES)
@pytest.mark.parametrize("size", [TEXT_CHARS // 2, TEXT_CHARS, 2 * TEXT_CHARS])
def test_work_is_bounded_by_the_most_numbers(looks: Looks, piece: str, size: int) -> None:
    text = ("Your sign-in code " + piece * (size // len(piece) + 1))[:size]
    found = find_code(text, text)
    assert found is None or isinstance(found, FoundValue)
    assert looks.calls <= 2 * CANDIDATES_MAX * LOOKS_A_NUMBER


@pytest.mark.parametrize("count", [CANDIDATES_MAX // 4, CANDIDATES_MAX // 2])
def test_twice_the_numbers_are_twice_the_work(looks: Looks, count: int) -> None:
    find_code("", "Sign in. " + "code 1234 " * count)
    once, looks.calls = looks.calls, 0
    find_code("", "Sign in. " + "code 1234 " * 2 * count)
    assert 0 < once < looks.calls <= 2.2 * once


def test_words_for_codes_are_judged_near_numbers_alone(looks: Looks) -> None:
    find_code("", "Sign in. " + "zip code " * 6000 + "1234")
    assert looks.calls <= LOOKS_A_NUMBER


def test_what_stands_behind_the_limit_is_not_looked_at() -> None:
    assert find_code("", "Your sign-in code is" + " " * TEXT_CHARS + "482913") is None
