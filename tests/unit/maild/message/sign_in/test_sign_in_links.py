"""The link that signs in is found where one is meant; what leads away or elsewhere is never handed out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NotRequired, TypedDict

import pytest

from maild.message.sign_in.codes import CANDIDATES_TOLD, FoundValue
from maild.message.sign_in.sign_in_links import LINKS_MAX, URL_CHARS_MAX, find_link

AMBIGUOUS = "ambiguous"
TOKEN = "00112233445566778899aabb"


class Sample(TypedDict):
    """A mail of the `trusted` domains, and the link that it asks to open: null without one, or "ambiguous".
    `source`: the public template whose shape it has, in words of our own."""

    language: str
    trusted: Sequence[str]
    text: str
    expected: str | None
    held: bool
    source: NotRequired[str]


SAMPLES: Sequence[Sample] = json.loads(Path("tests/vectors/sign_in_links.json").read_text("utf-8"))


def of(*domains: str) -> Callable[[str], bool]:
    """Is a host one of these domains, or under one?"""
    return lambda host: any(host == domain or host.endswith(f".{domain}") for domain in domains)


def told(sample: Sample) -> str | None:
    found = find_link(sample["text"], of(*sample["trusted"]))
    return None if found is None else found.value or AMBIGUOUS


def shown(samples: Sequence[Sample]) -> str:
    return "\n".join(f"{one['text']!r}: {told(one)}, not {one['expected']}" for one in samples)


def link_in(words: str) -> str | None:
    found = find_link(words, of("bank.example"))
    return None if found is None else found.value or AMBIGUOUS


def test_the_samples_are_many_kinds_of_mail() -> None:
    kinds = Counter(
        "link" if one["expected"] not in {None, AMBIGUOUS} else one["expected"] for one in SAMPLES
    )
    assert len(SAMPLES) >= 60
    assert kinds[None] >= 25
    assert kinds[AMBIGUOUS] >= 3


def test_nearly_all_samples_are_read_right() -> None:
    wrong = [one for one in SAMPLES if told(one) != one["expected"]]
    assert len(wrong) <= 0.02 * len(SAMPLES), shown(wrong)


def test_no_decoy_is_claimed() -> None:
    claimed = [one for one in SAMPLES if one["expected"] is None and told(one) not in {None, AMBIGUOUS}]
    assert not claimed, shown(claimed)


def test_nothing_ambiguous_is_guessed() -> None:
    guessed = [one for one in SAMPLES if one["expected"] == AMBIGUOUS and told(one) != AMBIGUOUS]
    assert not guessed, shown(guessed)


def test_a_link_stands_where_it_is_said_to() -> None:
    for sample in SAMPLES:
        found = find_link(sample["text"], of(*sample["trusted"]))
        if found is not None and found.value is not None:
            assert found.value == found.shown == sample["text"][found.start : found.end]


@pytest.mark.parametrize(
    "words",
    [
        "Verify: https://bank.example/verify/1",
        "Verify: https://BANK.example/verify/1",
        "Verify: https://id.bank.example/verify/1",
        "Verify: https://bank.example:443/verify/1",
        "Copy this link into your browser to verify: https://bank.example/v/1",
        "By signing up you agree to our terms. Verify here: https://bank.example/v/1",
        "Terms (https://bank.example/terms) | Verify (https://bank.example/v/1)",
        "Verify (https://bank.example/v/1) Help (https://bank.example/help/1)",
        "Log in (https://bank.example/login) Verify (https://bank.example/v/1)",
        "Verify your Node.js account (https://bank.example/v/1)",
        f"Sign in within 15 minutes: https://bank.example/{TOKEN}",
        "id.bank.example (https://id.bank.example/verify/1)",
        "bank.example (https://id.bank.example/verify/1)",
        "[Verify](https://bank.example/v/1)",
        "Verify: [https://bank.example/v/1](https://bank.example/v/1)",
        f"Verify (https://bank.example/#/v?t={TOKEN})",
        "Ignore this if you did not ask for it. Verify: https://bank.example/v/1",
        "If this was you, verify:\nhttps://bank.example/v/1",
    ],
)
def test_a_link_is_found(words: str) -> None:
    assert link_in(words) in {"https://" + rest.split(")")[0] for rest in words.split("https://")[1:]}


@pytest.mark.parametrize(
    "words",
    [
        "Verify: http://bank.example/verify/1",
        "Verify: https://bank.example.evil.test/verify/1",
        "Verify: https://evilbank.example/verify/1",
        "Verify: https://bank.example@evil.test/verify/1",
        "Verify: https://evil.test@bank.example/verify/1",
        "Verify: https://a:b@bank.example/verify/1",
        "Verify: https://bank.example:8443/verify/1",
        "Verify: https://evil.test%2f.bank.example/verify/1",
        "Verify: https://evil.test\\.bank.example/verify/1",
        "Verify: https://bank.example\\@evil.test/verify/1",
        "Verify: https://evil.test。bank.example/verify/1",
        "Verify: https://[::1]/verify/1",
        "Verify: https://bank.example/verify/\x01",
        "Verify: https://bank.example/verify/ä",
        "Verify: https:///verify/1",
        "Verify: https://bank.example:x/verify/1",
        f"Verify: https://bank.example/verify/{'a' * URL_CHARS_MAX}",
        "Sign in at evil.test (https://bank.example/signin/1)",
        "https://evil.test/verify (https://bank.example/verify/1)",
        "Sign in: https://bank.example/",
        "Log in (https://bank.example/login)",
        f"Read more (https://bank.example/a/{TOKEN})",
        f"Sign in or unsubscribe (https://bank.example/u/{TOKEN})",
        f"Sign in. Wasn't you? Tell us (https://bank.example/r/{TOKEN})",
        f"Confirm. https://bank.example/open.gif?id={TOKEN}",
        "Hot: https://bank.example/hotpink/1",
        "By https://bank.example/authors/kim1",
        "Confirm your order (https://bank.example/c/1)",
        "Sign in (https://bank.example/account/login)",
        "Errors (https://bank.example/error-codes#authentication-failures)",
        "Sign in (https://bank.example/Account/Login.aspx#top)",
        "If this wasn't you:\nReset your password (https://bank.example/reset/1)",
        "You did not ask? Reset your password (https://bank.example/reset/1)",
    ],
)
def test_what_leads_away_or_elsewhere_is_none(words: str) -> None:
    assert link_in(words) is None


def test_the_same_link_twice_is_one() -> None:
    assert (
        link_in("Verify (https://bank.example/v/1), or verify: https://bank.example/v/1.")
        == "https://bank.example/v/1"
    )


def test_two_links_that_ask_are_told_and_none_is_chosen() -> None:
    found = find_link("Verify https://bank.example/v/1\nVerify https://bank.example/v/2", of("bank.example"))
    urls = ["https://bank.example/v/1", "https://bank.example/v/2"]
    assert found == FoundValue("ambiguous", None, None, None, 0, 0, urls)


def test_a_link_that_asks_comes_before_those_that_say_nothing() -> None:
    words = f"Read (https://bank.example/{TOKEN})\nVerify (https://bank.example/v/1)"
    assert link_in(words) == "https://bank.example/v/1"


def test_of_many_links_a_few_are_told() -> None:
    words = "\n".join(f"Verify https://bank.example/v/{number}" for number in range(CANDIDATES_TOLD + 5))
    found = find_link(words, of("bank.example"))
    assert found is not None
    assert len(found.candidates) == CANDIDATES_TOLD


def test_of_a_list_of_links_nothing_is_said() -> None:
    listed = "\n".join(f"https://other.example/{number}" for number in range(LINKS_MAX))
    assert link_in(f"Verify https://bank.example/v/1\n{listed}") is None
    assert link_in(f"Verify https://bank.example/v/1\n{listed[1:]}") is not None
