"""HTML as it may leave: what mail needs is kept (tables, inline styles, cid: images), what acts is not.

The work is nh3's (ammonia). No script, handler, form, frame, `javascript:`, meta refresh or style sheet passes.
"""

import html as html_entities
import re
from collections.abc import Callable

import nh3

from controlplane.sending.writing.html_shape import LIKE, is_too_complex
from controlplane.sending.writing.inline_style import NESTED, PICTURE, kept_declarations
from maild.message.html.foreign_content import without_foreign_content
from maild.message.html.html_tokens import TokenKind, html_tokens
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
_TAGS = nh3.ALLOWED_TAGS | {"big", "font", "tfoot", "u", "address", "section", "main"}
_ATTRIBUTES = {
    **{
        tag: set(names) - {"cite"} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()
    },  # a URL that nobody follows
    "font": {"color", "face", "size"},
    "table": set(nh3.ALLOWED_ATTRIBUTES["table"]) | {"cellpadding", "cellspacing"},
    "a": {"href", "hreflang", "name", "target"},
    "area": {"href", "target", "alt", "shape", "coords"},
    "map": {"name"},
    "img": set(nh3.ALLOWED_ATTRIBUTES["img"])
    | {"hspace", "vspace", "usemap"},  # of which all but the name is ignored
    "ol": {"start", "type", "reversed"},
    "ul": {"type"},
    "li": {"value", "type"},
    "td": set(nh3.ALLOWED_ATTRIBUTES["td"]) | {"nowrap"},
    "br": {"clear"},
    "details": {"open"},
}
# What nh3 does not know: that `background` is a URL, that styles have URLs (of a share of a network or a file, which
# some mail programs open), and what old browsers take for a program in a style. A filter for each attribute makes
# cleaning half as long again, so it is asked only where one of these may stand.
_BACKGROUND = re.compile(r"background\s*=", re.IGNORECASE)
_PICTURE_SCHEMES = ("http://", "https://", "cid:")
_FUNCTION = r"(?:expression|image-set|(?<![\w-])src)\s*\("  # two name pictures by plain strings
_ACTIVE_STYLE = re.compile(rf"{_FUNCTION}|url\((?!(?:&quot;)?{PICTURE})", re.IGNORECASE)
_ACTIVE_FUNCTION = re.compile(_FUNCTION, re.IGNORECASE)
# nh3 drops the declarations of most of these, with the colour that stands beside the picture.
_OTHER_URL = re.compile(rf"""url\(\s*+(?!(?:["']|&(?:quot|apos|#39|#34);)?{PICTURE})""", re.IGNORECASE)
# What is left open ends with the style, so that no beginning is looked at twice.
_STRING = r"""(?:"(?>(?:[^"\\]++|\\.)*)(?:"|\\?\Z)|'(?>(?:[^'\\]++|\\.)*)(?:'|\\?\Z))"""
_STRING_OR_URL = re.compile(
    rf"""{_STRING}|(?<![\w-])url\(\s*+(?!["']?{PICTURE})(?>(?:{_STRING}|[^"')\\]++|\\.)*)(?:\)|\\?\Z)""",
    re.IGNORECASE | re.DOTALL,
)
# HTML, "in body": a line break that `pre` begins with is not read, so one that was read is written twice.
_BROKEN_PRE = re.compile(r'<pre(?>(?: [\w-]++="[^"]*+")*)>(?=\n)')
# What words stand on, in which colour and direction, is often said of the whole alone, and nh3 makes a part of a page,
# which has no body: it becomes a `div`, to which `bgcolor` and `text` mean nothing.
_BODY = re.compile(r"<(?:html|body)(?=\s)", re.IGNORECASE)
_BODIES = 8  # that are looked at: conditional comments may have one each
_BODY_CHARS = 4000
_SAYING = re.compile(r"\s(?:style|dir)\s*=", re.IGNORECASE)
_BOXED = frozenset(["button", "textarea"])  # nobody reads what stands in two of these as one word
# Names of HTML that are not kept, but decide how what stands in or beside them is read. nh3 takes many others for
# MathML or SVG, and drops all that stands in them: `<min>`, `<or>` and `<list>` too, where somebody meant a word.
_READ = frozenset(
    """applet audio base basefont bgsound body canvas data datalist embed frame frameset head html iframe image input
    isindex keygen label link listing marquee math meta meter nobr noembed noframes object output param picture
    plaintext progress rb script search slot source style svg template title track tt video xmp""".split()
)
_NAME = re.compile(r"</?([a-zA-Z][a-zA-Z0-9-]*+)(?=[\s/>])")
_UNLIKE = re.compile(rf"<(/?)({'|'.join(LIKE)})(?=[\s/>])", re.IGNORECASE)
_COLOURS = {
    "background-color": re.compile(r"""\sbgcolor\s*=\s*["']?(#?\w{1,30})""", re.IGNORECASE),
    "color": re.compile(r"""\stext\s*=\s*["']?(#?\w{1,30})""", re.IGNORECASE),
}
_STYLES = frozenset(
    """background background-color background-image background-position background-repeat background-size border
    border-bottom border-bottom-color border-bottom-left-radius border-bottom-right-radius border-bottom-style
    border-bottom-width border-collapse border-color border-left border-left-color border-left-style
    border-left-width border-radius border-right border-right-color border-right-style border-right-width
    border-spacing border-style border-top border-top-color border-top-left-radius border-top-right-radius
    border-top-style border-top-width border-width box-sizing caption-side clear color direction
    display empty-cells float font font-family font-size font-style font-variant font-weight height
    letter-spacing line-height list-style list-style-image list-style-position list-style-type margin
    margin-bottom margin-left margin-right margin-top max-height max-width min-height min-width overflow
    overflow-wrap padding padding-bottom padding-left padding-right padding-top table-layout text-align
    text-decoration text-decoration-color text-decoration-line text-indent text-transform
    vertical-align visibility white-space width word-break word-spacing word-wrap""".split()
)


class Sanitizer:
    """Its rules are those of this module, the same for every message."""

    def __init__(self) -> None:
        self._cleaner = _cleaner(_LAYOUT, None)
        self._filtering_cleaner = _cleaner(_LAYOUT | {"background"}, _inert)
        self._styling_cleaner = _cleaner(_LAYOUT | {"background"}, self._styled, has_styles_kept=True)

    def clean(self, html: str) -> str:
        """The HTML with the allowed tags, attributes and styles alone. It takes some twenty times the text's memory,
        and for text that `is_too_complex` time that grows with its square."""
        plain = without_foreign_content(html)
        clean = self._clean(plain)
        # What stood in MathML and SVG may nest as no HTML does, and be another tree where it is read again.
        return clean if plain is html else self._clean(clean)

    def _clean(self, html: str) -> str:
        html = _UNLIKE.sub(_alike, _BODY.sub(_ground, _without_unknown(html), count=_BODIES))
        clean = (self._styling_cleaner.clean if NESTED.search(html) else self._quickly)(html)
        return _BROKEN_PRE.sub(r"\g<0>\n", clean) if "<pre" in clean else clean

    def _quickly(self, html: str) -> str:
        is_filtered = _BACKGROUND.search(html) or _OTHER_URL.search(html)
        clean = (self._filtering_cleaner if is_filtered else self._cleaner).clean(html)
        # Escapes and comments of CSS are gone from what is clean, so nothing hides the words.
        return self._filtering_cleaner.clean(clean) if _ACTIVE_STYLE.search(clean) else clean

    def _styled(self, tag: str, name: str, value: str) -> str | None:
        """In the place of nh3's filter of styles, which is asked after this one."""
        if name != "style":
            return _inert(tag, name, value)
        kept = kept_declarations(value, _STYLES)
        if kept is not None:
            return kept
        alone = self._quickly(f'<p style="{html_entities.escape(value)}">').split('"')
        return html_entities.unescape(alone[1]) if len(alone) > 1 else None

    def clean_any(self, html: str) -> str:
        """The same for HTML that nobody has looked at; of one that is too complex its words alone."""
        if is_too_complex(html):
            return f"<pre>{html_entities.escape(html_to_text(html))}</pre>"
        return self.clean(html)


def is_cleaned_soon(html: str, tags_max: int) -> bool:
    """Whether it has so few tags, and no styles that are read one by one."""
    return html.count("<") <= tags_max and NESTED.search(html) is None


def _cleaner(
    layout: set[str],
    attribute_filter: Callable[[str, str, str], str | None] | None,
    *,
    has_styles_kept: bool = False,
) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_TAGS,
        attributes={**_ATTRIBUTES, "*": layout | _FOR_READERS},
        attribute_filter=attribute_filter,
        clean_content_tags={"script", "style", "title", "iframe", "noembed", "noframes"},
        url_schemes={"http", "https", "mailto", "tel", "cid"},
        filter_style_properties=None if has_styles_kept else set(_STYLES),
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
    return "<div" if _SAYING.search(attributes) else body[0]


def _without_unknown(html: str) -> str:
    """The HTML without the tags that no HTML knows."""
    unknown = {name.lower() for name in set(_NAME.findall(html))} - _TAGS - _READ - LIKE.keys()
    if not unknown:
        return html
    return "".join(
        "" if token.name in unknown and token.kind is not TokenKind.RAW else html[token.start : token.end]
        for token in html_tokens(html)
    )


def _alike(tag: re.Match[str]) -> str:
    name = tag[2].lower()
    return f"{' ' if name in _BOXED and not tag[1] else ''}<{tag[1]}{LIKE[name]}"


def _inert(_tag: str, name: str, value: str) -> str | None:
    if name == "background":
        return value if value.lower().startswith(_PICTURE_SCHEMES) else None
    if name != "style":
        return value
    return None if _ACTIVE_FUNCTION.search(value) else _STRING_OR_URL.sub(_without_url, value)


def _without_url(found: re.Match[str]) -> str:
    return found[0] if found[0][0] in "\"'" else " none "
