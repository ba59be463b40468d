"""Which rules of a message's style sheets hold for an element, and what its style comes to.

Read are selectors of tags, classes, ids and `*`, joined and nested by descent (` `, `>`). A rule that asks for more
(`:hover`, `[dir]`, `+`) is left out, and so is what stands in an @media that is not for every screen (css_text.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from maild.message.evidence.css_text import NOTHING, CssReader, Layer, lay

MAX_RULES: Final = 500  # compound selectors that are kept
MAX_SHEET_CHARS: Final = 32 * 1024
MAX_STYLES: Final = 1000  # different `style` attributes
MAX_MATCHES: Final = 10_000  # rules that were compared with an element
SCOPE_LOOK: Final = 40  # open elements that are looked at
_MAX_PARTS: Final = 6  # of one selector

_COMPOUND = re.compile(r"(?:\*|[a-z][\w-]*+)?(?:[.#][\w-]++)*", re.IGNORECASE)
_SIMPLE = re.compile(r"([.#]?)([\w-]++|\*)")

Style = Mapping[str, str]
_Key = tuple[str, frozenset[str], frozenset[str]]  # tag, ids, classes


class Selectable(Protocol):
    """An element, as selectors see it."""

    @property
    def tag(self) -> str: ...
    @property
    def ids(self) -> frozenset[str]: ...
    @property
    def classes(self) -> frozenset[str]: ...


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
    layer: Layer


class Ruled(NamedTuple):
    """The rules that hold for an element, the weightiest last, and their numbers."""

    numbers: tuple[int, ...] = ()
    rules: tuple[Rule, ...] = ()


UNRULED: Final = Ruled()


def _ruled(rules: Iterable[Rule]) -> Ruled:
    ordered = tuple(sorted(rules, key=lambda one: one.weight))
    return Ruled(tuple(one.weight[3] for one in ordered), ordered) if ordered else UNRULED


class _Likely(NamedTuple):
    """The rules whose last part an element is, each with its place among all that were compared: `of` them.
    `settled`: those that hold, where they ask for no more."""

    rules: tuple[tuple[int, Rule], ...]
    of: int
    settled: Ruled | None


class Sheets:
    """All styles of a message. `is_cut`: some were not read."""

    def __init__(self) -> None:
        self._css = CssReader()
        self._by_key: dict[str, list[Rule]] = {}
        self._count = 0
        self._chars = 0
        self._matches = 0
        self._is_cut = False
        self._attributes: dict[str, Layer] = {}
        self._likely: dict[_Key, _Likely] = {}
        self._parent: Selectable | None = None  # of whom the next are known
        self._under: dict[
            _Key, tuple[Ruled, int]
        ] = {}  # what holds for its children, and the matches that took
        self._settled: dict[tuple[int, ...], Layer] = {(): NOTHING}

    @property
    def is_cut(self) -> bool:
        """Some were not read."""
        return self._is_cut or self._css.is_cut

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, css: str) -> None:
        """One more sheet, behind those that were added before; before any element is asked for."""
        self._chars += len(css.replace("<!--", "").replace("-->", ""))
        if self._chars > MAX_SHEET_CHARS:
            self._is_cut = True
            return
        for rule in self._css.sheet(css):
            self._keep(rule.selectors, rule.layer)

    def _keep(self, selectors: str, layer: Layer) -> None:
        if self._count > MAX_RULES:
            return
        for selector in selectors.split(","):
            parts = _parts(selector)
            if parts is None:
                continue
            self._count += 1
            if self._count > MAX_RULES:
                self._is_cut = True
                return
            ids = sum(len(one.ids) for one in parts)
            classes = sum(len(one.classes) for one in parts)
            tags = sum(bool(one.tag) for one in parts)
            rule = Rule(parts, (ids, classes, tags, self._count), layer)
            self._by_key.setdefault(_key(parts[-1]), []).append(rule)

    def rules(self, element: Selectable, ancestors: Sequence[Selectable]) -> Ruled:
        """The rules that hold for an element in these others (the outermost first)."""
        if self._matches >= MAX_MATCHES:
            self._is_cut = self._is_cut or any(key in self._by_key for key in _keys_of(element))
            return UNRULED
        key = element.tag, element.ids, element.classes
        likely = self._likely.get(key)
        if likely is None:
            likely = self._likely[key] = self._likely_rules(element)
        if not likely.of:
            return UNRULED
        if likely.settled is not None and self._matches + likely.of <= MAX_MATCHES:
            self._matches += likely.of
            return likely.settled
        parent = ancestors[-1] if ancestors else None
        if parent is not self._parent:
            self._parent, self._under = parent, {}
        ruled, cost = self._under.get(key, (UNRULED, MAX_MATCHES + 1))
        if self._matches + cost <= MAX_MATCHES:
            self._matches += cost
            return ruled
        before = self._matches
        ruled = self._compared(likely, ancestors)
        if self._matches <= MAX_MATCHES:
            self._under[key] = ruled, self._matches - before
        return ruled

    def _compared(self, likely: _Likely, ancestors: Sequence[Selectable]) -> Ruled:
        found: list[Rule] = []
        place = 0
        for place, rule in likely.rules:
            if self._matches + place > MAX_MATCHES:
                break
            if len(rule.parts) == 1 or self._descends(rule, ancestors):
                found.append(rule)
        else:
            place = (
                likely.of if place < likely.of else 0
            )  # what the last one took is found by the next element
        self._is_cut = self._is_cut or (place > 0 and self._matches + place > MAX_MATCHES)
        self._matches += likely.of
        return _ruled(found)

    def _likely_rules(self, element: Selectable) -> _Likely:
        compared = [rule for key in _keys_of(element) for rule in self._by_key.get(key, ())]
        fitting = tuple((at, rule) for at, rule in enumerate(compared, 1) if _fits(rule.parts[-1], element))
        is_settled = all(len(rule.parts) == 1 for _, rule in fitting)
        return _Likely(fitting, len(compared), _ruled(rule for _, rule in fitting) if is_settled else None)

    def _descends(self, rule: Rule, ancestors: Sequence[Selectable]) -> bool:
        at = len(ancestors) - 1
        lowest = max(-1, at - SCOPE_LOOK)
        for part in reversed(rule.parts[:-1]):
            while at > lowest and not _fits(part, ancestors[at]):
                if part.is_child:
                    return False
                self._matches += 1
                at -= 1
            if at <= lowest:
                return False
            at -= 1
        return True

    def style(self, ruled: Ruled, attribute: str | None) -> Style:
        """What these rules and a `style` attribute come to, the last one winning (CSS Cascade 4 §6.1)."""
        inline = NOTHING if attribute is None else self._attribute(attribute)
        layer = self._together(ruled)
        if inline is NOTHING and not layer.important:
            return layer.normal
        style = dict(layer.normal)
        for over in (inline.normal, layer.important, inline.important):
            lay(style, over)
        return style

    def _together(self, ruled: Ruled) -> Layer:
        if ruled.numbers not in self._settled:
            normal: dict[str, str] = {}
            important: dict[str, str] = {}
            for rule in ruled.rules:
                lay(normal, rule.layer.normal)
                lay(important, rule.layer.important)
            self._settled[ruled.numbers] = Layer(normal, important)
        return self._settled[ruled.numbers]

    def _attribute(self, style: str) -> Layer:
        layer = self._attributes.get(style)
        if layer is None:
            if len(self._attributes) >= MAX_STYLES:
                self._is_cut = True
                return NOTHING
            layer = self._attributes[style] = self._css.attribute(style)
        return layer


def _keys_of(element: Selectable) -> list[str]:
    return ["*", element.tag, *(f"#{one}" for one in element.ids), *(f".{one}" for one in element.classes)]


def _fits(part: Compound, element: Selectable) -> bool:
    is_named = not part.tag or part.tag == element.tag
    return is_named and part.ids <= element.ids and part.classes <= element.classes


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
