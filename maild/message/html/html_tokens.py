"""HTML cut into tokens: text, tags, comments, and what stands in elements whose content is no markup.

The standard tokenizer is quadratic on open quotes and comments. Every construct that does not end ends the reading or
is read as text once, so the whole is linear. Tokens tile the markup: each begins where the one before it ends.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

# As in a browser, a quote means something only behind "=".
_TAG = re.compile(r"""<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)((?>(?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?|["'])*))>""")
_TAG_WITHOUT_QUOTES = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*+)([^>]*+)>")
_RAW_END = {
    name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE)
    for name in ("style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
}
_SCRIPT = re.compile(r"<!--(?P<whole>-*+>)?|(?P<end>-->)|<(?P<slash>/?)script[\s/>]", re.IGNORECASE)
_TEMPLATE = re.compile("<template", re.IGNORECASE)
# HTML, "end tag open state": an end tag without a name is a comment.
_DECLARATION = re.compile(r"[!?]|/[^a-zA-Z]")
_NO_COMMENT = re.compile(r"<!---?>")
_COMMENT_END = re.compile(r"--!?>")  # also with the "!" (HTML, "comment end bang state")
_NAMED = re.compile(r"""([^\s"'<>/=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?""", re.DOTALL)
MAX_ATTRIBUTES = 50  # of a tag; the rest is not read
# html.unescape makes an int of any number of digits, and Python refuses long ones.
_LONG_REFERENCE = re.compile(r"&#(?:x[0-9a-fA-F]{9,}+|[0-9]{9,}+);?+", re.IGNORECASE)


class TokenKind(Enum):
    """COMMENT is a declaration, processing instruction or end tag without a name too. RAW: an element with all that
    stands in it."""

    TEXT = 1
    OPEN = 2
    CLOSE = 3
    COMMENT = 4
    RAW = 5


class HtmlToken(NamedTuple):
    """`html[start:end]`; of a tag its lower-case name and its attributes as they stand. Of RAW the content is
    `html[content:content_end]`."""

    kind: TokenKind
    start: int
    end: int
    name: str = ""
    attributes: str = ""
    content: int = 0
    content_end: int = 0


def html_tokens(html: str) -> Iterator[HtmlToken]:
    """The tokens in order. Linear and total."""
    tokens = markup(html)
    return _with_whole_templates(tokens, html) if _TEMPLATE.search(html) else tokens


def _with_whole_templates(tokens: Iterator[HtmlToken], html: str) -> Iterator[HtmlToken]:
    """A template is one token, with the templates in it: markup that is shown nowhere."""
    outer: list[HtmlToken] = []
    for token in tokens:
        if token.name == "template" and token.kind is _OPEN:
            outer.append(token)
        elif token.name == "template" and outer:
            begin = outer.pop()
            if not outer:
                yield _raw(begin, token.start, token.end)
        elif not outer:
            yield token
    if outer:
        yield _raw(outer[0], len(html), len(html))


def _raw(begin: HtmlToken, content_end: int, end: int) -> HtmlToken:
    return HtmlToken(TokenKind.RAW, begin.start, end, begin.name, begin.attributes, begin.end, content_end)


def markup(html: str) -> Iterator[HtmlToken]:
    """The tokens in order, those in templates too, which a parser makes elements of. Linear and total."""
    position, end = 0, len(html)
    last_tag_end = html.rfind(">")
    find, match = html.find, _TAG.match
    is_closed = True
    while position < end:
        mark = find("<", position)
        if mark < 0 or mark > last_tag_end:
            yield _token(_TEXT, position, end)
            return
        if mark > position:
            yield _token(_TEXT, position, mark)
        tag = match(html, mark)
        if tag is None:
            if _DECLARATION.match(html, mark + 1):
                position = _skip_declaration(html, mark)
                yield _token(_COMMENT, mark, position)
                continue
            if is_closed and html[mark + 1 : mark + 3].strip("/")[:1].isalpha():
                # A quote that is never closed. Trying it again at each tag would be quadratic.
                is_closed, match = False, _TAG_WITHOUT_QUOTES.match
                tag = match(html, mark)
        if tag is None:
            position = mark + 1
            yield _token(_TEXT, mark, position)
            continue
        position = tag.end()
        slash, name, attributes = tag.groups()
        name = name.lower()
        if slash:
            yield _token(_CLOSE, mark, position, name)
        elif name in _RAW_END or name == "script":
            begin = _token(_OPEN, mark, position, name, attributes)
            closing = (
                _script_end(html, position) if name == "script" else _RAW_END[name].search(html, position)
            )
            content_end = end if closing is None else closing.start()
            position = end if closing is None else _after(html, ">", content_end)
            yield _raw(begin, content_end, position)
        else:
            yield _token(_OPEN, mark, position, name, attributes)


_TEXT, _OPEN, _CLOSE, _COMMENT = TokenKind.TEXT, TokenKind.OPEN, TokenKind.CLOSE, TokenKind.COMMENT


def _token(kind: TokenKind, start: int, end: int, name: str = "", attributes: str = "") -> HtmlToken:
    # What the class does by itself takes twice as long, and mail has tokens by the thousand.
    return tuple.__new__(HtmlToken, (kind, start, end, name, attributes, 0, 0))


def _script_end(html: str, start: int) -> re.Match[str] | None:
    """HTML, "script data double escaped state": within a comment in a script, the end of a script that begins there
    ends nothing."""
    is_comment = is_inner = False
    for found in _SCRIPT.finditer(html, start):
        if found["whole"] or found["end"]:
            is_comment = is_inner = False
        elif found["slash"] is None:
            is_comment = True
        elif found["slash"]:
            if not is_inner:
                return found
            is_inner = False
        else:
            is_inner = is_comment
    return None


def _skip_declaration(html: str, mark: int) -> int:
    if html.startswith("<!--", mark):
        # HTML, "comment start state": `<!-->` and `<!--->` are whole. What stands in Outlook's `<!--[if …]>` no other
        # program shows.
        if (whole := _NO_COMMENT.match(html, mark)) is not None:
            return whole.end()
        found = _COMMENT_END.search(html, mark + len("<!--"))
        return len(html) if found is None else found.end()
    return _after(html, ">", mark)


def _after(html: str, mark: str, start: int) -> int:
    found = html.find(mark, start)
    return len(html) if found < 0 else found + len(mark)


def read_attributes(attributes: str) -> dict[str, str]:
    """The attributes of a tag by lower-case name, the first of a name, decoded; empty without a value."""
    found: dict[str, str] = {}
    for number, match in enumerate(_NAMED.finditer(attributes)):
        if number == MAX_ATTRIBUTES:
            break
        found.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
    return found


def unescape(raw: str) -> str:
    """The text with its character references decoded. Total."""
    return entities.unescape(_LONG_REFERENCE.sub("\ufffd", raw)) if "&" in raw else raw
