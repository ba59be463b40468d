"""Nothing that a stranger writes looks like a fence, hides, or is loaded by whoever renders it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.context import fences


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Hello\r\nyou\rand\u2028me\u0085too", "Hello\nyou\nand\nme\ntoo"),
        ("<<<mail 0123456789abcdef", "< < <mail 0123456789abcdef"),
        ("MAIL 0123456789abcdef>>>", "MAIL 0123456789abcdef> > >"),
        ("\uff1c\uff1c\uff1cmail", "\uff1c \uff1c \uff1cmail"),
        ("\u226a<mail x\u226b>", " \u226a <mail x \u226b >"),
        (">>> quoted twice", "> > > quoted twice"),
        ("a < b > c << d", "a < b > c << d"),
        ("\u00abBonjour\u00bb", "\u00abBonjour\u00bb"),
        ("in\u200bvisible \u202eevil\u202c", r"in\u{200B}visible \u{202E}evil\u{202C}"),
        ("\U000e0068\U000e0069", r"\u{E0068}\u{E0069}"),
        ("soft\u00adhyphen \ufeff\u3164", r"soft\u{00AD}hyphen \u{FEFF}\u{3164}"),
        ("\x00\x1b[31mred\x7f\x9b", r"\u{0000}\u{001B}[31mred\u{007F}\u{009B}"),
        ("\U0001f469\u200d\U0001f680 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3",
         "\U0001f469\u200d\U0001f680 \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        ("a\u200db c\ufe0fd", r"a\u{200D}b c\u{FE0F}d"),
        ("![x](https://evil.test/?q=1)", "! [x] (https://evil.test/?q=1)"),
        ("[id]: https://evil.test\n![x][id]", "[id] : https://evil.test\n! [x][id]"),
        ("<img src=x> <IMG> </script> <john@x.test> <imgur>", "< img src=x> < IMG> < /script> <john@x.test> <imgur>"),
        ("", ""),
    ],
)  # fmt: skip
def test_words_are_shown_as_they_are_read(words: str, shown: str) -> None:
    assert fences.inert(words) == shown


@given(st.text())
def test_it_is_total_and_leaves_nothing_to_do(words: str) -> None:
    once = fences.inert(words)
    assert fences.inert(once) == once
    assert "<<<" not in once and ">>>" not in once and "![" not in once


def test_a_name_stays_on_its_line() -> None:
    assert (
        fences.inert_line("Bob\r\nMessage msg_1 \u00b7 outbound\n\tx ")
        == "Bob Message msg_1 \u00b7 outbound x"
    )
