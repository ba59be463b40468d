"""HTML as it may leave: what mail needs is kept (tables, inline styles, cid: images), what acts is not.

The work is nh3's (ammonia). No script, handler, form, frame, `javascript:`, meta refresh or style sheet passes.
"""

import html as html_entities
import re
from collections.abc import Callable

import nh3

from controlplane.sending.writing.html_shape import is_too_complex
from maild.message.parsing.text import html_to_text

_LAYOUT = {
    "align",
    "valign",
    "width",
    "height",
    "bgcolor",
    "border",
    "dir",
    "lang",
    "style",
    "class",
}
_FOR_READERS = {"title", "role", "aria-label", "aria-hidden", "hidden"}
_TAGS = nh3.ALLOWED_TAGS | {"font", "tfoot", "u", "address", "section", "main"}
_ATTRIBUTES = {
    **{
        tag: set(names) - {"cite"} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()
    },  # a URL that nobody follows
    "font": {"color", "face", "size"},
    "table": set(nh3.ALLOWED_ATTRIBUTES["table"]) | {"cellpadding", "cellspacing"},
    "a": {"href", "hreflang", "name", "target"},
    "details": {"open"},
}
# What nh3 does not know: that `background` is a URL, that styles have URLs (of a share of a network or a file, which
# some mail programs open), and what old browsers take for a program in a style. A filter for each attribute makes
# cleaning half as long again, so it is asked only where one of these may stand.
_BACKGROUND = re.compile(r"background\s*=", re.IGNORECASE)
_PICTURE_SCHEMES = ("http://", "https://", "cid:")
_PICTURE = r"(?:https?://|cid:)"
_FUNCTION = r"(?:expression|image-set|(?<![\w-])src)\s*\("  # two name pictures by plain strings
_ACTIVE_STYLE = re.compile(rf"{_FUNCTION}|url\((?!(?:&quot;)?{_PICTURE})", re.IGNORECASE)
_ACTIVE_FUNCTION = re.compile(_FUNCTION, re.IGNORECASE)
_STRING = r'"(?>(?:[^"\\]++|\\.)*)"'
_STRING_OR_URL = re.compile(
    rf"{_STRING}|(?<![\w-])url\((?!\"?{_PICTURE})(?:{_STRING}|(?>(?:[^\")\\]++|\\.)*))\)",
    re.IGNORECASE | re.DOTALL,
)
# What words stand on, and in which colour, is often said of the body alone, and nh3 makes a part of a page, which has
# none: it becomes a `div`, to which `bgcolor` and `text` mean nothing.
_BODY = re.compile(r"<body(?=\s)", re.IGNORECASE)
_BODIES = 5  # that are looked at: conditional comments may have one each
_BODY_CHARS = 4000
_STYLED = re.compile(r"\sstyle\s*=", re.IGNORECASE)
_COLOURS = {
    "background-color": re.compile(r"""\sbgcolor\s*=\s*["']?(#?\w{1,30})""", re.IGNORECASE),
    "color": re.compile(r"""\stext\s*=\s*["']?(#?\w{1,30})""", re.IGNORECASE),
}
_STYLES = {
    "background", "background-color", "border", "border-bottom", "border-collapse", "border-color",
    "border-left", "border-radius", "border-right", "border-spacing", "border-style", "border-top",
    "border-width", "box-sizing", "color", "direction", "display", "font", "font-family", "font-size",
    "font-style", "font-weight", "height", "letter-spacing", "line-height", "list-style",
    "list-style-type", "margin", "margin-bottom", "margin-left", "margin-right", "margin-top",
    "max-height", "max-width", "min-width", "overflow", "padding", "padding-bottom", "padding-left",
    "padding-right", "padding-top", "table-layout", "text-align", "text-decoration", "text-indent",
    "text-transform", "vertical-align", "white-space", "width", "word-break", "word-wrap",
}  # fmt: skip


class Sanitizer:
    """Its rules are those of this module, the same for every message."""

    def __init__(self) -> None:
        self._cleaner = _cleaner(_LAYOUT, None)
        self._filtering_cleaner = _cleaner(_LAYOUT | {"background"}, _inert)

    def clean(self, html: str) -> str:
        """The HTML with the allowed tags, attributes and styles alone. It takes some twenty times the text's memory,
        and for text that `is_too_complex` time that grows with its square."""
        html = _BODY.sub(_ground, html, count=_BODIES)
        clean = (self._filtering_cleaner if _BACKGROUND.search(html) else self._cleaner).clean(html)
        # Escapes and comments of CSS are gone from what is clean, so nothing hides the words.
        return self._filtering_cleaner.clean(clean) if _ACTIVE_STYLE.search(clean) else clean

    def clean_any(self, html: str) -> str:
        """The same for HTML that nobody has looked at; of one that is too complex its words alone."""
        if is_too_complex(html):
            return f"<pre>{html_entities.escape(html_to_text(html))}</pre>"
        return self.clean(html)


def _cleaner(layout: set[str], attribute_filter: Callable[[str, str, str], str | None] | None) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes={**_ATTRIBUTES, "*": layout | _FOR_READERS},
        attribute_filter=attribute_filter,
        clean_content_tags={"script", "style", "title", "iframe", "noembed", "noframes", "noscript"},
        url_schemes={"http", "https", "mailto", "tel", "cid"},
        filter_style_properties=_STYLES,
        url_relative="deny",
        link_rel=None,
    )


def _ground(body: re.Match[str]) -> str:
    """What opens in the body's place; its attributes follow."""
    attributes = body.string[body.end() : body.end() + _BODY_CHARS].partition(">")[0]
    found = [(name, one.search(attributes)) for name, one in _COLOURS.items()]
    style = ";".join(f"{name}:{colour[1]}" for name, colour in found if colour)
    if style:
        return f'<div style="{style}"><div'
    return "<div" if _STYLED.search(attributes) else body[0]


def _inert(_tag: str, name: str, value: str) -> str | None:
    if name == "background":
        return value if value.lower().startswith(_PICTURE_SCHEMES) else None
    if name != "style":
        return value
    return None if _ACTIVE_FUNCTION.search(value) else _STRING_OR_URL.sub(_without_url, value)


def _without_url(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " none "
