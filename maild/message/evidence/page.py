"""An HTML body as its reader has it: which text a person sees, and why not the rest; links, images, comments.

The tree is built as far as it matters for what stands in what: elements that end by themselves (`<p>`, `<li>`, cells),
end tags that belong to nothing, formatting that goes on in the next block. Work is linear: at most MAX_TAGS tags are
read, each looks at SCOPE_LOOK open elements and at the rules for its own names.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from maild.message.evidence.computed import FORMATTING, INLINE, Colours, Computed, compute
from maild.message.evidence.styles import Declaration, Rule, Sheets, declarations_of
from maild.message.html_tokens import HtmlToken, TokenKind, html_tokens, read_attributes

MAX_TAGS: Final = 3000
MAX_STYLES: Final = 1000  # different `style` attributes
MAX_MATCHES: Final = 10_000  # rules that were compared with an element
MAX_DEPTH: Final = 500  # a browser gives up at 512
SCOPE_LOOK: Final = 40
MAX_REOPENED: Final = 8

_VOID = frozenset(
    "area base basefont br col embed frame hr img input link meta param source track wbr".split()
)
_BLOCKS = frozenset(
    """address article aside blockquote body center details dialog dir div dl dd dt fieldset figcaption figure footer
    form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody td tfoot th thead
    tr ul""".split()
)
_ENDS_P = _BLOCKS - frozenset(["body", "html", "td", "th", "tr", "tbody", "thead", "tfoot", "legend"])
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_TABLE = frozenset("table tbody thead tfoot tr td th caption".split())
_SCOPE = frozenset("table td th caption html button object".split())
_ENDED_BY = {  # an open element → what begins ends it
    "li": frozenset(["li"]),
    "dt": frozenset(["dt", "dd"]),
    "dd": frozenset(["dt", "dd"]),
    "option": frozenset(["option"]),
    "td": frozenset(["td", "th", "tr", "tbody", "tfoot"]),
    "th": frozenset(["td", "th", "tr", "tbody", "tfoot"]),
    "tr": frozenset(["tr", "tbody", "tfoot"]),
}
_ENDED_SCOPE = {"li": frozenset(["ul", "ol", "table"]), "dt": frozenset(["dl"]), "dd": frozenset(["dl"])}
# What a browser does not show of elements without any style; `details` and `dialog` where they are closed. Mail
# programs run no scripts, so what stands in `canvas` and `noscript` for want of them is shown.
_UNSHOWN = frozenset("audio datalist math meter progress rp select svg video".split())
_CLOSED = frozenset(["details", "dialog"])
_SPOKEN = (
    "alt",
    "title",
    "aria-label",
    "placeholder",
    "content",
    "summary",
    "label",
)  # attributes with words
_WORDY = re.compile(r"\S\s+\S")


class TextRun(NamedTuple):
    """Text that stands in one place. `why`: what hides it. `breaks`: it begins a block of its own."""

    start: int
    end: int
    why: str | None
    breaks: bool


class Link(NamedTuple):
    """`start:end`: from the tag to its end tag. Its text is in `runs[first:last]` of the page."""

    start: int
    end: int
    href: str
    first: int
    last: int


class Image(NamedTuple):
    """A tag that makes a mail reader fetch `source`."""

    start: int
    end: int
    source: str


class Unseen(NamedTuple):
    """Words that no style hides and nobody sees: `where` is `comment`, an element or an attribute. `words` are those
    of an attribute; else the range is to be read."""

    start: int
    end: int
    where: str
    words: str | None = None


class Page(NamedTuple):
    """All of it in order. `is_cut`: there is more."""

    runs: list[TextRun]
    links: list[Link]
    images: list[Image]
    unseen: list[Unseen]
    is_cut: bool


class _Element(NamedTuple):
    tag: str
    ids: frozenset[str]
    classes: frozenset[str]
    computed: Computed
    attributes: str


_NONE: frozenset[str] = frozenset()


def read_page(html: str) -> Page:
    """Total and linear; at most MAX_TAGS tags."""
    reader = _PageReader(html)
    reader.read()
    return reader.page()


class _PageReader:
    def __init__(self, html: str) -> None:
        self._html = html
        self._runs: list[TextRun] = []
        self._links: list[Link] = []
        self._images: list[Image] = []
        self._unseen: list[Unseen] = []
        self._sheets = Sheets()
        self._colours = Colours()
        self._styles: dict[str, tuple[Declaration, ...]] = {}
        self._stack: list[_Element] = []
        self._open: Counter[str] = Counter()
        self._again: list[_Element] = []  # formatting that goes on in the next block
        self._link: tuple[int, str, int] | None = None
        self._breaks = False
        self._matches = 0
        self._is_cut = False
        # Without a doctype a table may stand in a paragraph (HTML, "quirks mode").
        self._is_quirky = "<!doctype" not in html[:500].lower()

    def read(self) -> None:
        html = self._html
        tags = 0
        # A sheet holds for what stands before it too.
        tokens = []
        for token in html_tokens(html):
            if token.kind is not TokenKind.TEXT:
                tags += 1
                if tags > MAX_TAGS:
                    self._is_cut = True
                    break
            if token.kind is TokenKind.RAW and token.name == "style":
                self._sheets.add(html[token.content : token.content_end])
            tokens.append(token)
        for token in tokens:
            self._take(token)

    def page(self) -> Page:
        self._end_link(len(self._html))
        return Page(self._runs, self._links, self._images, self._unseen, self._is_cut or self._sheets.is_cut)

    def _take(self, token: HtmlToken) -> None:
        if token.kind is TokenKind.TEXT:
            self._text(token.start, token.end)
        elif token.kind is TokenKind.OPEN:
            self._begin(token)
        elif token.kind is TokenKind.CLOSE:
            self._end(token)
        elif token.kind is TokenKind.COMMENT:
            if token.end - token.start > 12:
                self._unseen.append(Unseen(token.start, token.end, "comment"))
        elif token.name in ("textarea", "xmp"):
            self._text(token.content, token.content_end)
        elif token.name != "style" and token.content_end > token.content:
            self._unseen.append(Unseen(token.content, token.content_end, f"<{token.name}>"))

    # Text ----------------------------------------------------------------------------------------

    def _text(self, start: int, end: int) -> None:
        is_blank = not self._html[start:end].strip()
        if self._again and not is_blank:
            self._resume()
        why = self._computed().hidden_by() if not is_blank else self._computed().gone
        self._runs.append(TextRun(start, end, why, self._breaks))
        self._breaks = False

    def _computed(self) -> Computed:
        return self._stack[-1].computed if self._stack else Computed()

    # Elements ------------------------------------------------------------------------------------

    def _begin(self, token: HtmlToken) -> None:
        name = token.name
        if name in _BLOCKS or name == "br":
            self._breaks = True
        self._end_before(name)
        if self._again and (name in INLINE or name == "img"):
            self._resume()
        attributes = read_attributes(token.attributes) if token.attributes.strip(" /\t\r\n") else {}
        if attributes:
            self._note(token, name, attributes)
        if name in _VOID:
            return
        if name == "a":
            self._end_link(token.start)
            self._link = (token.start, attributes.get("href", ""), len(self._runs))
        self._push(name, attributes, token.attributes)

    def _end_before(self, name: str) -> None:
        """End what an element of that name ends by beginning."""
        if name in _ENDS_P and self._open["p"] and not (name == "table" and self._is_quirky):
            self._close_within("p", _SCOPE)
        if name in _HEADINGS and self._stack and self._stack[-1].tag in _HEADINGS:
            self._close_within(self._stack[-1].tag, _SCOPE)
        if name == "a" and self._open["a"]:
            self._close_within("a", _SCOPE, keeps="a")
        for ended, starts in _ENDED_BY.items():
            if name in starts and self._open[ended]:
                self._close_within(ended, _ENDED_SCOPE.get(ended, frozenset(["table"])))

    def _push(self, name: str, attributes: dict[str, str], raw: str) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._is_cut = True
            return
        ids = frozenset(attributes["id"].split()) if "id" in attributes else _NONE
        classes = frozenset(attributes["class"].split()[:20]) if "class" in attributes else _NONE
        parent = self._computed()
        if name in _UNSHOWN or (name in _CLOSED and "open" not in attributes):
            parent = parent._replace(gone=parent.gone or f"<{name}>")
        elif name == "summary" and parent.gone == "<details>":
            parent = parent._replace(gone=None)
        style = self._style(name, ids, classes, attributes)
        if style or attributes or name == "a":
            parent = compute(parent, name, attributes, style, self._colours)
        self._stack.append(_Element(name, ids, classes, parent, raw))
        self._open[name] += 1

    def _end(self, token: HtmlToken) -> None:
        name = token.name
        if name in _BLOCKS:
            self._breaks = True
        if name == "a":
            self._end_link(token.end)
        if self._again:
            self._again = [one for one in self._again if one.tag != name]
        if not self._open[name]:
            return
        if name in _TABLE:
            self._close_within(name, frozenset(["table"]) - {name})
        elif name in FORMATTING:
            self._close_within(name, _SCOPE, keeps=name)
        elif name in _BLOCKS:
            self._close_within(name, _SCOPE)
        else:  # a browser stops at any block
            self._close_within(name, _BLOCKS)

    def _close_within(self, name: str, scope: frozenset[str], keeps: str = "") -> None:
        """End the innermost element of that name, and what is open in it, unless one of `scope` lies between."""
        for at in range(len(self._stack) - 1, max(-1, len(self._stack) - 1 - SCOPE_LOOK), -1):
            tag = self._stack[at].tag
            if tag == name:
                break
            if tag in scope:
                return
        else:
            if len(self._stack) > SCOPE_LOOK:
                self._is_cut = True
            return
        inner = self._stack[at + 1 :]
        for one in self._stack[at:]:
            self._open[one.tag] -= 1
        del self._stack[at:]
        lost = [one for one in inner if one.tag in FORMATTING and one.tag not in (keeps, "a")]
        if lost and name != "a":
            self._again = (self._again + lost)[:MAX_REOPENED]

    def _resume(self) -> None:
        again, self._again = self._again, []
        for one in again:
            self._push(one.tag, read_attributes(one.attributes), one.attributes)

    # Styles --------------------------------------------------------------------------------------

    def _style(
        self, name: str, ids: frozenset[str], classes: frozenset[str], attributes: dict[str, str]
    ) -> dict[str, str]:
        inline = self._inline(attributes["style"]) if "style" in attributes else ()
        rules = self._rules(name, ids, classes) if self._sheets else []
        if not rules:
            return _settled([inline]) if inline else {}
        return _settled([*(rule.declarations for rule in sorted(rules, key=lambda one: one.weight)), inline])

    def _inline(self, style: str) -> tuple[Declaration, ...]:
        if style not in self._styles:
            if len(self._styles) >= MAX_STYLES:
                self._is_cut = True
                return ()
            self._styles[style] = declarations_of(style)
        return self._styles[style]

    def _rules(self, name: str, ids: frozenset[str], classes: frozenset[str]) -> list[Rule]:
        found: list[Rule] = []
        for rule in self._sheets.candidates(name, ids, classes):
            self._matches += 1
            if self._matches > MAX_MATCHES:
                self._is_cut = True
                return found
            last = rule.parts[-1]
            is_like = (not last.tag or last.tag == name) and last.ids <= ids and last.classes <= classes
            if is_like and (len(rule.parts) == 1 or self._descends(rule)):
                found.append(rule)
        return found

    def _descends(self, rule: Rule) -> bool:
        at = len(self._stack) - 1
        lowest = max(-1, at - SCOPE_LOOK)
        for part in reversed(rule.parts[:-1]):
            while at > lowest and not _fits(part.tag, part.ids, part.classes, self._stack[at]):
                if part.is_child:
                    return False
                self._matches += 1
                at -= 1
            if at <= lowest:
                return False
            at -= 1
        return True

    # What besides text says or fetches something -------------------------------------------------

    def _note(self, token: HtmlToken, name: str, attributes: dict[str, str]) -> None:
        for attribute in _SPOKEN:
            words = attributes.get(attribute)
            if words and len(words) > 12 and _WORDY.search(words):
                self._unseen.append(Unseen(token.start, token.end, f"@{attribute}", words))
        source = attributes.get("src") if name in ("img", "input", "embed") else attributes.get("background")
        if source:
            self._images.append(Image(token.start, token.end, source))

    def _end_link(self, end: int) -> None:
        if self._link is not None:
            start, href, first = self._link
            self._link = None
            self._links.append(Link(start, end, href, first, len(self._runs)))


def _fits(tag: str, ids: frozenset[str], classes: frozenset[str], element: _Element) -> bool:
    return (not tag or tag == element.tag) and ids <= element.ids and classes <= element.classes


def _settled(layers: list[tuple[Declaration, ...]]) -> dict[str, str]:
    """What the layers come to, the last one winning, but for what is important (CSS Cascade 4 §6.1)."""
    style: dict[str, str] = {}
    for is_important in (False, True):
        for layer in layers:
            for one in layer:
                if one.important is is_important:
                    _set(style, one)
    return style


def _set(style: dict[str, str], one: Declaration) -> None:
    style[one.name] = one.value
    # A shorthand takes back what its longhands said before.
    if one.name == "font":
        style.pop("font-size", None)
    elif one.name == "background":
        style.pop("background-color", None)
        style.pop("background-image", None)
