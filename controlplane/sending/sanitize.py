"""HTML as it may leave: what mail needs is kept (tables, inline styles, cid: images), what acts is not.

The work is nh3's (ammonia). No script, handler, form, frame, `javascript:`, meta refresh or style sheet passes.
"""

import nh3

_LAYOUT = {
    "align",
    "valign",
    "width",
    "height",
    "bgcolor",
    "background",
    "border",
    "dir",
    "lang",
    "style",
    "class",
}
_TAGS = nh3.ALLOWED_TAGS | {"font", "tfoot", "u", "address", "section", "main"}
_ATTRIBUTES = {
    **{tag: set(names) for tag, names in nh3.ALLOWED_ATTRIBUTES.items()},
    "*": _LAYOUT | {"title", "role", "aria-label", "aria-hidden"},
    "font": {"color", "face", "size"},
    "table": set(nh3.ALLOWED_ATTRIBUTES["table"]) | {"cellpadding", "cellspacing"},
    "a": {"href", "hreflang", "name", "target"},
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
        self._cleaner = nh3.Cleaner(
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            clean_content_tags={"script", "style", "title", "iframe", "object", "noscript"},
            url_schemes={"http", "https", "mailto", "tel", "cid"},
            filter_style_properties=_STYLES,
            url_relative="deny",
            link_rel=None,
        )

    def clean(self, html: str) -> str:
        """The HTML with the allowed tags, attributes and styles alone. It takes some twenty times the text's memory."""
        return self._cleaner.clean(html)
