"""What an element's own style and attributes hide, and where what is hidden ends.

Style sheets are not read, nor what hides words but leaves their box (size, colour, place): maild/message/evidence tells
of those.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maild.message.html.html_lines import BLOCKS
from maild.message.html.html_tokens import read_attributes

_MAX_DEPTH: Final = 64  # in one hidden element; what is deeper ends with what stands above it
_DECLARATION = re.compile(r"(?:^|;)\s*+(display|visibility)\s*+:\s*+([a-z-]++)\s*+(!?)", re.IGNORECASE)
_MARKS = re.compile(r"[\\/\"']")
_MARKED = re.compile(
    r"""/\*.*?(?:\*/|\Z)|(?P<string>"(?>(?:[^"\\]++|\\.)*)"?|'(?>(?:[^'\\]++|\\.)*)'?)"""
    r"|\\(?P<code>[0-9a-fA-F]{1,6})\s?|\\(?P<escaped>.)",
    re.DOTALL,
)
# A browser passes over a value that it does not know, and what was said before it holds.
_VALUES: Final = {
    "display": frozenset(
        """block contents flex flow-root grid inherit initial inline inline-block inline-flex inline-grid inline-table
        list-item none revert ruby run-in table table-caption table-cell table-column table-column-group
        table-footer-group table-header-group table-row table-row-group unset""".split()
    ),
    "visibility": frozenset("collapse hidden inherit initial revert unset visible".split()),
}

# HTML, "Tree construction": which open elements end where one begins, and past which no end tag reaches.
TABLE_PARTS: Final = frozenset("caption colgroup thead tbody tfoot tr td th".split())  # nothing outside one
_IN_TABLE = TABLE_PARTS | {"table"}
_CELL = frozenset(["td", "th", "p"])
_ENDED_BY: Final = {
    **dict.fromkeys(BLOCKS, frozenset(["p"])),
    "li": frozenset(["li", "p"]),
    "dt": frozenset(["dt", "dd", "p"]),
    "dd": frozenset(["dt", "dd", "p"]),
    "option": frozenset(["option"]),
    "td": _CELL,
    "th": _CELL,
    "tr": _CELL | {"tr"},
    "tbody": _CELL | {"tr", "tbody", "thead"},
}
_NOTHING: Final[frozenset[str]] = frozenset()
_SCOPES: Final = frozenset("td th caption table".split())
_ENDING = BLOCKS - {"body", "html"}


class OwnStyle(NamedTuple):
    """Of a `style` attribute what holds: "" where it says nothing."""

    display: str = ""
    visibility: str = ""


NO_STYLE: Final = OwnStyle()


def own_style(style: str) -> OwnStyle:
    """Linear and total."""
    if _MARKS.search(style):
        style = _MARKED.sub(_plain, style)
    found: dict[str, str] = {}
    important = set()
    for said, given, mark in _DECLARATION.findall(style):
        name, value = said.lower(), given.lower()
        if value in _VALUES[name] and (mark or name not in important):
            found[name] = value
            if mark:
                important.add(name)
    return OwnStyle(found.get("display", ""), found.get("visibility", "")) if found else NO_STYLE


def _plain(marked: re.Match[str]) -> str:
    if marked["string"]:
        return '"'
    if marked["code"]:
        code = int(marked["code"], 16)
        return _in_a_name(chr(code) if code <= 0x10FFFF else "")
    return _in_a_name(marked["escaped"] or " ")


def _in_a_name(character: str) -> str:
    """An escaped mark ends nothing."""
    return character if character.isalnum() or character in "- " else "_"


def is_hidden(attributes: str, style: OwnStyle) -> bool:
    """`attributes`: as they stand in the tag."""
    if style.display == "none" or style.visibility in ("hidden", "collapse"):
        return True
    return not style.display and "hidden" in attributes.lower() and "hidden" in read_attributes(attributes)


class HiddenElement:
    """One that is hidden and open, with all that is open in it. `around`: how many blocks of a name are open around.

    Both answers: does it go on? Where it does not, what begins or ends there is to be read, but for its own end tag.
    """

    def __init__(self, name: str, around: dict[str, int]) -> None:
        self._open = [name]
        self._around = around

    def open(self, name: str) -> bool:
        """An element of that name begins, which is not empty."""
        ended = _ENDED_BY.get(name, _NOTHING)
        while self._open and self._open[-1] in ended:
            self._open.pop()
        if self._open and len(self._open) < _MAX_DEPTH:
            self._open.append(name)
        return bool(self._open)

    def close(self, name: str) -> bool:
        """An end tag of that name."""
        if name not in self._open:
            return not self._ends_around(name)
        for at in range(len(self._open) - 1, -1, -1):
            if self._open[at] == name:
                del self._open[at:]
                break
            if self._open[at] in _SCOPES and name not in _IN_TABLE:
                break
        return bool(self._open)

    @property
    def is_closed(self) -> bool:
        """By its own end tag."""
        return not self._open

    def _ends_around(self, name: str) -> bool:
        if name not in _ENDING or not self._around.get(name):
            return False
        if name == "p" and not BLOCKS.isdisjoint(self._open):  # a block has ended the paragraph
            return False
        return name in _IN_TABLE or _SCOPES.isdisjoint(self._open)
