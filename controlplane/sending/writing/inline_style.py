"""Styles that have functions in functions, of which nh3 loses the inner ones: `calc((100% - 20px) / 2)`, a gradient of
`rgba(…)`. What is left open then takes all declarations behind it along.

Read is what needs no parser: no escape, no comment, no braces, and functions that compute lengths and colours alone.
"""

import re
from collections.abc import Collection
from typing import Final

PICTURE: Final = r"(?:https?://|cid:)"
# Anywhere in markup, so that most of it is not looked at attribute by attribute.
NESTED: Final = re.compile(r"[\w-]\([^()<>]*+\(")
_FUNCTIONS: Final = frozenset(
    """calc clamp max min env var color color-mix hsl hsla hwb lab lch light-dark oklab oklch rgb rgba conic-gradient
    linear-gradient radial-gradient repeating-conic-gradient repeating-linear-gradient
    repeating-radial-gradient""".split()
) | {""}
_STRING = r"""(?:"[^"\\<>\n\r\f]*+"|'[^'\\<>\n\r\f]*+')"""
_URL = rf"""url\(\s*+(?:"{PICTURE}[^"\\\s]*+"|'{PICTURE}[^'\\\s]*+'|{PICTURE}[^"'()\\\s]*+)\s*+\)"""
_TOKEN = re.compile(
    rf"(?:{_STRING}|(?<![\w-]){_URL})|(?P<function>[\w-]*+)\(|(?P<mark>[);])|[\w-]++|[\s:#%.,+*!]++|/(?!\*)",
    re.IGNORECASE,
)


def kept_declarations(style: str, properties: Collection[str]) -> str | None:
    """The declarations of these properties; None for a style that has more in it than is read here. Linear."""
    pieces = _cut(style)
    if pieces is None:
        return None
    declared = ((name.strip().lower(), value.strip()) for name, value in pieces)
    return ";".join(f"{name}:{value}" for name, value in declared if value and name in properties)


def _cut(style: str) -> list[tuple[str, str]] | None:
    """What stands between semicolons, before and behind its colon."""
    style += ";"
    pieces = []
    begin = at = depth = 0
    for token in _TOKEN.finditer(style):
        if token.start() != at:
            return None
        at = token.end()
        if (function := token["function"]) is not None:
            if function.lower() not in _FUNCTIONS:
                return None
            depth += 1
        elif token["mark"] == ")":
            depth -= 1
        elif token["mark"]:
            if depth:
                return None
            name, _, value = style[begin : token.start()].partition(":")
            pieces.append((name, value))
            begin = at
        if depth < 0:
            return None
    return pieces if begin == len(style) else None
