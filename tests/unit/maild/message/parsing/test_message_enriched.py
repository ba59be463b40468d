"""RFC 1896: text/enriched is read as its words, however it comes (maild/message/parsing/enriched.py)."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maild.message.parsing.enriched import Enriched, without_commands
from maild.message.parsing.parse import parse, read_text
from tests.support.laws.work import assert_proportional, bomb


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (
            "<bold>Now</bold> is the time for <italic>all</italic>\ngood men\n",
            "Now is the time for all good men\n",
        ),
        ("one\n\ntwo\n\n\nthree", "one\ntwo\n\nthree"),
        ("<bold>a\n</bold>\nb", "a\nb"),
        ("1 << 2 <<b>", "1 < 2 <b>"),
        ("<color><param>red</param>Red</color> <fontfamily><param>Times</param>x</fontfamily>", "Red x"),
        ("a<center>b</center>c", "a\nb\nc"),
        ("<excerpt>q\n\nr</excerpt>s", "q\nr\ns"),
        ("<nofill>a\nb\n</nofill>c\nd", "a\nb\n\nc d"),
        ("<Bold>a</BOLD><x-tad-bigger>b</x-tad-bigger>", "ab"),
        ("a<nl>b<lt>c", "a\nb<c"),
        ("a < b, <no command>, <" + "x" * 61 + ">", "a < b, <no command>, <" + "x" * 61 + ">"),
        ("<param>never closed\nseen", "never closed seen"),
        ("<param>" + "x" * 300 + "</param>", "x" * 300),
        ("a <", "a <"),
        ("a <bol", "a <bol"),
    ],
)
def test_commands_go_and_words_stay(text: str, words: str) -> None:
    assert without_commands(text) == words


PIECES = [
    "<",
    ">",
    "<<",
    "/",
    "bold",
    "<param>",
    "</param>",
    "\n",
    "x",
    " ",
    "<nofill>",
    "</nofill>",
    "<center>",
    "é",
]


@example("<<param><<", 9)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.integers(1, 9))
def test_pieces_cut_anywhere_give_the_same(text: str, size: int) -> None:
    reader = Enriched()
    pieces = [reader.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + reader.flush() == without_commands(text)


@pytest.mark.parametrize(
    "unit", ["<", "<<", "<param>", "<param>x", "\n", "<b>", "</", "<nofill>", "x<center>"]
)
def test_it_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(without_commands, bomb(unit))
    without_commands(bomb(unit).whole())


@pytest.mark.parametrize("content_type", ["text/enriched", "Text/RichText"])
def test_the_text_of_a_mail(content_type: str) -> None:
    raw = f"Content-Type: {content_type}; charset=utf-8\r\n\r\n<bold>Now</bold>\r\nis the time\r\n".encode()
    message = parse(raw)
    assert read_text(raw, message.text)[0] == "Now is the time\n"
