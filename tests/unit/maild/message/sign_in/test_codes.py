"""Codes are found where a reader finds them; numbers that are none are never handed out, and nothing is guessed."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

from maild.message.sign_in.codes import CANDIDATES_MAX, CANDIDATES_TOLD, FoundValue, find_code

AMBIGUOUS = "ambiguous"
LANGUAGES = set("en de fr es pt it nl pl sv tr ru uk ja zh ko ar he fa vi id cs da no fi hu".split())


class Sample(TypedDict):
    """A mail, and the code that it asks for: null without one, "ambiguous" where two could be meant. `source`: the
    public template whose shape it has, in words of our own."""

    language: str
    subject: str
    text: str
    expected: str | None
    held: bool
    source: NotRequired[str]


SAMPLES: Sequence[Sample] = json.loads(Path("tests/vectors/codes.json").read_text("utf-8"))


def told(sample: Sample) -> str | None:
    found = find_code(sample["subject"], sample["text"])
    return None if found is None else found.value or AMBIGUOUS


def shown(samples: Sequence[Sample]) -> str:
    return "\n".join(
        f"{one['language']} {one['subject']}: {told(one)}, not {one['expected']}" for one in samples
    )


def test_the_samples_are_many_kinds_of_mail() -> None:
    kinds = Counter(
        "code" if one["expected"] not in {None, AMBIGUOUS} else one["expected"] for one in SAMPLES
    )
    assert len(SAMPLES) >= 300
    assert kinds[None] >= 60
    assert kinds[AMBIGUOUS] >= 15
    assert {one["language"] for one in SAMPLES} == LANGUAGES
    assert len({one["text"] for one in SAMPLES}) == len(SAMPLES)


@pytest.mark.parametrize("held", [False, True])
def test_nearly_all_samples_are_read_right(held: bool) -> None:
    samples = [one for one in SAMPLES if one["held"] is held]
    wrong = [one for one in samples if told(one) != one["expected"]]
    assert len(wrong) <= 0.02 * len(samples), shown(wrong)


def test_no_decoy_is_claimed() -> None:
    claimed = [one for one in SAMPLES if one["expected"] is None and told(one) not in {None, AMBIGUOUS}]
    assert not claimed, shown(claimed)


class Labels(TypedDict):
    """What else than a code a number may be, as it stands before the number or on the line above it, in a mail that
    speaks of signing in (`words`)."""

    language: str
    words: str
    labels: Sequence[str]


LABELS: Sequence[Labels] = json.loads(Path("tests/vectors/numbers_of_other_things.json").read_text("utf-8"))


@pytest.mark.parametrize("shape", ["{}: 482913", "{} 482913", "{}:\n482913", "{}\n\n48291"])
@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels["language"])
def test_a_number_below_or_behind_another_label_is_none(labels: Labels, shape: str) -> None:
    lines = [f"{labels['words']}\n{shape.format(label)}\n" for label in labels["labels"]]
    assert [line for line in lines if find_code("", line) is not None] == []


def test_the_labels_of_other_things_are_of_every_language() -> None:
    assert {one["language"] for one in LABELS} == LANGUAGES


def test_nothing_ambiguous_is_guessed() -> None:
    guessed = [one for one in SAMPLES if one["expected"] == AMBIGUOUS and told(one) != AMBIGUOUS]
    assert not guessed, shown(guessed)


def test_no_sample_gives_a_code_that_is_not_its_own() -> None:
    foreign = [
        one
        for one in SAMPLES
        if one["expected"] not in {None, AMBIGUOUS} and told(one) not in {None, AMBIGUOUS, one["expected"]}
    ]
    assert not foreign, shown(foreign)


def test_shown_is_what_stands_at_its_place_and_value_what_is_typed() -> None:
    found = [(one, find_code(one["subject"], one["text"])) for one in SAMPLES]
    for sample, code in found:
        if code is None or code.value is None:
            continue
        view = sample["subject"] if code.view == "subject" else sample["text"]
        assert code.shown == view[code.start : code.end]
        narrow = re.sub(
            r"\d", lambda digit: str(int(digit[0])), unicodedata.normalize("NFKC", code.shown or "")
        )
        assert code.value == re.sub(r"[ \n-]", "", re.sub(r"\A(?:[A-Z]|FB)-(?=[0-9]+\Z)", "", narrow))


@pytest.mark.parametrize(
    ("words", "shown", "value"),
    [
        ("Your code is 482913.", "482913", "482913"),
        ("Your code:482913", "482913", "482913"),
        ("Your code is 482 913.", "482 913", "482913"),
        ("Your code is 482-913.", "482-913", "482913"),
        ("Your code is 4 8 2 9 1 3.", "4 8 2 9 1 3", "482913"),
        ("Your code is 48 29 13.", "48 29 13", "482913"),
        ("Your code:\n\n48·29·13\n\nIt expires.", "48·29·13", "482913"),
        ("Your code is 482–913.", "482–913", "482913"),
        ("Your code is 482‑913.", "482‑913", "482913"),
        ("Your code is 482·913.", "482·913", "482913"),
        ("Your code is ４８２９１３.", "４８２９１３", "482913"),
        ("G-123456 is your verification code.", "G-123456", "123456"),
        ("Your code is K7M-P2Q.", "K7M-P2Q", "K7MP2Q"),
        ("Your code is *482913*.", "482913", "482913"),
        ("Your code is **482913**", "482913", "482913"),
        ("Your passcode (38140) is new.", "38140", "38140"),
        ("Your code is 482913.Do not share it.", "482913", "482913"),
        ("Your code is\n482913\nSecurity team", "482913", "482913"),
        ("Your code is\n482913\n$5 off is waiting", "482913", "482913"),
        ("Gebruik OTP 105824 nu", "105824", "105824"),
        ("確認コード：７４１８０６", "７４１８０６", "741806"),
        ("您的验证码是604218，10分钟内有效", "604218", "604218"),
        ("您的一次性代码：604218", "604218", "604218"),
        ("Your code is\n\n4\n8\n2\n9", "4\n8\n2\n9", "4829"),
        ("رمز التحقق: ٤٨٢٩١٣", "٤٨٢٩١٣", "482913"),
        ("کد تایید: ۴۸۲۹۱۳", "۴۸۲۹۱۳", "482913"),
        ("Your code is KTP-WXR.", "KTP-WXR", "KTPWXR"),
        ("Your code is\n\nKTPWXRQZ", "KTPWXRQZ", "KTPWXRQZ"),
        ("Your code is\n\nkq7x2mvp\n\nThanks", "kq7x2mvp", "kq7x2mvp"),
        ("Sign in with both codes. PIN1: 482913", "482913", "482913"),
        ("Sign in. Sum 1533, OTP 482913", "482913", "482913"),
        ("请打开https://a.example/x，您的验证码是604218", "604218", "604218"),
        ("FB-48291 is your confirmation code", "FB-48291", "48291"),
        ("・認証コード：vM8xw\n有効期限は10分です。", "vM8xw", "vM8xw"),
        ("Verification code: q7Lp2", "q7Lp2", "q7Lp2"),
        ("OTP for your account (XX1245) is 811739", "811739", "811739"),
        ("OTP for A/C XXXX1245 login is 811739.", "811739", "811739"),
        ("482913 is the OTP for a/c no XX9911", "482913", "482913"),
    ],
)
def test_a_code_is_shown_as_it_stands_and_told_as_it_is_typed(words: str, shown: str, value: str) -> None:
    start = words.index(shown)
    assert find_code("", words) == FoundValue("labelled", value, shown, "text", start, start + len(shown))


@pytest.mark.parametrize(
    "words",
    [
        "Masuk. Kode WhatsApp Anda: 482913",
        "Đăng nhập. Mã WhatsApp của bạn: 482913",
        "אימות. קוד ה-WhatsApp שלך: 482913",
        "تحقق. رمز واتساب الخاص بك: 482913",
        "ورود. کد واتساپ شما: 482913",
        "로그인. WhatsApp 코드: 482913",
        "로그인. 회원님의 코드: 482913",
        "Log ind. Din kode er 482913",
        "Přihlášení. Váš kód je 482913",
    ],
)
def test_a_code_of_a_brand_is_the_reader_s(words: str) -> None:
    found = find_code("", words)
    assert found is not None
    assert found.value == "482913"


@pytest.mark.parametrize(
    "words",
    [
        "Masuk. Kode promo Anda: 482913",
        "Đăng nhập. Mã giảm giá của bạn: 482913",
        "אימות. קוד הקופון שלך: 482913",
        "تحقق. رمز الخصم الخاص بك: 482913",
        "ورود. کد رهگیری شما: 482913",
        "로그인. 쿠폰 코드: 482913",
        "Your code: abc",  # no digit
        "Your code: 482",  # three
        "Your code: 48291304417",  # eleven
        "Your code is in https://a.example/code/482913",
        "Your code is at code.482913@a.example",
        "Your code costs $4829",
        "Your code costs 4829 EUR",
        "Your code is good for 1440 minutes",
        "Your code was asked for in 2026",
        "Your code, tel. +49 30 482913",
        "Your code, card ending in 4829",
        "Your code, card **** 4829",
        "Your code, order number: 482913",
        "Your code, user id 482913",
        "Your code, Denver, CO 80202",
        "Sign in. Your promo code is 482913",
        "Sign in. Ihr Gutscheincode lautet 482913",
        "Sign in. Code postal : 33000",
        "Sign in. Error code 5003",
        "Sign in. Meeting ID: 981 2204 4110\nPasscode: 771203",
        "The storm code is 482913",
        "Sign-in report: 4 failed with code 4013",
        "Sign-in report: Código de curso 4410",
        "SEC-1001: how one-time codes get stolen",
        "Your code is\n\n1\n2\n3\n4",  # steps
        "Your code is XXXXXX",
        "Your code is READY-NOW",
        "Your code is known. Your sign-in name is\n\nada48213\n\nKeep it",
        "Sign in with your codes PIN1 and PIN2",
        "Sign in. The Code Report: 2026",
        "Sign in. The OTP of account XX1245 comes by SMS",
        "Sign in with your code. User: ada48213",
        "Your code, user: ada48213",
        "Your code: ada48213 keeps it",
        "Your code is good for 120–180 seconds",
        "Your code opens rooms 100–200",
        "Sign in. Postal code: 100–0001",
        "Your code was asked for on 21 11 26",
        "Your code is 48 29 13 55",
        "Sign in. Sort code: 20 00 00",
        "Sign in with your code. Tel: 48 29 13",
    ],
)
def test_a_number_that_another_word_names_is_none(words: str) -> None:
    assert find_code("", words) is None


def test_the_text_is_told_before_a_subject_that_says_the_same() -> None:
    found = find_code("482 913 is your code", "Your code: 482913")
    assert found is not None
    assert (found.view, found.shown, found.value) == ("text", "482913", "482913")


def test_a_subject_alone_is_enough() -> None:
    found = find_code("482913 is your sign-in code", "Hello")
    assert found is not None
    assert (found.view, found.start, found.end) == ("subject", 0, 6)


def test_a_lone_number_in_a_mail_about_signing_in_is_unlabelled() -> None:
    found = find_code("Sign in to Parcelo", "Hello\n\n482913\n\nType it into the app.")
    assert found is not None
    assert (found.confidence, found.value) == ("unlabelled", "482913")


def test_two_lone_numbers_are_nothing() -> None:
    assert find_code("Sign in to Parcelo", "482913\n\n771205") is None


def test_two_codes_are_told_and_none_is_chosen() -> None:
    found = find_code("", "Your login code is 482913.\nYour login code is 771205.")
    assert found == FoundValue("ambiguous", None, None, None, 0, 0, ["482913", "771205"])


def test_of_many_codes_a_few_are_told() -> None:
    words = "\n".join(f"Recovery code: {number}" for number in range(482913, 482913 + CANDIDATES_TOLD + 5))
    found = find_code("", words)
    assert found is not None
    assert len(found.candidates) == CANDIDATES_TOLD


def test_of_a_list_of_numbers_nothing_is_said() -> None:
    listed = "\n".join(f"row {number}" for number in range(3001, 3001 + CANDIDATES_MAX))
    assert find_code("", f"Your code is 482913.\n{listed}") is None


@pytest.mark.parametrize("year", range(1900, 2100, 37))
def test_a_year_is_a_code_only_where_it_is_said_to_be_one(year: int) -> None:
    assert find_code("", f"The sign-in code of {year} is no more, and in {year} enter the code") is None
    found = find_code("", f"Your sign-in code is {year}")
    assert found is not None
    assert found.value == str(year)


@pytest.mark.parametrize("filler", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\u200c", "\u200d"])
@pytest.mark.parametrize("shown", ["4829{}1379", "482{}913", "4{}8{}2{}9{}1{}3", "AB{}12-CD{}34"])
def test_what_takes_no_room_parts_no_code(shown: str, filler: str) -> None:
    """Senders put it between digits, lest a telephone makes a number of them; half a code is a wrong one."""
    shown = shown.format(*[filler] * 5)
    text = f"Hello{filler}!\nYour verifi{filler}cation code is {shown}{filler}. It is good for 10 minutes."
    found = find_code("Sign in", text)
    assert found is not None and found.value == shown.replace(filler, "").replace("-", "")
    assert (found.shown, text[found.start : found.end]) == (shown, shown)
