"""When two texts say the same to a search: case does not count, nor does how characters are composed.

A text is there as it is spelled, folded, and composed (NFC, Unicode Standard Annex 15) where that differs, as in what
macOS makes of names of files: `é` is found whether it is one character or two, here and there. `é` is not `e`.
"""

import re
import unicodedata
from typing import Final

_FORM: Final = "NFC"
_AT_ONCE = 64 * 1024  # characters: folding keeps the interpreter to its end
_MARKS = 32  # that may stand between a letter and the mark that joins it
# What is composed at once: marks are sorted in the square of their number. It ends before ASCII, or before a letter,
# which joins nothing in front of it, as vowels and finals of Hangul do; where there is neither, anywhere.
_PIECE = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,249}(?![^\w\x00-\x7f]|[\u1160-\u11ff])|[^\x00-\x7f]{1,250}")


def fold(part: str) -> str:
    """What is looked for, as `forms` of a text have it."""
    return _composed(part.casefold())


def forms(text: str) -> list[str]:
    """Where it is looked for: the text as it is spelled, and composed where that is another."""
    if text.isascii():
        return [text.lower()]
    spelled = "".join([text[at : at + _AT_ONCE].casefold() for at in range(0, len(text), _AT_ONCE)])
    return [spelled] if _is_composed(spelled) else [spelled, _composed(spelled)]


def holds(text: str, part: str) -> bool:
    """Is what `fold` made of a part in the text?"""
    return any(part in form for form in forms(text))


def _is_composed(text: str) -> bool:
    return all(
        unicodedata.is_normalized(_FORM, text[max(0, at - _MARKS) : at + _AT_ONCE])
        for at in range(0, len(text), _AT_ONCE)
    )


def _composed(text: str) -> str:
    return _PIECE.sub(lambda piece: unicodedata.normalize(_FORM, piece[0]), text)
