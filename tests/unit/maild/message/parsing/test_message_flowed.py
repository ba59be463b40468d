"""RFC 3676: the paragraphs of a text that its mailer broke into lines (maild/message/parsing/flowed.py)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maild.message.digest import digest, slices_from
from maild.message.parsing.flowed import FLOWED, FLOWED_DELSP, MAX_LINE_CHARS, Unflowing, unflow
from maild.message.parsing.parse import parse, read_text
from tests.support.laws.work import assert_proportional, bomb


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One \ntwo \nthree.\nFour.\n", "One two three.\nFour.\n"),
        ("One\n\ntwo \n\nthree\n", "One\n\ntwo\n\nthree\n"),
        ("> quoted \n> words\nmine \nwords\n", "> quoted words\nmine words\n"),
        (">> deep \n> less \nnone\n", ">> deep\n> less\nnone\n"),
        (">> deep \n>> er\n", ">> deep er\n"),
        (">one \n> two\n>\n> three\n", "> one two\n>\n> three\n"),
        (" From here\n > no quote\n  indented\n", "From here\n> no quote\n indented\n"),
        ("words \n-- \nAda \nLovelace\n", "words\n-- \nAda Lovelace\n"),
        ("> words \n> -- \n> Ada\n", "> words\n> -- \n> Ada\n"),
        ("no end ", "no end"),
        ("no end \n", "no end\n"),
        ("", ""),
        ("\n", "\n"),
        ("a\n" + "x" * MAX_LINE_CHARS + "y \nb\n", "a\n" + "x" * MAX_LINE_CHARS + "y \nb\n"),
    ],
)
def test_lines_flow_into_paragraphs(text: str, expected: str) -> None:
    assert unflow(text, FLOWED) == expected


def test_delsp_takes_the_blank_away() -> None:
    assert unflow("日本 \n語の \n文。\n> 引 \n> 用\n", FLOWED_DELSP) == "日本語の文。\n> 引用\n"


PIECES = st.sampled_from(["words ", "words", " ", "\n", ">", "> ", "-- \n", "x" * 500, "\n\n"])


@given(
    st.lists(PIECES, max_size=25).map("".join), st.integers(1, 40), st.sampled_from([FLOWED, FLOWED_DELSP])
)
@example("x" * 3000 + " \ny \nz", 1, FLOWED)
def test_pieces_cut_anywhere_give_the_same(text: str, size: int, flow: str) -> None:
    reader = Unflowing(flow)
    pieces = [reader.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + reader.flush() == unflow(text, flow)
    assert len(reader._held) <= MAX_LINE_CHARS


@given(st.lists(PIECES, max_size=25).map("".join))
def test_no_word_is_lost(text: str) -> None:
    for flow in (FLOWED, FLOWED_DELSP):
        assert unflow(text, flow).translate(_UNMARKED) == text.translate(_UNMARKED) or ">" in text


_UNMARKED = dict.fromkeys(map(ord, " \n"))


@pytest.mark.parametrize("unit", [" \n", "\n", ">", "> \n", "x \n", "x", ">x \n>>y \n", "-- \n"])
def test_flowing_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(lambda text: unflow(text, FLOWED), bomb(unit))
    unflow(bomb(unit).whole(), FLOWED)


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("text/plain; format=flowed", "one two\n"),
        ('text/plain; charset=utf-8; Format="FLOWED"; DelSp=no', "one two\n"),
        ("text/plain; format=flowed; delsp=yes", "onetwo\n"),
        ("text/plain; format=fixed", "one \ntwo\n"),
        ("text/plain; delsp=yes", "one \ntwo\n"),
    ],
)
@pytest.mark.parametrize("encoding", ["7bit", "quoted-printable"])
def test_a_body_says_what_was_written(declared: str, text: str, encoding: str) -> None:
    words = "one =\r\n\r\ntwo\r\n" if encoding == "quoted-printable" else "one \r\ntwo\r\n"
    raw = f"Content-Type: {declared}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n{words}".encode()
    assert digest(raw).text_body == text


def test_html_never_flows() -> None:
    raw = b"Content-Type: text/html; format=flowed\r\n\r\n<pre>a \r\nb</pre>"
    assert read_text(raw, parse(raw).html)[0] == "<pre>a \nb</pre>"


def test_a_large_body_is_known_as_flowed_when_it_is_read_again() -> None:
    raw = b"Content-Type: text/plain; format=flowed\r\n\r\n" + b"words and \r\n" * 20_000
    found = digest(raw)
    assert found.text_slices is not None
    text, _ = read_text(raw, slices_from(found.text_slices))
    assert text == "words and " * 19_999 + "words and\n"
