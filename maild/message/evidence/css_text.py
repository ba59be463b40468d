"""CSS text cut into rules and declarations, as far as it decides whether text is seen.

Nearly all CSS of mail is plain, and cut by patterns: no escapes, nothing unclosed. What the patterns do not know goes
through tinycss2, which takes seven times as long; so a message has MAX_PARSED_CHARS of that, and what is left over
counts as hiding. Its recursion is bounded by looking at the nesting first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import tinycss2

PROPERTIES: Final = frozenset(
    """display visibility opacity font font-size color -webkit-text-fill-color background background-color
    background-image position float left right top bottom text-indent margin-left margin-top transform clip clip-path
    overflow overflow-x overflow-y width height max-width max-height padding padding-top padding-bottom mso-hide filter
    content-visibility""".split()
)
MAX_PARSED_CHARS: Final = 8 * 1024
MAX_STYLE_CHARS: Final = 8 * 1024  # of one attribute
_MAX_NESTING: Final = 40
# A shorthand takes back what its longhands said before.
_LONGHANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "font": ("font-size",),
    "background": ("background-color", "background-image"),
}

# No strings, escapes, comments or functions that hold a semicolon: cut at semicolons, it is what a parser gives.
_PLAIN = re.compile(r"[\w\s:;#%.,()+!-]*", re.ASCII)
_BRACKETS = re.compile(r"[(\[{]|[)\]}]")
_BLANKS = r"[ \t\r\n\f]*+"
_DOUBLE = r""""(?>(?:[^"\\\n\r\f]++|\\[^\n\r\f])*)"""
_SINGLE = r"""'(?>(?:[^'\\\n\r\f]++|\\[^\n\r\f])*)"""
_STRING = rf"""(?:{_DOUBLE}"|{_SINGLE}')"""
_URL = rf"(?<![\w-])[uU][rR][lL]\({_BLANKS}(?:{_STRING}|[^\"'()\\\s\x00-\x08\x0b\x0e-\x1f\x7f]*+){_BLANKS}\)"
_IN_BRACKETS = rf"(?<![uU][rR][lL])\((?>(?:[^()\"'\\{{}}\[\]/;@<>!\x00]++|/(?!\*)|{_STRING})*)\)"
# Up to a semicolon: what a property may be named, and all of it.
_PIECE = re.compile(
    rf"{_BLANKS}(?>(?:([\w-]++){_BLANKS}:)?)"
    rf"(?>(?:[^;\"'(){{}}\[\]\\/@<>\x00uU]++|{_URL}|[uU](?![rR][lL]\()|/(?!\*)|{_STRING}|{_IN_BRACKETS})*)(?:;|\Z)"
)
_NUMBER = r"[+-]?+(?:\d*+\.)?\d++(?:%|[a-z]++(?![\w-]))?"
# Words, numbers and colours that a parser would write again as they stand.
_SIMPLE_VALUE = re.compile(
    rf"((?>(?:(?:(?!url\()-?[a-z][\w-]*+|{_NUMBER}|#[\w-]++)(?=[ \t\r\n\f,();!]|\Z)|[ \t\r\n\f,()])*))"
    r"(!important)?[ \t\r\n\f]*+;?",
    re.ASCII | re.IGNORECASE,
)
# What is left open is read to its end, so that no beginning is looked at twice.
_COMMENT = re.compile(
    rf"""{_DOUBLE}"?|{_SINGLE}'?|{_URL}|(?P<comment>/\*[^*]*+(?>(?:\*(?!/)[^*]*+)*)(?P<end>\*/)?)"""
)
_SETS_APART = frozenset(" \t\r\n\f;{},:>")
_TO_RULE = re.compile(_BLANKS)
_IN_SELECTOR = rf"\([^(){{}}\"'\\\[\]]*+\)|\[(?>(?:[^\]\[(){{}}\"'\\]++|{_STRING})*)\]"
_PRELUDE = rf"((?>(?:[^{{%s\"'\\@()\[\]]++|\\[^\n\r\f]|{_STRING}|{_IN_SELECTOR})+))\{{"
_ODD_SELECTOR = re.compile(r"\\|\.-?\d")
_CONTENT = rf"((?>(?:[^{{}}\"'\\]++|{_STRING})*))\}}"
_RULE = re.compile(_PRELUDE % "" + _CONTENT)
_INNER_RULE = re.compile(_PRELUDE % "}" + _CONTENT)
_AT_RULE = re.compile(
    rf"@([a-zA-Z-]++)((?>(?:[^{{}}();\"'\\@\[\]uU]++|{_URL}|[uU](?![rR][lL]\()|{_STRING}|\([^(){{}};\"'\\\[\]]*+\))*))"
    r"(;|\{)"
)
_INNER_CONTENT = re.compile(_CONTENT)
_EVERY_SCREEN = re.compile(r"(?:only\s++)?(?:all|screen)?\s*+", re.IGNORECASE)


class Declaration(NamedTuple):
    """`value`: in lower case, one blank between its parts."""

    name: str
    value: str
    important: bool


class Layer(NamedTuple):
    """What one block of declarations comes to, the last of a name winning; what is important apart."""

    normal: Mapping[str, str] = {}
    important: Mapping[str, str] = {}


NOTHING: Final = Layer()
UNREAD: Final = "unread"  # a declaration of ours: there was one that nobody read, and it may hide


class CssRule(NamedTuple):
    """A rule as it stands, for every screen."""

    selectors: str
    layer: Layer


def lay(style: dict[str, str], over: Mapping[str, str]) -> None:
    """Put declarations over others."""
    for name, value in over.items():
        style[name] = value
        for longhand in _LONGHANDS.get(name, ()):
            style.pop(longhand, None)


class CssReader:
    """Reads the CSS of one message. `is_cut`: some of it was not read."""

    def __init__(self) -> None:
        self.is_cut = False
        self._left = MAX_PARSED_CHARS
        self._known: dict[str, list[Declaration]] = {}

    def attribute(self, style: str) -> Layer:
        """What a `style` attribute says of PROPERTIES. Total; what is too long or too deep says nothing."""
        if len(style) > MAX_STYLE_CHARS:
            return NOTHING
        if _PLAIN.fullmatch(style) and "url" not in style.lower():
            return _layer(_plain(style))
        if _is_deep(style):
            return NOTHING
        plain = _without_comments(style)
        found = None if plain is None else self._cut(plain)
        return _layer(self._parse(style) if found is None else found)

    def sheet(self, css: str) -> Iterator[CssRule]:
        """The rules of a style sheet. Total; one that is too deep has none."""
        css = css.replace("<!--", "").replace("-->", "")
        if _is_deep(css):
            self.is_cut = True
            return
        rules, rest = self._plain_rules(css)
        yield from rules
        if rest and self._may_parse(rest):
            yield from _parsed_rules(
                tinycss2.parse_stylesheet(rest, skip_comments=True, skip_whitespace=True)
            )

    def _plain_rules(self, css: str) -> tuple[list[CssRule], str]:
        """The rules that it begins with, and what follows the last plain one."""
        plain = _without_comments(css)
        if plain is None:
            return [], css
        rules: list[CssRule] = []
        at = _blank_end(plain, 0)
        while at < len(plain):
            found = self._next(plain, at)
            if found is None:
                # Where a string is not closed, what looks like a comment is none.
                return (rules, css[at:]) if plain is css else ([], css)
            rules += found[0]
            at = _blank_end(plain, found[1])
        return rules, ""

    def _next(self, css: str, at: int) -> tuple[list[CssRule], int] | None:
        """What stands there, and where it ends; None: nothing that is plain."""
        if css.startswith("@", at):
            return self._at_rule(css, at)
        found = _RULE.match(css, at)
        rules = None if found is None else self._rule(found)
        return None if found is None or rules is None else (rules, found.end())

    def _rule(self, found: re.Match[str]) -> list[CssRule] | None:
        declared = self._cut(found[2])
        if declared is None:
            return None
        return [CssRule(self._selectors(found[1]), _layer(declared))] if declared else []

    def _selectors(self, prelude: str) -> str:
        if _ODD_SELECTOR.search(prelude) is None:
            return prelude
        if not self._may_parse(prelude):
            return ""
        return str(tinycss2.serialize(tinycss2.parse_component_value_list(prelude, skip_comments=True)))

    def _at_rule(self, css: str, at: int) -> tuple[list[CssRule], int] | None:
        begin = _AT_RULE.match(css, at)
        if begin is None:
            return None
        at = begin.end()
        if begin[3] == ";":
            return [], at
        name = begin[1].lower()
        if name != "media" and (content := _INNER_CONTENT.match(css, at)) is not None:
            return None if self._cut(content[1]) is None else ([], content.end())
        rules: list[CssRule] = []
        while not css.startswith("}", at := _blank_end(css, at)):
            found = _INNER_RULE.match(css, at)
            inner = None if found is None else self._rule(found)
            if found is None or inner is None:
                return None
            rules += inner
            at = found.end()
        is_for_all = name == "media" and _EVERY_SCREEN.fullmatch(begin[2].strip())
        return rules if is_for_all else [], at + 1

    def _cut(self, block: str) -> list[Declaration] | None:
        """The declarations of a block; None where it is not plain."""
        declared: list[Declaration] = []
        at = 0
        while at < len(block):
            found = _PIECE.match(block, at)
            if found is None:
                return None
            at = found.end()
            if found[1] is not None and found[1].lower() in PROPERTIES:
                declared += self._declared(found[0], found[1].lower(), found.end(1) - found.start())
        return declared

    def _declared(self, piece: str, name: str, name_end: int) -> list[Declaration]:
        if piece not in self._known:
            value = _SIMPLE_VALUE.fullmatch(piece, piece.index(":", name_end) + 1)
            if value is not None:
                words = " ".join(value[1].lower().split())
                self._known[piece] = [Declaration(name, words, value[2] is not None)]
            else:
                self._known[piece] = self._parse(piece)
        return self._known[piece]

    def _parse(self, block: str) -> list[Declaration]:
        if not self._may_parse(block):
            return [Declaration(UNREAD, "", False)]
        return list(_parsed(tinycss2.parse_blocks_contents(block, skip_comments=True, skip_whitespace=True)))

    def _may_parse(self, css: str) -> bool:
        self._left -= len(css)
        self.is_cut = self.is_cut or self._left < 0
        return self._left >= 0


def _plain(style: str) -> Iterator[Declaration]:
    for piece in style.split(";"):
        name, colon, value = piece.partition(":")
        name = name.strip().lower()
        if colon and name in PROPERTIES:
            value = " ".join(value.lower().split())
            important = value.endswith("!important")
            yield Declaration(name, value.removesuffix("!important").rstrip(), important)


def _parsed(nodes: Sequence[Any]) -> Iterator[Declaration]:
    for node in nodes:
        if node.type == "declaration" and node.lower_name in PROPERTIES:
            value = " ".join(tinycss2.serialize(node.value).lower().split())
            yield Declaration(node.lower_name, value, node.important)


def _parsed_rules(nodes: Sequence[Any]) -> Iterator[CssRule]:
    for node in nodes:
        if node.type == "at-rule" and node.lower_at_keyword == "media" and node.content is not None:
            if _EVERY_SCREEN.fullmatch(tinycss2.serialize(node.prelude).strip()):
                yield from _parsed_rules(
                    tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
                )
        elif node.type == "qualified-rule":
            content = tinycss2.parse_blocks_contents(node.content, skip_comments=True, skip_whitespace=True)
            if declared := list(_parsed(content)):
                yield CssRule(tinycss2.serialize(node.prelude), _layer(declared))


def _layer(declared: Iterable[Declaration]) -> Layer:
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for name, value, is_important in declared:
        lay(important if is_important else normal, {name: value})
    return Layer(normal, important)


def _without_comments(css: str) -> str | None:
    """The sheet without its comments; None where that might join what they set apart, or where it is not plain."""
    if "\x00" in css:
        return None
    if "/*" not in css:
        return css
    kept: list[str] = []
    at = 0
    for found in _COMMENT.finditer(css):
        if found["comment"] is not None:
            around = css[found.start() - 1 : found.start()], css[found.end() : found.end() + 1]
            if found["end"] is None or (_SETS_APART.isdisjoint(around) and all(around)):
                return None
            kept.append(css[at : found.start()])
            at = found.end()
    kept.append(css[at:])
    plain = "".join(kept)
    return None if "/*" in plain else plain


def _blank_end(css: str, at: int) -> int:
    found = _TO_RULE.match(css, at)
    return at if found is None else found.end()


def _is_deep(css: str) -> bool:
    depth = deepest = 0
    for bracket in _BRACKETS.findall(css):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest > _MAX_NESTING
