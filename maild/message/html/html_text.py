"""Plain text of an HTML body, for readers and for the text part of a mail sent as HTML alone.

It reads the tokens of the raw markup (html_tokens.py), and is as linear as they are. Nothing here makes HTML safe to
show; it only makes it readable.

What a browser would not show is left out: scripts, styles, titles, `display:none` (hidden text is how an author talks
to a program behind its owner's back), but not what Outlook alone hides (`mso-hide`), as many buttons. Lines end where
a browser ends them, by element or by the element's own style.
"""

from __future__ import annotations

import re
from typing import Final

from maild.message.html.foreign_content import without_foreign_content
from maild.message.html.html_hidden import NO_STYLE, TABLE_PARTS, HiddenElement, is_hidden, own_style
from maild.message.html.html_lines import BLOCKS, BOXES, LINES
from maild.message.html.html_tokens import TokenKind, html_tokens, unescape

MAX_HTML_CHARS: Final = 1_000_000
_MAX_LIST_DEPTH = 10
_MAX_QUOTE_DEPTH = 10
_MAX_URL_CHARS = 2000

_ATTRIBUTE = re.compile(r"""(?<![^\s"'/])([a-zA-Z-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_MAY_HIDE = re.compile(r"display|visibility|hidden|[\\&]", re.IGNORECASE)  # also in escapes and references
# What Gmail and Apple Mail write where authors set their own words further in.
_INDENTED = re.compile(
    r"margin: ?0(?:px)? 0(?:px)? 0(?:px)? 40px; ?border: ?none; ?padding: ?0(?:px)?;?\Z", re.IGNORECASE
)
# Values of `display` of which browsers make lines of their own.
_LINE_DISPLAYS = frozenset("block flex flow-root grid list-item table table-caption table-row".split())
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_UNSHOWN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\u200b\u2060\ufeff\u00ad\u034f\ud800-\udfff]+")

_PARAGRAPHS = frozenset("blockquote dl fieldset figure form h1 h2 h3 h4 h5 h6 hr ol p pre table ul".split())
_SHOWN_RAW = frozenset(["textarea", "xmp"])
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"]
)


def html_to_text(html: str) -> str:
    """Readable text: paragraphs, breaks, lists, `> ` quotes, links as `text (url)`.

    Linear and total; input beyond MAX_HTML_CHARS is not read.
    """
    html = without_foreign_content(html[:MAX_HTML_CHARS])
    writer = _TextWriter()
    for token in html_tokens(html):
        if token.kind is TokenKind.TEXT:
            writer.text(html[token.start : token.end])
        elif token.kind is TokenKind.OPEN:
            writer.open(token.name, token.attributes)
        elif token.kind is TokenKind.CLOSE:
            writer.close(token.name)
        elif token.kind is TokenKind.RAW and token.name in _SHOWN_RAW:
            writer.raw(token.name, token.attributes, html[token.content : token.content_end])
    return writer.result()


class _TextWriter:
    """Collects words into lines. `breaks` is how many line ends the next word needs before it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._line: list[str] = []
        self._breaks = 0
        self._is_spaced = False
        self._quotes = 0
        self._blockquotes: list[bool] = []  # those that are open: does each quote?
        self._pre = 0
        self._lists: list[int | None] = []  # the last number of an ordered list
        self._link = ""  # its url
        self._link_begin: tuple[int, int] | None = None  # line and column of the first word in it
        self._is_marked = False  # the line has the mark of a list's item alone
        self._boxes: dict[str, list[bool]] = {}  # by name, from the outermost on a line: is each on one?
        self._blocks: dict[str, int] = {}  # by name: how many are open
        self._hidden: HiddenElement | None = None

    def text(self, raw: str) -> None:
        if self._hidden is not None:
            return
        text = _unescape(raw)
        if self._pre:
            self._preformatted(text)
            return
        words = _BLANKS.sub(" ", text)
        if words.startswith(" "):
            self._is_spaced = True
        shown = words.strip(" ")
        if shown:
            self._put(shown)
            self._is_spaced = words.endswith(" ")

    def open(self, name: str, attributes: str) -> None:
        if self._hidden is not None:
            if name in _VOID or self._hidden.open(name):
                return
            self._hidden = None
        style = NO_STYLE
        if attributes and _MAY_HIDE.search(attributes):
            style = own_style(_attribute(attributes, "style"))
            if is_hidden(attributes, style) and (name not in TABLE_PARTS or self._blocks.get("table")):
                if name not in _VOID:
                    self._hidden = HiddenElement(name, self._blocks)
                return
        if name in BLOCKS:
            self._blocks[name] = self._blocks.get(name, 0) + 1
        if name == "br":
            self._line_end(at_least=0)
        elif name in _PARAGRAPHS or (name in LINES and name not in BOXES):
            self._open_block(name, attributes)
        else:
            self._open_inline(name, attributes, is_line=style.display in _LINE_DISPLAYS)

    def close(self, name: str) -> None:
        if self._hidden is not None:
            if self._hidden.close(name):
                return
            is_its_own = self._hidden.is_closed
            self._hidden = None
            if is_its_own:
                return
        if self._blocks.get(name):
            self._blocks[name] -= 1
        if name == "a":
            self._end_link()
        elif name in BOXES:
            self._is_spaced = True
        elif name in _PARAGRAPHS or name in LINES:
            self._close_block(name)
        if self._boxes.get(name) and self._boxes[name].pop():
            self._begin_line()

    def raw(self, name: str, attributes: str, content: str) -> None:
        """An element whose content is text as it stands, but for references in a textarea."""
        self.open(name, attributes)
        if self._hidden is None:
            self._preformatted(_unescape(content) if name == "textarea" else _shown(content))
        self.close(name)

    def result(self) -> str:
        self._end_link()
        self._finish_line()
        return "\n".join(self._lines).strip("\n")

    def _open_block(self, name: str, attributes: str) -> None:
        is_nested_list = name in ("ul", "ol") and bool(self._lists)
        self._block(2 if name in _PARAGRAPHS and not is_nested_list else 1)
        if name == "blockquote":
            self._blockquotes.append(not _INDENTED.match(_BLANKS.sub(" ", _attribute(attributes, "style"))))
            self._quotes += self._blockquotes[-1]
        elif name == "pre":
            self._pre += 1
        elif name == "hr":
            self._put("---")
            self._block(2)
        elif name in ("ul", "ol"):
            self._lists.append(0 if name == "ol" else None)
        elif name == "li":
            self._item()

    def _close_block(self, name: str) -> None:
        is_nested_list = name in ("ul", "ol") and len(self._lists) > 1
        self._block(2 if name in _PARAGRAPHS and not is_nested_list else 1)
        if name == "blockquote":
            self._quotes -= self._blockquotes.pop() if self._blockquotes else 0
        elif name == "pre":
            self._pre = max(0, self._pre - 1)
        elif name in ("ul", "ol") and self._lists:
            self._lists.pop()

    def _open_inline(self, name: str, attributes: str, *, is_line: bool) -> None:
        if name in BOXES:
            self._is_spaced = True
        if is_line:
            self._begin_line()
        if name == "a":
            self._link, self._link_begin = _attribute(attributes, "href"), None
        if name == "img":
            self._image(attributes)
            if is_line:
                self._begin_line()
        elif name not in _VOID and (is_line or self._boxes.get(name)):
            self._boxes.setdefault(name, []).append(is_line)

    def _begin_line(self) -> None:
        """With the next word, which leaves the line to what a link adds to it."""
        if not self._is_marked:
            self._breaks = max(self._breaks, 1)
            self._is_spaced = False

    def _item(self) -> None:
        indent = "  " * (min(len(self._lists), _MAX_LIST_DEPTH) - 1)
        if self._lists and (last := self._lists[-1]) is not None:
            self._lists[-1] = last + 1
            self._put(f"{indent}{last + 1}.")
        else:
            self._put(f"{indent}-")
        self._is_spaced = self._is_marked = True

    def _image(self, attributes: str) -> None:
        alternative = _BLANKS.sub(" ", _attribute(attributes, "alt")).strip(" ")
        if alternative:
            self._put(f"[{alternative}]")

    def _end_link(self) -> None:
        url, begin = self._link, self._link_begin
        self._link, self._link_begin = "", None
        if not url.lower().startswith(("http://", "https://", "mailto:")) or len(url) > _MAX_URL_CHARS:
            return
        if begin is None:
            return  # a link around nothing that is shown
        line, column = begin
        shown = "".join(self._line[column:]).strip() if len(self._lines) == line else ""
        url = re.sub(r"[\s\x00-\x1f]", "", url)
        target = url[7:] if url[:7].lower() == "mailto:" else url
        if shown.strip("<>").rstrip("/") not in (target.rstrip("/"), target.partition("://")[2].rstrip("/")):
            self._line.append(f" ({target})")

    def _preformatted(self, text: str) -> None:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for number, line in enumerate(lines):
            if number:
                self._line_end(at_least=0)
            if line:
                self._put(line)

    def _put(self, text: str) -> None:
        if self._breaks:
            self._finish_line()
            if self._lines and self._breaks > 1 and self._lines[-1].strip("> "):
                self._lines.append("")
            self._breaks = 0
        elif self._is_spaced and self._line:
            self._line.append(" ")
        self._is_spaced = self._is_marked = False
        if self._link and self._link_begin is None:
            self._link_begin = len(self._lines), len(self._line)
        self._line.append(text)

    def _block(self, breaks: int) -> None:
        if self._line or self._lines:
            if self._line:
                self._finish_line()
            self._breaks = max(self._breaks, breaks)
        self._is_spaced = False

    def _line_end(self, at_least: int) -> None:
        if self._line or at_least == 0:
            self._lines.append((self._prefix() + "".join(self._line)).rstrip())
            self._line = []
        self._is_spaced = False

    def _finish_line(self) -> None:
        if self._line:
            self._line_end(at_least=1)

    def _prefix(self) -> str:
        return "> " * min(self._quotes, _MAX_QUOTE_DEPTH)


def _unescape(raw: str) -> str:
    return _shown(unescape(raw).replace("\u00a0", " "))


def _shown(raw: str) -> str:
    return raw if raw.isascii() and raw.isprintable() else _UNSHOWN.sub("", raw)


def _attribute(attributes: str, name: str) -> str:
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == name:
            return _unescape(match[2] or match[3] or match[4] or "").strip()
    return ""
