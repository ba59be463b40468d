"""Any mail: looking for its link never fails, hands out only what the caller trusts, and asks no more for more."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.sign_in.codes import CANDIDATES_TOLD, TEXT_CHARS
from maild.message.sign_in.sign_in_links import LINKS_MAX, URL_CHARS_MAX, find_link

# What links and the words around them are made of: an example of each branch, to be put together in any order.
PIECES = st.sampled_from(
    [
        "Verify ",
        "Sign in: ",
        "Unsubscribe ",
        "Not you? ",
        "expires in 15 minutes ",
        "https://",
        "HTTPS://",
        "http://",
        "bank.example",
        "BANK.example",
        "evil.test",
        "://",
        "/",
        "?",
        "#",
        "@",
        ":443",
        ":x",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "\\",
        "%2f",
        ".",
        "。",
        "，",
        "verify/1",
        "00112233445566778899aabb",
        "\n",
        " | ",
        " ",
        "\x00",
        "\ud800",
        "ä",
    ]
)
WORDS = st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join)


def is_trusted(host: str) -> bool:
    """Is it the bank's?"""
    return host == "bank.example"


@given(WORDS)
def test_a_found_link_is_whole_and_leads_to_the_trusted_host(words: str) -> None:
    found = find_link(words, is_trusted)
    if found is None:
        return
    urls = [found.value] if found.value is not None else found.candidates
    for url in urls:
        assert url in words
        parts = urlsplit(url)
        assert (parts.scheme, parts.hostname, parts.username) == ("https", "bank.example", None)
        assert url.isascii()
        assert url.isprintable()
        assert len(url) <= URL_CHARS_MAX
    if found.value is None:
        assert (found.shown, found.view, found.start, found.end) == (None, None, 0, 0)
        assert 2 <= len(set(urls)) == len(urls) <= CANDIDATES_TOLD
    else:
        assert found.value == found.shown == words[found.start : found.end]


TORTURES = {
    "links": "Verify https://bank.example/verify/1 ",
    "endless link": "https://bank.example/",
    "schemes": "https://",
    "brackets": "https://bank.example/))))))))))",
    "dots": "a.b.c.",
    "tokens": "a0",
    "blanks": " ",
    "wide": "https://bank.example/v，",
}


@pytest.mark.parametrize("piece", TORTURES.values(), ids=TORTURES)
@pytest.mark.parametrize("size", [TEXT_CHARS // 2, TEXT_CHARS, 2 * TEXT_CHARS])
def test_hosts_asked_for_are_bounded(piece: str, size: int) -> None:
    asked: list[str] = []

    def count(host: str) -> bool:
        asked.append(host)
        return True

    find_link(("Sign in. " + piece * (size // len(piece) + 1))[:size], count)
    assert len(asked) <= LINKS_MAX


@pytest.mark.parametrize("count", [LINKS_MAX // 4, LINKS_MAX // 2])
def test_each_link_is_asked_for_once(count: int) -> None:
    asked: list[str] = []

    def never(host: str) -> bool:
        asked.append(host)
        return False

    find_link("Verify https://bank.example/verify/1 " * count, never)
    assert len(asked) == count


def test_what_stands_behind_the_limit_is_not_looked_at() -> None:
    assert find_link("Verify" + " " * TEXT_CHARS + "https://bank.example/verify/1", is_trusted) is None
