"""Text for readers: of HTML, of a reply, in one line."""

from __future__ import annotations

import re
from typing import Final

from maild.message.html.html_text import html_to_text
from maild.message.quotes.html_quotes import whose_quotes
from maild.message.quotes.reply_text import QuotedWords, extract_reply

__all__ = ["QuotedWords", "extract_reply", "html_to_text", "leaves_words_to_html", "snippet", "whose_quotes"]

SNIPPET_CHARS: Final = 200
_STUB_CHARS: Final = 300  # without links
_LINK_CHARS: Final = 4096
_LINK = re.compile(r"https?://\S+", re.IGNORECASE)
_HTML_OR_BROWSER = re.compile(
    "(?<![a-z])html(?![a-z])|browser|navigat(?:eu|o)r|navegador|przegląd|webläsare|nettleser|selaime|prohlížeč"
    "|böngésző|tarayıcı|браузер|peramban|trình duyệt|ブラウザ|浏览器|瀏覽器|브라우저|المتصفح|مرورگر|דפדפן",
    re.IGNORECASE,
)
# Controls, the filler of newsletters' preview lines, direction marks, lone surrogates.
_UNSHOWN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)


def snippet(text: str, length: int = SNIPPET_CHARS) -> str:
    """The beginning of a text on one line, at most `length` characters, blanks collapsed."""
    head = " ".join(text[: length * 50].split(None, length)[:length])
    shown = head[:length]
    if shown.isascii() and shown.isprintable():
        return shown.rstrip()
    return (head if head.isprintable() else _UNSHOWN.sub("", head))[:length].rstrip()


def leaves_words_to_html(text: str) -> bool:
    """Is the text of an alternative so short, and about HTML or browsers, that it may send its readers there? What it
    says stands in the HTML too (RFC 2046 §5.1.4), so nothing is lost where it does not."""
    if len(text) > _STUB_CHARS + _LINK_CHARS:
        return False
    said = _LINK.sub("", text).strip()
    return len(said) <= _STUB_CHARS and _HTML_OR_BROWSER.search(said) is not None
