"""Text for readers: of HTML, of a reply, in one line."""

from __future__ import annotations

import re
from typing import Final

from maild.message.html.html_text import html_to_text
from maild.message.quotes.html_quotes import whose_quotes
from maild.message.quotes.reply_text import QuotedWords, extract_reply

__all__ = ["QuotedWords", "extract_reply", "html_to_text", "snippet", "whose_quotes"]

SNIPPET_CHARS: Final = 200
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
