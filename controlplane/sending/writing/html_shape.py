"""How much HTML costs a parser that builds a tree of it, known before one is built.

A tree costs some hundred bytes for each element, and each element may look through all that are open around it: a
hundred kilobytes of `<div>` that are never closed take a second. Formatting that is never closed is opened again in
each block behind it: of seventy kilobytes of `<p><b id=1>x</p><p><b id=2>x</p>` and so on a tree of eight million
elements is made. Real mail has a few thousand tags, a few dozen deep.
"""

from collections import defaultdict
from collections.abc import Collection, Set
from typing import Final

from maild.message.html.foreign_content import without_foreign_content
from maild.message.html.html_tokens import HtmlToken, TokenKind, markup

TAGS_MAX = 100_000
DEPTH_MAX = 500
REOPENED_MAX = 100_000  # elements of formatting
# HTML Living Standard §13.1.2: these have no content.
_VOID = frozenset("area base br col embed hr img input link meta source track wbr html head body".split())
# §13.2.4.2: a closing tag does not reach through these.
_BOUNDARIES = frozenset("table td th caption button applet marquee object template select svg math".split())
# §13.2.4.3: opened again in each block behind the one in which it was not closed.
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_SAME_MAX = 3  # of equal ones, which the standard calls the Noah's Ark clause
_MOVES_MAX = 7  # §13.2.6.4.7: blocks in which one closing tag ends what was opened outside of them
# Formatting from outside is not opened again in these, and what is open in a cell ends with it.
_CELLS_OF_ROWS = frozenset(("td", "th"))
_CELLS = _CELLS_OF_ROWS | {"caption"}
_OTHER_MARKERS = frozenset("applet marquee object template".split())
_ROWS = frozenset("tr tbody thead tfoot col colgroup".split())
# The closing tags of all but these and formatting do not reach through one of these either.
_SPECIAL = _BOUNDARIES | frozenset(
    """address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer
    form frameset h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main menu nav noembed noframes noscript ol p
    plaintext pre script search section select style summary tbody textarea tfoot thead title tr ul xmp""".split()
)
_BOUNDARIES_OF_LI = _BOUNDARIES | {"ul", "ol"}
_NAME_ENDS = frozenset(" \t\n\r\f/>")
# §13.2.6: an opening tag that closes what stands open before it; all that are special close a paragraph.
_ENDED_BY = {
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "td": _CELLS_OF_ROWS,
    "th": _CELLS_OF_ROWS,
    "tr": _CELLS_OF_ROWS | {"tr"},
    "tbody": _CELLS_OF_ROWS | {"tr", "tbody", "thead"},
}
# What has lines or a look of its own, and does nothing where it is one of these. Mail programs run no scripts, so they
# show what stands for want of them.
LIKE: Final = {
    **dict.fromkeys(("dialog", "fieldset", "form", "legend", "optgroup", "option", "select"), "div"),
    **dict.fromkeys(("button", "noscript"), "span"),
    **dict.fromkeys(("dir", "menu"), "ul"),
    "textarea": "textarea",
}
_NOTHING: frozenset[str] = frozenset()


def is_too_complex(html: str) -> bool:
    """Whether there are more tags, or deeper ones, than any mail has. Work in proportion to the text."""
    html = without_foreign_content(html)  # a drawing has many tags, of which nothing is left
    tags = html.count("<")
    return tags > TAGS_MAX or (tags > DEPTH_MAX and _is_too_large(html))


def _is_too_large(html: str) -> bool:
    """At least as large as the tree will be: a closing tag that may not reach its element closes nothing."""
    elements, formatting = _OpenElements(), _Formatting()
    for token in markup(html):
        if token.kind is TokenKind.OPEN:
            name = LIKE.get(token.name, token.name)
            elements.open(name)
            formatting.open(name, token.attributes)
        elif token.kind is TokenKind.CLOSE:
            name = _closed_by(html, token)
            formatting.close(name, is_reached=elements.close(name))
        if len(elements.opened) > DEPTH_MAX or formatting.reopened > REOPENED_MAX:
            return True
    return False


def _closed_by(html: str, token: HtmlToken) -> str:
    """`</div_>` closes no `div`."""
    is_whole = html[token.start + len("</") + len(token.name)] in _NAME_ENDS
    return LIKE.get(token.name, token.name) if is_whole else ""


class _OpenElements:
    """The standard's "stack of open elements"."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self._count: defaultdict[str, int] = defaultdict(int)  # by name

    def open(self, name: str) -> None:
        if name in _VOID:
            return
        if name in _SPECIAL:
            self.close("p")
            ended = _ENDED_BY.get(name, _NOTHING)
            while self.opened and self.opened[-1] in ended:
                self.close(self.opened[-1])
        self._count[name] += 1
        self.opened.append(name)

    def close(self, name: str) -> bool:
        """Whether it reaches its element, or there is none that it could reach."""
        if not self._count[name]:
            return True
        if self.opened[-1] == name:  # as nearly always
            self._end(-1)
            return True
        boundaries = _boundaries(name)
        blocks = 0
        for at in range(len(self.opened) - 1, -1, -1):
            if self.opened[at] == name:
                # Formatting ends alone, and the blocks in it stay open ("adoption agency").
                self._end(at, at + 1 if name in _FORMATTING and blocks else None)
                return blocks <= _MOVES_MAX
            if self.opened[at] in boundaries:
                return False
            blocks += self.opened[at] in _SPECIAL
        return True

    def _end(self, first: int, behind: int | None = None) -> None:
        for name in self.opened[first:behind]:
            self._count[name] -= 1
        del self.opened[first:behind]


def _boundaries(closing: str) -> Set[str]:
    if closing == "li":
        return _BOUNDARIES_OF_LI
    return _BOUNDARIES if closing in _SPECIAL or closing in _FORMATTING else _SPECIAL


class _FormattingScope:
    """Formatting that was opened in a cell, in a table beside its cells, or in neither; equal ones by how many."""

    def __init__(self, of: str, outer: int = 0) -> None:
        self.of = of
        self.count = outer  # with what was opened before the table
        self.active: defaultdict[str, list[str]] = defaultdict(list)
        self.same: defaultdict[tuple[str, str], int] = defaultdict(int)

    def add(self, name: str, attributes: str) -> None:
        if self.same[name, attributes] < _SAME_MAX:
            self.same[name, attributes] += 1
            self.active[name].append(attributes)
            self.count += 1

    def remove(self, name: str) -> None:
        if active := self.active[name]:
            self.same[name, active.pop()] -= 1
            self.count -= 1


class _Formatting:
    """The standard's "list of active formatting elements". `reopened`: how many elements are made of it at most, as if
    each tag that may end others ended all of them."""

    def __init__(self) -> None:
        self.reopened = 0
        self._scopes = [_FormattingScope("")]
        self._is_closable = True

    def open(self, name: str, attributes: str) -> None:
        if name in _FORMATTING:
            self._scopes[-1].add(name, attributes)
            return
        self.reopened += self._scopes[-1].count
        if name in _OTHER_MARKERS:
            self._is_closable = False  # by what follows: it may stand in one of these
        elif name == "table":
            self._end_table()
            self._scopes.append(_FormattingScope(name, self._scopes[-1].count))
        elif name in _CELLS or name in _ROWS:
            self._end_cell(_CELLS)
            if name in _CELLS and self._scopes[-1].of == "table":
                self._scopes.append(_FormattingScope(name))

    def close(self, name: str, *, is_reached: bool) -> None:
        self.reopened += self._scopes[-1].count
        if not self._is_closable:
            return
        if name in _FORMATTING:
            if is_reached:
                self._scopes[-1].remove(name)
        elif name in _CELLS:
            self._end_cell({name})
        elif name == "tr":
            self._end_cell(_CELLS_OF_ROWS)
        elif name == "table":
            self._end_cell(_CELLS)
            self._end_table()

    def _end_cell(self, of: Collection[str]) -> None:
        if self._scopes[-1].of in of:
            self._scopes.pop()

    def _end_table(self) -> None:
        """A table within a table, and not in a cell of it, ends that."""
        if self._scopes[-1].of == "table":
            ended = self._scopes.pop()
            for name, active in ended.active.items():
                for attributes in active:
                    self._scopes[-1].add(name, attributes)
