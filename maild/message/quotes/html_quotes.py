"""Whose words the blockquotes of an HTML body are: clients put the original into them, authors what they cite."""

from __future__ import annotations

import re

from maild.message.quotes.reply_text import QuotedWords

_CITE = re.compile(r"<blockquote[^>]{0,500}\stype\s?=\s?[\"']?cite", re.IGNORECASE)
_OF_THE_WEB = re.compile(r"<blockquote[^>]{0,500}\scite\s?=\s?[\"']?https?:", re.IGNORECASE)
_GMAIL = re.compile(r"<blockquote[^>]{0,500}gmail_quote", re.IGNORECASE)


def whose_quotes(html: str, *, answers: bool) -> QuotedWords:
    """`answers`: the message answers another one. Only an answer quotes without saying whom; Gmail always says whom,
    so that a quote of its kind without an attribution is what the author set off, and so is one of a page."""
    if _CITE.search(html):
        return QuotedWords.OF_THE_AUTHOR_ABOVE
    if not answers or _GMAIL.search(html) or _OF_THE_WEB.search(html):
        return QuotedWords.OF_THE_AUTHOR
    return QuotedWords.OF_THE_AUTHOR_ABOVE
