"""Styles are cut at their semicolons as a browser cuts them, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controlplane.sending.writing.inline_style import NESTED, kept_declarations

PROPERTIES = frozenset(["color", "width", "background", "font-family"])


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        ("", ""),
        (";; color:red ;width", "color:red"),
        ("COLOR : RGB(max((1)), 2, 3)", "color:RGB(max((1)), 2, 3)"),
        ("width:calc((1px));position:fixed;top:max((0px));color:red", "width:calc((1px));color:red"),
        ("font-family:'a;position:b';color:red", "font-family:'a;position:b';color:red"),
        ("font-family:'a(b';width:max((1px))", "font-family:'a(b';width:max((1px))"),
        ("background:URL( 'https://a.test/b;c' ) red", "background:URL( 'https://a.test/b;c' ) red"),
    ],
)
def test_what_is_plain_is_kept_by_its_property(style: str, kept: str) -> None:
    assert kept_declarations(style, PROPERTIES) == kept


@pytest.mark.parametrize(
    "style",
    [
        "width:calc((1px)",
        "width:calc((1px)));color:red",
        "width:calc((1px;position:fixed));color:red",
        "color:red}p{color:blue",
        "color:red/*;*/;width:1px",
        "color:r\\65 d",
        "font-family:'a",
        "font-family:'a\nb'",
        'font-family:"</style>"',
        "background:url(//evil.test/a)",
        "background:url('https://a.test/b)",
        "background:url(https://a.test/b c)",
        "background:url(file:///a)",
        "width:expression((1))",
        "background:-webkit-image-set(('a' 1x))",
        "background:src('a')",
        "@import 'a'",
        "color:<!--red",
        "color:[red]",
    ],
)
def test_what_takes_a_parser_is_not_read(style: str) -> None:
    assert kept_declarations(style, PROPERTIES) is None


PIECES = [
    "calc(",
    "(",
    ")",
    ";",
    ":",
    "color",
    "position",
    "'",
    '"',
    "url(https://a.test/b)",
    "url(",
    "x",
    "/",
    "*",
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_no_semicolon_or_bracket_is_left_open(style: str) -> None:
    kept = kept_declarations(style, PROPERTIES)
    assert kept is None or kept_declarations(kept, PROPERTIES) == kept
    assert kept is None or kept.count("(") == kept.count(")") or "'" in kept or '"' in kept


@pytest.mark.parametrize("piece", ["(", "a(", "calc(1px)", "'", "url(", ";", "a:b;", "/", "/*", "x(("])
def test_the_work_grows_as_the_text_does(piece: str) -> None:
    style = piece * 100_000
    kept_declarations(style, PROPERTIES)
    NESTED.search(style)
