"""Words of a mail as a model means them. What it wrote by mistake is refused before people read it, and what is refused
says how such words are sent where they are meant."""

import re

from pydantic_core import PydanticCustomError

_ESCAPED = "\\n"
_TAG = r"<(?:!doctype|/?(?:html|body|p|div|span|br|h[1-6]|ul|ol|table|b|strong|i|em|a)\b)[^>]*>"
_IS_HTML = re.compile(rf"\s*{_TAG}.*>\s*", re.IGNORECASE | re.DOTALL)
_ENTITY = r"&(?:amp|lt|gt|quot|apos|#39|#34|#x27);"
_HAS_ENTITIES = re.compile(_ENTITY)
_HAS_BARE_SIGNS = re.compile(rf"[<>]|(?!{_ENTITY})&")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def text_as_meant(text: str) -> str:
    """Neither blank, nor with its line breaks written as `\\n` or `<br>`, nor HTML, nor escaped as HTML is."""
    if not text.strip():
        raise PydanticCustomError("required", "It is blank, and would be a mail without words")
    _with_line_breaks(text)
    if _IS_HTML.fullmatch(text) or (_BREAK.search(text) and "\n" not in text.strip("\n")):
        raise PydanticCustomError(
            "invalid_text",
            "People would read the tags of HTML: write plain words, and put HTML into 'html' where there is one. If"
            " the tags are what is to be read, begin and end with words, in lines",
        )
    if _HAS_ENTITIES.search(text) and not _HAS_BARE_SIGNS.search(text):
        raise PydanticCustomError(
            "invalid_text",
            "People would read the entities of HTML: write the characters themselves (&, <, '). If entities are what is"
            " to be read, have one of the characters & and < beside them",
        )
    return text


def html_as_meant(html: str) -> str:
    """It has a tag, and its line breaks are none that are shown."""
    if "<" not in html:
        raise PydanticCustomError(
            "invalid_text", "There is no tag in it: give plain words as 'text', and leave this out"
        )
    return _with_line_breaks(html)


def _with_line_breaks(words: str) -> str:
    """Who escapes twice has none but these: in a text that has some, `\\n` may be what it is about."""
    if _ESCAPED in words and "\n" not in words:
        raise PydanticCustomError(
            "invalid_text",
            "It has a backslash and an n where a line should end, and people would read them: escape line breaks once."
            " If they are meant, end with a line break",
        )
    return words
