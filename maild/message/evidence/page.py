"""An HTML body as its reader has it: which text a person sees, and why not the rest; links, images, comments.

The tree is built as far as it matters for what stands in what: elements that end by themselves (`<p>`, `<li>`, cells),
end tags that belong to nothing, formatting that goes on in the next block. Work is linear: at most MAX_TAGS tags are
read, each looks at SCOPE_LOOK open elements and at the rules for its own names. Mail repeats itself: a tag is read, and
what an element in another looks like is computed, once for all that are equal.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maild.message.evidence.computed import FORMATTING, INLINE, Colours, Computed, compute
from maild.message.evidence.links import MAX_URL_CHARS, resolved
from maild.message.evidence.styles import SCOPE_LOOK, UNRULED, Sheets, Style
from maild.message.html.html_lines import BLOCKS, LINES
from maild.message.html.html_tokens import HtmlToken, TokenKind, html_tokens, read_attributes

MAX_TAGS: Final = 3000
MAX_TOKENS: Final = (
    3 * MAX_TAGS
)  # tags, and what stands between them; a `<` that begins nothing stands by itself
MAX_DEPTH: Final = 500  # a browser gives up at 512
MAX_REOPENED: Final = 8

_VOID = frozenset(
    "area base basefont br col embed frame hr img input link meta param source track wbr".split()
)
_ENDS_P = BLOCKS - frozenset(["body", "html", "td", "th", "tr", "tbody", "thead", "tfoot", "legend"])
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
_ENDS = {  # the same the other way round
    name: tuple(ended for ended, starts in _ENDED_BY.items() if name in starts)
    for name in frozenset[str]().union(*_ENDED_BY.values())
}
_IN_TABLE = frozenset(["table"])
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
# Attributes that decide how an element looks, by their value and by being there.
_LOOKS = ("style", "bgcolor", "color", "size", "text")
_LOOKS_IF = ("hidden", "background", "href", "open")
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
    """All of it in order. `is_cut`: there is more. `has_unread_styles`: some of what decides what people see was not
    read."""

    runs: list[TextRun]
    links: list[Link]
    images: list[Image]
    unseen: list[Unseen]
    is_cut: bool
    has_unread_styles: bool


class _Tag(NamedTuple):
    """What a tag says by itself, wherever it stands. `look`: the number of what decides how its element looks. `words`:
    of attributes that speak."""

    tag: str
    attributes: dict[str, str]
    ids: frozenset[str]
    classes: frozenset[str]
    look: int
    words: tuple[tuple[str, str], ...]
    source: str | None


class _Element(NamedTuple):
    tag: str
    ids: frozenset[str]
    classes: frozenset[str]
    computed: int  # its number among those of the page
    origin: _Tag


_NONE: frozenset[str] = frozenset()
_TEXT, _OPEN, _CLOSE, _COMMENT = TokenKind.TEXT, TokenKind.OPEN, TokenKind.CLOSE, TokenKind.COMMENT


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
        self._tags: dict[tuple[str, str], _Tag] = {}
        self._computed: list[Computed] = [Computed()]  # each different one
        self._why: dict[int, str | None] = {}  # of them what hides text, where it was asked
        self._looks: dict[tuple[str | bool | None, ...], int] = {}  # of tags
        self._looking: dict[tuple[int, int, tuple[int, ...]], int] = {}  # of elements: which computed one
        self._stack: list[_Element] = []
        self._open: dict[str, int] = {}  # how many of a name are
        self._again: list[_Element] = []  # formatting that goes on in the next block
        self._link: tuple[int, str, int] | None = None
        self._base = ""
        self._breaks = False
        self._is_cut = False
        # Without a doctype a table may stand in a paragraph (HTML, "quirks mode").
        self._is_quirky = "<!doctype" not in html[:500].lower()

    def read(self) -> None:
        html = self._html
        tags = 0
        # A sheet holds for what stands before it too, and so does a base.
        tokens: list[HtmlToken] = []
        for token in html_tokens(html):
            if token.kind is not _TEXT:
                tags += 1
                if tags > MAX_TAGS:
                    self._is_cut = True
                    break
                if token.name == "style" and token.kind is TokenKind.RAW:
                    self._sheets.add(html[token.content : token.content_end])
                elif token.name == "base" and not self._base:
                    self._base = read_attributes(token.attributes).get("href", "").strip()[:MAX_URL_CHARS]
            elif len(tokens) >= MAX_TOKENS:
                self._is_cut = True
                break
            tokens.append(token)
        for token in tokens:
            self._take(token)

    def page(self) -> Page:
        self._end_link(len(self._html))
        unread = self._sheets.is_cut or self._colours.is_cut
        return Page(self._runs, self._links, self._images, self._unseen, self._is_cut or unread, unread)

    def _take(self, token: HtmlToken) -> None:
        if token.kind is _TEXT:
            self._text(token.start, token.end)
        elif token.kind is _OPEN:
            self._begin(token)
        elif token.kind is _CLOSE:
            self._end(token)
        elif token.kind is _COMMENT:
            if token.end - token.start > 12:
                self._unseen.append(Unseen(token.start, token.end, "comment"))
        elif token.name in ("textarea", "xmp"):
            self._begin(token)
            self._text(token.content, token.content_end)
            self._end(token)
        elif token.name != "style" and token.content_end > token.content:
            self._unseen.append(Unseen(token.content, token.content_end, f"<{token.name}>"))

    # Text ----------------------------------------------------------------------------------------

    def _text(self, start: int, end: int) -> None:
        is_blank = self._html[start:end].isspace() or start == end
        if self._again and not is_blank:
            self._resume()
        at = self._stack[-1].computed if self._stack else 0
        why = self._computed[at].gone if is_blank else self._hidden_by(at)
        self._runs.append(TextRun(start, end, why, self._breaks))
        self._breaks = False

    def _hidden_by(self, number: int) -> str | None:
        if number not in self._why:
            self._why[number] = self._computed[number].hidden_by()
        return self._why[number]

    # Elements ------------------------------------------------------------------------------------

    def _begin(self, token: HtmlToken) -> None:
        name = token.name
        if name in LINES or name == "br":
            self._breaks = True
        self._end_before(name)
        if self._again and (name in INLINE or name == "img"):
            self._resume()
        key = name, token.attributes
        tag = self._tags.get(key)
        if tag is None:
            tag = self._tags[key] = self._read_tag(name, token.attributes)
        for where, words in tag.words:
            self._unseen.append(Unseen(token.start, token.end, where, words))
        if tag.source:
            self._images.append(Image(token.start, token.end, tag.source))
        if name in _VOID:
            return
        if name == "a":
            self._end_link(token.start)
            self._link = (token.start, self._target(tag.attributes), len(self._runs))
        self._push(tag)

    def _target(self, attributes: dict[str, str]) -> str:
        href = attributes.get("href", attributes.get("xlink:href"))  # SVG's, until SVG 2
        return "" if href is None else resolved(href, self._base)

    def _read_tag(self, name: str, raw: str) -> _Tag:
        attributes = read_attributes(raw) if raw.strip(" /\t\r\n") else {}
        has = attributes.get
        look = (name, *map(has, _LOOKS), *(one in attributes for one in _LOOKS_IF)) if attributes else (name,)
        return _Tag(
            name,
            attributes,
            frozenset(attributes["id"].split()) if "id" in attributes else _NONE,
            frozenset(attributes["class"].split()[:20]) if "class" in attributes else _NONE,
            self._looks.setdefault(look, len(self._looks)),
            tuple(
                (f"@{one}", words)
                for one in _SPOKEN
                if one in attributes and len(words := attributes[one]) > 12 and _WORDY.search(words)
            ),
            has("src") if name in ("img", "input", "embed") else has("background"),
        )

    def _end_before(self, name: str) -> None:
        """End what an element of that name ends by beginning."""
        is_open = self._open.get
        if name in _ENDS_P and is_open("p") and not (name == "table" and self._is_quirky):
            self._close_within("p", _SCOPE)
        if name in _HEADINGS and self._stack and self._stack[-1].tag in _HEADINGS:
            self._close_within(self._stack[-1].tag, _SCOPE)
        if name == "a" and is_open("a"):
            self._close_within("a", _SCOPE, keeps="a")
        for ended in _ENDS.get(name, ()):
            if is_open(ended):
                self._close_within(ended, _ENDED_SCOPE.get(ended, _IN_TABLE))

    def _push(self, tag: _Tag) -> None:
        if len(self._stack) >= MAX_DEPTH:
            self._is_cut = True
            return
        ruled = self._sheets.rules(tag, self._stack) if self._sheets else UNRULED
        parent = self._stack[-1].computed if self._stack else 0
        key = parent, tag.look, ruled.numbers
        number = self._looking.get(key)
        if number is None:
            style = self._sheets.style(ruled, tag.attributes.get("style"))
            computed = _computed(self._computed[parent], tag, style, self._colours)
            number = self._looking[key] = self._numbered(computed, parent)
        self._stack.append(_Element(tag.tag, tag.ids, tag.classes, number, tag))
        self._open[tag.tag] = self._open.get(tag.tag, 0) + 1

    def _numbered(self, computed: Computed, parent: int) -> int:
        if computed == self._computed[parent]:
            return parent
        self._computed.append(computed)
        return len(self._computed) - 1

    def _end(self, token: HtmlToken) -> None:
        name = token.name
        if name in LINES:
            self._breaks = True
        if name == "a":
            self._end_link(token.end)
        if self._again:
            self._again = [one for one in self._again if one.tag != name]
        if not self._open.get(name):
            return
        if name in _TABLE:
            self._close_within(name, _IN_TABLE - {name})
        elif name in FORMATTING:
            self._close_within(name, _SCOPE, keeps=name)
        elif name in BLOCKS:
            self._close_within(name, _SCOPE)
        else:  # a browser stops at any block
            self._close_within(name, BLOCKS)

    def _close_within(self, name: str, scope: frozenset[str], keeps: str = "") -> None:
        """End the innermost element of that name, and what is open in it, unless one of `scope` lies between."""
        if self._stack and self._stack[-1].tag == name:
            self._stack.pop()
            self._open[name] -= 1
            return
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
            self._push(one.origin)

    def _end_link(self, end: int) -> None:
        if self._link is not None:
            start, href, first = self._link
            self._link = None
            self._links.append(Link(start, end, href, first, len(self._runs)))


def _computed(parent: Computed, tag: _Tag, style: Style, colours: Colours) -> Computed:
    name, attributes = tag.tag, tag.attributes
    if name in _UNSHOWN or (name in _CLOSED and "open" not in attributes):
        parent = parent._replace(gone=parent.gone or f"<{name}>")
    elif name == "summary" and parent.gone == "<details>":
        parent = parent._replace(gone=None)
    return compute(parent, name, attributes, style, colours) if style or attributes else parent
