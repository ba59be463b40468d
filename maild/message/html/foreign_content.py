"""Words in MathML and SVG as words of the HTML around them.

Sanitisers that know HTML alone drop both with their words, and mail programs that draw neither show the words.
Descriptions are for programs. What is in doubt counts as HTML, where it is seen.
"""

from __future__ import annotations

import re
from typing import Final

from maild.message.html.html_tokens import HtmlToken, TokenKind, html_tokens

_FOREIGN = re.compile(r"<(?:math|svg)[\s/>]", re.IGNORECASE)
_ROOTS: Final = frozenset(["math", "svg"])
_HTML_INSIDE: Final = "foreignobject"  # HTML, "HTML integration point": the one that holds more than a label
# Nobody reads one of these as one word with the next.
_APART: Final = _ROOTS | frozenset("mi mn mo ms mtext text".split())
_UNSHOWN: Final = {
    "math": frozenset(["annotation", "annotation-xml"]),
    "svg": frozenset(["defs", "desc", "metadata", "symbol"]),
}
# HTML, "The rules for parsing tokens in foreign content": tags that end it.
_ENDING: Final = frozenset(
    """b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu
    meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var""".split()
)
_ENDING_BY_END_TAG: Final = frozenset(["br", "p"])
_MAX_DEPTH: Final = 64  # of roots in roots; what is deeper counts as HTML early
_OPEN, _CLOSE = TokenKind.OPEN, TokenKind.CLOSE


def without_foreign_content(html: str) -> str:
    """The HTML without tags of MathML and SVG, their words apart from each other. Linear and total."""
    if _FOREIGN.search(html) is None:
        return html
    reader = _ForeignReader(html)
    return "".join(map(reader.kept, html_tokens(html)))


class _ForeignReader:
    def __init__(self, html: str) -> None:
        self._html = html
        self._open: list[str] = []  # roots, and what holds HTML in them
        self._unshown = ""  # the element that is being passed over

    def kept(self, token: HtmlToken) -> str:
        """What stands for the token."""
        name, kind = token.name, token.kind
        is_empty = token.attributes.endswith("/")
        if kind is _OPEN and name in _ROOTS:
            if not is_empty and not self._unshown and len(self._open) < _MAX_DEPTH:
                self._open.append(name)
            return " "
        if kind is _CLOSE and name in self._open:
            while self._open.pop() != name:
                pass
            self._unshown = ""
            return " "
        if not self._open or self._open[-1] == _HTML_INSIDE:
            return self._html[token.start : token.end]
        if name in (_ENDING if kind is _OPEN else _ENDING_BY_END_TAG):
            self._end()
            return self._html[token.start : token.end]
        return self._foreign(token, is_empty=is_empty)

    def _end(self) -> None:
        self._unshown = ""
        while self._open and self._open[-1] != _HTML_INSIDE:
            self._open.pop()

    def _foreign(self, token: HtmlToken, *, is_empty: bool) -> str:
        if self._unshown:
            if token.kind is _CLOSE and token.name == self._unshown:
                self._unshown = ""
            return ""
        if token.kind is TokenKind.TEXT:
            return self._html[token.start : token.end]
        if token.kind is _OPEN and not is_empty:
            if token.name in _UNSHOWN[self._open[-1]]:
                self._unshown = token.name
            elif token.name == _HTML_INSIDE:
                self._open.append(token.name)
        if token.name == "a":
            return self._html[token.start : token.end]
        return " " if token.name in _APART else ""
