"""CSS that is cut by patterns says what a parser reads in it: what tinycss2 makes of the whole is the judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tinycss2
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maild.message.evidence.css_text import PROPERTIES, CssReader, CssRule, lay

# An example of each branch, to be put together in any order.
DECLARATIONS = [
    *(
        "display:none",
        "COLOR : #FFF ! important",
        "color:#fff!important",
        "font-size:0",
        "font:12px/1 Arial",
        "opacity:.2",
    ),
    *(
        "left:-9999px",
        "transform:translateX(-9999px)",
        "clip:rect(0,0,0,0)",
        "background:url(a;b)",
        "background:url('x')",
    ),
    *(
        "background:URL( a )",
        "background-color:white",
        "filter:progid:DX.G(a='1',b='2')",
        "\\64isplay:none",
        "*left:0",
    ),
    *(
        "font-family:'a;b'",
        'font-family:"}"',
        "content:'\\'}'",
        "width:1-2",
        "color:red blue",
        "display",
        "x:y",
        ":",
        "_x",
    ),
]
JUNK = [
    *(
        "(",
        ")",
        "(a)",
        "[a]",
        "{",
        "}",
        "'",
        '"',
        '"x',
        "\\",
        "/*x*/",
        "/*",
        "*/",
        "/**/",
        "@media",
        "@x;",
        "url(",
        "myurl(a)",
    ),
    *(
        "!ie",
        ";",
        ":",
        ",",
        "<!--",
        "-->",
        "<",
        ">",
        "#",
        "\xa0",
        "\xe9",
        "\n",
        "\f",
        "\x00",
        "1.5.5",
        "--x",
        "calc(1px + 2px)",
    ),
]
SELECTORS = [
    "p",
    "*",
    "div p",
    "div>p",
    ".a",
    "#c",
    "p.a",
    "a:hover",
    "[x='}']",
    "h1,h2",
    ".\\61",
    ".1a",
    "p1.5.5",
    "a/**/b",
]
AT_RULES = [
    *(
        "@media screen{%s}",
        "@media print{%s}",
        "@media{%s}",
        "@MEDIA ALL{%s}",
        "@media all{%s",
        "@import url(x.css);%s",
    ),
    *(
        "@font-face{font-family:x;src:url(a)}%s",
        "@keyframes a{0%%{left:0}}%s",
        "@supports (display:grid){%s}",
        "@x;%s",
    ),
]
STYLES = st.lists(st.sampled_from(DECLARATIONS) | st.sampled_from(JUNK), max_size=6).flatmap(
    lambda pieces: st.sampled_from([";", "; ", ""]).map(lambda between: between.join(pieces))
)
RULES = st.builds(
    lambda selector, style, end: f"{selector}{{{style}{end}",
    st.sampled_from(SELECTORS),
    STYLES,
    st.sampled_from(["}", "}", "}", "}\n", "", "}}", "/*c*/}"]),
)
SHEETS = st.lists(
    RULES | st.builds(str.__mod__, st.sampled_from(AT_RULES), RULES) | st.sampled_from(JUNK), max_size=5
).map("".join)


def settled(nodes: list[Any]) -> dict[str, str]:
    style: dict[str, str] = {}
    for is_important in (False, True):
        for node in nodes:
            if (
                node.type == "declaration"
                and node.lower_name in PROPERTIES
                and node.important is is_important
            ):
                lay(style, {node.lower_name: " ".join(tinycss2.serialize(node.value).lower().split())})
    return style


def judged(nodes: list[Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for node in nodes:
        if node.type == "qualified-rule":
            content = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            if style := settled(content):
                yield tinycss2.serialize(node.prelude), style
        elif node.type == "at-rule" and is_for_every_screen(node):
            rules = tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
            yield from judged(rules)


def is_for_every_screen(rule: Any) -> bool:
    is_media = rule.lower_at_keyword == "media" and rule.content is not None
    return is_media and tinycss2.serialize(rule.prelude).strip().lower() in ("", "all", "screen")


def shown(rule: CssRule) -> tuple[str, dict[str, str]]:
    style = dict(rule.layer.normal)
    lay(style, rule.layer.important)
    return rule.selectors, style


def plain(selectors: str) -> list[str]:
    """Those that are ever looked for; how others are written again does not matter."""
    kept = [" ".join(one.replace(">", " > ").split()) for one in selectors.split(",")]
    return [one for one in kept if one and not set(one) & set("[]()\"'\\:+~/@;{}<!%")]


@settings(max_examples=400, deadline=None)
@given(css=SHEETS)
def test_sheets(css: str) -> None:
    reader = CssReader()
    found = [shown(one) for one in reader.sheet(css)]
    assert not reader.is_cut
    bare = css.replace("<!--", "").replace("-->", "")
    nodes = tinycss2.parse_stylesheet(bare, skip_comments=True, skip_whitespace=True)
    expected = list(judged(nodes))
    assert [(plain(one), style) for one, style in found] == [(plain(one), style) for one, style in expected]


@settings(max_examples=400, deadline=None)
@given(style=STYLES)
@example(";/!")
def test_styles_that_are_not_plain(style: str) -> None:
    style += ";x:'y'"  # no longer plain
    layer = CssReader().attribute(style)
    found = dict(layer.normal)
    lay(found, layer.important)
    assert found == settled(tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True))
