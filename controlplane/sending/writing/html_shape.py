"""How much HTML costs a parser that builds a tree of it, known before one is built.

A tree costs some hundred bytes for each element, and each element may look through all that are open around it: a
hundred kilobytes of `<div>` that are never closed take a second. Real mail has a few thousand tags, a few dozen deep.
"""

import re
from typing import Final

from maild.message.html.foreign_content import without_foreign_content

TAGS_MAX = 100_000
DEPTH_MAX = 500
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,30})")
# HTML Living Standard §13.1.2: these have no content.
_VOID = frozenset("area base br col embed hr img input link meta source track wbr html head body".split())
# §13.2.4.2: a closing tag does not reach through these.
_BOUNDARIES = frozenset("table td th caption button applet marquee object template select svg math".split())
_CELL_ENDS = frozenset(("td", "th", "p"))
# §13.2.6: an opening tag that closes what stands open before it.
_ENDED_BY = {
    "p": frozenset(("p",)),
    "li": frozenset(("li", "p")),
    "dt": frozenset(("dt", "dd", "p")),
    "dd": frozenset(("dt", "dd", "p")),
    "td": _CELL_ENDS,
    "th": _CELL_ENDS,
    "tr": _CELL_ENDS | {"tr"},
    "tbody": _CELL_ENDS | {"tr", "tbody", "thead"},
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
    return tags > TAGS_MAX or (tags > DEPTH_MAX and _is_too_deep(html))


def _is_too_deep(html: str) -> bool:
    """At least as deep as the tree will be: a closing tag that may not reach its element closes nothing."""
    opened: list[str] = []
    for tag in _TAG.finditer(html):
        name = tag[2].lower()
        name = LIKE.get(name, name)
        if tag[1]:
            _close(opened, name)
        elif name not in _VOID:
            ended = _ENDED_BY.get(name, _NOTHING)
            while opened and opened[-1] in ended:
                opened.pop()
            opened.append(name)
            if len(opened) > DEPTH_MAX:
                return True
    return False


def _close(opened: list[str], name: str) -> None:
    for at in range(len(opened) - 1, -1, -1):
        if opened[at] == name:
            del opened[at:]
            return
        if opened[at] in _BOUNDARIES:
            return
