"""CSS as far as it decides whether text is seen: declarations of a `style` attribute, and rules of `<style>` elements.

Read are the properties of PROPERTIES; selectors of tags, classes, ids and `*`, joined and nested by descent (` `, `>`).
A rule that asks for more (`:hover`, `[dir]`, `+`) is left out, and so is what stands in an @media that is not for every
screen. tinycss2 reads whatever is not plain; its recursion is bounded by looking at the nesting first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import tinycss2

PROPERTIES: Final = frozenset(
    [
        "display",
        "visibility",
        "opacity",
        "font",
        "font-size",
        "color",
        "-webkit-text-fill-color",
        "background",
        "background-color",
        "background-image",
        "position",
        "float",
        "left",
        "right",
        "top",
        "bottom",
        "text-indent",
        "margin-left",
        "margin-top",
        "transform",
        "clip",
        "clip-path",
        "overflow",
        "overflow-x",
        "overflow-y",
        "width",
        "height",
        "max-width",
        "max-height",
        "padding",
        "padding-top",
        "padding-bottom",
        "mso-hide",
        "filter",
        "content-visibility",
    ]
)
MAX_RULES: Final = 500  # compound selectors that are kept
MAX_SHEET_CHARS: Final = 32 * 1024
MAX_STYLE_CHARS: Final = 8 * 1024
_MAX_NESTING: Final = 40
_MAX_PARTS: Final = 6  # of one selector

# No strings, escapes, comments or functions that hold a semicolon: cut at semicolons, it is what a parser gives.
_PLAIN = re.compile(r"[\w\s:;#%.,()+!-]*", re.ASCII)
_BRACKETS = re.compile(r"[(\[{]|[)\]}]")
_COMPOUND = re.compile(r"(?:\*|[a-z][\w-]*+)?(?:[.#][\w-]++)*+", re.IGNORECASE)
_SIMPLE = re.compile(r"([.#]?)([\w-]++|\*)")
_EVERY_SCREEN = re.compile(r"(?:only\s+)?(?:all|screen)?\s*", re.IGNORECASE)

Style = Mapping[str, str]


class Declaration(NamedTuple):
    """`value`: in lower case, one blank between its parts."""

    name: str
    value: str
    important: bool


class Compound(NamedTuple):
    """One element that a selector asks for. `is_child`: it is the parent of the next one, not any ancestor."""

    tag: str
    ids: frozenset[str]
    classes: frozenset[str]
    is_child: bool


class Rule(NamedTuple):
    """`parts`: the last one is the element itself. `weight`: specificity, then the place in the sheets."""

    parts: tuple[Compound, ...]
    weight: tuple[int, int, int, int]
    declarations: tuple[Declaration, ...]


def declarations_of(style: str) -> tuple[Declaration, ...]:
    """What a `style` attribute says of PROPERTIES, in order. Total; what is too long or too deep says nothing."""
    if len(style) > MAX_STYLE_CHARS:
        return ()
    if _PLAIN.fullmatch(style) and "url" not in style.lower():
        return tuple(_plain(style))
    if _is_deep(style):
        return ()
    return tuple(_declared(tinycss2.parse_blocks_contents(style, skip_comments=True, skip_whitespace=True)))


def _plain(style: str) -> Iterator[Declaration]:
    for piece in style.split(";"):
        name, colon, value = piece.partition(":")
        name = name.strip().lower()
        if colon and name in PROPERTIES:
            value = " ".join(value.lower().split())
            important = value.endswith("!important")
            yield Declaration(name, value.removesuffix("!important").rstrip(), important)


def _declared(nodes: Sequence[Any]) -> Iterator[Declaration]:
    for node in nodes:
        if node.type == "declaration" and node.lower_name in PROPERTIES:
            value = " ".join(tinycss2.serialize(node.value).lower().split())
            yield Declaration(node.lower_name, value, node.important)


def _is_deep(css: str) -> bool:
    depth = deepest = 0
    for bracket in _BRACKETS.findall(css):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest > _MAX_NESTING


class Sheets:
    """The rules of a message's style sheets. `is_cut`: some were not read."""

    def __init__(self) -> None:
        self._by_key: dict[str, list[Rule]] = {}
        self._count = 0
        self._chars = 0
        self.is_cut = False

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, css: str) -> None:
        """One more sheet, behind those that were added before."""
        css = css.replace("<!--", "").replace("-->", "")
        self._chars += len(css)
        if self._chars > MAX_SHEET_CHARS or _is_deep(css):
            self.is_cut = True
            return
        self._add(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True))

    def _add(self, nodes: Sequence[Any]) -> None:
        for node in nodes:
            if node.type == "at-rule" and node.lower_at_keyword == "media" and node.content is not None:
                if _EVERY_SCREEN.fullmatch(tinycss2.serialize(node.prelude).strip()):
                    self._add(
                        tinycss2.parse_rule_list(node.content, skip_comments=True, skip_whitespace=True)
                    )
            elif node.type == "qualified-rule":
                content = tinycss2.parse_blocks_contents(
                    node.content, skip_comments=True, skip_whitespace=True
                )
                declared = tuple(_declared(content))
                if declared:
                    self._keep(tinycss2.serialize(node.prelude), declared)

    def _keep(self, selectors: str, declared: tuple[Declaration, ...]) -> None:
        for selector in selectors.split(","):
            parts = _parts(selector)
            if parts is None:
                continue
            self._count += 1
            if self._count > MAX_RULES:
                self.is_cut = True
                return
            ids = sum(len(one.ids) for one in parts)
            classes = sum(len(one.classes) for one in parts)
            tags = sum(bool(one.tag) for one in parts)
            rule = Rule(parts, (ids, classes, tags, self._count), declared)
            self._by_key.setdefault(_key(parts[-1]), []).append(rule)

    def candidates(self, tag: str, ids: frozenset[str], classes: frozenset[str]) -> list[Rule]:
        """The rules whose last part may be an element of that tag, id and classes."""
        keys = ["*", tag, *(f"#{one}" for one in ids), *(f".{one}" for one in classes)]
        return [rule for key in keys for rule in self._by_key.get(key, ())]


def _parts(selector: str) -> tuple[Compound, ...] | None:
    words = selector.replace(">", " > ").split()
    parts: list[Compound] = []
    for word in words:
        if word == ">":
            if not parts or parts[-1].is_child:
                return None
            parts[-1] = parts[-1]._replace(is_child=True)
            continue
        if not _COMPOUND.fullmatch(word):
            return None
        simple = _SIMPLE.findall(word)
        tag = "".join(name.lower() for mark, name in simple if not mark and name != "*")
        ids = frozenset(name for mark, name in simple if mark == "#")
        classes = frozenset(name for mark, name in simple if mark == ".")
        parts.append(Compound(tag, ids, classes, False))
    if not parts or len(parts) > _MAX_PARTS or parts[-1].is_child:
        return None
    return tuple(parts)


def _key(last: Compound) -> str:
    """Of what the element must have, the rarest."""
    if last.ids:
        return f"#{min(last.ids)}"
    if last.classes:
        return f".{min(last.classes)}"
    return last.tag or "*"
